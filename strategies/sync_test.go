package strategies_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// unit is the size of the batches whose bytes these tests count: offset n is at byte n·unit of the log.
const unit = 200

// makeUnit makes a batch of one record and unit bytes.
func (m *maker) makeUnit() segment.Batch { return m.make(1, unit-70, 0) }

func TestUnit(t *testing.T) {
	if b := newMaker(1, 0).makeUnit(); len(b) != unit {
		t.Fatalf("a unit has %d bytes", len(b))
	}
}

// A single client syncs exactly when a policy of bytes says so: before what is not durable reaches the
// number, and when a segment is sealed.
func TestSyncCount(t *testing.T) {
	for _, policy := range []segment.SyncPolicy{{}, segment.EveryBatch(), segment.EveryBytes(unit + 1), segment.EveryBytes(3 * unit), segment.EveryBytes(1 << 20)} {
		t.Run(fmt.Sprintf("sync=%v", policy), func(t *testing.T) {
			const perSegment = 7
			options := strategies.Options{SegmentSize: perSegment * unit, IndexInterval: 64, Sync: policy}
			forEachWith(t, options, isCore, func(f *fixture) {
				faults, _ := f.faulty()
				log := f.open()
				h, m := log.NewHandle(), newMaker(1, 250)
				opened := faults.Count(segmenttest.Sync)
				syncs, unsynced := 0, int64(0)
				for i := range int64(40) {
					if i%perSegment == 0 && unsynced > 0 && policy.Bytes > 0 { // rolls
						syncs, unsynced = syncs+1, 0
					}
					if unsynced += unit; policy.Due(unsynced) {
						syncs, unsynced = syncs+1, 0
					}
					put(f.t, h, m.makeUnit())
					if n := faults.Count(segmenttest.Sync) - opened; n != syncs {
						f.t.Fatalf("%d syncs after %d appends, want %d", n, i+1, syncs)
					}
					want := i + 1 - unsynced/unit
					if policy.Never() {
						want = 0
					}
					if got := log.LastSynced(); got != want {
						f.t.Fatalf("synced up to %d after %d appends, want %d", got, i+1, want)
					}
				}
				log = f.reopened(log)
				if got := log.LastSynced(); got != 40 {
					f.t.Errorf("synced up to %d of 40 after a reopen", got)
				}
			})
		})
	}
}

// Side by side too, what is published and not synced stays below the number, and what is synced only grows.
func TestSyncEveryBytes(t *testing.T) {
	for _, n := range []int64{1, 5 * unit, 30 * unit} {
		t.Run(fmt.Sprintf("bytes=%d", n), func(t *testing.T) {
			options := strategies.Options{SegmentSize: 16 * unit, IndexInterval: 64, Sync: segment.EveryBytes(n)}
			forEachWith(t, options, isCore, func(f *fixture) {
				log := f.open()
				check := func(h strategies.Handle, synced *int64) {
					end := h.Offsets().HighWatermark
					now := log.LastSynced() // after the high watermark, so that it covers it
					if (end-now)*unit >= n {
						f.t.Errorf("of %d records %d are synced, which leaves %d bytes", end, now, (end-now)*unit)
					}
					if now < *synced {
						f.t.Errorf("synced up to %d, after %d", now, *synced)
					}
					*synced = now
				}
				var producers, lookers sync.WaitGroup
				var over atomic.Bool
				for id := range 4 {
					producers.Go(func() {
						h, m := log.NewHandle(), newMaker(id, 251)
						synced := int64(0)
						for range 100 {
							put(f.t, h, m.makeUnit())
							check(h, &synced)
						}
					})
				}
				lookers.Go(func() {
					h, synced := log.NewHandle(), int64(0)
					for !over.Load() && !f.t.Failed() {
						check(h, &synced)
						time.Sleep(time.Microsecond)
					}
				})
				finishes(f.t, "appending", inBackground(producers.Wait))
				over.Store(true)
				lookers.Wait()
			})
		})
	}
}

// By the clock, all is durable in the end, without another append, also in the segments that were sealed.
func TestSyncEveryInterval(t *testing.T) {
	options := strategies.Options{SegmentSize: 4 * unit, IndexInterval: 64, Sync: segment.EveryInterval(200 * time.Microsecond)}
	forEachWith(t, options, isCore, func(f *fixture) {
		faults, _ := f.faulty()
		var mu sync.Mutex
		names := map[string]bool{}
		faults.Before = func(op segmenttest.Op, name string) {
			if op == segmenttest.Sync {
				mu.Lock()
				defer mu.Unlock()
				names[name] = true
			}
		}
		log := f.open()
		var wg sync.WaitGroup
		for id := range 3 {
			wg.Go(func() {
				h, m := log.NewHandle(), newMaker(id, 252)
				for synced := int64(0); ; {
					now := log.LastSynced()
					if now < synced || now > h.Offsets().HighWatermark {
						f.t.Errorf("synced up to %d, after %d, high watermark %+v", now, synced, h.Offsets())
					}
					synced = now
					put(f.t, h, m.makeUnit())
					if m.sequence == 100 {
						return
					}
				}
			})
		}
		finishes(f.t, "appending", inBackground(wg.Wait))
		end := log.NewHandle().Offsets().HighWatermark
		eventually(f.t, "the sync of all", func() bool { return log.LastSynced() == end })
		mu.Lock()
		defer mu.Unlock()
		for base := int64(0); base < end; base += 4 {
			if !names[segment.Name(base)] {
				f.t.Errorf("%s is said to be synced and never was", segment.Name(base))
			}
		}
	})
}

// A batch that is written while a sync is under way is not covered by it.
func TestSyncCoversWhatWasWrittenBefore(t *testing.T) {
	for _, policy := range []segment.SyncPolicy{segment.EveryBatch(), segment.EveryInterval(50 * time.Microsecond)} {
		t.Run(fmt.Sprintf("sync=%v", policy), func(t *testing.T) {
			forEachWith(t, strategies.Options{Sync: policy}, isCore, appendDuringSync)
		})
	}
}

func appendDuringSync(f *fixture) {
	storage := &steppedSync{Storage: f.options.Storage, steps: make(chan chan struct{})}
	f.options.Storage = storage
	log := f.open()
	storage.on.Store(true)
	waits := f.options.Sync.Interval == 0
	first := begin(log, 1)
	close(<-storage.steps)    // the first sync may begin
	synced := <-storage.steps // it has made everything durable that was there
	if waits && isClosed(first.done) {
		f.t.Error("an append is acknowledged before its sync has returned")
	}
	var later []*attempt
	for id := 2; id < 6; id++ {
		later = append(later, begin(log, id))
	}
	if waits {
		eventually(f.t, "blocking", func() bool { return appending() == 1+len(later) })
	} else {
		for _, a := range later {
			finishes(f.t, "an append that does not wait for a sync", a.done)
		}
	}
	close(synced)
	second := <-storage.steps // the next sync has not begun
	if got := log.LastSynced(); got != 1 {
		f.t.Errorf("synced up to %d after a sync of the first record", got)
	}
	storage.on.Store(false)
	close(second)
	for _, a := range append(later, first) {
		finishes(f.t, "an append", a.done)
		if a.err != nil {
			f.t.Error(a.err)
		}
	}
	eventually(f.t, "the sync of all", func() bool { return log.LastSynced() == 5 })
}

// steppedSync is a storage whose syncs of logs, while it is on, wait before they begin and before they
// return: each sends a channel, and goes on when it is closed.
type steppedSync struct {
	segment.Storage
	on    atomic.Bool
	steps chan chan struct{}
}

func (s *steppedSync) step() {
	if s.on.Load() {
		proceed := make(chan struct{})
		s.steps <- proceed
		<-proceed
	}
}

func (s *steppedSync) OpenLog(name string, create bool) (segment.LogFile, error) {
	l, err := s.Storage.OpenLog(name, create)
	if err != nil {
		return nil, err
	}
	return &steppedLog{l, s}, nil
}

type steppedLog struct {
	segment.LogFile
	storage *steppedSync
}

func (l *steppedLog) Sync() error {
	l.storage.step()
	err := l.LogFile.Sync()
	l.storage.step()
	return err
}

// Without a policy, LastSynced stays where the log was opened, whatever is appended and trimmed.
func TestLastSyncedWithoutPolicy(t *testing.T) {
	forEachWith(t, shortSegments, shares, func(f *fixture) {
		m := newMaker(1, 253)
		var end int64
		for range 3 {
			log := f.open()
			h := log.NewHandle()
			for range 20 {
				fill(f.t, h, m, 1)
				if got := log.LastSynced(); got != end {
					f.t.Fatalf("synced up to %d without a policy, opened at %d", got, end)
				}
			}
			if err := log.Trim(end + 10); err != nil {
				f.t.Fatal(err)
			}
			if got := log.LastSynced(); got != end {
				f.t.Fatalf("synced up to %d after a trim, opened at %d", got, end)
			}
			end = h.Offsets().HighWatermark
			if err := log.Close(); err != nil {
				f.t.Fatal(err)
			}
		}
	})
}
