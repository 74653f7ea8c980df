package strategies_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// heldUp is a storage of which one call waits for release.
type heldUp struct {
	*segmenttest.Faults
	armed            atomic.Bool // the next call waits
	entered, release chan struct{}
}

// holdUp holds up the first write.
func holdUp(s segment.Storage) *heldUp {
	h := holdUpLater(s, writes)
	h.armed.Store(true)
	return h
}

// holdUpLater holds up the first call of some kinds from when it is armed.
func holdUpLater(s segment.Storage, ops []segmenttest.Op) *heldUp {
	h := &heldUp{Faults: segmenttest.NewFaults(s), entered: make(chan struct{}), release: make(chan struct{})}
	h.Before = func(op segmenttest.Op, _ string) {
		if slices.Contains(ops, op) && h.armed.CompareAndSwap(true, false) {
			close(h.entered)
			<-h.release
		}
	}
	return h
}

// attempt is an append in the background.
type attempt struct {
	cancel context.CancelFunc
	batch  segment.Batch
	bytes  string // the batch as it was before the call
	base   int64
	err    error
	done   <-chan struct{}
}

func begin(log strategies.Log, producer int) *attempt {
	ctx, cancel := context.WithCancel(context.Background())
	a := &attempt{cancel: cancel, batch: newMaker(producer, 80).make(1, 100, 0)}
	a.bytes = string(a.batch)
	a.done = inBackground(func() {
		a.base, a.err = log.NewHandle().Append(ctx, a.batch, strategies.AcksLeader)
	})
	return a
}

// scribble uses the buffer of a call that has returned again.
func (a *attempt) scribble() {
	for i := range a.batch {
		a.batch[i] = 0xee
	}
}

// check compares what was told with what is in the log, by producer.
func (a *attempt) check(t *testing.T, producer int, stored map[int]segment.Batch) {
	t.Helper()
	b, ok := stored[producer]
	if ok && string(b[8:]) != a.bytes[8:] { // the base offset is the log's
		t.Errorf("batch of producer %d is not what was appended", producer)
	}
	switch {
	case a.err == nil:
		if !ok || b.BaseOffset() != a.base {
			t.Errorf("batch of producer %d, acknowledged at %d, is not there", producer, a.base)
		}
	case errors.Is(a.err, context.Canceled) || errors.Is(a.err, strategies.ErrClosed):
		if ok {
			t.Errorf("batch of producer %d is in the log, though the append gave %v", producer, a.err)
		}
	case !errors.Is(a.err, strategies.ErrUnknownOutcome):
		t.Errorf("append of producer %d: %v", producer, a.err)
	}
}

// byProducer is the log's batches by their producer, each of whom appended one at most.
func byProducer(t *testing.T, h strategies.Handle) map[int]segment.Batch {
	t.Helper()
	return byProducerFrom(t, h, 0)
}

// byProducerFrom is byProducer of the log from an offset on.
func byProducerFrom(t *testing.T, h strategies.Handle, from int64) map[int]segment.Batch {
	t.Helper()
	stored := map[int]segment.Batch{}
	for _, b := range contents(t, h, from) {
		r := b.Records()
		r.Next()
		producer, _, err := parseMessage(r.Record.Value)
		if err != nil || stored[producer] != nil {
			t.Fatalf("producer %d at %d: %v, or twice", producer, b.BaseOffset(), err)
		}
		stored[producer] = b
	}
	return stored
}

// An append whose write is under way waits it out, whatever happens to its context.
func TestCancelDuringWrite(t *testing.T) {
	forEachWith(t, strategies.Options{}, isCore, func(f *fixture) {
		storage := holdUp(f.options.Storage)
		f.options.Storage = storage
		log := f.open()
		a := begin(log, 0)
		<-storage.entered
		a.cancel()
		select {
		case <-a.done:
			f.t.Errorf("append returns %v while its batch is being written", a.err)
		default:
		}
		close(storage.release)
		finishes(f.t, "the append", a.done)
		a.scribble()
		if a.err != nil {
			f.t.Errorf("append of what was written gives %v", a.err)
		}
		a.check(f.t, 0, byProducer(f.t, log.NewHandle()))
	})
}

// Appends behind a write that is stuck are cancelled. Where the model can let go of them it does so at
// once; what it has let go of it never touches again.
func TestCancelBehindStuckWrite(t *testing.T) {
	for name, attempts := range map[string]int{"few": 10, "many": 400} { // many: more than the actor's mailbox holds
		t.Run("attempts="+name, func(t *testing.T) {
			forEachWith(t, strategies.Options{SegmentSize: 1 << 20}, isCore, func(f *fixture) {
				storage := holdUp(f.options.Storage)
				f.options.Storage = storage
				log := f.open()
				all := []*attempt{begin(log, 0)}
				<-storage.entered
				for i := 1; i <= attempts; i++ {
					all = append(all, begin(log, i))
				}
				eventually(f.t, "blocking", func() bool { return appending() == len(all) })
				for i := 1; i <= attempts; i += 2 {
					all[i].cancel()
				}
				if !locks(f.strategy) {
					for i := 1; i <= attempts; i += 2 {
						finishes(f.t, "a cancelled append", all[i].done)
						if all[i].err == nil {
							f.t.Errorf("append gives no error though nothing was written yet")
						}
						all[i].scribble()
					}
				}
				close(storage.release)
				for _, a := range all {
					finishes(f.t, "an append", a.done)
				}
				stored := byProducer(f.t, log.NewHandle())
				for i, a := range all {
					a.check(f.t, i, stored)
					if i%2 == 0 && a.err != nil {
						f.t.Errorf("append %d that was not cancelled gives %v", i, a.err)
					}
					if i%2 == 1 && a.err == nil {
						f.t.Errorf("append %d, cancelled before its turn, gives no error", i)
					}
				}
			})
		})
	}
}

// Close while a write is stuck and others queue behind it: all come back, once the write does.
func TestCloseBehindStuckWrite(t *testing.T) {
	forEachWith(t, strategies.Options{SegmentSize: 1 << 20}, isCore, func(f *fixture) {
		underlying := f.options.Storage
		storage := holdUp(underlying)
		f.options.Storage = storage
		log := f.open()
		all := []*attempt{begin(log, 0)}
		<-storage.entered
		for i := 1; i <= 300; i++ {
			all = append(all, begin(log, i))
		}
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if err := log.NewHandle().Wait(context.Background(), 1<<40); !errors.Is(err, strategies.ErrClosed) {
					f.t.Errorf("wait gives %v, want ErrClosed", err)
				}
			})
		}
		eventually(f.t, "blocking", func() bool { return appending() == len(all) && waiting() == 5 })
		wg.Go(func() {
			if err := log.Close(); err != nil {
				f.t.Error(err)
			}
		})
		for i := 1; i <= 300; i += 3 {
			all[i].cancel()
		}
		close(storage.release)
		for _, a := range all {
			finishes(f.t, "an append", a.done)
			a.scribble()
		}
		finishes(f.t, "closing", inBackground(wg.Wait))
		f.options.Storage = underlying
		stored := byProducer(f.t, f.open().NewHandle())
		for i, a := range all {
			a.check(f.t, i, stored)
		}
	})
}
