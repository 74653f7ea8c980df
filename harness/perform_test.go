package harness

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/strategies"
	"tailrace/workload"
)

// shapes are the kinds of load that a run can have.
func shapes() []workload.Workload {
	readers := tiny("readers")
	readers.Consumers, readers.Subscriptions = 2, 2
	readers.Pattern, readers.Prefill = workload.Random, 256<<10
	readers.Producers = 1

	catchUp := tiny("catch-up")
	catchUp.Producers, catchUp.Consumers, catchUp.Subscriptions = 1, 2, 2
	catchUp.Pattern, catchUp.Prefill = workload.CatchUp, 256<<10

	consumers := tiny("consumers")
	consumers.Consumers, consumers.Subscriptions = 2, 2
	consumers.Pattern, consumers.Prefill = workload.CatchUp, 256<<10

	producers := tiny("producers")
	producers.Producers = 3

	shared := tinyTail() // one subscription, whose consumers share the partitions
	shared.Name, shared.Subscriptions = "shared", 1

	return []workload.Workload{tinyMix(), tinyTail(), shared, catchUp, readers, consumers, producers}
}

func TestPerformEveryStrategy(t *testing.T) {
	variants := []struct {
		partitions, batch int
		acks              string
		heap              bool
	}{
		{1, 1, workload.AcksLeader, true},
		{3, 7, workload.AcksLeader, false},
		{1, 7, workload.AcksNone, false},
		{3, 1, workload.AcksNone, true},
	}
	one := 2 // in so many meetings of a strategy, a shape and a variant is tried
	if testing.Short() {
		one = 4
	}
	for i, strategy := range strategies.List {
		if strategy.Faulty {
			continue
		}
		for j, w := range shapes() {
			for k, v := range variants {
				if (i+j+k)%one != 0 {
					continue // every variant still meets every strategy and every shape
				}
				w := w
				w.Partitions, w.BatchRecords, w.Acks = v.partitions, v.batch, v.acks
				name := fmt.Sprintf("%s/%s/partitions=%d/batch=%d/acks=%s/heap=%t", strategy.Name, w.Name, v.partitions, v.batch, v.acks, v.heap)
				t.Run(name, func(t *testing.T) {
					dir := ""
					if !v.heap {
						dir = filepath.Join(t.TempDir(), "data")
					}
					o := performUntil(t, specOf(w, strategy.Name, dir), hasOperations)
					wantSound(t, o, strategy, &w)
				})
			}
		}
	}
}

// TestPerformSynced has a sync before every acknowledgement.
func TestPerformSynced(t *testing.T) {
	for _, strategy := range strategies.List {
		if strategy.Faulty {
			continue
		}
		t.Run(strategy.Name, func(t *testing.T) {
			w := tinyTail()
			w.Sync = workload.SyncBatch
			w.Duration = 30 * time.Millisecond
			spec := specOf(w, strategy.Name, filepath.Join(t.TempDir(), "data"))
			wantSound(t, performUntil(t, spec, hasOperations), strategy, &w)
		})
	}
}

// wantSound verifies that a run is valid and that its numbers agree with each other.
func wantSound(t *testing.T, o *Outcome, strategy strategies.Strategy, w *workload.Workload) {
	t.Helper()
	run := &o.Run
	if !run.Valid() {
		t.Fatalf("the run is invalid: %s", run.Verification.Error)
	}
	v := run.Verification
	switch {
	case strategy.StoresNothing:
		if v.Skipped == "" || v.RecordsWalked != 0 {
			t.Errorf("verification %+v of a strategy that stores nothing", v)
		}
	case v.Skipped != "":
		t.Errorf("verification was skipped: %s", v.Skipped)
	case v.RecordsAcked == 0 || v.RecordsAcked != v.RecordsWalked:
		t.Errorf("%d records acknowledged, %d walked", v.RecordsAcked, v.RecordsWalked)
	case v.BatchesCRC < v.RecordsWalked/int64(w.BatchRecords):
		t.Errorf("%d checksums for %d records in batches of %d", v.BatchesCRC, v.RecordsWalked, w.BatchRecords)
	}
	if run.ByteBound {
		t.Error("the byte bound was reached")
	}
	if d := run.Window - w.Duration.Seconds(); math.Abs(d) > 1e-9 {
		t.Errorf("window of %v s, want %v", run.Window, w.Duration)
	}
	if run.Start.IsZero() {
		t.Error("no start")
	}
	// A private log shows no consumer what is appended, so those that follow its end read nothing.
	follows := w.Consumers > 0 && w.Pattern == workload.Tail
	produces := w.Producers > 0 || w.Workers > 0
	consumes := (w.Consumers > 0 || w.Workers > 0) && !(follows && strategy.PrivateFiles)
	if run.Metrics[results.MetricConsumeRecords] > 0 && v.RecordsRead == 0 {
		t.Error("consumers checked no record")
	}
	wantRates(t, run, results.KindProduce, produces, int64(w.BatchRecords))
	wantRates(t, run, results.KindConsume, consumes, 0)
	// A role of many short calls may keep the other off the processors for all of a short window.
	operations := run.Samples[results.KindProduce] + run.Samples[results.KindConsume]
	wantMetric(t, run, results.MetricOps, float64(operations)/run.Window)
	_, endToEnd := run.Samples[results.KindEndToEnd]
	if want := follows && run.Metrics[results.MetricConsumeRecords] > 0; endToEnd != want {
		t.Errorf("end-to-end latencies: %t, want %t", endToEnd, want)
	}
	wantFiniteMetrics(t, run)
	totals := histogramsOf(t, o)
	for kind, n := range run.Samples {
		if h := totals[kind]; h == nil || h.Count() != n || n == 0 {
			t.Errorf("%d samples of %s, and the histogram %v", n, kind, h)
		}
	}
	if len(totals) != len(run.Samples) {
		t.Errorf("%d histograms for %d kinds", len(totals), len(run.Samples))
	}
	for role, j := range run.PerWorkerJain {
		if j <= 0 || j > 1+1e-9 {
			t.Errorf("Jain's index of %s is %v", role, j)
		}
	}
}

// wantRates verifies the rates of a role against its samples; records is how many each operation has,
// 0 if that varies.
func wantRates(t *testing.T, run *results.Run, kind string, played bool, records int64) {
	t.Helper()
	n := run.Samples[kind]
	if !played {
		if n != 0 {
			t.Errorf("%d samples of %s, a role that nobody has", n, kind)
		}
		return
	}
	wantMetric(t, run, kind+"-op/s", float64(n)/run.Window)
	if records > 0 {
		wantMetric(t, run, kind+"-rec/s", float64(n*records)/run.Window)
	}
	for _, unit := range []string{"-rec/s", "-B/s"} {
		if _, ok := run.Metrics[kind+unit]; !ok {
			t.Errorf("no metric %s%s", kind, unit)
		}
	}
}

func wantMetric(t *testing.T, run *results.Run, name string, want float64) {
	t.Helper()
	if got, ok := run.Metrics[name]; !ok || math.Abs(got-want) > 1e-6*want {
		t.Errorf("%s is %v (there: %t), want %v", name, got, ok, want)
	}
}

func wantFiniteMetrics(t *testing.T, run *results.Run) {
	t.Helper()
	for name, v := range run.Metrics {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			t.Errorf("%s is %v", name, v)
		}
	}
	for name, v := range map[string]float64{"steal": run.StealPercent, "other": run.OtherPercent} {
		if math.IsNaN(v) || v < 0 || v > 100.5 {
			t.Errorf("%s is %v %%", name, v)
		}
	}
}

// A worker of a mix that catches up reads in sequence, what it appended too, and then begins again.
func TestMixCatchUp(t *testing.T) {
	w := tinyMix()
	w.Workers, w.Pattern = 1, workload.CatchUp
	w.Prefill = int64(workload.BatchBytes(&w))
	w.FetchBytes = 2 * workload.BatchBytes(&w)
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	_, worker := idle(t, w, "mutex")
	const appends = 9
	for range appends {
		if _, err := worker.append(0, nil); err != nil {
			t.Fatal(err)
		}
	}
	c := worker.clients[0]
	c.position = 0
	var positions []int64
	for range 7 {
		if err := worker.readMixed(0, nil); err != nil {
			t.Fatal(err)
		}
		positions = append(positions, c.position)
	}
	// Ten records, two a read; a read that finds nothing starts again.
	if want := []int64{2, 4, 6, 8, 10, 0, 2}; !slices.Equal(positions, want) {
		t.Errorf("the reads ended at %v, want %v", positions, want)
	}
	o := performUntil(t, specOf(w, "mutex", ""), hasOperations)
	if !o.Run.Valid() {
		t.Error(o.Run.Verification.Error)
	}
}

func TestPerformRolls(t *testing.T) {
	w := tiny("rolls")
	w.Producers = 2
	w.SegmentSize = 4 << 10
	o := performUntil(t, specOf(w, "mutex", ""), func(run *results.Run) bool { return run.Rolls > 0 })
	if !o.Run.Valid() {
		t.Error(o.Run.Verification.Error)
	}
}

func TestPerformUnknownStrategy(t *testing.T) {
	if _, err := perform(specOf(tinyTail(), "mutecks", "")); err == nil {
		t.Error("an unknown strategy was executed")
	}
}

// openLoop is paced well below what any strategy can do.
func openLoop() workload.Workload {
	w := tinyTail()
	w.Name = "paced"
	w.ProduceRate = 4000
	w.Duration = 50 * time.Millisecond
	return w
}

func TestOpenLoopKinds(t *testing.T) {
	w := openLoop()
	w.Pattern, w.Prefill = workload.Random, 256<<10
	w.ConsumeRate = 4000
	for _, strategy := range strategies.List {
		if strategy.Faulty {
			continue
		}
		t.Run(strategy.Name, func(t *testing.T) {
			o := performUntil(t, specOf(w, strategy.Name, ""), func(run *results.Run) bool {
				return run.Samples[results.KindProduce] > 0 && run.Samples[results.KindConsume] > 0
			})
			run := &o.Run
			if !run.Valid() {
				t.Fatal(run.Verification.Error)
			}
			wantFiniteMetrics(t, run)
			totals := histogramsOf(t, o)
			for _, kind := range []string{results.KindProduce, results.KindProduceService, results.KindConsume, results.KindConsumeService} {
				if totals[kind] == nil {
					t.Fatalf("no latencies of the kind %s", kind)
				}
			}
			for _, role := range []string{results.KindProduce, results.KindConsume} {
				fromIntended, service := totals[role], totals[role+"-service"]
				if fromIntended.Count() != service.Count() {
					t.Errorf("%s: %d latencies and %d service times", role, fromIntended.Count(), service.Count())
				}
				if fromIntended.Sum() < service.Sum() {
					t.Errorf("%s: from the intended time it took less (%d ns) than from the actual start (%d ns)",
						role, fromIntended.Sum(), service.Sum())
				}
			}
			lateness, ok := totals[results.KindProduceLateness]
			if !ok {
				t.Fatal("no lateness of the load")
			}
			if most := run.Samples[results.KindProduce] + run.Samples[results.KindConsume]; lateness.Count() > most {
				t.Errorf("%d latenesses of %d operations", lateness.Count(), most)
			}
			if _, ok := run.Metrics[results.LatencyMetric(results.KindProduceLateness, "max")]; !ok {
				t.Error("the lateness is not among the metrics")
			}
			if run.Overloaded {
				if _, ok := run.Metrics[results.LatencyMetric(results.KindProduce, "p50")]; ok {
					t.Error("an overloaded run has latencies")
				}
				return
			}
			// The schedule decides how many are done, and an operation or two fall over each end.
			for role, rate := range map[string]float64{results.KindProduce: w.ProduceRate, results.KindConsume: w.ConsumeRate} {
				if done, due := float64(run.Samples[role]), rate*run.Window; done < overload*due-2 {
					t.Errorf("%s: %v of %v operations, and not overloaded", role, done, due)
				}
			}
		})
	}
}

// An open loop does what is due by the end of the window, and no more: its schedule never runs ahead.
func TestOpenLoopNeverRunsAhead(t *testing.T) {
	for _, batch := range []int{1, 7} {
		w := openLoop()
		w.BatchRecords = batch
		r, err := newRun(specOf(w, "mutex", ""))
		if err != nil {
			t.Fatal(err)
		}
		workers, bodies := r.workers()
		r.load(workers, bodies)
		var sent int64
		for _, p := range workers {
			for _, c := range p.clients {
				sent += c.ledger.records
			}
		}
		due := w.ProduceRate * (float64(r.stopAt()-r.start) / 1e9)
		if slack := float64(batch * w.Producers); float64(sent) > due+slack {
			t.Errorf("batches of %d: %d records sent, %v were due", batch, sent, due)
		}
	}
}

// overloaded reports what a run makes of workers that did so many appends, reads and empty reads of one
// record a batch each in its window.
func overloaded(load workload.Workload, appends, reads, empty int64) bool {
	r := &run{spec: Spec{Workload: load}, partitions: []*partition{{}}}
	r.closing.Store(int64(load.Duration))
	w := &worker{run: r, id: 1, role: roleBoth, part: newPart(&r.spec.Workload, roleBoth)}
	for range appends {
		w.part.produce.add(0, 0, 1000, 0, int64(load.BatchRecords), 1000)
	}
	for range reads {
		w.part.consume.add(0, 0, 1000, 0, 1, 1000)
	}
	w.part.consume.empty = empty
	collect(r, w)
	var o Outcome
	r.report(&o, []*worker{w}, measured{elapsed: load.Duration}, results.Verification{})
	return o.Run.Overloaded
}

func TestOverloaded(t *testing.T) {
	paced := openLoop()
	paced.Producers, paced.Consumers, paced.Subscriptions, paced.BatchRecords = 1, 1, 1, 1
	paced.Duration = time.Second
	paced.ProduceRate, paced.ConsumeRate = 1000, 0

	// 4.9 appends of 70 records are due in the window; one fell over its end.
	batches := paced
	batches.Consumers, batches.BatchRecords, batches.ProduceRate = 0, 70, 4.9*70

	both := paced
	both.ConsumeRate = 4000

	random := paced
	random.Pattern = workload.Random

	for name, test := range map[string]struct {
		load                  workload.Workload
		appends, reads, empty int64
		want                  bool
	}{
		"all in time":                        {paced, 1000, 1000, 0, false},
		"a batch over the end of the window": {batches, 4, 0, 0, false},
		"half of the appends":                {paced, 500, 500, 0, true},
		"consumers a little behind":          {paced, 1000, 950, 0, false},
		"consumers fall behind":              {paced, 1000, 500, 0, true},
		"readers who follow nobody":          {random, 1000, 500, 0, false},
		"reads that find nothing are kept":   {both, 1000, 1000, 3000, false},
		"reads that are not done":            {both, 1000, 1000, 1000, true},
	} {
		if got := overloaded(test.load, test.appends, test.reads, test.empty); got != test.want {
			t.Errorf("%s: overloaded is %t, want %t", name, got, test.want)
		}
	}
}

func TestOverloadedRunHasNoLatencies(t *testing.T) {
	w := openLoop()
	w.ProduceRate = 1e9
	o := performUntil(t, specOf(w, "mutex", ""), func(run *results.Run) bool { return run.Samples[results.KindProduce] > 0 })
	run := &o.Run
	if !run.Valid() {
		t.Fatal(run.Verification.Error)
	}
	if !run.Overloaded {
		t.Fatal("a billion records a second, and the run is not overloaded")
	}
	for _, kind := range []string{results.KindProduce, results.KindConsume, results.KindEndToEnd, results.KindProduceService} {
		for _, q := range results.Quantiles {
			if v, ok := run.Metrics[results.LatencyMetric(kind, q)]; ok {
				t.Errorf("%s %s is %v in an overloaded run", kind, q, v)
			}
		}
	}
	if run.Metrics[results.MetricProduceRecords] <= 0 || histogramsOf(t, o)[results.KindProduce] == nil {
		t.Error("the rate and the histograms of an overloaded run are missing")
	}
}

// TestPerformCatchesBusted: the strategy that is wrong on purpose is caught, and has no numbers.
func TestPerformCatchesBusted(t *testing.T) {
	w := tinyTail()
	w.Duration = 200 * time.Millisecond
	for _, dir := range []string{"", filepath.Join(t.TempDir(), "data")} {
		if dir == "" && raceDetector {
			continue // its race is no accident
		}
		const tries = 5
		var o *Outcome
		for i := range tries {
			spec := specOf(w, "busted", dir)
			if dir != "" {
				spec.Dir = fmt.Sprintf("%s-%d", dir, i)
			}
			if o = mustPerform(t, spec); !o.Run.Valid() {
				break
			}
		}
		run := &o.Run
		if run.Valid() {
			t.Fatalf("busted was not caught in %d tries (data in %q)", tries, dir)
		}
		if len(run.Metrics)+len(run.Samples)+len(o.Intervals) > 0 || run.Window != 0 {
			t.Errorf("a faulty run has numbers: %v %v", run.Metrics, run.Samples)
		}
	}
}

// A violation stops all workers of a run, those too that wait for data or for their time.
func TestFailureStopsTheRun(t *testing.T) {
	w := tinyTail()
	w.Duration = time.Hour
	w.ProduceRate = 0.001 // the consumers wait, and so do the producers
	r, err := newRun(specOf(w, "mutex", ""))
	if err != nil {
		t.Fatal(err)
	}
	workers, bodies := r.workers()
	bodies[len(bodies)-1] = func() error { return violationf("planted") }
	bodies[0] = func() error { return nil } // or it would sleep for its intended time
	bodies[1] = bodies[0]
	r.load(workers, bodies)
	for _, worker := range workers {
		r.settle(worker)
	}
	if v := r.verify(workers); v.Error != "planted" {
		t.Errorf("the run says %q, want the planted violation", v.Error)
	}
}

// The first violation is the one that is told.
func TestFirstFailureIsKept(t *testing.T) {
	r, err := newRun(specOf(tinyTail(), "mutex", ""))
	if err != nil {
		t.Fatal(err)
	}
	r.fail(violationf("first"))
	r.fail(fmt.Errorf("second: %w", segment.ErrCorrupt))
	if got := r.failure.Load().text; got != "first" {
		t.Errorf("the run tells %q, want the first violation", got)
	}
	if r.inWindow(0) || r.stopAt() > 0 {
		t.Error("the run goes on after a violation")
	}
}
