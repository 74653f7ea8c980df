package harness

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/strategies"
	"tailrace/workload"
)

// backlogged is a load whose consumers have a backlog of 1 MiB a partition to drain.
func backlogged(producers, subscriptions, partitions int) workload.Workload {
	w := tiny("backlog")
	w.RecordSize, w.FetchBytes = 1000, 64<<10
	w.Producers, w.Consumers, w.Subscriptions, w.Partitions = producers, subscriptions*partitions, subscriptions, partitions
	w.Prefill = int64(partitions) << 20
	w.DrainRatio = 1
	w.Duration = time.Minute
	if producers > 0 {
		w.ProduceRate = 2000
	}
	return w
}

func TestDrain(t *testing.T) {
	for i, strategy := range strategies.List {
		if strategy.Kind == strategies.Control {
			continue
		}
		for _, producers := range []int{0, 2} {
			subscriptions, partitions := 1+i%2, 1+(i/2)%2
			for _, ratio := range []float64{1, 0.5} {
				name := fmt.Sprintf("%s/producers=%d/subscriptions=%d/partitions=%d/ratio=%v", strategy.Name, producers, subscriptions, partitions, ratio)
				t.Run(name, func(t *testing.T) {
					w := backlogged(producers, subscriptions, partitions)
					w.DrainRatio = ratio
					o := mustPerform(t, specOf(w, strategy.Name, ""))
					run := &o.Run
					if !run.Valid() {
						t.Fatal(run.Verification.Error)
					}
					wantFiniteMetrics(t, run)
					took, ok := run.Metrics[results.MetricDrain]
					if !ok || !(took > 0 && took <= run.Window) || run.Window >= w.Duration.Seconds() {
						t.Errorf("drained in %v s (there: %t), window %v s of %v", took, ok, run.Window, w.Duration)
					}
					if run.ByteBound || len(run.Warnings) > 0 {
						t.Errorf("byte bound %t, warnings %q", run.ByteBound, run.Warnings)
					}
					backlog := w.Prefill / int64(partitions) / int64(workload.BatchBytes(&w)) * int64(partitions)
					if least := int64(ratio * float64(backlog*int64(subscriptions))); run.Verification.RecordsRead < least {
						t.Errorf("%d records were read, the backlog had %d", run.Verification.RecordsRead, least)
					}
					if _, ok := run.Samples[results.KindEndToEnd]; ok {
						t.Error("records of a backlog have end-to-end latencies")
					}
				})
			}
		}
	}
}

// A window that is over before the backlog is drained says so.
func TestNotDrained(t *testing.T) {
	w := backlogged(0, 1, 1)
	w.Prefill, w.RecordSize, w.FetchBytes, w.Duration = 8<<20, 100, 200, 2*time.Millisecond
	run := &performUntil(t, specOf(w, "mutex", ""), hasOperations).Run
	if !run.Valid() {
		t.Fatal(run.Verification.Error)
	}
	if _, ok := run.Metrics[results.MetricDrain]; ok || !strings.Contains(strings.Join(run.Warnings, "\n"), "not drained") {
		t.Errorf("warnings %q, metrics %v", run.Warnings, run.Metrics)
	}
}

// Draining that ends when the window has closed already is no measurement of that window.
func TestDrainedTooLate(t *testing.T) {
	r := &run{spec: Spec{Workload: backlogged(0, 1, 1)}}
	r.closing.Store(int64(time.Second))
	r.draining.Store(2)
	r.drained(int64(time.Second) / 2)
	if r.closing.Load() != int64(time.Second) {
		t.Error("the window was closed before all had drained their part")
	}
	r.drained(int64(time.Second) + 1)
	run := &results.Run{Metrics: map[string]float64{}}
	r.drain(run)
	if took, ok := run.Metrics[results.MetricDrain]; ok || len(run.Warnings) == 0 {
		t.Errorf("drained in %v s of a window of 1 s, warnings %q", took, run.Warnings)
	}
}
