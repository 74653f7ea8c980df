package harness

import (
	"fmt"
	"math"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// The same operations are in the intervals, the totals, the samples and the series.
func TestIntervalsAddUp(t *testing.T) {
	paced := tinyMix()
	paced.Name, paced.Rate = "paced", 4000
	for _, w := range []workload.Workload{tinyMix(), tinyTail(), openLoop(), paced} {
		t.Run(w.Name, func(t *testing.T) {
			w.Duration = 350 * time.Millisecond
			o := performUntil(t, specOf(w, "mutex", ""), hasOperations)
			if !o.Run.Valid() {
				t.Fatal(o.Run.Verification.Error)
			}
			counts := map[string]int64{}
			for i, interval := range intervalsOf(t, o) {
				if number := interval.Start / 0.1; math.Abs(number-math.Round(number)) > 1e-6 ||
					i > 0 && interval.Start < o.Intervals[i-1].Start ||
					!(interval.Length > 0) || interval.Start+interval.Length > o.Run.Window+1e-9 {
					t.Errorf("interval %d from %v s, %v s long, in a window of %v s", i, interval.Start, interval.Length, o.Run.Window)
				}
				for kind, h := range interval.Histograms {
					counts[kind] += h.Count()
				}
			}
			if len(counts) != len(o.Run.Samples) {
				t.Errorf("the intervals have %v, the run %v", counts, o.Run.Samples)
			}
			for kind, n := range o.Run.Samples {
				if counts[kind] != n {
					t.Errorf("%s: %d in the intervals, %d in the run", kind, counts[kind], n)
				}
			}
			wantSeries(t, &o.Run, 4)
		})
	}
}

// wantSeries verifies a series of so many intervals, in all of which something was done, against the run.
func wantSeries(t *testing.T, run *results.Run, intervals int) {
	t.Helper()
	s := run.Series
	if s == nil {
		t.Fatal("no series")
	}
	for _, kind := range []string{results.KindProduce, results.KindConsume} {
		var sum int64
		for _, n := range s.Operations[kind] {
			sum += n
		}
		if sum != run.Samples[kind] {
			t.Errorf("%s: %d operations in the series, %d in the run", kind, sum, run.Samples[kind])
		}
		if len(s.Operations[kind]) > intervals {
			t.Errorf("%s: %d intervals, the window has %d", kind, len(s.Operations[kind]), intervals)
		}
	}
	for metric, values := range s.Quantiles {
		if len(values) > intervals {
			t.Errorf("%s: %d intervals, the window has %d", metric, len(values), intervals)
		}
		for i, v := range values {
			if v != nil && !(*v > 0 && !math.IsInf(*v, 0)) {
				t.Errorf("%s of interval %d is %v", metric, i, *v)
			}
		}
	}
}

func TestIntervalLength(t *testing.T) {
	const day = 24 * time.Hour
	for _, workers := range []int{1, 2, 63, 64, 65, 128, 129, 1000, 2000, 10_000} {
		for _, window := range []time.Duration{1, time.Millisecond, 99 * time.Millisecond, time.Second, 9*time.Minute + 59*time.Second,
			10 * time.Minute, 10*time.Minute + 1, time.Hour, day} {
			length := time.Duration(intervalLength(workers, window))
			shortest := shortestInterval * time.Duration((workers+intervalWorkers-1)/intervalWorkers)
			switch intervals := int64((window + length - 1) / length); {
			case length%shortest != 0:
				t.Errorf("%d workers, %v: intervals of %v are no multiple of %v", workers, window, length, shortest)
			case intervals > mostIntervals:
				t.Errorf("%d workers, %v: %d intervals", workers, window, intervals)
			case length > shortest && (window+length-shortest-1)/(length-shortest) <= mostIntervals:
				t.Errorf("%d workers, %v: intervals of %v could be shorter", workers, window, length)
			}
		}
	}
}

// collecting is a run that is as if under way, with its workers, whose collector takes nothing yet.
func collecting(t *testing.T, load workload.Workload) (*run, []*worker) {
	t.Helper()
	r, err := newRun(specOf(load, "null", ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.prefill(); err != nil {
		t.Fatal(err)
	}
	workers, _ := r.workers()
	r.closing.Store(int64(load.Duration))
	return r, workers
}

// did hands over what a worker has done in an interval: so many appends, each a microsecond longer than its
// number.
func did(w *worker, interval int64, appends int) {
	w.part.interval = interval
	for i := range appends {
		w.part.produce.add(0, 0, 1000*int64(i+1), 0, 1, 100)
	}
	w.handOver()
}

// reportOf is what a run reports whose workers have handed everything over.
func reportOf(r *run, workers []*worker) *Outcome {
	r.collector.close()
	o := new(Outcome)
	r.report(o, workers, measured{elapsed: r.spec.Workload.Duration}, results.Verification{})
	return o
}

func startCollector(r *run) {
	r.collector.done.Add(1)
	go r.collector.collect()
}

// A part of an interval that has been closed counts like all others.
func TestLateParts(t *testing.T) {
	load := tinyMix()
	load.Workers, load.Duration = 2, 2*time.Second
	r, workers := collecting(t, load)
	startCollector(r)
	for interval := range int64(3 * openIntervals) {
		did(workers[0], interval, 10)
	}
	did(workers[1], 0, 5) // it was inside one call until now
	did(workers[1], 3*openIntervals+1, 7)
	o := reportOf(r, workers)
	const all = 10*3*openIntervals + 5 + 7
	if n := o.Run.Samples[results.KindProduce]; n != all {
		t.Errorf("%d appends, want %d", n, all)
	}
	if n := histogramsOf(t, o)[results.KindProduce].Count(); n != all {
		t.Errorf("%d appends in the intervals, want %d", n, all)
	}
	wantMetric(t, &o.Run, results.MetricProduceOps, all/2.)
	wantSeries(t, &o.Run, 20)
	for i := 1; i < len(o.Intervals); i++ {
		if o.Intervals[i].Start < o.Intervals[i-1].Start {
			t.Errorf("interval %d begins at %v s, the one before at %v s", i, o.Intervals[i].Start, o.Intervals[i-1].Start)
		}
	}
	produced := o.Run.Series.Operations[results.KindProduce]
	if len(produced) < 3*openIntervals+2 || produced[1] != 10 || produced[3*openIntervals] != 0 || produced[3*openIntervals+1] != 7 {
		t.Errorf("the series of appends is %v", produced)
	}
}

// Intervals in which nothing ended are gaps in the series.
func TestSeriesGaps(t *testing.T) {
	load := tinyMix()
	load.Workers, load.Duration = 1, 2*time.Second
	r, workers := collecting(t, load)
	startCollector(r)
	did(workers[0], 3, 2000)
	did(workers[0], 7, 30)
	s := reportOf(r, workers).Run.Series
	for name, got := range map[string]string{
		"[0 0 0 2000 0 0 0 30 0 0 0 0 0 0 0 0 0 0 0 0]": fmt.Sprint(s.Operations[results.KindProduce]),
		"[0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]":     fmt.Sprint(s.Operations[results.KindConsume]),
	} {
		if got != name {
			t.Errorf("the series is %s, want %s", got, name)
		}
	}
	for quantile, want := range map[string][]int{"p50": {3, 7}, "p99": {3}} {
		values := s.Quantiles[results.LatencyMetric(results.KindProduce, quantile)]
		if len(values) != 20 {
			t.Errorf("%s has %d intervals, want 20", quantile, len(values))
			continue
		}
		known := []int{}
		for i, v := range values {
			if v != nil {
				known = append(known, i)
			}
		}
		if fmt.Sprint(known) != fmt.Sprint(want) {
			t.Errorf("%s is known of the intervals %v, want %v", quantile, known, want)
		}
	}
	if _, ok := s.Quantiles[results.LatencyMetric(results.KindConsume, "p50")]; ok {
		t.Error("a series of latencies that nobody has")
	}
}

// Workers that hand over more than may wait, faster than it is added up, go on, and nothing is lost.
func TestCollectorKeepsUp(t *testing.T) {
	load := tinyMix()
	load.Workers, load.Duration = 3, 500*time.Millisecond
	r, workers := collecting(t, load)
	startCollector(r)
	intervals := 10 * cap(r.collector.given)
	done := make(chan struct{})
	for _, w := range workers {
		go func() {
			for i := range intervals {
				did(w, int64(i), 3)
			}
			done <- struct{}{}
		}()
	}
	for range workers {
		<-done
	}
	r.collector.close()
	if got, want := r.collector.window.produce.operations, int64(3*intervals*len(workers)); got != want {
		t.Errorf("%d appends were added up, want %d", got, want)
	}
	var counts int64
	for _, k := range r.collector.kept {
		counts += k.tallies[results.KindProduce].histogram().Count()
	}
	if want := int64(3 * intervals * len(workers)); counts != want {
		t.Errorf("%d latencies were added up, want %d", counts, want)
	}
}

// Nobody can be inside calls for longer than the window and what overlaps its beginning.
func TestInside(t *testing.T) {
	paced := openLoop()
	paced.Pattern, paced.Prefill, paced.ConsumeRate = workload.Random, 256<<10, 4000
	for _, w := range append(shapes(), paced) {
		o := performUntil(t, specOf(w, "mutex", ""), hasOperations)
		run := &o.Run
		if !run.Valid() {
			t.Fatal(run.Verification.Error)
		}
		if len(run.Inside) == 0 {
			t.Errorf("%s: nobody was inside calls", w.Name)
		}
		totals := histogramsOf(t, o)
		var longest int64
		for _, kind := range []string{results.KindProduce, results.KindConsume} {
			h := totals[kind]
			if service := totals[kind+"-service"]; service != nil {
				h = service
			}
			if h != nil {
				longest = max(longest, h.Max())
			}
		}
		for role, inside := range run.Inside {
			if most := 1 + float64(longest)/1e9/run.Window + 1e-9; !(inside > 0 && inside <= most) {
				t.Errorf("%s: %s were inside calls for %v of the window, at most %v have room", w.Name, role, inside, most)
			}
		}
	}
}

// What an open loop was asked for is compared with what it did.
func TestAchieved(t *testing.T) {
	load := openLoop()
	load.Producers, load.BatchRecords, load.ProduceRate, load.ConsumeRate = 1, 2, 1000, 500
	load.Duration = 2 * time.Second
	r := &run{spec: Spec{Workload: load}, partitions: []*partition{{}}}
	r.closing.Store(int64(load.Duration))
	w := &worker{run: r, id: 1, role: roleBoth, part: newPart(&r.spec.Workload, roleBoth)}
	for range 750 {
		w.part.produce.add(0, 0, 1000, 0, 2, 100)
	}
	w.part.consume.add(0, 0, 1000, 0, 1, 100)
	w.part.consume.empty = 249
	collect(r, w)
	var o Outcome
	r.report(&o, []*worker{w}, measured{elapsed: load.Duration}, results.Verification{})
	for name, want := range map[string]float64{"produce-rate": 0.75, "consume-rate": 0.25} {
		if got, ok := o.Run.Achieved[name]; !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v (there: %t), want %v", name, got, ok, want)
		}
	}
	if len(o.Run.Achieved) != 2 {
		t.Errorf("achieved %v of what nobody asked for", o.Run.Achieved)
	}
	long := tinyMix()
	long.Duration = 100 * time.Millisecond
	mix := performUntil(t, specOf(long, "mutex", ""), func(run *results.Run) bool {
		return run.Samples[results.KindProduce]+run.Samples[results.KindConsume] > 200
	})
	if share, ok := mix.Run.Achieved["produce-share"]; !ok || math.Abs(share-0.2) > 0.15 {
		t.Errorf("%v of the operations are appends, 0.2 was asked for", share)
	}
}

// Clients that seem to have been inside calls for longer than there was are told of.
func TestInsideIsImpossible(t *testing.T) {
	const window = 0.1
	for calls, want := range map[int]bool{20: false, 25: true} { // of 5 ms, one of which may have begun before
		h := results.NewHistogram()
		for range calls {
			h.Record(int64(5 * time.Millisecond))
		}
		load := tiny("one")
		load.Producers = 1
		r := &run{spec: Spec{Workload: load}}
		found := &results.Run{}
		r.shares(found, []*worker{{role: roleProduce, id: 1}}, map[string]*results.Histogram{results.KindProduce: h}, window)
		if told := len(found.Warnings) == 1; told != want {
			t.Errorf("inside %v: warnings %q", found.Inside, found.Warnings)
		}
	}
}
