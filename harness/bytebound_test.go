package harness

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/workload"
)

// TestByteBound: a run writes no more than it may, ends its window early, says so, and is verified.
func TestByteBound(t *testing.T) {
	producers := func(n int) workload.Workload {
		w := tiny("producers")
		w.Producers = n
		return w
	}
	mix := tinyMix()
	mix.Workers, mix.ProducePercent = 8, 50
	prefilled := producers(8)
	prefilled.Partitions, prefilled.Prefill = 3, 100_001
	batched := producers(8)
	batched.BatchRecords = 7
	for _, w := range []workload.Workload{producers(1), producers(8), mix, prefilled, batched} {
		for _, strategy := range []string{"mutex", "atomics", "actor", "raw"} {
			t.Run(fmt.Sprintf("%s-%d-%d/%s", w.Name, w.Producers+w.Workers, w.Prefill, strategy), func(t *testing.T) {
				w := w
				w.Ramp, w.Duration = time.Nanosecond, time.Minute
				w.MaxBytes = w.Prefill + 1<<20
				dir := filepath.Join(t.TempDir(), "data")
				o := mustPerform(t, specOf(w, strategy, dir))
				run := &o.Run
				if !run.Valid() {
					t.Fatal(run.Verification.Error)
				}
				if !run.ByteBound || run.Window <= 0 || run.Window >= w.Duration.Seconds() {
					t.Errorf("byte bound %t, window %v s of %v", run.ByteBound, run.Window, w.Duration)
				}
				if v := run.Verification; v.RecordsAcked != v.RecordsWalked || v.RecordsWalked == 0 {
					t.Errorf("%d records acknowledged, %d walked", v.RecordsAcked, v.RecordsWalked)
				}
				if written := bytesOfLogs(t, dir, w.Partitions); written > w.MaxBytes || written < w.MaxBytes/16 {
					t.Errorf("%d bytes written, %d are allowed", written, w.MaxBytes)
				}
			})
		}
	}
}

// A share of a few batches is used up at once: the window ends early, and does not idle to its end.
func TestByteBoundOfFewBatches(t *testing.T) {
	w := tiny("producers")
	w.Producers = 2
	w.Ramp = time.Nanosecond
	for _, batches := range []int64{1, 3, 30} {
		w.MaxBytes = batches * int64(w.Producers*workload.BatchBytes(&w))
		dir := filepath.Join(t.TempDir(), "data")
		run := &mustPerform(t, specOf(w, "mutex", dir)).Run
		if !run.Valid() {
			t.Fatal(run.Verification.Error)
		}
		if !run.ByteBound || run.Window >= w.Duration.Seconds() {
			t.Errorf("%d batches a producer: byte bound %t, window %v s of %v", batches, run.ByteBound, run.Window, w.Duration)
		}
		if written := bytesOfLogs(t, dir, 1); written > w.MaxBytes {
			t.Errorf("%d bytes written, %d are allowed", written, w.MaxBytes)
		}
	}
}

// Workers that only read need no bytes to write.
func TestMixWithoutAppends(t *testing.T) {
	w := tinyMix()
	w.ProducePercent, w.MaxBytes = 0, w.Prefill
	run := &performUntil(t, specOf(w, "mutex", ""), hasOperations).Run
	if !run.Valid() || run.ByteBound || run.Samples[results.KindProduce] > 0 {
		t.Errorf("%d appends, byte bound %t, %q", run.Samples[results.KindProduce], run.ByteBound, run.Verification.Error)
	}
}

// bytesOfLogs is the size of all logs of a run.
func bytesOfLogs(t *testing.T, dir string, partitions int) (bytes int64) {
	t.Helper()
	for i := range partitions {
		storage, err := segment.OpenDir(fmt.Sprintf("%s/%04d", dir, i))
		if err != nil {
			t.Fatal(err)
		}
		names, err := storage.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !strings.HasSuffix(name, ".log") {
				continue
			}
			size, err := storage.Size(name)
			if err != nil {
				t.Fatal(err)
			}
			bytes += size
		}
	}
	return bytes
}

// A bound that is reached in the ramp leaves nothing to measure, and the run says so.
func TestByteBoundBeforeTheWindow(t *testing.T) {
	w := tiny("producers")
	w.Producers = 2
	w.Ramp, w.Duration = time.Hour, time.Hour
	w.MaxBytes = 64 << 10
	run := &mustPerform(t, specOf(w, "mutex", "")).Run
	if !run.Valid() || !strings.Contains(run.Unmeasured, "--max-bytes") {
		t.Errorf("the run says %q and %q, want a sound run that was not measured", run.Verification.Error, run.Unmeasured)
	}
	if len(run.Metrics) > 0 {
		t.Errorf("a run without a window has metrics: %v", run.Metrics)
	}
}

// A bound that is reached after the window has closed has shortened nothing.
func TestByteBoundAfterTheWindow(t *testing.T) {
	r, err := newRun(specOf(tinyTail(), "mutex", ""))
	if err != nil {
		t.Fatal(err)
	}
	const closing = int64(time.Second)
	r.closing.Store(closing)
	r.closeEarly(closing+int64(2*time.Millisecond), &r.early)
	if r.early.Load() || r.closing.Load() != closing {
		t.Error("the window counts as shortened after its end")
	}
	r.closeEarly(closing/2, &r.early)
	if !r.early.Load() || r.closing.Load() >= closing {
		t.Error("the window was not shortened")
	}
}

// A paced load has what its whole window needs, however long that is: what its producers take of the budget, in pieces and
// as fast as they like, does not close the window. Without that a window of a minute ended early.
func TestPacedWindowIsWhole(t *testing.T) {
	for _, duration := range []time.Duration{100 * time.Millisecond, time.Second, 40 * time.Second, 70 * time.Second, time.Hour} {
		for _, producers := range []int{1, 2, 50} {
			for _, rate := range []float64{10, 200, 20000} {
				for _, arrivals := range []string{workload.ArrivalsConstant, workload.ArrivalsPoisson} {
					w := tiny("producers")
					w.Producers, w.ProduceRate, w.RecordSize, w.Arrivals = producers, rate, 16<<10, arrivals
					w.Ramp, w.Duration = duration/5, duration
					if err := takeAll(t, w, rate*(w.Ramp+w.Duration).Seconds()/float64(producers)+1); err != nil {
						t.Errorf("%v, %d producers at %v/s, %s arrivals: %v", duration, producers, rate, arrivals, err)
					}
				}
			}
		}
	}
}

// takeAll lets each producer take what so many appends need, and fails if that closes the window.
func takeAll(t *testing.T, w workload.Workload, appends float64) error {
	t.Helper()
	w.MaxBytes = w.Bound()
	r := &run{spec: Spec{Workload: w}, clock: newClock()}
	r.closing.Store(math.MaxInt64)
	r.allow()
	for range w.Producers {
		p := &worker{run: r, batch: int64(workload.BatchBytes(&w))}
		for due := int64(appends * float64(p.batch)); p.written < due; p.written += p.batch {
			p.written = max(p.written, min(p.allowed-p.batch, due-p.batch)) // all that it was given
			if p.spent() {
				return errors.New("nothing is left")
			}
		}
	}
	if r.early.Load() {
		return errors.New("the window was closed")
	}
	return nil
}

// A paced load obeys a bound that was given: a small one ends its window early, and one raised as the message says doesn't.
func TestPacedWindowWithABound(t *testing.T) {
	w := tinyTail()
	w.ProduceRate = 20000
	window := func(bound int64, has func(*results.Run) bool) *results.Run {
		t.Helper()
		grid, err := workload.Grid(w, workload.Overrides{MaxBytes: &bound})
		if err != nil {
			t.Fatal(err)
		}
		p := mustPlan(t, planned(t, grid...))
		planned := &p.Cells[0].Workload
		if recorded := p.Meta.Workloads[0].MaxBytes; planned.MaxBytes != bound || recorded != bound {
			t.Fatalf("--max-bytes %d became %d, recorded as %d", bound, planned.MaxBytes, recorded)
		}
		return &performUntil(t, specOf(*planned, "mutex", ""), has).Run
	}
	if run := window(24<<10, func(run *results.Run) bool { return run.ByteBound }); !run.ByteBound {
		t.Errorf("the window had %v s of %v", run.Window, w.Duration)
	}
	if run := window(w.PacedBytes(), hasOperations); run.ByteBound || run.Window < w.Duration.Seconds() {
		t.Errorf("with enough the window had %v s of %v", run.Window, w.Duration)
	}
}
