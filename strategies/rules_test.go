package strategies_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

// This file has rules that all models keep in the same way, about failures and about closing.

// Close ends the waits for records and for replicas at once, although it has to wait for a write that is stuck.
func TestCloseEndsWaitsBehindStuckWrite(t *testing.T) {
	forEachWith(t, strategies.Options{Replicas: 1}, isCore, func(f *fixture) {
		storage := holdUpLater(f.options.Storage, writes)
		f.options.Storage = storage
		log := f.open()
		pending := &attempt{batch: newMaker(0, 80).make(1, 100, 0)}
		pending.done = inBackground(func() {
			pending.base, pending.err = log.NewHandle().Append(context.Background(), pending.batch, strategies.AcksAll)
		})
		observer := log.NewHandle()
		eventually(f.t, "writing", func() bool { return observer.Offsets().LogEnd == 1 })
		waits := inBackground(func() {
			if err := log.NewHandle().Wait(context.Background(), 0); !errors.Is(err, strategies.ErrClosed) {
				f.t.Errorf("a wait gives %v, want ErrClosed", err)
			}
		})
		follows := inBackground(func() {
			if err := log.NewHandle().WaitLogEnd(context.Background(), 1); !errors.Is(err, strategies.ErrClosed) {
				f.t.Errorf("a follower's wait gives %v, want ErrClosed", err)
			}
		})
		storage.armed.Store(true)
		stuck := begin(log, 1)
		<-storage.entered
		closed := inBackground(func() {
			if err := log.Close(); err != nil {
				f.t.Error(err)
			}
		})
		finishes(f.t, "a wait", waits)
		finishes(f.t, "a follower's wait", follows)
		if !strings.HasPrefix(f.strategy.Name, "actor") { // whose owner answers it, after the write
			pending.unknownBy(f.t, strategies.ErrClosed)
		}
		select {
		case <-closed:
			f.t.Error("Close returns while a write is stuck")
		default:
		}
		close(storage.release)
		finishes(f.t, "closing", closed)
		finishes(f.t, "the stuck append", stuck.done)
		if stuck.err != nil {
			f.t.Errorf("the stuck append gives %v", stuck.err)
		}
		pending.unknownBy(f.t, strategies.ErrClosed)
	})
}

// An append that asks for no acknowledgement is told of its own failed write all the same, and of an earlier one.
func TestFailedWriteWithoutAcks(t *testing.T) {
	forEachWith(t, strategies.Options{}, isCore, func(f *fixture) {
		storage, _ := f.faulty()
		log := f.open()
		h, m := log.NewHandle(), newMaker(1, 300)
		want := fill(f.t, h, m, 3)
		for _, op := range writes {
			storage.Fail(op, 1, 1, syscall.EIO)
		}
		for range 2 {
			base, err := h.Append(f.t.Context(), m.next(), strategies.AcksNone)
			if base != 0 || !errors.Is(err, strategies.ErrFailed) || !errors.Is(err, syscall.EIO) {
				f.t.Errorf("append returns %d and %v, want ErrFailed and the cause", base, err)
			}
		}
		sameBatches(f.t, contents(f.t, h, 0), want)
	})
}

// What is wrong with a call by itself comes before what is wrong with the log: the context, the acks, the batch.
func TestErrorsInOrder(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	m := newMaker(1, 301)
	good, large := m.make(1, 100, 0), newMaker(2, 301).make(1, 5000, 0)
	bad := segment.Batch(make([]byte, 80))
	check := func(t *testing.T, h strategies.Handle, last error) {
		t.Helper()
		for _, c := range []struct {
			ctx  context.Context
			b    segment.Batch
			acks strategies.Acks
			want error
		}{
			{ended, bad, 7, context.Canceled},
			{t.Context(), bad, 7, strategies.ErrAcks},
			{t.Context(), bad, strategies.AcksNone, segment.ErrInvalid},
			{t.Context(), large, strategies.AcksNone, strategies.ErrTooLarge},
			{t.Context(), good, strategies.AcksNone, last},
			{t.Context(), good, strategies.AcksAll, last},
		} {
			if _, err := h.Append(c.ctx, c.b, c.acks); !errors.Is(err, c.want) {
				t.Errorf("append gives %v, want %v", err, c.want)
			}
		}
	}
	forEachWith(t, strategies.Options{SegmentSize: 1000}, isCore, func(f *fixture) {
		storage, _ := f.faulty()
		log := f.open()
		h, closed := log.NewHandle(), log.NewHandle()
		check(f.t, h, nil)
		if err := closed.Close(); err != nil {
			f.t.Fatal(err)
		}
		for _, op := range writes {
			storage.Fail(op, 1, 1, syscall.EIO)
		}
		if _, err := h.Append(f.t.Context(), good, strategies.AcksLeader); !errors.Is(err, strategies.ErrFailed) {
			f.t.Fatalf("append gives %v, want ErrFailed", err)
		}
		check(f.t, h, strategies.ErrFailed)
		if _, err := closed.Append(ended, bad, 7); err != strategies.ErrClosed {
			f.t.Errorf("append to a closed handle gives %v, want ErrClosed", err)
		}
		if err := log.Close(); err != nil {
			f.t.Fatal(err)
		}
		check(f.t, h, strategies.ErrClosed) // no longer ErrFailed
	})
}

// In atomics, whoever finds the segment full first makes the next one, and waits for the writes before it, whatever its
// context; the others can leave.
func TestRollBehindStuckWrite(t *testing.T) {
	s, err := strategies.Find("atomics")
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, strategy: s, options: strategies.Options{Storage: segment.NewHeap(), SegmentSize: stuckUnits * unit, IndexInterval: 64}}
	storage, log := f.stuckFixture(writes)
	first := begin(log, 0)
	<-storage.entered
	behind := make([]*attempt, stuckUnits)
	for i := range behind {
		behind[i] = begin(log, 1+i)
		eventually(t, "blocking", func() bool { return appending() == 2+i })
	}
	for _, a := range behind {
		a.cancel()
	}
	left := func() (n int) {
		for _, a := range behind {
			select {
			case <-a.done:
				n++
			default:
			}
		}
		return n
	}
	eventually(t, "leaving", func() bool { return left() == len(behind)-1 })
	if n := blockedIn("atomicsLog).roll("); n != 1 {
		t.Errorf("%d appends roll, want one", n)
	}
	close(storage.release)
	finishes(t, "the stuck append", first.done)
	for _, a := range behind {
		finishes(t, "an append", a.done)
	}
	stored := byProducerFrom(t, log.NewHandle(), 3*stuckUnits+2)
	for i, a := range append([]*attempt{first}, behind...) {
		a.check(t, i, stored)
	}
}
