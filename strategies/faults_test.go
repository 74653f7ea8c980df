package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

// fault fails operations of one kind, from the nth on: once, or always.
type fault struct {
	name   string
	op     operation
	nth    int64
	always bool
	torn   bool
	count  atomic.Int64
}

func (f *fault) before(op operation) error {
	if op != f.op {
		return nil
	}
	n := f.count.Add(1)
	if n < f.nth || n > f.nth && !f.always {
		return nil
	}
	return syscall.EIO
}

func faults() []*fault {
	return []*fault{
		{name: "write", op: writing, nth: 25, always: true},
		{name: "firstWrite", op: writing, nth: 1, always: true},
		{name: "tornWrite", op: writing, nth: 25, always: true, torn: true},
		{name: "sync", op: syncing, nth: 20, always: true},
		{name: "syncOnce", op: syncing, nth: 20},
		{name: "open", op: opening, nth: 4, always: true},
		{name: "openOnce", op: opening, nth: 4},
		{name: "map", op: mapping, nth: 5, always: true}, // the offset index of the third segment
		{name: "mapOnce", op: mapping, nth: 6},           // the time index of the third segment
		{name: "truncate", op: truncating, nth: 3, always: true},
	}
}

// A failed write, sync or roll ends appending for good, and nothing else: what was acknowledged stays
// readable, nothing that failed becomes visible, nobody waits for ever.
func TestFaults(t *testing.T) {
	for i, name := range faultNames() {
		t.Run("fault="+name, func(t *testing.T) {
			options := strategies.Options{SegmentSize: 6000, IndexInterval: 256, Sync: segment.EveryBatch()}
			forEachWith(t, options, isCore, func(f *fixture) {
				fault := faults()[i]
				underlying := f.options.Storage
				f.options.Storage = &hooks{Storage: underlying, before: fault.before, torn: fault.torn}
				log := f.open()
				l := failingLoad{f: f, log: log}
				finishes(f.t, "the load", inBackground(l.run))
				if f.t.Failed() {
					return
				}
				l.checkFailed()
				fault.always, fault.nth = false, 0
				if err := log.Close(); err != nil {
					f.t.Fatalf("close: %v", err)
				}
				if fault.op != syncing { // after which the kernel's pages are anybody's guess
					f.options.Storage = underlying
					h := f.open().NewHandle()
					l.checkContents(h)
					fill(f.t, h, newMaker(8, 70), 20)
				}
			})
		})
	}
}

func faultNames() (names []string) {
	for _, f := range faults() {
		names = append(names, f.name)
	}
	return names
}

// failingLoad appends, waits and reads until the partition fails.
type failingLoad struct {
	f     *fixture
	log   strategies.Log
	mu    sync.Mutex
	acked map[int64]int // producer of the batch, by offset
	sums  [8]int        // number of records acknowledged, by producer
}

func (l *failingLoad) run() {
	t := l.f.t
	l.acked = map[int64]int{}
	var wg sync.WaitGroup
	for id := range 8 {
		wg.Go(func() { l.produce(id) })
	}
	for range 4 {
		wg.Go(func() {
			if err := l.log.NewHandle().Wait(context.Background(), 1<<40); !errors.Is(err, strategies.ErrFailed) {
				t.Errorf("wait gives %v, want ErrFailed", err)
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			h, s := l.log.NewHandle(), newStream(8, false)
			if err := follow(h, s); !errors.Is(err, strategies.ErrFailed) {
				t.Errorf("following the tail ends with %v, want ErrFailed", err)
			}
		})
	}
	wg.Wait()
}

func (l *failingLoad) produce(id int) {
	h, m := l.log.NewHandle(), newMaker(id, 71)
	for range 1000 {
		b := m.next()
		base, err := h.Append(context.Background(), b, strategies.AcksLeader)
		if err != nil {
			if !errors.Is(err, strategies.ErrFailed) || !errors.Is(err, syscall.EIO) {
				l.f.t.Errorf("append gives %v, want ErrFailed and the cause", err)
			}
			return
		}
		l.mu.Lock()
		l.acked[base] = id
		l.sums[id] = m.sequence
		l.mu.Unlock()
	}
	l.f.t.Error("1000 appends have not met the fault")
}

// follow checks the log as it grows until a call gives an error.
func follow(h strategies.Handle, s *stream) error {
	buf := make([]byte, 4096)
	for {
		if err := h.Wait(context.Background(), s.next); err != nil {
			return err
		}
		p, err := h.Read(s.next, buf)
		if err != nil {
			return fmt.Errorf("read at %d: %w", s.next, err)
		}
		if err := s.check(p); err != nil {
			return err
		}
	}
}

func (l *failingLoad) checkFailed() {
	t, h := l.f.t, l.log.NewHandle()
	before := h.Offsets()
	for range 10 {
		for _, acks := range []strategies.Acks{strategies.AcksNone, strategies.AcksLeader, strategies.AcksAll} {
			if _, err := h.Append(context.Background(), newMaker(1, 72).next(), acks); !errors.Is(err, strategies.ErrFailed) {
				t.Fatalf("append after the failure gives %v", err)
			}
		}
	}
	if err := h.Wait(context.Background(), before.HighWatermark); !errors.Is(err, strategies.ErrFailed) {
		t.Fatalf("wait after the failure gives %v", err)
	}
	if before.HighWatermark > 0 {
		if err := h.Wait(context.Background(), before.HighWatermark-1); err != nil {
			t.Fatalf("wait for what is there gives %v", err)
		}
	}
	l.checkContents(h)
	if after := h.Offsets(); after != before {
		t.Fatalf("offsets went from %+v to %+v after the failure", before, after)
	}
}

// checkContents compares the log with what was acknowledged: all that, and nothing else.
func (l *failingLoad) checkContents(h strategies.Handle) {
	t := l.f.t
	t.Helper()
	batches := contents(t, h, 0)
	for _, b := range batches {
		r := b.Records()
		r.Next()
		producer, sequence, err := parseMessage(r.Record.Value)
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := l.acked[b.BaseOffset()]; !ok || id != producer || sequence >= l.sums[id] {
			t.Fatalf("record %d of producer %d at %d was not acknowledged there", sequence, producer, b.BaseOffset())
		}
	}
	if len(batches) != len(l.acked) {
		t.Fatalf("log holds %d batches, %d were acknowledged", len(batches), len(l.acked))
	}
}

// atomics tries a write twice, the others once: an error that passes ends appending or does not, and
// what was told is true either way.
func TestPassingWriteError(t *testing.T) {
	options := strategies.Options{SegmentSize: 6000, IndexInterval: 256}
	forEachWith(t, options, isCore, func(f *fixture) {
		once := &fault{op: writing, nth: 10}
		f.options.Storage = &hooks{Storage: f.options.Storage, before: once.before}
		log := f.open()
		h, m := log.NewHandle(), newMaker(1, 73)
		var want []segment.Batch
		for range 30 {
			b := m.next()
			base, err := h.Append(context.Background(), b, strategies.AcksLeader)
			if err != nil {
				if !errors.Is(err, strategies.ErrFailed) {
					f.t.Fatal(err)
				}
				continue
			}
			want = append(want, append(segment.Batch(nil), b...))
			want[len(want)-1].Stamp(base)
		}
		if n := len(want); n != 9 && n != 30 {
			f.t.Fatalf("%d appends succeeded, want all, or those before the error", n)
		}
		sameBatches(f.t, contents(f.t, log.NewHandle(), 0), want)
	})
}
