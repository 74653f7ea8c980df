package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// fault makes calls of some kinds fail, from the nth of each on.
type fault struct {
	name       string
	nth, times int
	short      bool
	ops        []segmenttest.Op
	cause      error // EIO if none is given
}

var writes = []segmenttest.Op{segmenttest.Pwrite, segmenttest.PwriteBatches}

func faults() []fault {
	syncs, opens, maps := []segmenttest.Op{segmenttest.Sync}, []segmenttest.Op{segmenttest.OpenLog}, []segmenttest.Op{segmenttest.MapIndex}
	return []fault{
		{name: "write", ops: writes, nth: 25, times: -1},
		{name: "firstWrite", ops: writes, nth: 1, times: -1},
		{name: "tornWrite", ops: writes, nth: 25, times: -1, short: true},
		{name: "sync", ops: syncs, nth: 20, times: -1},
		{name: "syncOnce", ops: syncs, nth: 20, times: 1},
		{name: "open", ops: opens, nth: 4, times: -1},
		{name: "openOnce", ops: opens, nth: 4, times: 1},
		{name: "map", ops: maps, nth: 6, times: -1, short: true}, // the offset index of the third segment
		{name: "mapOnce", ops: maps, nth: 7, times: 1},           // the time index of the third segment
		{name: "truncate", ops: []segmenttest.Op{segmenttest.Truncate}, nth: 3, times: -1},
	}
}

// befall lets the fault happen to a storage.
func (f fault) befall(s *segmenttest.Faults) {
	if f.cause == nil {
		f.cause = syscall.EIO
	}
	for _, op := range f.ops {
		if f.short {
			s.Short(op, f.nth, f.times, f.cause)
		} else {
			s.Fail(op, f.nth, f.times, f.cause)
		}
	}
}

// A failed write, sync or roll ends appending for good, and nothing else: what was acknowledged stays
// readable, nothing that failed becomes visible, nobody waits for ever.
func TestFaults(t *testing.T) {
	for _, fault := range faults() {
		t.Run("fault="+fault.name, func(t *testing.T) {
			options := strategies.Options{SegmentSize: 6000, IndexInterval: 256, Sync: segment.EveryBatch()}
			forEachWith(t, options, isCore, func(f *fixture) {
				storage, underlying := f.faulty()
				fault.befall(storage)
				log := f.open()
				l := failingLoad{f: f, log: log, producers: 8, cause: syscall.EIO}
				finishes(f.t, "the load", inBackground(l.run))
				if f.t.Failed() {
					return
				}
				l.checkFailed()
				storage.Clear()
				if err := log.Close(); err != nil {
					f.t.Fatalf("close: %v", err)
				}
				// Also after a failed sync: the close has cut what was written and not acknowledged.
				f.options.Storage = underlying
				h := f.open().NewHandle()
				l.checkContents(h)
				fill(f.t, h, newMaker(8, 70), 20)
			})
		})
	}
}

// failingLoad appends, waits and reads until the partition fails.
type failingLoad struct {
	f         *fixture
	log       strategies.Log
	producers int
	cause     error

	mu    sync.Mutex
	acked map[int64]int // producer of the batch, by offset
	sums  [8]int        // number of records acknowledged, by producer
}

func (l *failingLoad) run() {
	t := l.f.t
	l.acked = map[int64]int{}
	var wg sync.WaitGroup
	for id := range l.producers {
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
			if !errors.Is(err, strategies.ErrFailed) || !errors.Is(err, l.cause) {
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

// A single write fails, and every one after it would succeed: all models take it alike. The partition is poisoned,
// and whoever appends or waits is told so at once.
func TestOneFailedWrite(t *testing.T) {
	const nth = 10
	for _, c := range []struct {
		name  string
		cause error
		short bool
	}{{"EIO", syscall.EIO, false}, {"ENOSPC", syscall.ENOSPC, false}, {"short", syscall.ENOSPC, true}} {
		for _, producers := range []int{1, 8} {
			t.Run(fmt.Sprintf("fault=%s/producers=%d", c.name, producers), func(t *testing.T) {
				options := strategies.Options{SegmentSize: 6000, IndexInterval: 256}
				forEachWith(t, options, isCore, func(f *fixture) {
					storage, underlying := f.faulty()
					var count atomic.Int64
					storage.Before = func(op segmenttest.Op, _ string) {
						if slices.Contains(writes, op) && count.Add(1) == nth {
							fault{ops: []segmenttest.Op{op}, nth: 1, times: 1, short: c.short, cause: c.cause}.befall(storage)
						}
					}
					log := f.open()
					l := failingLoad{f: f, log: log, producers: producers, cause: c.cause}
					finishes(f.t, "the load", inBackground(l.run))
					if f.t.Failed() {
						return
					}
					if producers == 1 && len(l.acked) != nth-1 {
						f.t.Errorf("%d appends are acknowledged, want those before the failure, %d", len(l.acked), nth-1)
					}
					l.checkFailed()
					if err := log.Close(); err != nil {
						f.t.Fatalf("close: %v", err)
					}
					f.options.Storage = underlying
					h := f.open().NewHandle()
					l.checkContents(h)
					fill(f.t, h, newMaker(8, 70), 20)
				})
			})
		}
	}
}
