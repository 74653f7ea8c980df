package harness

import (
	"math"
	"runtime"
	"testing"
)

func TestBucketQuantile(t *testing.T) {
	inf := math.Inf(1)
	finite := []float64{0, 1, 2, 4, 8}
	open := []float64{-inf, 1, 2, 4, inf}
	for _, c := range []struct {
		name   string
		counts []uint64
		edges  []float64
		q      float64
		want   float64
	}{
		{"nothing", []uint64{0, 0, 0, 0}, finite, 0.5, 0},
		{"nothing, the highest", []uint64{0, 0, 0, 0}, open, 1, 0},
		{"no buckets", nil, []float64{0}, 0.99, 0},
		{"one value", []uint64{0, 1, 0, 0}, finite, 0.5, 2},
		{"one value, the lowest", []uint64{0, 1, 0, 0}, finite, 0, 2},
		{"half in the first", []uint64{5, 0, 0, 5}, finite, 0.5, 1},
		{"more than half", []uint64{5, 0, 0, 6}, finite, 0.5, 8},
		{"all but one", []uint64{98, 1, 1, 0}, finite, 0.99, 2},
		{"the highest", []uint64{98, 1, 1, 0}, finite, 1, 4},
		{"above all edges", []uint64{1, 0, 0, 1}, open, 1, 4},
		{"below all edges", []uint64{3, 0, 0, 1}, open, 0.5, 1},
	} {
		if got := (bucketCounts{c.counts, c.edges}).quantile(c.q); got != c.want {
			t.Errorf("%s: quantile %v is %v, want %v", c.name, c.q, got, c.want)
		}
	}
}

// What the runtime has counted between two readings is what has happened between them.
func TestRuntimeSince(t *testing.T) {
	before := readRuntime()
	runtime.GC()
	got := readRuntime().since(before)
	if got.GCCycles < 1 || got.GCPauses < 1 || !(got.GCPauseMax > 0) {
		t.Errorf("a collection was %+v", got)
	}
	if got.HeapBytes <= 0 || got.Goroutines < 1 || got.UserCPU < 0 || got.SystemCPU < 0 ||
		got.VoluntarySwitches < 0 || got.InvoluntarySwitches < 0 || got.MutexWait < 0 {
		t.Errorf("counted %+v", got)
	}
	for name, v := range map[string]float64{"p50": got.SchedulerP50, "p99": got.SchedulerP99, "max": got.SchedulerMax} {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			t.Errorf("scheduler latency %s is %v", name, v)
		}
	}
	if got.SchedulerP50 > got.SchedulerP99 || got.SchedulerP99 > got.SchedulerMax {
		t.Errorf("scheduler latencies do not ascend: %+v", got)
	}
	if same := before.since(before); same.GCCycles != 0 || same.GCPauses != 0 || same.GCPauseMax != 0 || same.SchedulerMax != 0 {
		t.Errorf("nothing has happened, and that is %+v", same)
	}
}

func TestRunHasRuntime(t *testing.T) {
	o := performUntil(t, specOf(tinyMix(), "mutex", ""), hasOperations)
	if r := o.Run.Runtime; r.HeapBytes <= 0 || r.Goroutines < 1 {
		t.Errorf("the run has %+v", r)
	}
}
