package results_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// accounted is a sweep of one workload, two runs of mutex and of null, that has recorded everything.
func accounted(change func(*results.Run)) *results.Sweep {
	s := &results.Sweep{Meta: results.Meta{
		Blocks: 2, Baseline: "mutex", Workloads: []results.Workload{{Name: "mix"}},
		Costs:     []results.Cost{{Workload: "other", Append: 1, Read: 1}, {Workload: "mix", Append: 100e-9, Read: 100e-9}},
		Preflight: results.Preflight{ClockRead: 25e-9, BustedCaught: 0.1},
	}}
	for block := range 2 {
		for _, strategy := range []string{"mutex", "null"} {
			run := results.Run{
				Index: len(s.Runs), Block: block, Window: 0.5,
				Cell: results.Cell{Workload: "mix", Strategy: strategy, Workers: 8, ProducePercent: 10},
				Metrics: map[string]float64{
					results.MetricOps: 100e3, results.MetricConsumeOps: 90e3, results.MetricProduceOps: 10e3, results.MetricCPU: 4e-6,
					"consume-p50-sec": 2e-6, "produce-p50-sec": 3e-6,
				},
				Verification:  results.Verification{SecondsPerRead: 200e-9},
				PerWorkerJain: map[string]float64{"produce": 0.9, "consume": 0.95},
				Inside:        map[string]float64{"produce": 0.1, "consume": 0.8},
				Achieved:      map[string]float64{results.AchievedProduceShare: 0.1},
				Runtime:       results.Runtime{VoluntarySwitches: 5000, InvoluntarySwitches: 1000, GCCycles: 3, SchedulerP99: 20e-6, MutexWait: 0.25},
			}
			if strategy == "null" {
				run.Metrics[results.MetricCPU] = 400e-9
			}
			if change != nil {
				change(&run)
			}
			s.Runs = append(s.Runs, run)
		}
	}
	return s
}

func TestHarnessShare(t *testing.T) {
	paced := func(r *results.Run) {
		r.Cell.Rate = 1000
		r.Metrics["produce-service-p50-sec"], r.Metrics["consume-service-p50-sec"] = 2e-6, 1e-6
	}
	for name, c := range map[string]struct {
		change func(*results.Run)
		edit   func(*results.Sweep)
		mutex  float64 // 0 if unknown
		null   float64
	}{
		// 100 ns and nine tenths of 200 ns, of 4 µs.
		"closed loop":     {nil, nil, 0.07, 0.7},
		"above it all":    {func(r *results.Run) { r.Metrics[results.MetricCPU] = 1e-9 }, nil, 1, 1},
		"without checks":  {func(r *results.Run) { r.Verification.SecondsPerRead = 0 }, nil, 0.025, 0.25},
		"cost unknown":    {nil, func(s *results.Sweep) { s.Meta.Costs = nil }, 0, 0},
		"CPU unknown":     {func(r *results.Run) { delete(r.Metrics, results.MetricCPU) }, nil, 0, 0},
		"open loop":       {paced, nil, 0.05, 0.05},
		"clock unknown":   {paced, func(s *results.Sweep) { s.Meta.Preflight.ClockRead = 0 }, 0, 0},
		"service unknown": {func(r *results.Run) { r.Cell.Rate = 1000 }, nil, 0, 0},
		// The reads are closed, and their latency is service time.
		"one role paced": {func(r *results.Run) { r.Cell.ProduceRate = 1000; r.Metrics["produce-service-p50-sec"] = 5e-6 }, nil, 0.025, 0.025},
	} {
		s := accounted(c.change)
		if c.edit != nil {
			c.edit(s)
		}
		for i, want := range []float64{c.mutex, c.null} {
			cell := s.Cells()[i]
			if share, ok := cell.HarnessShare(); math.Abs(share-want) > 1e-9 || ok != (want > 0) {
				t.Errorf("%s, %s: share %v, %v, want %v", name, cell.Cell.Label(), share, ok, want)
			}
		}
	}
}

func TestHarnessIsMarked(t *testing.T) {
	s := accounted(nil)
	section := s.Sections()[0]
	cpu := section.Tables[0].Columns[len(section.Tables[0].Columns)-1]
	if !slices.Equal(cpu.Cells, []string{"4.0 µs ", "400 ns†"}) {
		t.Errorf("CPU/op is %q", cpu.Cells)
	}
	const note = "† more than 10 % of what is measured is the harness's own work" // of null all is
	if !slices.ContainsFunc(s.Summary().Footnotes, func(n string) bool { return strings.HasPrefix(n, note) }) {
		t.Errorf("footnotes %q", s.Summary().Footnotes)
	}
	for format, text := range rendered(t, s) {
		if !strings.Contains(text, "400 ns†") || !strings.Contains(text, note) {
			t.Errorf("%s:\n%s", format, text)
		}
		if told := strings.Contains(text, "mutex wait/op"); told != (format == "summary") {
			t.Errorf("%s: details are shown: %v", format, told)
		}
	}
	s.Meta.Costs[1].Append, s.Meta.Costs[1].Read = 700e-9, 700e-9
	const most = "† more than 10 % of what is measured, at most 22 % (mutex in mix), is the harness's own work"
	if notes := strings.Join(s.Summary().Footnotes, "\n"); !strings.Contains(notes, most) {
		t.Errorf("footnotes %q", notes)
	}
	s.Meta.Costs = nil
	if cpu := s.Sections()[0].Tables[0].Columns[2]; strings.Contains(strings.Join(cpu.Cells, ""), "†") {
		t.Errorf("marked without a reason: %q", cpu.Cells)
	}
}

func TestHarnessTable(t *testing.T) {
	table := func(s *results.Sweep) (found results.Table) {
		for _, t := range s.Sections()[0].Tables {
			if t.Title == "harness" {
				found = t
			}
		}
		return found
	}
	got := table(accounted(nil))
	want := [][2]string{
		{"share", "7.0 %"}, {"null", "100 ns"}, {"check/read", "200 ns"}, {"inside produce", "10 %"}, {"inside consume", "80 %"}, {"appends", "10 %"},
		{"Jain produce", "0.90"}, {"Jain consume", "0.95"}, {"voluntary switches/op", "0.1"}, {"involuntary switches/op", "0.02"},
		{"scheduler p99", "20.0 µs"}, {"GC cycles", "3"}, {"mutex wait/op", "5.0 µs"},
	}
	if len(got.Columns) != len(want) || !got.Detail || !slices.Equal(got.Labels, []string{"mutex", "null"}) {
		t.Fatalf("table %+v", got)
	}
	for i, c := range got.Columns {
		if c.Head != want[i][0] || c.Cells[0] != want[i][1] {
			t.Errorf("%s is %s, want %s %s", c.Head, c.Cells[0], want[i][0], want[i][1])
		}
	}
	bare := accounted(func(r *results.Run) {
		r.Runtime, r.Inside, r.Achieved, r.PerWorkerJain, r.Verification = results.Runtime{}, nil, nil, nil, results.Verification{}
	})
	bare.Meta.Costs = nil
	if got := table(bare); len(got.Columns) > 0 {
		t.Errorf("a table of what is not known: %+v", got)
	}
}

func TestMixThatWasNotAchieved(t *testing.T) {
	for name, c := range map[string]struct {
		percent, share float64
		told           bool
	}{
		"exact": {10, 0.1, false}, "within": {10, 0.109, false}, "a tenth more": {10, 0.1101, true}, "a point of many": {50, 0.489, true},
		"less than a point": {50, 0.491, false}, "a tenth of few": {1, 0.0112, true}, "none asked for": {0, 0.001, false}, "all": {100, 1, false},
	} {
		s := accounted(func(r *results.Run) {
			r.Cell.ProducePercent, r.Achieved[results.AchievedProduceShare] = c.percent, c.share
		})
		notes := strings.Join(s.Sections()[0].Notes, "\n")
		if strings.Contains(notes, "of the operations were appends") != c.told {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
}

// Latencies above the histograms' range are counted in the histogram, its file and the run, which says so
// in a warning; a reader of the sweep sees them.
func TestLatenciesAboveTheRangeAreTold(t *testing.T) {
	dir, w := create(t)
	for i := range 2 {
		run := testRun(i)
		run.Cell.Strategy = []string{"mutex", "actor"}[i]
		hists := map[string]*results.Histogram{"consume": record(5, 61*second, 62*second)}
		run.Samples = map[string]int64{"consume": 3}
		run.OverRange = map[string]int64{"consume": hists["consume"].OverRange()}
		run.Warnings = []string{"2 consume latencies above 60 s"}
		if err := w.Add(run, whole(hists)); err != nil {
			t.Fatal(err)
		}
	}
	s := load(t, dir)
	hists, err := s.Histograms(&s.Runs[1])
	if err != nil {
		t.Fatal(err)
	}
	if h := hists["consume"]; h.OverRange() != 2 || h.Count() != 3 || s.Runs[1].OverRange["consume"] != 2 {
		t.Errorf("%d of %d over the range, the run has %v", h.OverRange(), h.Count(), s.Runs[1].OverRange)
	}
	for format, text := range rendered(t, s) {
		if !strings.Contains(text, "2 consume latencies above 60 s, in 2 of 2 runs") {
			t.Errorf("%s:\n%s", format, text)
		}
	}
}
