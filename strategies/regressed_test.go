package strategies_test

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"testing"

	"tailrace/strategies"
)

// Of a follower that has gone back, what it says last counts, and not the most that it has ever said: the high watermark
// waits for it, although the others come up to where it was.
func TestRegressedFollowerHoldsHighWatermark(t *testing.T) {
	forEachReplicated(t, func(f *fixture) {
		if f.options.Replicas == 1 {
			return // what it has fetched is visible at once
		}
		h := f.open().NewHandle()
		for regressed := range f.options.Replicas {
			had := h.Offsets().LogEnd
			fill(f.t, h, newMaker(1, uint64(212+regressed)), 3)
			end := h.Offsets().LogEnd
			fetch(f.t, h, regressed, end)
			fetch(f.t, h, regressed, had)
			for replica := range f.options.Replicas {
				if replica != regressed {
					fetch(f.t, h, replica, end)
				}
			}
			if o := h.Offsets(); o != (strategies.Offsets{HighWatermark: had, LogEnd: end}) {
				f.t.Fatalf("offsets are %+v, and follower %d has only what is below %d", o, regressed, had)
			}
			fetch(f.t, h, regressed, end)
			if o := h.Offsets(); o.HighWatermark != end {
				f.t.Fatalf("offsets are %+v when all followers have come to %d", o, end)
			}
		}
	})
}

// Appends that are cancelled while they wait for a follower that stands still leave nothing behind, however many.
func TestCancelledAppendsLeaveNothing(t *testing.T) {
	const warmUp, cancelled = 100, 1000
	o := strategies.Options{SegmentSize: 16 << 20, Replicas: 2}
	forEachWith(t, o, isCore, func(f *fixture) {
		log := f.open()
		h, observer, m := log.NewHandle(), log.NewHandle(), newMaker(1, 220)
		cancelMany := func(n int) {
			for range n {
				ctx, cancel := context.WithCancel(context.Background())
				end := observer.Offsets().LogEnd
				go func() {
					for observer.Offsets().LogEnd == end {
						runtime.Gosched()
					}
					cancel()
				}()
				if base, err := h.Append(ctx, m.make(1, 100, 0), strategies.AcksAll); !errors.Is(err, strategies.ErrUnknownOutcome) {
					f.t.Fatalf("an append that is cancelled when it is stored gives %d, %v", base, err)
				}
			}
		}
		cancelMany(warmUp)
		before := keptObjects()
		cancelMany(cancelled)
		// Each would leave two or more.
		if grown := keptObjects() - before; grown > cancelled/2 {
			f.t.Errorf("%d more objects are kept after %d cancelled appends", grown, cancelled)
		}
	})
}

// Handles that are closed leave nothing behind.
func TestClosedHandlesLeaveNothing(t *testing.T) {
	const handles = 1000
	forEachWith(t, strategies.Options{Replicas: 1}, isCore, func(f *fixture) {
		log := f.open()
		before := keptObjects()
		for range handles {
			if err := log.NewHandle().Close(); err != nil {
				f.t.Fatal(err)
			}
		}
		if grown := keptObjects() - before; grown > handles/2 {
			f.t.Errorf("%d more objects are kept after %d handles were closed", grown, handles)
		}
	})
}

// keptObjects is how many there are on the heap, without garbage.
func keptObjects() int64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/objects:objects"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
