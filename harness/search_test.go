package harness

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// sought is the search of one strategy, before its first run.
func sought() *bracket {
	w := tiny("search")
	w.Producers, w.Search = 2, true
	return &bracket{cell: &PlannedCell{Workload: w}, tries: map[float64]*tries{}}
}

// simulated is a machine that does a closed loop, and keeps a rate, or not.
type simulated struct {
	closed float64
	passes func(rate float64) bool
}

// find lets a search come to its end on a machine.
func (m simulated) find(t *testing.T) *bracket {
	t.Helper()
	b := sought()
	for i := 0; !b.done; i++ {
		if i > mostProbes+1 {
			t.Fatalf("no end after %d runs", i)
		}
		if math.IsNaN(b.next) || math.IsInf(b.next, 0) || b.next < 0 || i > 0 && b.next == 0 {
			t.Fatalf("run %d is to have the rate %v", i, b.next)
		}
		cell := b.probe()
		if cell.Workload.ProduceRate != b.next || cell.Cell.ProduceRate != b.next || cell.Workload.Search {
			t.Fatalf("run %d at %v has the rates %v and %v", i, b.next, cell.Workload.ProduceRate, cell.Cell.ProduceRate)
		}
		run := &results.Run{Index: i, Metrics: map[string]float64{}}
		if b.next == 0 {
			run.Metrics[results.MetricProduceRecords] = m.closed
		} else {
			run.Overloaded = !m.passes(b.next)
		}
		b.learn(run)
	}
	if b.found.Pass < 0 || b.found.Fail < 0 || math.IsNaN(b.found.Pass+b.found.Fail) || b.found.Fail > 0 && b.found.Pass >= b.found.Fail {
		t.Fatalf("found %v and %v", b.found.Pass, b.found.Fail)
	}
	return b
}

// wantConfirmed verifies that most of several runs at a rate agree.
func wantConfirmed(t *testing.T, b *bracket, rate float64, pass bool) {
	t.Helper()
	var passed, failed int
	for i, p := range b.found.Probes {
		if p.Rate != rate {
			continue
		}
		if p.Confirms != (passed+failed > 0) {
			t.Errorf("probe %d at %v confirms: %t", i, rate, p.Confirms)
		}
		if p.Passed {
			passed++
		} else {
			failed++
		}
	}
	if max(passed, failed) <= confirmations/2 || passed > failed != pass {
		t.Errorf("at %v %d runs passed and %d failed, which is to be %t", rate, passed, failed, pass)
	}
}

// A machine that is always the same is known to the precision of the search.
func TestSearchFinds(t *testing.T) {
	for _, closed := range []float64{3, 40, 1234.5, 1e5, 3.3e6, 1e8} {
		for _, share := range []float64{0.001, 0.1, 0.3, 0.49, 0.5, 0.51, 0.9, 1, 1.7, 20} {
			capacity := closed * share
			b := simulated{closed, func(rate float64) bool { return rate <= capacity }}.find(t)
			f := &b.found
			if f.Reason != "" || f.Closed != closed {
				t.Errorf("capacity %v of %v: %q, closed %v", capacity, closed, f.Reason, f.Closed)
			}
			if len(f.Probes) > 40 {
				t.Errorf("capacity %v of %v took %d runs", capacity, closed, len(f.Probes))
			}
			switch {
			case capacity < lowestRate:
				if f.Pass != 0 || f.Fail == 0 || f.Fail > lowestRate {
					t.Errorf("capacity %v: found %v and %v", capacity, f.Pass, f.Fail)
				}
				wantConfirmed(t, b, f.Fail, false)
				continue
			case capacity >= highestRate:
				if f.Pass < highestRate || f.Fail != 0 {
					t.Errorf("capacity %v: found %v and %v", capacity, f.Pass, f.Fail)
				}
				wantConfirmed(t, b, f.Pass, true)
				continue
			}
			// Rates have three digits.
			if f.Pass > capacity || f.Fail <= capacity || f.Fail/f.Pass > searchPrecision+0.01 {
				t.Errorf("capacity %v of %v: found %v to %v", capacity, closed, f.Pass, f.Fail)
			}
			wantConfirmed(t, b, f.Pass, true)
			wantConfirmed(t, b, f.Fail, false)
		}
	}
}

// A machine that is now faster and now slower is known about as well as it knows itself.
func TestSearchFindsWithNoise(t *testing.T) {
	const closed, capacity, noise = 1e6, 7e5, 0.05
	ended := 0
	const seeds = 200
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 0))
		b := simulated{closed, func(rate float64) bool { return rate <= capacity*math.Exp(noise*rng.NormFloat64()) }}.find(t)
		f := &b.found
		if f.Reason != "" {
			continue
		}
		ended++
		wantConfirmed(t, b, f.Pass, true)
		wantConfirmed(t, b, f.Fail, false)
		if off := math.Log(math.Sqrt(f.Pass*f.Fail) / capacity); math.Abs(off) > 4*noise {
			t.Errorf("seed %d: found %v to %v of %v", seed, f.Pass, f.Fail, float64(capacity))
		}
	}
	if ended < seeds*9/10 {
		t.Errorf("%d of %d searches came to an end", ended, seeds)
	}
}

// Machines that contradict themselves end the search all the same, and it says so if it has learnt nothing.
func TestSearchEnds(t *testing.T) {
	flips := 0
	rng := rand.New(rand.NewPCG(1, 1))
	for name, passes := range map[string]func(float64) bool{
		"in turns":       func(float64) bool { flips++; return flips%2 == 0 },
		"at random":      func(float64) bool { return rng.IntN(2) == 0 },
		"nothing":        func(float64) bool { return false },
		"everything":     func(float64) bool { return true },
		"the wrong way":  func(rate float64) bool { return rate > 5000 },
		"islands":        func(rate float64) bool { return int(math.Log2(rate))%2 == 0 },
		"once in a time": func(float64) bool { return rng.IntN(10) == 0 },
	} {
		for _, closed := range []float64{0.4, 1, 10_000, 1e12} {
			b := simulated{closed, passes}.find(t)
			if len(b.found.Probes) > mostProbes {
				t.Errorf("%s: %d probes", name, len(b.found.Probes))
			}
			if b.found.Reason != "" && len(b.found.Probes) < mostProbes {
				t.Errorf("%s: gave up after %d probes: %s", name, len(b.found.Probes), b.found.Reason)
			}
		}
	}
}

// Without a result of the closed loop there is nothing to begin with. A busy machine may have none at first.
func TestSearchWithoutClosedLoop(t *testing.T) {
	for name, c := range map[string]struct {
		run  *results.Run
		says string
		runs int
	}{
		"no metric": {&results.Run{Unmeasured: "nothing ended"}, "nothing ended", confirmations},
		"none done": {&results.Run{Metrics: map[string]float64{results.MetricProduceRecords: 0}}, "closed loop", confirmations},
		"no number": {&results.Run{Metrics: map[string]float64{results.MetricProduceRecords: math.NaN()}}, "closed loop", confirmations},
		"wrong answers": {&results.Run{Metrics: map[string]float64{results.MetricProduceRecords: 1000},
			Verification: results.Verification{Error: "it was wrong"}}, "it was wrong", 1},
	} {
		b := sought()
		runs := 0
		for ; !b.done && runs < 2*confirmations; runs++ {
			b.learn(c.run)
		}
		if runs != c.runs || !strings.Contains(b.found.Reason, c.says) || b.found.Pass != 0 || b.found.Fail != 0 {
			t.Errorf("%s: after %d runs %q, %v to %v", name, runs, b.found.Reason, b.found.Pass, b.found.Fail)
		}
	}
	b := sought()
	b.learn(&results.Run{})
	b.learn(&results.Run{Metrics: map[string]float64{results.MetricProduceRecords: 1000}})
	if b.done || b.next != 500 {
		t.Errorf("after a run without operations and one with: done %t, next %v", b.done, b.next)
	}
}

// A rate at which a window has too few samples for what is asked of it is not tried.
func TestSearchBelowItsFloor(t *testing.T) {
	for _, c := range []struct {
		objectives string
		closed     float64
		duration   time.Duration
		floor      float64 // 0: there is nothing to try
	}{
		{"", 0.4, time.Second, 1},
		{"", 3, time.Second, 1},
		{"p50", 1000, time.Second, 22},
		{"p99", 1000, time.Second, 0},
		{"p99", 2000, time.Second, 1100},
		{"p99", 1000, 10 * time.Second, 110},
		{"p999", 10_000, time.Second, 0},
		{"max", 3, time.Second, 1},
	} {
		b := sought()
		b.cell.Workload.Duration = c.duration
		if c.objectives != "" {
			b.cell.Workload.Objectives = []workload.Objective{{Kind: results.KindProduce, Statistic: c.objectives, Limit: time.Second}}
			b.found.Objectives = []string{b.cell.Workload.Objectives[0].String()}
		}
		b.learn(&results.Run{Metrics: map[string]float64{results.MetricProduceRecords: c.closed}})
		if b.done != (c.floor == 0) || (b.found.Reason != "") != b.done || c.floor > 0 && math.Abs(b.found.Floor-c.floor) > c.floor/100 {
			t.Errorf("%s of %v/s in %v: done %t, floor %v, %q", c.objectives, c.closed, c.duration, b.done, b.found.Floor, b.found.Reason)
		}
		if !b.done && b.next < b.found.Floor {
			t.Errorf("%s of %v/s in %v: begins at %v, below %v", c.objectives, c.closed, c.duration, b.next, b.found.Floor)
		}
		if strings.Contains(b.found.Reason, "  ") {
			t.Errorf("the reason reads badly: %q", b.found.Reason)
		}
	}
}

// What a probe measured of the objectives stands beside its outcome.
func TestSearchMeasures(t *testing.T) {
	b := sought()
	b.cell.Workload.Objectives = []workload.Objective{
		{Kind: results.KindProduce, Statistic: "p99", Limit: 2 * time.Millisecond},
		{Kind: results.KindEndToEnd, Statistic: "p99", Limit: 10 * time.Millisecond},
		{Kind: results.KindConsume, Statistic: "p99", Limit: 10 * time.Millisecond},
	}
	got := b.measured(&results.Run{
		Metrics: map[string]float64{results.LatencyMetric(results.KindProduce, "p99"): 1.5e-3},
		Bounds:  map[string]float64{results.LatencyMetric(results.KindEndToEnd, "p99"): 4e-3},
	})
	if want := []string{"produce p99 1.5 ms", "e2e p99 ≤ 4.0 ms"}; !slices.Equal(got, want) {
		t.Errorf("measured %q, want %q", got, want)
	}
}

// A run that had to end because of what it may write says nothing of the rate.
func TestSearchEndsAtTheByteBound(t *testing.T) {
	b := sought()
	b.learn(&results.Run{Metrics: map[string]float64{results.MetricProduceRecords: 100_000}})
	if b.done {
		t.Fatal(b.found.Reason)
	}
	b.learn(&results.Run{Metrics: map[string]float64{}, ByteBound: true})
	if !b.done || !strings.Contains(b.found.Reason, "--max-bytes") || b.found.Fail != 0 || len(b.found.Probes) != 0 {
		t.Errorf("done %t, %q, failed at %v, %d probes", b.done, b.found.Reason, b.found.Fail, len(b.found.Probes))
	}
}

func TestSearchMisses(t *testing.T) {
	b := sought()
	b.cell.Workload.Objectives = []workload.Objective{
		{Kind: results.KindProduce, Statistic: "p99", Limit: 2 * time.Millisecond},
		{Kind: results.KindEndToEnd, Statistic: "max", Limit: 10 * time.Millisecond},
	}
	produce, endToEnd := results.LatencyMetric(results.KindProduce, "p99"), results.LatencyMetric(results.KindEndToEnd, "max")
	good := map[string]float64{produce: 0.0019, endToEnd: 0.0099}
	for _, c := range []struct {
		name string
		run  results.Run
		says []string // nil: it counts
	}{
		{"good", results.Run{Metrics: good}, nil},
		{"wrong answers", results.Run{Metrics: good, Verification: results.Verification{Error: "wrong"}}, []string{"wrong"}},
		{"unmeasured", results.Run{Unmeasured: "no window"}, []string{"no window"}},
		{"overloaded", results.Run{Metrics: good, Overloaded: true}, []string{"not kept"}},
		{"too few samples", results.Run{Metrics: map[string]float64{endToEnd: 0.001}}, []string{"produce p99", "not known"}},
		{"faster than the load's lateness", results.Run{Metrics: map[string]float64{endToEnd: 0.001}, Bounds: map[string]float64{produce: 0.0019}}, nil},
		{"perhaps too slow", results.Run{Metrics: map[string]float64{endToEnd: 0.001}, Bounds: map[string]float64{produce: 0.0021}}, []string{"produce p99", "2.1", "lateness"}},
		{"too slow", results.Run{Metrics: map[string]float64{produce: 0.0021, endToEnd: 0.001}}, []string{"produce p99", "2.1"}},
		{"just the limit", results.Run{Metrics: map[string]float64{produce: 0.002, endToEnd: 0.001}}, []string{"produce p99"}},
		{"the second too slow", results.Run{Metrics: map[string]float64{produce: 0.001, endToEnd: 0.5}}, []string{"max", "500"}},
		{"the second not known", results.Run{Metrics: map[string]float64{produce: 0.001}}, []string{"max", "not known"}},
	} {
		got, unknown := b.misses(&c.run)
		if want := strings.Contains(got, "not known") || strings.Contains(got, "lateness") || strings.Contains(got, "no window"); unknown != want {
			t.Errorf("%s: unknown %t", c.name, unknown)
		}
		if (got == "") != (c.says == nil) || strings.Contains(got, "\n") {
			t.Errorf("%s: %q", c.name, got)
		}
		for _, part := range c.says {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q does not say %q", c.name, got, part)
			}
		}
	}
}

func TestRounded(t *testing.T) {
	for rate, want := range map[float64]float64{1: 1, 1.2345: 1.23, 9.999: 10, 123.4: 123, 98765: 98_800, 1e8: 1e8, 0.012349: 0.0123} {
		if got := rounded(rate); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%v is rounded to %v, want %v", rate, got, want)
		}
	}
}

// searching is a sweep that is a search alone, on the heap, in windows of 40 ms.
func searching(t *testing.T, strategies ...string) Options {
	t.Helper()
	o := tinySweep(t, childWorks)
	w := tiny("search")
	w.Producers, w.Search, w.Primary = 2, true, results.MetricProduceOps
	w.Ramp, w.Duration = 2*time.Millisecond, 40*time.Millisecond
	w.MaxBytes = 64 << 20
	o.Workloads, o.Strategies = []workload.Workload{w}, strategies
	o.Storage, o.Dir = StorageHeap, ""
	return o
}

func TestSweepSearches(t *testing.T) {
	o := searching(t, "mutex", "actor")
	var last Progress
	o.Progress = func(p Progress) {
		if p.Done < last.Done || p.Left < 0 {
			t.Errorf("%d done after %d, %v left", p.Done, last.Done, p.Left)
		}
		last = p
	}
	p := mustPlan(t, o)
	if p.Estimate <= 0 {
		t.Errorf("the estimate of a search is %v", p.Estimate)
	}
	s, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	wantSearches(t, s, "mutex", "actor")
	if last.Done != len(s.Runs) || last.Total < last.Done {
		t.Errorf("%d runs, and in the end %d of %d are done", len(s.Runs), last.Done, last.Total)
	}
}

// wantSearches verifies that the searches of a sweep are finished, and what they say of its runs.
func wantSearches(t *testing.T, s *results.Sweep, strategies ...string) {
	t.Helper()
	if len(s.Meta.Searches) != len(strategies) {
		t.Fatalf("%d searches, want %d", len(s.Meta.Searches), len(strategies))
	}
	probes := 0
	for i, f := range s.Meta.Searches {
		if f.Strategy != strategies[i] || f.Workload != "search" || !(f.Closed > 0) || len(f.Probes) == 0 {
			t.Errorf("search %d: %+v", i, f)
		}
		if f.Reason == "" && (f.Pass == 0 && f.Fail > lowestRate || f.Fail == 0 && f.Pass < highestRate ||
			f.Pass > 0 && f.Fail > 0 && f.Fail/f.Pass > searchPrecision+0.01) {
			t.Errorf("%s: found %v to %v", f.Strategy, f.Pass, f.Fail)
		}
		for _, p := range f.Probes {
			at := slices.IndexFunc(s.Runs, func(r results.Run) bool { return r.Index == p.Run })
			if at < 0 || s.Runs[at].Cell.ProduceRate != p.Rate || s.Runs[at].Cell.Strategy != f.Strategy {
				t.Errorf("%s: probe at %v is run %d, at %d", f.Strategy, p.Rate, p.Run, at)
			}
		}
		probes += 1 + len(f.Probes)
	}
	if probes != len(s.Runs) {
		t.Errorf("%d runs, and %d probes", len(s.Runs), probes)
	}
	for i, run := range s.Runs {
		if run.Index != i || !run.Valid() {
			t.Errorf("run %d has index %d: %s", i, run.Index, run.Verification.Error)
		}
	}
}

// A search is of one build, on one machine.
func TestPlanRefusesSearch(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		says   []string
	}{
		{func(o *Options) { o.Shard = Shard{1, 2} }, []string{"--shard 1/2", "search"}},
		{func(o *Options) { o.Against = buildTailrace(t) }, []string{"--against", "search"}},
		{func(o *Options) { o.Strategies = []string{"mutex", "raw"} }, []string{"raw"}},
	} {
		o := searching(t, "mutex")
		c.change(&o)
		p, err := NewPlan(context.Background(), o)
		wantUsage(t, p, err, c.says...)
	}
}
