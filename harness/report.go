package harness

import (
	"fmt"

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
	load := &r.spec.Workload
	run := &o.Run
	run.Start = m.start
	run.Verification = v
	run.ByteBound = r.early.Load()
	run.Rolls = max(0, m.rolls)
	run.StealPercent, run.OtherPercent = 100*m.steal, 100*m.other
	run.Metrics = map[string]float64{}
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
	run.Window = window

	produce, consume := newRecorder(load.ProduceRate > 0), newRecorder(load.ConsumeRate > 0)
	endToEnd := results.NewHistogram()
	var shares [2][]int64
	for _, w := range workers {
		produce.merge(&w.produce)
		consume.merge(&w.consume)
		endToEnd.Merge(w.endToEnd)
		if w.id > 0 {
			shares[0] = append(shares[0], w.produce.operations)
		}
		if w.id == 0 || load.Workers > 0 {
			shares[1] = append(shares[1], w.consume.operations)
		}
	}
	run.PerWorkerJain = map[string]float64{}
	for i, kind := range []string{results.KindProduce, results.KindConsume} {
		if j, ok := jain(shares[i]); ok {
			run.PerWorkerJain[kind] = j
		}
	}
	operations := float64(produce.operations + consume.operations)
	r.rates(run.Metrics, &produce, &consume, window)
	if operations > 0 && m.elapsed > 0 {
		// The counters were read a little off the window's ends; they count per time.
		per := window / m.elapsed.Seconds() / operations
		run.Metrics[results.MetricCPU] = m.cpu.Seconds() * per
		run.Metrics[results.MetricSwitches] = float64(m.switches) * per
		run.Metrics[results.MetricAllocs] = float64(m.allocs) * per
		run.Metrics[results.MetricAllocBytes] = float64(m.bytes) * per
	}
	run.Overloaded = r.fellBehind(&produce, &consume) || short(produce.operations, load.ProduceRate/float64(load.BatchRecords), window) ||
		short(consume.operations+consume.empty, load.ConsumeRate, window)

	o.Histograms = map[string]*results.Histogram{}
	keep := func(kind string, h, lateness *results.Histogram) {
		if h == nil || h.Count() == 0 {
			return
		}
		o.Histograms[kind] = h
		run.Samples[kind] = h.Count()
		if over := h.OverRange(); over > 0 {
			run.OverRange[kind] = over
			run.Warnings = append(run.Warnings, fmt.Sprintf("%d %s latencies above 60 s", over, kind))
		}
		// How late the generator was is told above all when it did not keep up.
		if !run.Overloaded || kind == results.KindProduceLateness || kind == results.KindConsumeLateness {
			latencies(run.Metrics, kind, h, lateness)
		}
	}
	keep(results.KindProduce, produce.latency, produce.lateness)
	keep(results.KindConsume, consume.latency, consume.lateness)
	keep(results.KindEndToEnd, endToEnd, produce.lateness)
	keep(results.KindProduceService, produce.service, nil)
	keep(results.KindConsumeService, consume.service, nil)
	keep(results.KindProduceLateness, produce.lateness, nil)
	keep(results.KindConsumeLateness, consume.lateness, nil)
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

// latencies adds the statistics of a histogram that it can carry.
func latencies(metrics map[string]float64, kind string, h, lateness *results.Histogram) {
	for _, name := range results.Quantiles {
		var ns float64
		switch q, ok := quantiles[name]; {
		case ok && !h.Carries(q, lateness):
			continue
		case ok:
			ns = float64(h.Quantile(q))
		case name == "max":
			ns = float64(h.Max())
		default:
			ns = h.Mean()
		}
		metrics[results.LatencyMetric(kind, name)] = ns / 1e9
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
	readers := float64(len(r.readers()))
	due := float64(produce.records) * float64(load.Subscriptions)
	return float64(consume.records) < behind*due-2*float64(load.BatchRecords)*readers
}

// short reports whether an open loop has done less than its rate, by more than chance and by more than
// an operation or two at the ends of the window.
func short(done int64, rate, window float64) bool {
	return rate > 0 && float64(done) < overload*rate*window-2
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
