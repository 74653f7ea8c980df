package strategies_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tailrace/strategies"
)

func appendOne(t *testing.T, h strategies.Handle, acks strategies.Acks) {
	t.Helper()
	if _, err := h.Append(context.Background(), newMaker(0, 0).make(1, 40, 0), acks); err != nil {
		t.Fatal(err)
	}
}

func TestWait(t *testing.T) {
	forEachWith(t, strategies.Options{SegmentSize: 400}, shares, func(f *fixture) {
		log := f.open()
		writer, h := log.NewHandle(), log.NewHandle()
		for end := range int64(12) {
			for offset := range end {
				if err := h.Wait(context.Background(), offset); err != nil {
					f.t.Fatalf("wait for %d of %d: %v", offset, end, err)
				}
			}
			var begun atomic.Bool
			done := inBackground(func() {
				if err := h.Wait(context.Background(), end); err != nil || !begun.Load() {
					f.t.Errorf("wait for %d returns %v; append begun: %t", end, err, begun.Load())
				}
			})
			if end%2 == 0 { // both the waiter that blocks and the one that comes beside the append
				eventually(f.t, "blocking", func() bool { return waiting() == 1 })
			}
			begun.Store(true)
			appendOne(f.t, writer, strategies.Acks(end%3))
			finishes(f.t, "waiting", done)
		}
	})
}

func TestManyWaitersOneAppend(t *testing.T) {
	forEachWith(t, strategies.Options{}, shares, func(f *fixture) {
		log := f.open()
		const waiters = 200
		var wg sync.WaitGroup
		var begun atomic.Bool
		for range waiters {
			wg.Go(func() {
				h := log.NewHandle()
				if err := h.Wait(context.Background(), 0); err != nil || !begun.Load() {
					f.t.Errorf("wait returns %v; append begun: %t", err, begun.Load())
				}
				if hw := h.Offsets().HighWatermark; hw != 1 {
					f.t.Errorf("high watermark after the wait is %d", hw)
				}
			})
		}
		eventually(f.t, "blocking", func() bool { return waiting() == waiters })
		begun.Store(true)
		appendOne(f.t, log.NewHandle(), strategies.AcksLeader)
		finishes(f.t, "waking all", inBackground(wg.Wait))
	})
}

// Everybody waits for another offset: an append wakes those that it reaches and nobody else.
func TestWaitersOfManyOffsets(t *testing.T) {
	forEachWith(t, strategies.Options{SegmentSize: 400}, shares, func(f *fixture) {
		log := f.open()
		const waiters = 60
		var end atomic.Int64 // what the appends begun so far may reach
		var wg sync.WaitGroup
		for offset := range int64(waiters) {
			wg.Go(func() {
				if err := log.NewHandle().Wait(context.Background(), offset); err != nil || end.Load() <= offset {
					f.t.Errorf("wait for %d returns %v; appended up to %d", offset, err, end.Load())
				}
			})
		}
		eventually(f.t, "blocking", func() bool { return waiting() == waiters })
		h := log.NewHandle()
		for n := 1; n <= waiters/2; n++ {
			end.Store(int64(n))
			appendOne(f.t, h, strategies.AcksLeader)
		}
		eventually(f.t, "waking a half", func() bool { return waiting() == waiters/2 })
		for n := waiters/2 + 1; n <= waiters; n++ {
			end.Store(int64(n))
			appendOne(f.t, h, strategies.AcksLeader)
		}
		finishes(f.t, "waking all", inBackground(wg.Wait))
	})
}

func TestWaitCancelled(t *testing.T) {
	forEachWith(t, strategies.Options{}, stores, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		for range 5 {
			ctx, cancel := context.WithCancel(context.Background())
			done := inBackground(func() {
				if err := h.Wait(ctx, 1<<40); !errors.Is(err, context.Canceled) {
					f.t.Errorf("cancelled wait gives %v", err)
				}
			})
			eventually(f.t, "blocking", func() bool { return waiting() == 1 })
			cancel()
			finishes(f.t, "a cancelled wait", done)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if err := h.Wait(ctx, 1<<40); !errors.Is(err, context.DeadlineExceeded) {
			f.t.Errorf("wait beyond its deadline gives %v", err)
		}
		appendOne(f.t, h, strategies.AcksLeader)
		if f.strategy.PrivateFiles {
			return
		}
		if err := h.Wait(context.Background(), 0); err != nil {
			f.t.Errorf("wait after cancelled ones: %v", err)
		}
	})
}

// Waits that are cancelled at any moment, by handles that wait again at once, lose no wake-up of
// anybody's.
func TestWaitCancelledBesideAppends(t *testing.T) {
	forEachWith(t, strategies.Options{}, shares, func(f *fixture) {
		log := f.open()
		const batches, waiters = 300, 8
		var wg sync.WaitGroup
		for id := range waiters {
			wg.Go(func() {
				h := log.NewHandle()
				random := rand.New(rand.NewPCG(30, uint64(id)))
				for offset := int64(0); offset < batches; {
					ctx, cancel := context.WithCancel(context.Background())
					if id%2 == 0 {
						turns := random.IntN(30)
						wg.Go(func() {
							for range turns {
								runtime.Gosched()
							}
							cancel()
						})
					}
					err := h.Wait(ctx, offset)
					cancel()
					switch {
					case err == nil:
						if hw := h.Offsets().HighWatermark; hw <= offset {
							f.t.Errorf("wait for %d returns at high watermark %d", offset, hw)
							return
						}
						offset++
					case id%2 == 1 || !errors.Is(err, context.Canceled):
						f.t.Errorf("wait gives %v", err)
						return
					}
				}
			})
		}
		h := log.NewHandle()
		for range batches {
			appendOne(f.t, h, strategies.AcksLeader)
			runtime.Gosched()
		}
		finishes(f.t, "waiting", inBackground(wg.Wait))
	})
}
