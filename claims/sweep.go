package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// place is a number of each run of a cell.
type place struct {
	load, strategy string
	unit           string // of the value; "" for rates
	value          func(*results.Run) (float64, bool)
	overloaded     bool // whether runs count in which a paced load fell behind
}

// ratio is a figure that the sweep gives: of two places within blocks, or the value at one.
type ratio struct {
	name, text  string
	over, under place // under is none for a value
}

// none is no place.
var none = place{}

// at is a metric.
func at(load, strategy, metric string) place {
	unit := ""
	if strings.HasSuffix(metric, "-sec") || metric == results.MetricCPU {
		unit = "s"
	}
	return place{load: load, strategy: strategy, unit: unit, value: func(r *results.Run) (float64, bool) {
		v, ok := r.Metrics[metric]
		return v, ok
	}}
}

// switches are the context switches of an operation in which a thread gave its processor up.
func switches(load, strategy string) place {
	return perOperation(load, strategy, func(r *results.Runtime) int64 { return r.VoluntarySwitches })
}

// preemptions are those in which the kernel took it.
func preemptions(load, strategy string) place {
	return perOperation(load, strategy, func(r *results.Runtime) int64 { return r.InvoluntarySwitches })
}

func perOperation(load, strategy string, count func(*results.Runtime) int64) place {
	return place{load: load, strategy: strategy, unit: "per operation", value: func(r *results.Run) (float64, bool) {
		// A run without any had fewer than one.
		return countPerOperation(max(1, float64(count(&r.Runtime))), r), r.Metrics[results.MetricOps] > 0
	}}
}

func countPerOperation(count float64, r *results.Run) float64 {
	return count / (r.Metrics[results.MetricOps] * r.Window)
}

// schedulerP99 is how long goroutines that were ready waited for a processor. A run of which the runtime, which samples
// these waits, saw none has no value.
func schedulerP99(load, strategy string) place {
	return place{load: load, strategy: strategy, unit: "s", value: func(r *results.Run) (float64, bool) {
		return r.Runtime.SchedulerP99, r.Runtime.SchedulerP99 > 0
	}}
}

var (
	produceP99 = results.LatencyMetric(results.KindProduce, "p99")
	readP99    = results.LatencyMetric(results.KindConsumeService, "p99")
)

// readers is how the reads of n readers compare with those of one.
func readers(name, strategy string, n int) ratio {
	return ratio{name, fmt.Sprintf("reads/s of %d readers over 1, %s", n, strategy),
		at(fmt.Sprintf("readers-%d", n), strategy, results.MetricConsumeOps), at("readers-1", strategy, results.MetricConsumeOps)}
}

func overMutex(name, strategy, load, where string) ratio {
	return ratio{name, fmt.Sprintf("operations/s, %s over mutex, %s", strategy, where), at(load, strategy, results.MetricOps), at(load, "mutex", results.MetricOps)}
}

func appends(name, strategy, baseline, load, where string) ratio {
	return ratio{name, fmt.Sprintf("appends/s, %s over %s, %s", strategy, baseline, where),
		at(load, strategy, results.MetricProduceOps), at(load, baseline, results.MetricProduceOps)}
}

// besideWriters are reads beside writers: a kind of load, and what is measured of its reads.
type besideWriters struct {
	load, metric, figure, text string
	overloaded                 bool // whether runs count in which the writers fell behind
}

var (
	// pacedReads spend a time in their call.
	pacedReads = besideWriters{"reads", readP99, "", "p99 of reads", false}
	// busyReads follow each other in a closed loop. Their rate counts also where the writers fell behind, by how much is a
	// figure: to leave out the runs in which a reader left them least would be to choose by what is measured.
	busyReads = besideWriters{"busy", results.MetricConsumeOps, "-rate", "reads/s of a busy reader", true}
)

// writers are what reads are measured beside, with the load of the same reads alone: beside those that sync, both are
// on a disk.
var writers = []struct{ suffix, beside, alone, text string }{
	{"", "-writes", "-alone", "beside appends"},
	{"-synced", "-syncs", "-alone-disk", "beside synced appends"},
}

// overRaw compares reads beside writers with those beside the same writers where nothing is shared.
func (b besideWriters) overRaw(strategy string) (ratios []ratio) {
	for _, w := range writers {
		ratios = append(ratios, ratio{strategy + b.figure + "-over-raw" + w.suffix, fmt.Sprintf("%s %s, %s over raw", b.text, w.text, strategy),
			b.at(w.beside, strategy), b.at(w.beside, "raw")})
		if b.overloaded {
			producers := b
			producers.metric = results.MetricProduceOps
			ratios = append(ratios, ratio{strategy + b.figure + "-writers" + w.suffix, fmt.Sprintf("%s per second that producers make beside a busy reader, %s over raw", strings.TrimPrefix(w.text, "beside "), strategy),
				producers.at(w.beside, strategy), producers.at(w.beside, "raw")})
		}
	}
	return ratios
}

// overAlone compares reads beside writers with reads alone.
func (b besideWriters) overAlone(strategy string) (ratios []ratio) {
	for _, w := range writers {
		ratios = append(ratios, ratio{strategy + b.figure + "-over-alone" + w.suffix, fmt.Sprintf("%s %s over alone, %s", b.text, w.text, strategy),
			b.at(w.beside, strategy), b.at(w.alone, strategy)})
	}
	return ratios
}

func (b besideWriters) at(load, strategy string) place {
	p := at(b.load+load, strategy, b.metric)
	p.overloaded = b.overloaded
	return p
}

func batchRatios() []ratio {
	perRecord := func(records int, strategy string) place {
		p := at(fmt.Sprintf("batch-%d", records), strategy, results.MetricCPU)
		value := p.value
		p.value = func(r *results.Run) (float64, bool) {
			v, ok := value(r)
			return v / float64(records), ok
		}
		return p
	}
	p50 := results.LatencyMetric(results.KindProduce, "p50")
	var ratios []ratio
	for _, strategy := range []string{"mutex", "actor"} {
		for _, n := range []int{10, 100, 1000} {
			load := fmt.Sprintf("batch-%d", n)
			ratios = append(ratios,
				ratio{fmt.Sprintf("%s-%d", strategy, n), fmt.Sprintf("records/s in batches of %d over single ones, %s", n, strategy),
					at(load, strategy, results.MetricProduceRecords), at("batch-1", strategy, results.MetricProduceRecords)},
				ratio{fmt.Sprintf("%s-cpu-%d", strategy, n), fmt.Sprintf("processor time per record in batches of %d over single ones, %s", n, strategy),
					perRecord(n, strategy), perRecord(1, strategy)},
				ratio{fmt.Sprintf("%s-p50-%d", strategy, n), fmt.Sprintf("p50 of an append of %d records over one of a single record, %s", n, strategy),
					at(load, strategy, p50), at("batch-1", strategy, p50)},
			)
		}
	}
	return ratios
}

// lately is how much there is to read where a figure is of the slowest reads: as little as is read all over again in a
// moment. On the virtual machine of the reference run a pread of a page that is in memory, and was not read lately, can
// take 0.15 ms instead of 4 µs: without a context switch, in the kernel's copy from the page or its search for it, as
// perf shows, and we suppose below the kernel. With 16 MiB to read that was one paced read in a hundred, under every
// strategy, and just where p99 lies.
const lately = 1 << 20

// loads are the workloads of the sweep. Each runs with the strategies that figures need of it, and with raw where
// that is a limit.
func loads() []workload.Workload {
	list := func(n ...int) []int { return n }
	given := func(v float64) *float64 { return &v }
	text := func(v string) *string { return &v }
	size := func(v int64) *int64 { return &v }
	var all []workload.Workload
	add := func(name string, strategies []string, o workload.Overrides) {
		grid, err := workload.Custom(o)
		if err != nil {
			panic(fmt.Sprintf("claims: load %s: %v", name, err)) // there is no file in it
		}
		w := grid[0]
		w.Name, w.Strategies = name, strategies
		all = append(all, w)
	}
	random, prefill := text(string(workload.Random)), size(16<<20)
	fetch := size(8 << 10)
	for _, n := range []int{1, 2, 4, 8} {
		add(fmt.Sprintf("readers-%d", n), []string{"mutex", "rwmutex"}, workload.Overrides{Consumers: list(n), Pattern: random, Prefill: prefill, FetchBytes: fetch})
	}
	for _, percent := range []float64{0, 1, 5, 10, 50} {
		strategies := []string{"mutex", "rwmutex"}
		switch percent {
		case 0:
			strategies = append(strategies, "atomics")
		case 10:
			strategies = append(strategies, "atomics", "actor")
		}
		add(fmt.Sprintf("mix-%g", percent), strategies, workload.Overrides{Workers: list(8), ProducePercent: []float64{percent}, Prefill: prefill})
	}
	// Beside writers that sync, the log is on a disk: so it is for the same readers alone. The reader that never pauses is
	// one, since more of them take the processors from the writers: on two processors two readers left none, and under
	// the actor, where they wait for nothing, the writers fell behind. With 500 synced appends/s in place of 2,000, which
	// a slower disk would keep, the p99 of reads fell between those that meet a sync and those that don't, and varied by a
	// factor of 20 under raw.
	paced := workload.Overrides{Consumers: list(4), ConsumeRate: given(10_000), Pattern: random, Prefill: size(lately), FetchBytes: fetch}
	busy := workload.Overrides{Consumers: list(1), Pattern: random, Prefill: size(lately), FetchBytes: fetch}
	for _, r := range []struct {
		name       string
		strategies []string
		alone      workload.Overrides
	}{{"reads", []string{"mutex", "rwmutex", "actor", "raw"}, paced}, {"busy", []string{"mutex", "actor", "raw"}, busy}} {
		beside := r.alone
		beside.Producers, beside.ProduceRate = list(2), given(2_000)
		add(r.name+"-alone", r.strategies, r.alone)
		add(r.name+"-writes", r.strategies, beside)
		r.alone.Sync, beside.Sync = text(workload.SyncBatch), text(workload.SyncBatch)
		add(r.name+"-alone-disk", r.strategies, r.alone)
		add(r.name+"-syncs", r.strategies, beside)
	}
	owners := []string{"mutex", "atomics", "actor", "mutex-rcu", "mutex-group", "actor-plain"}
	add("ingest-1", []string{"mutex", "actor"}, workload.Overrides{Producers: list(1)})
	add("ingest-8", owners, workload.Overrides{Producers: list(8)})
	add("durable", []string{"mutex", "actor", "mutex-group", "actor-plain"}, workload.Overrides{Producers: list(16), Sync: text(workload.SyncBatch)})
	for _, n := range []int{1, 10, 100, 1000} {
		add(fmt.Sprintf("batch-%d", n), []string{"mutex", "actor"},
			workload.Overrides{Producers: list(4), RecordSize: &workload.RecordSize{Sizes: workload.Sizes{Kind: workload.SizesFixed}, Largest: 100}, BatchRecords: &n})
	}
	return all
}

// needed are the loads that the figures of claims need.
func needed(claims []claim) []workload.Workload {
	return slices.DeleteFunc(loads(), func(w workload.Workload) bool {
		return !slices.ContainsFunc(claims, func(c claim) bool {
			return slices.ContainsFunc(c.ratios, func(r ratio) bool { return r.over.load == w.Name || r.under.load == w.Name })
		})
	})
}

// mostMissing is the share of blocks that may lack a number for its figure to have an interval.
const mostMissing = 0.25

// figureOf computes a figure from the runs of a sweep. Runs that failed verification are left out. Where a quarter of
// the blocks or more lack the number, because runs were overloaded for instance, there is no interval: those that have
// it would be the lucky ones.
func (r *ratio) figureOf(s *results.Sweep, level float64) results.Figure {
	over, under := r.over.byBlock(s), r.under.byBlock(s)
	var logs []float64
	for block, value := range over {
		switch other, ok := under[block]; {
		case r.under.load == "" && value > 0:
			logs = append(logs, math.Log(value))
		case ok && value > 0 && other > 0:
			logs = append(logs, math.Log(value/other))
		}
	}
	slices.Sort(logs) // blocks are in no order
	unit := "×"
	if r.under.load == "" {
		unit = r.over.unit
	}
	return figureOfMost(r.name, r.text, unit, logs, max(r.over.runs(s), r.under.runs(s)), level)
}

// lacking tells how many blocks lack a figure; nothing of a block alone, which is one of several in other processes.
func lacking(lack, blocks int) string {
	if lack == 0 || blocks == 1 {
		return ""
	}
	return fmt.Sprintf("; %d of %d blocks lack it", lack, blocks)
}

// figureOfMost is the figure of what some blocks have. Its text tells of those that lack it, and there is no interval
// where they are a quarter or more.
func figureOfMost(name, text, unit string, logs []float64, blocks int, level float64) results.Figure {
	lack := blocks - len(logs)
	f := results.NewFigure(name, text+lacking(lack, blocks), unit, logs, level)
	if lack > 0 && float64(lack) >= mostMissing*float64(blocks) {
		f.Low, f.High = math.NaN(), math.NaN()
	}
	return f
}

// runs is how many runs of a place were verified.
func (p *place) runs(s *results.Sweep) int {
	n := 0
	for i := range s.Runs {
		if p.is(&s.Runs[i]) {
			n++
		}
	}
	return n
}

// is reports whether a run is one of the place, and its answers were right.
func (p *place) is(run *results.Run) bool {
	return run.Cell.Workload == p.load && run.Cell.Strategy == p.strategy && run.Cell.Arm == "" && run.Valid()
}

func (p *place) byBlock(s *results.Sweep) map[int]float64 {
	values := make(map[int]float64)
	for i := range s.Runs {
		run := &s.Runs[i]
		if !p.is(run) || run.Overloaded && !p.overloaded {
			continue
		}
		if value, ok := p.value(run); ok {
			values[run.Block] = value
		}
	}
	return values
}

// windows are how long a run of the sweep takes and how many blocks there are, and how long an arm of an experiment beside
// it takes its turn, how many times.
type windows struct {
	ramp, duration time.Duration
	paced          time.Duration // in place of duration where reads are paced, so that there are enough of them for a p99
	blocks         int
	turn           time.Duration
	repetitions    int
	deciding       bool // whether figures of the sweep that no condition is about are left out, with their loads
}

var (
	quickWindows = windows{
		ramp: 20 * time.Millisecond, duration: 80 * time.Millisecond, paced: 150 * time.Millisecond, blocks: 8,
		turn: 10 * time.Millisecond, repetitions: 8, deciding: true,
	}
	fullWindows = windows{
		ramp: 150 * time.Millisecond, duration: 400 * time.Millisecond, paced: 400 * time.Millisecond, blocks: 12,
		turn: 50 * time.Millisecond, repetitions: 16,
	}
)

// deciding are those of a claim's figures that a condition is about.
func (c *claim) deciding() []ratio {
	return slices.DeleteFunc(slices.Clone(c.ratios), func(r ratio) bool {
		return !slices.ContainsFunc(c.Conditions, func(d results.Condition) bool { return d.Figure == r.name })
	})
}
