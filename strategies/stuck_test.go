package strategies_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// A slow sync lets finished batches pile up behind it; all are committed, whoever does it.
func TestSlowSync(t *testing.T) {
	for _, l := range []layout{{"whole", 1 << 20, 4096}, {"middle", 6000, 256}} {
		options := strategies.Options{SegmentSize: l.segment, IndexInterval: l.interval, Sync: segment.EveryBatch()}
		t.Run("layout="+l.name, func(t *testing.T) {
			forEachWith(t, options, isCore, func(f *fixture) {
				faults, _ := f.faulty()
				faults.Before = func(op segmenttest.Op, _ string) {
					for i := 0; op == segmenttest.Sync && i < 50; i++ {
						runtime.Gosched()
					}
				}
				runLoad(f.t, load{producers: 16, consumers: 2, batches: 40, cancel: true}, f.open())
			})
		})
	}
}

// Megabytes of batches come in behind a write that is stuck, more than may be in flight at once.
func TestManyBytesBehindStuckWrite(t *testing.T) {
	forEachWith(t, strategies.Options{}, isCore, func(f *fixture) {
		storage := holdUp(f.options.Storage)
		f.options.Storage = storage
		log := f.open()
		first := begin(log, 0)
		<-storage.entered
		const producers, each = 12, 3
		var wg sync.WaitGroup
		for id := 1; id <= producers; id++ {
			wg.Go(func() {
				h, m := log.NewHandle(), newMaker(id, 100)
				for i := range each {
					acks := strategies.AcksLeader
					if i == 0 { // whoever need not wait comes back with more
						acks = strategies.AcksNone
					}
					if _, err := h.Append(context.Background(), m.make(1, 150_000, 0), acks); err != nil {
						f.t.Error(err)
					}
				}
			})
		}
		eventually(f.t, "blocking", func() bool { return appending() == producers+1 })
		close(storage.release)
		finishes(f.t, "appending", inBackground(wg.Wait))
		finishes(f.t, "the first append", first.done)
		s := newStream(producers, false)
		h := log.NewHandle()
		buf := make([]byte, 1<<20)
		for s.next < 1+producers*each {
			p, err := h.Read(s.next, buf)
			if err == nil {
				err = s.check(p)
			}
			if err != nil {
				f.t.Fatal(err)
			}
		}
	})
}

// The write that others wait for fails in the end: so do they, and whoever waits for records.
func TestStuckWriteFails(t *testing.T) {
	forEachWith(t, strategies.Options{}, isCore, func(f *fixture) {
		storage := holdUp(f.options.Storage)
		f.options.Storage = storage
		log := f.open()
		all := []*attempt{begin(log, 0)}
		<-storage.entered
		for i := 1; i <= 20; i++ {
			all = append(all, begin(log, i))
		}
		waited := inBackground(func() {
			if err := log.NewHandle().Wait(context.Background(), 0); !errors.Is(err, strategies.ErrFailed) {
				f.t.Errorf("wait gives %v, want ErrFailed", err)
			}
		})
		eventually(f.t, "blocking", func() bool { return appending() == len(all) && waiting() == 1 })
		storage.Fail(segmenttest.Pwrite, 1, -1, syscall.EIO)
		storage.Fail(segmenttest.PwriteBatches, 1, -1, syscall.EIO)
		close(storage.release)
		finishes(f.t, "the wait", waited)
		for i, a := range all {
			finishes(f.t, "an append", a.done)
			if !errors.Is(a.err, strategies.ErrFailed) || !errors.Is(a.err, syscall.EIO) {
				f.t.Errorf("append %d gives %v, want ErrFailed and the cause", i, a.err)
			}
		}
		if o := log.NewHandle().Offsets(); o != (strategies.Offsets{}) {
			f.t.Errorf("offsets are %+v though nothing was written", o)
		}
		finishes(f.t, "closing", inBackground(func() {
			if err := log.Close(); err != nil {
				f.t.Error(err)
			}
		}))
	})
}
