package harness

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/strategies"
	"tailrace/workload"
)

// drawing are loads whose reads are drawn from the prefill: a mix, and roles.
func drawing(pattern workload.Pattern) []workload.Workload {
	mix := tinyMix()
	roles := tiny("roles")
	roles.Producers, roles.Consumers, roles.Subscriptions = 1, 2, 2
	roles.Prefill = mix.Prefill
	loads := []workload.Workload{mix, roles}
	for i := range loads {
		w := &loads[i]
		w.Pattern, w.Duration = pattern, 10*time.Millisecond
		if pattern == workload.Zipfian {
			w.Skew = 0.99
		}
	}
	return loads
}

func TestPatterns(t *testing.T) {
	for i, strategy := range strategies.List {
		if strategy.Faulty {
			continue
		}
		for _, pattern := range []workload.Pattern{workload.Zipfian, workload.ByTime} {
			for j, w := range drawing(pattern) {
				w.Partitions = 1 + 2*((i+j)%2)
				w.BatchRecords = 1 + 6*(i%2)
				t.Run(fmt.Sprintf("%s/%s/%s/partitions=%d", strategy.Name, pattern, w.Name, w.Partitions), func(t *testing.T) {
					o := performUntil(t, specOf(w, strategy.Name, ""), hasOperations)
					wantSound(t, o, strategy, &w)
				})
			}
		}
	}
}

// misdated is a handle that is off by some records when it is asked for a time.
type misdated struct {
	strategies.Handle
	by int64
}

func (h misdated) OffsetForTime(ts int64) (int64, error) {
	offset, err := h.Handle.OffsetForTime(ts)
	return offset + h.by, err
}

func TestWrongOffsetForTime(t *testing.T) {
	for _, w := range drawing(workload.ByTime) {
		for _, by := range []int64{-1, 1, 7} {
			// Far enough from either end of the log for the read itself to find something.
			w.BatchRecords, w.Duration = 7, time.Minute
			r := wrap(t, specOf(w, "mutex", ""), func(h strategies.Handle) strategies.Handle { return misdated{h, by} })
			text := ends(t, r).Run.Verification.Error
			if by < 0 && text == "read: strategies: offset out of range" {
				continue // it was asked for the first batch of all
			}
			wantViolation(t, violationf("%s", text), "offset for the time of batch", "instead of")
		}
	}
}

// counting is a handle that counts the reads by the half of the prefill that they ask for.
type counting struct {
	strategies.Handle
	middle   int64
	old, new *atomic.Int64
}

func (h counting) Read(offset int64, buf []byte) ([]byte, error) {
	if offset < h.middle {
		h.old.Add(1)
	} else {
		h.new.Add(1)
	}
	return h.Handle.Read(offset, buf)
}

// The newest records are asked for the most.
func TestZipfReadsTheNewest(t *testing.T) {
	w := drawing(workload.Zipfian)[0]
	w.ProducePercent, w.MaxBytes = 0, w.Prefill
	records := w.Prefill / int64(workload.BatchBytes(&w))
	var old, newer atomic.Int64
	r := wrap(t, specOf(w, "mutex", ""), func(h strategies.Handle) strategies.Handle {
		return counting{h, records / 2, &old, &newer}
	})
	o := ends(t, r)
	if !o.Run.Valid() {
		t.Fatal(o.Run.Verification.Error)
	}
	if reads := old.Load() + newer.Load(); reads > 100 && newer.Load() < 2*old.Load() {
		t.Errorf("%d reads of the older half, %d of the newer one", old.Load(), newer.Load())
	}
}

// Who pauses between operations can't do more than the pauses leave room for.
func TestThink(t *testing.T) {
	mix := tinyMix()
	mix.Pattern = workload.CatchUp
	for _, w := range []workload.Workload{mix, tinyMix(), shapes()[6], drawing(workload.ByTime)[1]} {
		w.Think, w.Duration = 2*time.Millisecond, 30*time.Millisecond
		o := performUntil(t, specOf(w, "mutex", ""), hasOperations)
		if !o.Run.Valid() {
			t.Fatal(o.Run.Verification.Error)
		}
		clients := int64(w.Workers + w.Producers + w.Consumers)
		operations := o.Run.Samples[results.KindProduce] + o.Run.Samples[results.KindConsume]
		if most := clients * (int64(w.Duration/w.Think) + 1); operations > most {
			t.Errorf("%s: %d operations, %d have room", w.Name, operations, most)
		}
		for kind := range o.Run.Samples {
			if kind != results.KindProduce && kind != results.KindConsume {
				t.Errorf("%s: a closed loop has latencies of the kind %s", w.Name, kind)
			}
		}
	}
}

// The operations of a paced mix count from their intended time, appends and reads.
func TestPacedMix(t *testing.T) {
	for _, arrivals := range []string{workload.ArrivalsConstant, workload.ArrivalsPoisson} {
		for _, pattern := range []workload.Pattern{workload.Random, workload.CatchUp} {
			t.Run(fmt.Sprintf("%s/%s", arrivals, pattern), func(t *testing.T) {
				w := tinyMix()
				w.Rate, w.ProducePercent, w.Arrivals, w.Pattern = 4000, 50, arrivals, pattern
				w.Duration = 50 * time.Millisecond
				o := performUntil(t, specOf(w, "mutex", ""), func(run *results.Run) bool {
					return run.Samples[results.KindProduce] > 0 && run.Samples[results.KindConsume] > 0
				})
				if !o.Run.Valid() {
					t.Fatal(o.Run.Verification.Error)
				}
				wantFiniteMetrics(t, &o.Run)
				totals := histogramsOf(t, o)
				for _, role := range []string{results.KindProduce, results.KindConsume} {
					fromIntended, service := totals[role], totals[role+"-service"]
					if fromIntended == nil || service == nil || fromIntended.Count() != service.Count() || fromIntended.Sum() < service.Sum() {
						t.Errorf("%s: latencies %v, service times %v", role, fromIntended, service)
					}
				}
				share, rate := o.Run.Achieved["produce-share"], o.Run.Achieved["rate"]
				if !(share > 0 && share < 1) || !(rate > 0) {
					t.Errorf("%v of the operations are appends, %v of the rate is achieved", share, rate)
				}
			})
		}
	}
}

// moments counts the appends of a run by the time for which they were meant.
func moments(t *testing.T, r *run) map[int64]int {
	t.Helper()
	found := map[int64]int{}
	for _, p := range r.partitions {
		err := segment.Scan(p.storage, func(_ string, b segment.Batch, _ int64) error {
			records := b.Records()
			records.Next()
			_, _, at, err := r.payload.Check(records.Record.Value)
			found[at]++
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// Operations of a burst are meant for one moment, and the rate stays as it is.
func TestBursts(t *testing.T) {
	for _, arrivals := range []string{workload.ArrivalsConstant, workload.ArrivalsPoisson} {
		for _, burst := range []int{1, 8} {
			w := tiny("producers")
			w.Producers, w.ProduceRate, w.Burst, w.Arrivals = 2, 8000, burst, arrivals
			r := wrap(t, specOf(w, "mutex", ""), func(h strategies.Handle) strategies.Handle { return h })
			o := ends(t, r)
			if !o.Run.Valid() {
				t.Fatal(o.Run.Verification.Error)
			}
			found := moments(t, r)
			times := slices.Sorted(maps.Keys(found))
			for i, at := range times {
				// The end may cut off what a producer is behind with.
				if n := found[at]; n > burst || n < burst && i < len(times)/2 {
					t.Errorf("%s, bursts of %d: %d operations were meant for %d ns", arrivals, burst, n, at)
				}
			}
			if arrivals == workload.ArrivalsConstant && len(times) > 3 {
				if distance := times[1] - times[0]; distance != int64(burst)*125_000 {
					t.Errorf("bursts of %d at 8000/s are %d ns apart", burst, distance)
				}
			}
		}
	}
}
