package results_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// runAt is a sweep of mutex and actor with a run each at each of the points.
func runAt(points ...results.Cell) *results.Sweep {
	s := &results.Sweep{Meta: results.Meta{Baseline: "mutex", Workloads: []results.Workload{{Name: "mix"}}}}
	for _, cell := range slices.Backward(points) { // the order of execution is none
		for _, strategy := range []string{"actor", "mutex"} {
			cell.Workload, cell.Strategy = "mix", strategy
			s.Runs = append(s.Runs, results.Run{Cell: cell, Metrics: map[string]float64{results.MetricOps: 1000}})
		}
	}
	return s
}

func described(s *results.Sweep) []string {
	var texts []string
	for _, t := range s.Trends() {
		var values []string
		for _, v := range t.Values {
			values = append(values, t.Format(v))
		}
		text := fmt.Sprintf("%s: %s", t.Label(), strings.Join(values, ", "))
		if t.Where != "" {
			text += " (" + t.Where + ")"
		}
		texts = append(texts, text)
	}
	return texts
}

func TestAxes(t *testing.T) {
	type cell = results.Cell
	grid := func(first, second []float64, place func(c *cell, a, b float64)) []cell {
		var points []cell
		for _, a := range first {
			for _, b := range second {
				c := cell{GOMAXPROCS: 4, FetchBytes: 64 << 10, RecordSize: 1024, BatchRecords: 1}
				place(&c, a, b)
				points = append(points, c)
			}
		}
		return points
	}
	one := func(place func(c *cell, v float64), values ...float64) []cell {
		return grid(values, []float64{0}, func(c *cell, v, _ float64) { place(c, v) })
	}
	for name, c := range map[string]struct {
		points []cell
		want   []string
	}{
		"a single point": {[]cell{{Workers: 4}}, nil},
		"workers":        {one(func(c *cell, v float64) { c.Workers = int(v) }, 1, 2, 8), []string{"workers: 1, 2, 8"}},
		"mix":            {one(func(c *cell, v float64) { c.Workers, c.ProducePercent = 8, v }, 0.5, 5, 100), []string{"share of appends: 0.5 %, 5 %, 100 %"}},
		"a grid": {
			grid([]float64{1, 4}, []float64{0, 2, 8}, func(c *cell, a, b float64) { c.Producers, c.Consumers = int(a), int(b) }),
			[]string{
				"producers: 1, 4 (consumers 0)", "producers: 1, 4 (consumers 2)", "producers: 1, 4 (consumers 8)",
				"consumers: 0, 2, 8 (producers 1)", "consumers: 0, 2, 8 (producers 4)",
			},
		},
		"workers and processors": {
			grid([]float64{1, 2}, []float64{1, 2}, func(c *cell, a, b float64) { c.Workers, c.GOMAXPROCS = int(a), int(b) }),
			[]string{
				"workers: 1, 2 (gomaxprocs 1)", "workers: 1, 2 (gomaxprocs 2)",
				"processors (GOMAXPROCS): 1, 2 (workers 1)", "processors (GOMAXPROCS): 1, 2 (workers 2)",
			},
		},
		"a diagonal": {one(func(c *cell, v float64) { c.Producers, c.Consumers = int(v), int(v) }, 1, 2, 4), nil},
		"records and the buffer that follows": {
			one(func(c *cell, v float64) { c.RecordSize, c.FetchBytes = int(v), max(64<<10, int(2*v+4096)) }, 100, 1<<10, 1<<16, 1<<20),
			[]string{"record size: 100 B, 1 KiB, 64 KiB, 1 MiB"},
		},
		"records, batches and the buffer that follows": {
			grid([]float64{1 << 10, 1 << 16}, []float64{1, 100}, func(c *cell, a, b float64) {
				c.RecordSize, c.BatchRecords, c.FetchBytes = int(a), int(b), max(64<<10, int(2*a*b))
			}),
			[]string{
				"record size: 1 KiB, 64 KiB (batch-records 1)", "record size: 1 KiB, 64 KiB (batch-records 100)",
				"records in a batch: 1, 100 (record-size 1024)", "records in a batch: 1, 100 (record-size 65536)",
			},
		},
		"records and buffers, each by itself": {
			grid([]float64{1 << 10, 1 << 16}, []float64{1 << 17, 1 << 18}, func(c *cell, a, b float64) { c.RecordSize, c.FetchBytes = int(a), int(b) }),
			[]string{
				"record size: 1 KiB, 64 KiB (fetch-bytes 131072)", "record size: 1 KiB, 64 KiB (fetch-bytes 262144)",
				"size of a reader's buffer: 128 KiB, 256 KiB (record-size 1024)", "size of a reader's buffer: 128 KiB, 256 KiB (record-size 65536)",
			},
		},
		"a buffer that shrinks follows from nothing": {one(func(c *cell, v float64) { c.RecordSize, c.FetchBytes = int(v), int(1<<20-v) }, 1<<10, 1<<16), nil},
		"rates, and none":  {one(func(c *cell, v float64) { c.ProduceRate = v }, 0, 1000, 20000), []string{"rate of appended records: 1,000/s, 20,000/s"}},
		"reads":            {one(func(c *cell, v float64) { c.ConsumeRate = v }, 0.5, 1000), []string{"rate of reads: 0.5/s, 1,000/s"}},
		"operations":       {one(func(c *cell, v float64) { c.Rate = v }, 10, 20), []string{"rate of operations: 10/s, 20/s"}},
		"bursts":           {one(func(c *cell, v float64) { c.Burst = int(v) }, 0, 4), []string{"operations due at once: 1, 4"}},
		"the same burst":   {one(func(c *cell, v float64) { c.Burst = int(v) }, 0, 1), nil},
		"pauses":           {one(func(c *cell, v float64) { c.Think = v }, 0, 0.001), []string{"pause between operations: 0 ns, 1.0 ms"}},
		"backlogs":         {one(func(c *cell, v float64) { c.Backlog = int64(v) }, 0, 1<<20, 1<<26), []string{"backlog that holds producers: 1 MiB, 64 MiB"}},
		"followers":        {one(func(c *cell, v float64) { c.Replicas = int(v) }, 0, 2), []string{"followers: 0, 2"}},
		"partitions":       {one(func(c *cell, v float64) { c.Partitions = int(v) }, 1, 4), []string{"partitions: 1, 4"}},
		"skews":            {one(func(c *cell, v float64) { c.Skew = v }, 0.5, 0.99), []string{"skew of the reads: 0.5, 0.99"}},
		"words":            {[]cell{{Sync: "none"}, {Sync: "batch"}}, nil},
		"a word beside it": {[]cell{{Workers: 1, Sync: "none"}, {Workers: 2, Sync: "batch"}}, nil},
		"no numbers":       {one(func(c *cell, v float64) { c.Rate = v }, math.NaN(), math.Inf(1), 5), nil},
	} {
		if got := described(runAt(c.points...)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	unknown := results.Axis{Key: "colour"}
	if got := unknown.Label() + " " + unknown.Format(2.5) + " " + unknown.Format(math.NaN()); got != "colour 2.5 –" {
		t.Error(got)
	}
}

func TestTrendsOfSearchesAndWorkloads(t *testing.T) {
	s := runAt(results.Cell{ProduceRate: 100}, results.Cell{ProduceRate: 200})
	s.Meta.Searches = []results.Search{{Workload: "mix", Strategy: "mutex"}}
	if trends := s.Trends(); trends != nil {
		t.Errorf("a search has trends: %+v", trends)
	}
	first, second := runAt(results.Cell{Workers: 1}, results.Cell{Workers: 2}), runAt(results.Cell{Workers: 2}, results.Cell{Workers: 4})
	first.Meta.Workloads = []results.Workload{{Name: "other", Primary: results.MetricCPU}, {Name: "mix"}}
	for _, run := range second.Runs {
		run.Cell.Workload = "other"
		first.Runs = append(first.Runs, run)
	}
	trends := first.Trends()
	if len(trends) != 2 || trends[0].Workload != "other" || trends[0].Metric != results.MetricCPU || trends[1].Workload != "mix" || trends[1].Metric != results.MetricOps {
		t.Fatalf("trends %+v", trends)
	}
	if lines := trends[1].Lines; len(lines) != 2 || lines[0].Label != "mutex" || lines[1].Label != "actor" || lines[0].Levels[1].Value != 2 {
		t.Errorf("lines %+v", lines)
	}
}

// A latency that some runs do not carry has no median there, and so no level.
func TestLevelsOfLatency(t *testing.T) {
	metric := results.LatencyMetric(results.KindProduce, "p99")
	s := path{courses: []course{{"mutex", constant(0.001)}}, values: octaves, place: share, metric: metric, blocks: 3, noise: exact}.
		sweep(rand.New(rand.NewPCG(1, 1)))
	delete(s.Runs[2].Metrics, metric)
	trend := s.Trends()[0]
	if levels := trend.Lines[0].Levels; len(levels) != 5 || levels[2].Value != 8 || levels[0].Median != 0.001 || len(levels[0].Values) != 3 {
		t.Errorf("levels %+v", levels)
	}
	if cells := trend.Tables()[0].Columns; cells[2].Head != "4 %" || cells[2].Cells[0] != "–" || cells[3].Cells[0] != "1.0 ms" {
		t.Errorf("columns %+v", cells)
	}
}

var nan = regexp.MustCompile(`(?i)\bnan|inf\b|%!`)

// sound looks for what must be in no trend, whatever it was made of.
func sound(t *testing.T, s *results.Sweep) {
	t.Helper()
	for _, trend := range s.Trends() {
		texts := append(trend.Notes(), trend.Unfitted)
		for _, table := range trend.Tables() {
			for _, column := range table.Columns {
				if len(column.Cells) != len(table.Labels) {
					t.Errorf("%d cells in a column of %d rows", len(column.Cells), len(table.Labels))
				}
				texts = append(texts, column.Cells...)
			}
		}
		for _, line := range trend.Lines {
			texts = append(texts, line.Unfitted)
			f := line.Fit
			if (f == nil) == (line.Unfitted == "") {
				t.Errorf("%s: fit %+v, unfitted %q", line.Label, f, line.Unfitted)
			}
			for _, level := range line.Levels {
				if math.IsNaN(level.Median) || math.IsInf(level.Median, 0) || !slices.IsSorted(level.Values) {
					t.Errorf("level %+v", level)
				}
			}
			if f == nil {
				continue
			}
			for _, k := range []results.Coefficient{f.Rate, f.Contention, f.Coherency} {
				if !(k.Low <= k.Value && k.Value <= k.High) || math.IsInf(k.High, 0) {
					t.Errorf("coefficient %+v", k)
				}
			}
			if math.IsNaN(f.Peak) || math.IsNaN(f.Misses) || f.Contention.Value > 1 || f.Contention.Value < 0 || f.Coherency.Value < 0 {
				t.Errorf("fit %+v", f)
			}
		}
		for _, text := range texts {
			if nan.MatchString(text) {
				t.Errorf("%q", text)
			}
		}
	}
}

func TestTrendsOfBadNumbers(t *testing.T) {
	sound(t, &results.Sweep{})
	sound(t, runAt(results.Cell{}))
	sound(t, runAt(results.Cell{Workers: 1}, results.Cell{Workers: 2}))
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, math.MaxFloat64, math.SmallestNonzeroFloat64, 1}
	for _, value := range bad {
		for _, metric := range []string{results.MetricOps, results.LatencyMetric(results.KindProduce, "p99")} {
			p := path{
				courses: []course{{"mutex", usl(0.05, 0.001)}, {"actor", usl(0.1, 0)}, {"atomics", usl(0, 0.1)}, {"raw", constant(1000)}},
				values:  octaves, place: workers, planned: []string{"actor"}, metric: metric, blocks: 3, noise: logNormal(0.1),
			}
			random := rand.New(rand.NewPCG(20261130, 5))
			for name, hit := range map[string]func(*results.Run) bool{
				"everywhere":        func(*results.Run) bool { return true },
				"once":              func(r *results.Run) bool { return r.Index == 5 },
				"a block":           func(r *results.Run) bool { return r.Block == 1 },
				"a strategy":        func(r *results.Run) bool { return r.Cell.Strategy == "actor" },
				"a point":           func(r *results.Run) bool { return r.Cell.Workers == 8 },
				"but for one block": func(r *results.Run) bool { return r.Block > 0 },
			} {
				s, failed, missing := p.sweep(random), p.sweep(random), p.sweep(random)
				for i := range s.Runs {
					if hit(&s.Runs[i]) {
						s.Runs[i].Metrics[metric] = value
						failed.Runs[i].Verification.Error = "wrong"
						missing.Runs[i].Metrics, missing.Runs[i].Overloaded = nil, true
					}
				}
				t.Run(fmt.Sprintf("%v of %s %s", value, metric, name), func(t *testing.T) {
					sound(t, s)
					sound(t, failed)
					sound(t, missing)
				})
			}
		}
	}
	// Whatever is drawn: numbers from the whole range.
	random := rand.New(rand.NewPCG(20261130, 6))
	for range 200 {
		p := path{
			courses: []course{{"mutex", constant(1)}, {"actor", constant(1)}}, values: octaves, place: workers, planned: []string{"actor"},
			metric: results.MetricOps, blocks: 1 + random.IntN(4), noise: func(random *rand.Rand) float64 { return 700 * random.NormFloat64() },
		}
		sound(t, p.sweep(random))
	}
}
