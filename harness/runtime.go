package harness

import (
	"math"
	"runtime/metrics"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

// Names in package runtime/metrics.
const (
	metricGCCycles  = "/gc/cycles/total:gc-cycles"
	metricGCPauses  = "/sched/pauses/total/gc:seconds"
	metricScheduler = "/sched/latencies:seconds"
	metricMutexWait = "/sync/mutex/wait/total:seconds"
	metricHeap      = "/memory/classes/heap/objects:bytes"
	metricRoutines  = "/sched/goroutines:goroutines"
)

// runtimeReading is what Go's runtime and the kernel have counted since the process began.
type runtimeReading struct {
	usage   unix.Rusage
	samples []metrics.Sample
}

func readRuntime() runtimeReading {
	r := runtimeReading{samples: []metrics.Sample{
		{Name: metricGCCycles}, {Name: metricGCPauses}, {Name: metricScheduler}, {Name: metricMutexWait},
		{Name: metricHeap}, {Name: metricRoutines},
	}}
	metrics.Read(r.samples)
	_ = unix.Getrusage(unix.RUSAGE_SELF, &r.usage) // fails for no process of its own
	return r
}

// since is what happened between an earlier reading and this one.
func (r runtimeReading) since(before runtimeReading) results.Runtime {
	pauses := difference(before.samples[1].Value, r.samples[1].Value)
	scheduler := difference(before.samples[2].Value, r.samples[2].Value)
	return results.Runtime{
		VoluntarySwitches:   int64(r.usage.Nvcsw - before.usage.Nvcsw),
		InvoluntarySwitches: int64(r.usage.Nivcsw - before.usage.Nivcsw),
		UserCPU:             float64(r.usage.Utime.Nano()-before.usage.Utime.Nano()) / 1e9,
		SystemCPU:           float64(r.usage.Stime.Nano()-before.usage.Stime.Nano()) / 1e9,
		GCCycles:            int64(r.samples[0].Value.Uint64() - before.samples[0].Value.Uint64()),
		GCPauses:            int64(pauses.count()),
		GCPauseMax:          pauses.quantile(1),
		SchedulerP50:        scheduler.quantile(0.5),
		SchedulerP99:        scheduler.quantile(0.99),
		SchedulerMax:        scheduler.quantile(1),
		MutexWait:           r.samples[3].Value.Float64() - before.samples[3].Value.Float64(),
		HeapBytes:           int64(r.samples[4].Value.Uint64()),
		Goroutines:          int64(r.samples[5].Value.Uint64()),
	}
}

// bucketCounts is a histogram of package runtime/metrics.
type bucketCounts struct {
	counts []uint64
	edges  []float64 // one more than counts; the ends may be infinite
}

// difference is what was counted between two readings.
func difference(before, after metrics.Value) bucketCounts {
	from, to := before.Float64Histogram(), after.Float64Histogram()
	b := bucketCounts{counts: make([]uint64, len(to.Counts)), edges: to.Buckets}
	for i := range to.Counts {
		b.counts[i] = to.Counts[i] - from.Counts[i]
	}
	return b
}

func (b bucketCounts) count() uint64 {
	var n uint64
	for _, c := range b.counts {
		n += c
	}
	return n
}

// quantile is the upper edge of the bucket that holds a quantile, its lower one where that is infinite; 0
// if nothing was counted.
func (b bucketCounts) quantile(q float64) float64 {
	rank := uint64(math.Ceil(q * float64(b.count())))
	var seen uint64
	for i, c := range b.counts {
		if seen += c; c > 0 && seen >= rank {
			if edge := b.edges[i+1]; !math.IsInf(edge, 0) {
				return edge
			}
			return b.edges[i]
		}
	}
	return 0
}
