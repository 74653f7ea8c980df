package harness

import (
	"fmt"
	"math"

	"tailrace/results"
	"tailrace/workload"
)

// overload is the share of its rate below which an open loop has not kept up, so that its latencies
// grow with the length of the window and mean nothing.
const overload = 0.98

// behind is the share of what was produced in a window that consumers read in it, below which they have
// fallen behind. A pause at either end of a short window costs a few percent.
const behind = 0.9

// report turns what the workers and the meter saw into the run's record.
func (r *run) report(o *Outcome, workers []*worker, m measured, v results.Verification) {
	run := &o.Run
	run.Start = m.start
	run.Verification = v
	run.ByteBound = r.early.Load()
	run.Rolls = max(0, m.rolls)
	run.StealPercent, run.OtherPercent = 100*m.steal, 100*m.other
	run.Metrics, run.Bounds = map[string]float64{}, map[string]float64{}
	run.Samples = map[string]int64{}
	run.OverRange = map[string]int64{}
	window := float64(r.closing.Load()-r.open) / 1e9
	if v.Error != "" {
		return // a run that failed has no numbers
	}
	if window <= 0 {
		run.Unmeasured = "a producer had written all that it may before the window opened; lower --ramp, or raise --max-bytes"
		return
	}
	sum := r.collector.window
	produce, consume := &sum.produce, &sum.consume
	operations := float64(produce.operations + consume.operations)
	if operations == 0 {
		run.Unmeasured = "no operation ended in the window: something else had the processors, or the window, or the rate, is too small"
		return
	}
	run.Window = window
	run.Runtime = m.runtime
	r.rates(run.Metrics, produce, consume, window)
	if operations > 0 && m.elapsed > 0 {
		// The counters were read a little off the window's ends; they count per time.
		per := window / m.elapsed.Seconds() / operations
		run.Metrics[results.MetricCPU] = m.cpu.Seconds() * per
		run.Metrics[results.MetricSwitches] = float64(m.switches) * per
		run.Metrics[results.MetricAllocs] = float64(m.allocs) * per
		run.Metrics[results.MetricAllocBytes] = float64(m.bytes) * per
	}
	r.drain(run)
	r.achieved(run, window)
	run.Overloaded = r.overloaded(window)
	totals := r.intervals(o, window)
	r.latencies(run, totals)
	r.shares(run, workers, totals, window)
	if r.keeper != nil {
		run.Sustained = r.keeper.result(window)
		for _, p := range r.partitions {
			run.Sustained.Verified += p.walk.ahead
		}
	}
}

// drain reports how long it took to read a backlog.
func (r *run) drain(run *results.Run) {
	switch at := r.drainedAt.Load(); {
	case r.spec.Workload.DrainRatio == 0:
	case at > 0:
		run.Metrics[results.MetricDrain] = float64(at-r.open) / 1e9
	default:
		run.Warnings = append(run.Warnings, "the backlog was not drained inside the window; raise --duration")
	}
}

// achieved compares what was asked for with what was done.
func (r *run) achieved(run *results.Run, window float64) {
	load, sum := &r.spec.Workload, r.collector.window
	run.Achieved = map[string]float64{}
	share := func(name string, done int64, rate float64) {
		if rate > 0 {
			run.Achieved[name] = float64(done) / (rate * window)
		}
	}
	share(results.AchievedProduceRate, sum.produce.records, load.ProduceRate)
	share(results.AchievedConsumeRate, sum.consume.operations+sum.consume.empty, load.ConsumeRate)
	share(results.AchievedRate, sum.produce.operations+sum.consume.operations+sum.consume.empty, load.Rate)
	if all := sum.produce.operations + sum.consume.operations + sum.consume.empty; load.Workers > 0 && all > 0 {
		run.Achieved[results.AchievedProduceShare] = float64(sum.produce.operations) / float64(all)
	}
}

// overloaded reports whether an open loop did not keep up.
func (r *run) overloaded(window float64) bool {
	load, sum := &r.spec.Workload, r.collector.window
	reads := sum.consume.operations + sum.consume.empty
	return r.fellBehind(&sum.produce, &sum.consume) ||
		short(sum.produce.operations, load.ProduceRate/float64(load.BatchRecords), window, load) ||
		short(reads, load.ConsumeRate, window, load) ||
		short(sum.produce.operations+reads, load.Rate, window, load)
}

// latencies reports what the histograms of the window can carry.
func (r *run) latencies(run *results.Run, totals map[string]*results.Histogram) {
	for _, kind := range results.Kinds {
		h := totals[kind]
		if h == nil {
			continue
		}
		run.Samples[kind] = h.Count()
		if over := h.OverRange(); over > 0 {
			run.OverRange[kind] = over
			run.Warnings = append(run.Warnings, fmt.Sprintf("%d %s latencies above 60 s", over, kind))
		}
		var lateness *results.Histogram
		switch kind {
		case results.KindProduce, results.KindConsume, results.KindEndToEnd:
			lateness = totals[results.LatenessOf(kind)]
		}
		// How late the generator was is told above all when it did not keep up.
		if !run.Overloaded || kind == results.KindProduceLateness || kind == results.KindConsumeLateness {
			latencies(run, kind, h, lateness)
		}
	}
}

// insideSlack is what the time of clients inside calls may seem to exceed what there was by, since the clock
// is read before and after the window's ends.
const insideSlack = 0.02

// shares reports how the work was spread over the clients, and how much of their time it took.
func (r *run) shares(run *results.Run, workers []*worker, totals map[string]*results.Histogram, window float64) {
	load := &r.spec.Workload
	var done [2][]int64
	for _, w := range workers[:load.Workers+load.Producers+r.consumers] {
		if w.id > 0 {
			done[0] = append(done[0], w.operations[0])
		}
		if w.role&roleConsume != 0 {
			done[1] = append(done[1], w.operations[1])
		}
	}
	run.PerWorkerJain, run.Inside = map[string]float64{}, map[string]float64{}
	var all, longest float64
	for i, kind := range []string{results.KindProduce, results.KindConsume} {
		if j, ok := jain(done[i]); ok {
			run.PerWorkerJain[kind] = j
		}
		h := totals[kind]
		if service := totals[kind+"-service"]; service != nil {
			h = service
		}
		if h == nil || len(done[i]) == 0 {
			continue
		}
		inside := float64(h.Sum()) / 1e9 / window / float64(len(done[i]))
		run.Inside[kind], all = inside, all+inside
		longest = max(longest, float64(h.Max())/1e9)
	}
	if load.Workers > 0 {
		run.Inside = map[string]float64{results.InsideWorker: all}
	}
	for _, inside := range run.Inside {
		// A call that ends in the window may have begun before it.
		if inside > 1+longest/window+insideSlack {
			run.Warnings = append(run.Warnings, "clients spent more time in calls than there was: the clock or the counters are wrong")
		}
	}
}

func (r *run) rates(metrics map[string]float64, produce, consume *recorder, window float64) {
	metrics[results.MetricOps] = float64(produce.operations+consume.operations) / window
	load := &r.spec.Workload
	if load.Producers > 0 || load.Workers > 0 && load.ProducePercent > 0 {
		metrics[results.MetricProduceOps] = float64(produce.operations) / window
		metrics[results.MetricProduceRecords] = float64(produce.records) / window
		metrics[results.MetricProduceBytes] = float64(produce.bytes) / window
	}
	if load.Consumers > 0 || load.Workers > 0 && load.ProducePercent < 100 {
		metrics[results.MetricConsumeOps] = float64(consume.operations) / window
		metrics[results.MetricConsumeRecords] = float64(consume.records) / window
		metrics[results.MetricConsumeBytes] = float64(consume.bytes) / window
	}
}

// quantiles are those of results.Quantiles that are quantiles.
var quantiles = map[string]float64{"p50": 0.50, "p90": 0.90, "p99": 0.99, "p999": 0.999}

// latencies adds the statistics of a histogram that it can carry, and the bounds.
func latencies(run *results.Run, kind string, h, lateness *results.Histogram) {
	for _, name := range results.Quantiles {
		var ns float64
		switch q, ok := quantiles[name]; {
		case ok && !h.Carries(q, lateness):
			if h.Carries(q, nil) {
				run.Bounds[results.LatencyMetric(kind, name)] = float64(h.Quantile(q)) / 1e9
			}
			continue
		case ok:
			ns = float64(h.Quantile(q))
		case name == "max":
			ns = float64(h.Max())
		default:
			ns = h.Mean()
		}
		run.Metrics[results.LatencyMetric(kind, name)] = ns / 1e9
	}
}

// fellBehind reports whether consumers that follow paced producers did not: their distance then grows
// with the window, and so do the end-to-end latencies.
func (r *run) fellBehind(produce, consume *recorder) bool {
	load := &r.spec.Workload
	if load.Pattern != workload.Tail || load.ProduceRate == 0 || load.Consumers == 0 ||
		r.strategy.PrivateFiles || r.strategy.StoresNothing {
		return false
	}
	readers := float64(r.consumers)
	due := float64(produce.records) * float64(load.Subscriptions)
	return float64(consume.records) < behind*due-2*float64(load.BatchRecords)*readers
}

// short reports whether an open loop has done less than its rate, by more than chance and by more than
// a burst or two at the ends of the window. Poisson arrivals alone differ from their mean by its root: three
// of these are one case in a thousand.
func short(done int64, rate, window float64, load *workload.Workload) bool {
	due := overload*rate*window - 2*float64(max(load.Burst, 1))
	if load.Arrivals == workload.ArrivalsPoisson {
		due -= 3 * math.Sqrt(rate*window*float64(max(load.Burst, 1)))
	}
	return rate > 0 && float64(done) < due
}

// jain is Jain's fairness index (Jain, Chiu, Hawe, "A Quantitative Measure of Fairness", 1984):
// (Σx)² / (n·Σx²).
func jain(shares []int64) (float64, bool) {
	var sum, squares float64
	for _, x := range shares {
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	if squares == 0 {
		return 0, false
	}
	return sum * sum / (float64(len(shares)) * squares), true
}
