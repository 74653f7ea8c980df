package strategies_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// A trim whose storage fails says so, loses nothing else, and is completed by the next open.
func TestTrimFails(t *testing.T) {
	for op, calls := range map[segmenttest.Op]int{
		segmenttest.SyncDir: 1, segmenttest.MapSync: 2, segmenttest.Remove: 9, segmenttest.LogClose: 3, segmenttest.MapClose: 6,
	} {
		t.Run(fmt.Sprintf("op=%v", op), func(t *testing.T) {
			forEachWith(t, shortSegments, shares, func(f *fixture) {
				for nth := 1; nth <= calls; nth++ {
					failTrim(f.fresh(f.t), op, nth, 1)
					failTrim(f.fresh(f.t), op, nth, -1)
				}
			})
		})
	}
}

// failTrim makes calls of a trim of three segments fail.
func failTrim(f *fixture, op segmenttest.Op, nth, times int) {
	t := f.t
	t.Helper()
	faults, underlying := f.faulty()
	log := f.open()
	h, m := log.NewHandle(), newMaker(1, 220)
	whole := fill(t, h, m, 18)
	segments := divide(whole, f.options.SegmentSize)
	before := segments[3][0].BaseOffset()
	want := trimmed(whole, f.options.SegmentSize, before)
	faults.Fail(op, nth, times, syscall.EIO)
	if err := log.Trim(before); !errors.Is(err, syscall.EIO) {
		t.Fatalf("trim gives %v", err)
	}
	// The start has moved or has not. From it on everything is there, and appends go on.
	start := h.Offsets().Start
	if start != 0 && start != before {
		t.Fatalf("start is %d after the trim before %d", start, before)
	}
	visible := trimmed(whole, f.options.SegmentSize, start)
	sameBatches(t, contents(t, h, start), visible)
	added := fill(t, h, m, 4)
	sameBatches(t, contents(t, h, start), append(visible, added...))
	want = append(want, added...)
	faults.Clear()
	if err := log.Trim(before); err != nil {
		t.Fatal(err)
	}
	if got := h.Offsets().Start; got != before {
		t.Fatalf("start is %d after another trim before %d", got, before)
	}
	sameBatches(t, contents(t, h, before), want)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	f.options.Storage = underlying
	holds(f, f.open().NewHandle(), want)
}

// After a trim has failed the log is closed at once: the next open either knows nothing of the trim or
// completes it.
func TestCloseAfterFailedTrim(t *testing.T) {
	for _, op := range []segmenttest.Op{segmenttest.SyncDir, segmenttest.MapSync, segmenttest.Remove, segmenttest.LogClose} {
		t.Run(fmt.Sprintf("op=%v", op), func(t *testing.T) {
			forEachWith(t, shortSegments, shares, func(f *fixture) {
				faults, underlying := f.faulty()
				log := f.open()
				whole := fill(f.t, log.NewHandle(), newMaker(1, 221), 18)
				before := divide(whole, f.options.SegmentSize)[3][0].BaseOffset()
				faults.Fail(op, 1, -1, syscall.EIO)
				if err := log.Trim(before); !errors.Is(err, syscall.EIO) {
					f.t.Fatalf("trim gives %v", err)
				}
				faults.Clear()
				if err := log.Close(); err != nil {
					f.t.Fatal(err)
				}
				f.options.Storage = underlying
				var found segment.Recovery
				f.options.Recovered = func(r segment.Recovery) { found = r }
				h := f.open().NewHandle()
				if !found.Clean || found.Cut != nil {
					f.t.Errorf("after a close in order, the open finds %+v", found)
				}
				start := h.Offsets().Start
				if start != 0 && start != before {
					f.t.Fatalf("start is %d after the trim before %d", start, before)
				}
				holds(f, h, trimmed(whole, f.options.SegmentSize, start))
			})
		})
	}
}

// A partition that takes no more appends can still be trimmed.
func TestTrimAfterFailure(t *testing.T) {
	forEachWith(t, shortSegments, isCore, func(f *fixture) {
		faults, underlying := f.faulty()
		log := f.open()
		h, m := log.NewHandle(), newMaker(1, 222)
		whole := fill(f.t, h, m, 18)
		faults.Fail(segmenttest.Pwrite, 1, -1, syscall.ENOSPC)
		faults.Fail(segmenttest.PwriteBatches, 1, -1, syscall.ENOSPC)
		if _, err := h.Append(f.t.Context(), m.next(), strategies.AcksLeader); !errors.Is(err, strategies.ErrFailed) {
			f.t.Fatalf("append gives %v", err)
		}
		before := divide(whole, f.options.SegmentSize)[4][0].BaseOffset()
		if err := log.Trim(before); err != nil {
			f.t.Fatal(err)
		}
		want := trimmed(whole, f.options.SegmentSize, before)
		sameBatches(f.t, contents(f.t, h, before), want)
		if _, err := h.Append(f.t.Context(), m.next(), strategies.AcksLeader); !errors.Is(err, strategies.ErrFailed) {
			f.t.Fatalf("append after a trim gives %v", err)
		}
		faults.Clear()
		if err := log.Close(); err != nil {
			f.t.Fatal(err)
		}
		f.options.Storage = underlying
		h = f.open().NewHandle()
		want = append(want, fill(f.t, h, m, 5)...)
		sameBatches(f.t, contents(f.t, h, before), want)
		if n := filesBelow(f, before); n != 0 {
			f.t.Errorf("%d files are left of the segments before %d", n, before)
		}
	})
}

// Trims, retentions and appends at the same time: the start is where the furthest of them has put it.
func TestTrimsSideBySide(t *testing.T) {
	forEachWith(t, shortSegments, shares, func(f *fixture) {
		log := f.open()
		var wg sync.WaitGroup
		var furthest atomic.Int64
		var whole []segment.Batch
		wg.Go(func() {
			h, m := log.NewHandle(), newMaker(0, 223)
			for range 250 {
				whole = append(whole, put(f.t, h, m.next()))
			}
		})
		for id := range 4 {
			wg.Go(func() {
				h, random := log.NewHandle(), newMaker(id, 224).random
				start := int64(0)
				for range 80 {
					before := random.Int64N(h.Offsets().HighWatermark + 1)
					raise(&furthest, before)
					err := log.Trim(before)
					if id == 0 {
						err = errors.Join(err, log.Retain(strategies.Retention{Bytes: 1 << 30}))
					}
					o := h.Offsets()
					if err != nil || o.Start < start || o.HighWatermark < o.Start || o.LogEnd < o.HighWatermark {
						f.t.Errorf("after a trim before %d: offsets %+v, start was %d, %v", before, o, start, err)
						return
					}
					start = o.Start
				}
			})
		}
		finishes(f.t, "trimming", inBackground(wg.Wait))
		if f.t.Failed() {
			return
		}
		before := furthest.Load()
		if err := log.Trim(before); err != nil { // what was the active segment then may be sealed by now
			f.t.Fatal(err)
		}
		holds(f, log.NewHandle(), trimmed(whole, f.options.SegmentSize, before))
	})
}

// One goroutine appends and trims, so that every state of the log is known: others see no other one.
func TestOffsetsStandTogether(t *testing.T) {
	forEachWith(t, shortSegments, shares, func(f *fixture) {
		log := f.open()
		states := map[strategies.Offsets]bool{{}: true}
		seen := make([]map[strategies.Offsets]bool, 2)
		var over atomic.Bool
		var wg sync.WaitGroup
		for i := range seen {
			seen[i] = map[strategies.Offsets]bool{}
			wg.Go(func() {
				h := log.NewHandle()
				for !over.Load() {
					seen[i][h.Offsets()] = true
					runtime.Gosched()
				}
			})
		}
		h, m := log.NewHandle(), newMaker(1, 225)
		var want []segment.Batch
		for range 200 {
			want = append(want, put(f.t, h, m.next()))
			states[h.Offsets()] = true
			if len(want) > 6 {
				before := want[3].BaseOffset()
				want = trimmed(want, f.options.SegmentSize, before)
				if err := log.Trim(before); err != nil {
					f.t.Fatal(err)
				}
				states[h.Offsets()] = true
			}
		}
		over.Store(true)
		finishes(f.t, "looking", inBackground(wg.Wait))
		for i := range seen {
			for o := range seen[i] {
				if !states[o] {
					f.t.Errorf("offsets %+v were seen, which never stood together", o)
				}
			}
		}
	})
}
