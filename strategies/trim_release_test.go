package strategies_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// A call that is inside a segment when it is trimmed keeps it open, and gets its bytes. Where calls hold no
// lock, new ones go on meanwhile, and do not see the segment any more.
func TestTrimWaitsForCalls(t *testing.T) {
	calls := map[string]func(h strategies.Handle, want []byte) error{
		"read": func(h strategies.Handle, want []byte) error {
			p, err := h.Read(0, make([]byte, 4096))
			if err == nil && !bytes.HasPrefix(p, want) {
				err = errors.New("not the bytes of the first batch")
			}
			return err
		},
		"time": func(h strategies.Handle, _ []byte) error {
			offset, err := h.OffsetForTime(0)
			if err == nil && offset != 0 {
				err = fmt.Errorf("offset for time 0 is %d", offset)
			}
			return err
		},
	}
	for name, call := range calls {
		t.Run("call="+name, func(t *testing.T) {
			forEachWith(t, shortSegments, shares, func(f *fixture) { trimUnderCall(f, call) })
		})
	}
}

func trimUnderCall(f *fixture, call func(h strategies.Handle, want []byte) error) {
	faults, _ := f.faulty()
	var armed atomic.Bool
	entered, release := make(chan struct{}), make(chan struct{})
	faults.Before = func(op segmenttest.Op, _ string) {
		if op == segmenttest.Pread && armed.Swap(false) {
			close(entered)
			<-release
		}
	}
	log := f.open()
	h, m := log.NewHandle(), newMaker(1, 240)
	batches := [][]byte{}
	for range 6 { // a segment each
		batches = append(batches, put(f.t, h, m.make(1, 600, 0)))
	}
	closed := func() int { return faults.Count(segmenttest.LogClose) + faults.Count(segmenttest.MapClose) }
	before := closed()
	armed.Store(true)
	called := inBackground(func() {
		if err := call(log.NewHandle(), batches[0]); err != nil {
			f.t.Errorf("the call that was there first: %v", err)
		}
	})
	<-entered
	trimmed := inBackground(func() {
		if err := log.Trim(3); err != nil {
			f.t.Error(err)
		}
	})
	// Where reads hold the lock, or the owner, a trim comes after them.
	locks := strings.HasSuffix(f.strategy.Name, "mutex") || f.strategy.Name == "actor-mailbox"
	waits := "gate).quiesce("
	if locks {
		waits = "maintenance).remove("
	}
	eventually(f.t, "the trim's wait or end", func() bool { return blockedIn(waits) > 0 || isClosed(trimmed) })
	if n := closed() - before; n != 0 {
		f.t.Errorf("%d logs and mappings are closed under a call", n)
	}
	if !locks {
		if got := h.Offsets().Start; got != 3 {
			f.t.Errorf("start is %d while the trim waits, want 3", got)
		}
		if _, err := h.Read(2, make([]byte, 4096)); !errors.Is(err, strategies.ErrOutOfRange) {
			f.t.Errorf("read of what is being trimmed gives %v", err)
		}
		put(f.t, h, m.make(1, 600, 0))
		if p, err := h.Read(3, make([]byte, 4096)); err != nil || !bytes.HasPrefix(p, batches[3]) {
			f.t.Errorf("read at the start: %v", err)
		}
	}
	close(release)
	finishes(f.t, "the call", called)
	finishes(f.t, "the trim", trimmed)
	if n := filesBelow(f, 3); n != 0 {
		f.t.Errorf("%d files are left", n)
	}
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Thousands of segments come and go, and take with them all that they have held.
func TestRollsAndTrimsLeakNothing(t *testing.T) {
	forEachWith(t, shortSegments, shares, func(f *fixture) {
		if !f.onDir() {
			return // the garbage collector's business
		}
		log := f.open()
		h, m := log.NewHandle(), newMaker(1, 233)
		held, goroutines := openIn(f.t, f.dir), runtime.NumGoroutine()
		for range full(30) {
			for range 50 {
				put(f.t, h, m.make(1, 600, 0)) // a segment each
			}
			if err := log.Trim(h.Offsets().HighWatermark); err != nil {
				f.t.Fatal(err)
			}
			if n := openIn(f.t, f.dir); n != held {
				f.t.Fatalf("%d descriptors and mappings are open, %d were when the log was new", n, held)
			}
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			f.t.Errorf("%d goroutines, %d were when the log was new", n, goroutines)
		}
	})
}

// Close, trims and syncs by the clock meet: a trim is done or refused, and what is left is a log.
func TestCloseBesideTrims(t *testing.T) {
	options := shortSegments
	options.Sync = segment.EveryInterval(100 * time.Microsecond)
	forEachWith(t, options, shares, func(f *fixture) {
		for range 6 {
			f := f.fresh(f.t)
			log := f.open()
			whole := fill(f.t, log.NewHandle(), newMaker(1, 241), 30)
			var wg sync.WaitGroup
			var furthest atomic.Int64
			for i := range 3 {
				wg.Go(func() {
					for n := i; ; n += 3 {
						before := whole[n%len(whole)].BaseOffset()
						err := log.Trim(before)
						if errors.Is(err, strategies.ErrClosed) {
							return
						}
						if err != nil {
							f.t.Error(err)
							return
						}
						raise(&furthest, before)
					}
				})
			}
			for range 2 {
				wg.Go(func() {
					if err := log.Close(); err != nil {
						f.t.Error(err)
					}
				})
			}
			finishes(f.t, "closing", inBackground(wg.Wait))
			h := f.open().NewHandle()
			if start := h.Offsets().Start; start < trimmed(whole, f.options.SegmentSize, furthest.Load())[0].BaseOffset() {
				f.t.Errorf("the log starts at %d after a trim before %d", start, furthest.Load())
			}
			holds(f, h, trimmed(whole, f.options.SegmentSize, h.Offsets().Start))
		}
	})
}
