package strategies_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// unknownBy checks that an append that waits for the replicas comes back with an unknown outcome, and why.
func (a *attempt) unknownBy(t *testing.T, cause error) {
	t.Helper()
	finishes(t, "a pending append", a.done)
	if !errors.Is(a.err, strategies.ErrUnknownOutcome) || errors.Is(a.err, cause) || !strings.Contains(a.err.Error(), cause.Error()) {
		t.Errorf("pending append returns %d and %v, want ErrUnknownOutcome and %v", a.base, a.err, cause)
	}
	a.scribble()
}

// inLog checks that the log holds the batches of all attempts, by producer, as they were appended.
func inLog(t *testing.T, h strategies.Handle, attempts []*attempt) {
	t.Helper()
	stored := byProducer(t, h)
	for i, a := range attempts {
		if b := stored[i]; b == nil || string(b[8:]) != a.bytes[8:] {
			t.Errorf("batch of producer %d is not in the log as it was appended", i)
		}
	}
}

// A cancelled append is given up at once; its batch is in the log for good, and its handle goes on.
func TestCancelPending(t *testing.T) {
	forEachReplicated(t, func(f *fixture) {
		log := f.open()
		const n = 6
		handles, all := f.pend(log, n)
		for i := 1; i < n; i += 2 {
			all[i].cancel()
			all[i].unknownBy(f.t, context.Canceled)
		}
		again := make([]*attempt, n)
		observer := log.NewHandle()
		for i := 1; i < n; i += 2 {
			end := observer.Offsets().LogEnd
			base, err := handles[i].Append(context.Background(), newMaker(1000, 230).make(1, 60, 0), strategies.AcksLeader)
			if err != nil || base != end {
				f.t.Fatalf("append after a cancelled one returns %d and %v, want %d", base, err, end)
			}
			again[i] = beginReplicated(f.t, handles[i], 100+i)
			eventually(f.t, "writing", func() bool { return observer.Offsets().LogEnd == end+2 })
		}
		// The old appends are replicated first, and must not answer for the new ones.
		f.fetchAll(observer, n)
		for i := range n {
			if i%2 == 0 {
				all[i].acknowledgedAt(f.t, int64(i))
			} else {
				stillPending(f.t, again[i:i+1])
			}
		}
		f.fetchAll(observer, observer.Offsets().LogEnd)
		for i := 1; i < n; i += 2 {
			again[i].acknowledgedAt(f.t, int64(n+i))
			again[i].scribble()
		}
		batches := contents(f.t, observer, 0)
		for i, a := range all {
			if string(batches[i][8:]) != a.bytes[8:] {
				f.t.Errorf("batch at %d is not what was appended", i)
			}
			if a := again[i]; a != nil && string(batches[n+i][8:]) != a.bytes[8:] {
				f.t.Errorf("batch at %d is not what was appended", n+i)
			}
		}
	})
}

// The context ends during the write, which is waited out, and before the wait for the replicas.
func TestCancelBeforePending(t *testing.T) {
	forEachWith(t, strategies.Options{Replicas: 1}, isCore, func(f *fixture) {
		storage := holdUp(f.options.Storage)
		f.options.Storage = storage
		log := f.open()
		a := beginReplicated(f.t, log.NewHandle(), 0)
		<-storage.entered
		eventually(f.t, "blocking", func() bool { return appending() == 1 })
		a.cancel()
		stillPending(f.t, []*attempt{a})
		close(storage.release)
		a.unknownBy(f.t, context.Canceled)
		h := log.NewHandle()
		fetch(f.t, h, 0, 1)
		inLog(f.t, h, []*attempt{a})
	})
}

// Close gives up what is pending, each append once; the batches are there on the next open.
func TestClosePending(t *testing.T) {
	forEachReplicated(t, func(f *fixture) {
		goroutines := runtime.NumGoroutine()
		log, err := f.tryOpen()
		if err != nil {
			f.t.Fatal(err)
		}
		const n = 6
		handles, all := f.pend(log, n)
		f.fetchAll(log.NewHandle(), 1)
		all[0].acknowledgedAt(f.t, 0)
		all[1].cancel()
		all[1].unknownBy(f.t, context.Canceled)
		finishes(f.t, "closing", inBackground(func() {
			if err := log.Close(); err != nil {
				f.t.Error(err)
			}
		}))
		for _, a := range all[2:] {
			a.unknownBy(f.t, strategies.ErrClosed)
		}
		for _, h := range handles {
			refuses(f.t, h)
		}
		eventually(f.t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= goroutines })
		h := f.open().NewHandle()
		if o := h.Offsets(); o != (strategies.Offsets{HighWatermark: n, LogEnd: n}) {
			f.t.Fatalf("offsets are %+v after the reopen", o)
		}
		inLog(f.t, h, all)
	})
}

// Close comes while a write is stuck and others queue behind it, all of which wait for the replicas in the end.
func TestCloseBeforePending(t *testing.T) {
	forEachWith(t, strategies.Options{Replicas: 1}, isCore, func(f *fixture) {
		underlying := f.options.Storage
		storage := holdUp(underlying)
		f.options.Storage = storage
		log := f.open()
		all := []*attempt{beginReplicated(f.t, log.NewHandle(), 0)}
		<-storage.entered
		for i := 1; i < 20; i++ {
			all = append(all, beginReplicated(f.t, log.NewHandle(), i))
		}
		eventually(f.t, "blocking", func() bool { return appending() == len(all) })
		closed := inBackground(func() {
			if err := log.Close(); err != nil {
				f.t.Error(err)
			}
		})
		eventually(f.t, "closing", func() bool { return blockedIn("Log).Close(")+blockedIn("Actor).Close(") > 0 })
		close(storage.release)
		finishes(f.t, "closing", closed)
		for _, a := range all {
			finishes(f.t, "an append", a.done)
			if errors.Is(a.err, strategies.ErrClosed) == errors.Is(a.err, strategies.ErrUnknownOutcome) {
				f.t.Errorf("append returns %d and %v, want ErrClosed or ErrUnknownOutcome", a.base, a.err)
			}
			a.scribble()
		}
		f.options.Storage = underlying
		stored := byProducer(f.t, f.open().NewHandle())
		for i, a := range all {
			if written := errors.Is(a.err, strategies.ErrUnknownOutcome); written != (stored[i] != nil) {
				f.t.Errorf("append of producer %d gives %v, its batch is there: %t", i, a.err, stored[i] != nil)
			}
			if b := stored[i]; b != nil && string(b[8:]) != a.bytes[8:] {
				f.t.Errorf("batch of producer %d is not what was appended", i)
			}
		}
	})
}

// Trims wait for calls that use the files, and not for replicas.
func TestTrimBesidePending(t *testing.T) {
	o := strategies.Options{SegmentSize: 700, IndexInterval: 64, Replicas: 2}
	forEachWith(t, o, isCore, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		fill(f.t, h, newMaker(1, 231), 20)
		end := h.Offsets().LogEnd
		f.fetchAll(h, end)
		_, pending := f.pend(log, 4)
		finishes(f.t, "trimming", inBackground(func() {
			if err := log.Trim(end); err != nil {
				f.t.Error(err)
			}
		}))
		if start := h.Offsets().Start; start == 0 {
			f.t.Error("trim has dropped nothing")
		}
		stillPending(f.t, pending)
		f.fetchAll(h, end+4)
		for i, a := range pending {
			a.acknowledgedAt(f.t, end+int64(i))
		}
	})
}

// The partition fails while appends wait for the replicas: what was written before is written, and comes to be
// acknowledged and visible; nothing else will.
func TestFailureWhilePending(t *testing.T) {
	for name, ops := range map[string][]segmenttest.Op{"write": writes, "sync": {segmenttest.Sync}} {
		for _, l := range layouts {
			t.Run("fault="+name+"/layout="+l.name, func(t *testing.T) {
				o := strategies.Options{SegmentSize: l.segment, IndexInterval: l.interval, Sync: segment.EveryBatch(), Replicas: 2}
				forEachWith(t, o, isCore, func(f *fixture) { failWhilePending(f, ops) })
			})
		}
	}
}

func failWhilePending(f *fixture, ops []segmenttest.Op) {
	const n = 6
	storage, _ := f.faulty()
	log := f.open()
	h := log.NewHandle()
	_, pending := f.pend(log, n)
	wait := func(offset int64, want error) <-chan struct{} {
		h := log.NewHandle()
		return inBackground(func() {
			if err := h.Wait(context.Background(), offset); !errors.Is(err, want) {
				f.t.Errorf("wait for %d gives %v, want %v", offset, err, want)
			}
		})
	}
	waitLogEnd := func(offset int64, want error) <-chan struct{} {
		h := log.NewHandle()
		return inBackground(func() {
			if err := h.WaitLogEnd(context.Background(), offset); !errors.Is(err, want) {
				f.t.Errorf("wait for the log end %d gives %v, want %v", offset, err, want)
			}
		})
	}
	visible, never, neverWritten := wait(n-1, nil), wait(n, strategies.ErrFailed), waitLogEnd(n, strategies.ErrFailed)
	eventually(f.t, "blocking", func() bool { return waiting() == 2 && blockedIn("client).WaitLogEnd(") == 1 })
	for _, op := range ops {
		storage.Fail(op, 1, -1, syscall.EIO)
	}
	for _, acks := range []strategies.Acks{strategies.AcksAll, strategies.AcksLeader, strategies.AcksAll} {
		_, err := h.Append(context.Background(), newMaker(1000, 232).make(1, 60, 0), acks)
		if !errors.Is(err, strategies.ErrFailed) || !errors.Is(err, syscall.EIO) {
			f.t.Fatalf("append gives %v, want ErrFailed and the cause", err)
		}
	}
	finishes(f.t, "a wait for what will not be written", never)
	finishes(f.t, "a follower's wait for what will not be written", neverWritten)
	finishes(f.t, "a later wait", wait(n, strategies.ErrFailed))
	finishes(f.t, "a follower's later wait", waitLogEnd(n, strategies.ErrFailed))
	finishes(f.t, "a follower's wait for what is written", waitLogEnd(n-1, nil))
	later := wait(n-2, nil)
	stillPending(f.t, pending)
	if o := h.Offsets(); o != (strategies.Offsets{LogEnd: n}) {
		f.t.Fatalf("offsets are %+v after the failure, want the log end %d", o, n)
	}
	for offset := range int64(n) {
		stillPending(f.t, pending[offset:])
		f.fetchAll(h, offset+1)
		pending[offset].acknowledgedAt(f.t, offset)
	}
	finishes(f.t, "a wait from before the failure", visible)
	finishes(f.t, "a wait from after the failure", later)
	inLog(f.t, h, pending)
}
