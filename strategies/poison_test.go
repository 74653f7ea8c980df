package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// poisoned checks a log that has failed with a cause: calls that would change it, or wait for a change, say so;
// what was acknowledged before can be read, then and after a reopen.
func poisoned(f *fixture, log strategies.Log, underlying segment.Storage, want []segment.Batch, cause error) {
	t := f.t
	t.Helper()
	h, m := log.NewHandle(), newMaker(9, 280)
	before, synced := h.Offsets(), log.LastSynced()
	for range 3 {
		if _, err := h.Append(t.Context(), m.next(), strategies.AcksLeader); !errors.Is(err, strategies.ErrFailed) || !errors.Is(err, cause) {
			t.Fatalf("append gives %v, want ErrFailed and %v", err, cause)
		}
		if err := h.Wait(t.Context(), before.HighWatermark); !errors.Is(err, strategies.ErrFailed) || !errors.Is(err, cause) {
			t.Fatalf("wait gives %v, want ErrFailed and %v", err, cause)
		}
		if err := h.Wait(t.Context(), before.HighWatermark-1); err != nil {
			t.Fatalf("wait for what is there gives %v", err)
		}
	}
	sameBatches(t, contents(t, h, 0), want)
	for ts := int64(-110); ts < 920; ts += 103 {
		if got, err := h.OffsetForTime(ts); err != nil || got != firstSince(want, ts, before.HighWatermark) {
			t.Fatalf("offset for time %d is %d, %v", ts, got, err)
		}
	}
	if o := h.Offsets(); o != before || log.LastSynced() != synced {
		t.Fatalf("offsets went from %+v to %+v after the failure, the synced one from %d to %d", before, o, synced, log.LastSynced())
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	f.options.Storage = underlying
	h = f.open().NewHandle()
	got := contents(t, h, 0)
	if len(got) < len(want) {
		t.Fatalf("%d of %d acknowledged batches are left after a reopen", len(got), len(want))
	}
	sameBatches(t, got[:len(want)], want)
	fill(t, h, m, 5)
}

// waitBehind starts waits for what a log does not have.
func waitBehind(t *testing.T, log strategies.Log, cause error) (waits *sync.WaitGroup) {
	waits = &sync.WaitGroup{}
	for i := range int64(4) {
		waits.Go(func() {
			err := log.NewHandle().Wait(context.Background(), 1000+i)
			if !errors.Is(err, strategies.ErrFailed) || !errors.Is(err, cause) {
				t.Errorf("a blocked wait gives %v, want ErrFailed and %v", err, cause)
			}
		})
	}
	eventually(t, "blocking", func() bool { return waiting() == 4 })
	return waits
}

// A sync by the clock fails, beside the appends or when there are none.
func TestBackgroundSyncFails(t *testing.T) {
	options := shortSegments
	options.Sync = segment.EveryInterval(100 * time.Microsecond)
	for _, synced := range []bool{false, true} {
		t.Run(fmt.Sprintf("syncedBefore=%v", synced), func(t *testing.T) {
			forEachWith(t, options, isCore, func(f *fixture) {
				faults, underlying := f.faulty()
				log := f.open()
				h, m := log.NewHandle(), newMaker(1, 281)
				var want []segment.Batch
				end := int64(0)
				if synced {
					want = fill(f.t, h, m, 12)
					end = h.Offsets().HighWatermark
					eventually(f.t, "the sync", func() bool { return log.LastSynced() == end })
				}
				waits := waitBehind(f.t, log, syscall.EIO)
				faults.Fail(segmenttest.Sync, 1, -1, syscall.EIO)
				for { // an append that is acknowledged before the sync fails stays
					b := m.next()
					base, err := h.Append(f.t.Context(), b, strategies.AcksLeader)
					if err != nil {
						break
					}
					b.Stamp(base)
					want = append(want, append(segment.Batch{}, b...))
					if len(want) == 30 {
						eventually(f.t, "the failure", func() bool { return faults.Count(segmenttest.Sync) > 0 && waiting() == 0 })
					}
				}
				finishes(f.t, "waiting", inBackground(waits.Wait))
				if got := log.LastSynced(); got != end {
					f.t.Errorf("synced up to %d, with no sync since %d", got, end)
				}
				faults.Clear()
				poisoned(f, log, underlying, want, syscall.EIO)
			})
		})
	}
}

// Appends fail on what a roll does for them, or in the middle of a write.
func TestAppendFails(t *testing.T) {
	whole := segment.EveryBytes(1 << 30) // syncs on a roll alone
	for _, c := range []struct {
		name  string
		sync  segment.SyncPolicy
		ops   []segmenttest.Op
		short bool
	}{
		{"sync at a roll", whole, []segmenttest.Op{segmenttest.Sync}, false},
		{"sync", segment.EveryBytes(500), []segmenttest.Op{segmenttest.Sync}, false},
		{"names at a roll", whole, []segmenttest.Op{segmenttest.SyncDir}, false},
		{"next log", segment.SyncPolicy{}, []segmenttest.Op{segmenttest.OpenLog}, false},
		{"next index", segment.SyncPolicy{}, []segmenttest.Op{segmenttest.MapIndex}, true},
		{"seal", segment.SyncPolicy{}, []segmenttest.Op{segmenttest.Truncate}, false},
		{"size", segment.SyncPolicy{}, []segmenttest.Op{segmenttest.LogSize}, false},
		{"write", segment.SyncPolicy{}, []segmenttest.Op{segmenttest.Pwrite, segmenttest.PwriteBatches}, false},
		{"short write", segment.SyncPolicy{}, []segmenttest.Op{segmenttest.Pwrite, segmenttest.PwriteBatches}, true},
		{"short write, synced", segment.EveryBatch(), []segmenttest.Op{segmenttest.Pwrite, segmenttest.PwriteBatches}, true},
	} {
		t.Run("fault="+c.name, func(t *testing.T) {
			options := shortSegments
			options.Sync = c.sync
			forEachWith(t, options, isCore, func(f *fixture) {
				faults, underlying := f.faulty()
				log := f.open()
				h, m := log.NewHandle(), newMaker(1, 282)
				want := fill(f.t, h, m, 10)
				waits := waitBehind(f.t, log, syscall.ENOSPC)
				for _, op := range c.ops {
					if c.short {
						faults.Short(op, 1, -1, syscall.ENOSPC)
					} else {
						faults.Fail(op, 1, -1, syscall.ENOSPC)
					}
				}
				synced := log.LastSynced()
				for range 20 {
					b := m.next()
					base, err := h.Append(f.t.Context(), b, strategies.AcksLeader)
					if err != nil {
						break
					}
					b.Stamp(base)
					want = append(want, append(segment.Batch{}, b...))
				}
				finishes(f.t, "waiting", inBackground(waits.Wait))
				if c.ops[0] == segmenttest.Sync && log.LastSynced() != synced {
					f.t.Errorf("synced up to %d by a sync that has failed, from %d", log.LastSynced(), synced)
				}
				faults.Clear()
				poisoned(f, log, underlying, want, syscall.ENOSPC)
			})
		})
	}
}

// Side by side, whoever is told of an acknowledgement before the failure finds it after a reopen.
func TestBackgroundSyncFailsUnderLoad(t *testing.T) {
	options := shortSegments
	options.Sync = segment.EveryInterval(100 * time.Microsecond)
	forEachWith(t, options, isCore, func(f *fixture) {
		faults, underlying := f.faulty()
		log := f.open()
		faults.Fail(segmenttest.Sync, 20, -1, syscall.EIO)
		var mu sync.Mutex
		acked := map[int64]segment.Batch{}
		var wg sync.WaitGroup
		for id := range 6 {
			wg.Go(func() {
				h, m := log.NewHandle(), newMaker(id, 283)
				for {
					b := m.next()
					base, err := h.Append(f.t.Context(), b, strategies.AcksLeader)
					if err != nil {
						if !errors.Is(err, strategies.ErrFailed) || !errors.Is(err, syscall.EIO) {
							f.t.Errorf("append gives %v", err)
						}
						return
					}
					b.Stamp(base)
					mu.Lock()
					acked[base] = append(segment.Batch{}, b...)
					mu.Unlock()
				}
			})
		}
		finishes(f.t, "appending", inBackground(wg.Wait))
		if f.t.Failed() {
			return
		}
		var want []segment.Batch
		for next := int64(0); acked[next] != nil; next = acked[next].NextOffset() {
			want = append(want, acked[next])
		}
		if len(want) != len(acked) {
			f.t.Fatalf("%d of %d acknowledged batches are without a gap", len(want), len(acked))
		}
		faults.Clear()
		poisoned(f, log, underlying, want, syscall.EIO)
	})
}
