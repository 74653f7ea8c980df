package strategies_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// trimmedLoad is a log that grows at one end and is trimmed at the other, under readers who check every
// byte that they get.
type trimmedLoad struct {
	f        *fixture
	log      strategies.Log
	batches  int // per producer
	produced atomic.Bool
	failed   atomic.Bool
}

func (l *trimmedLoad) report(err error) {
	if err != nil {
		l.failed.Store(true)
		l.f.t.Error(err)
	}
}

// run returns when all is produced. afterTrim is called after each trim, while all others go on.
func (l *trimmedLoad) run(afterTrim func(start int64) error) {
	const producers = 2
	var appending, rest sync.WaitGroup
	for id := range producers {
		appending.Go(func() { l.report(l.produce(id)) })
	}
	for id := range 8 {
		rest.Go(func() {
			read := []func(strategies.Handle, *rand.Rand) error{readSequentially, readRandomly, readByTime}[id%3]
			h, random := l.log.NewHandle(), rand.New(rand.NewPCG(230, uint64(id)))
			for !l.produced.Load() && !l.failed.Load() {
				if err := read(h, random); err != nil {
					l.report(fmt.Errorf("reader %d: %w", id, err))
				}
			}
			l.report(h.Close())
		})
	}
	rest.Go(func() { l.report(l.trim(afterTrim)) })
	finishes(l.f.t, "appending", inBackground(appending.Wait))
	l.produced.Store(true)
	finishes(l.f.t, "reading", inBackground(rest.Wait))
}

// produce appends records whose timestamps are a little less than their offsets: each is the high watermark
// that the producer has seen.
func (l *trimmedLoad) produce(id int) error {
	h, m := l.log.NewHandle(), newMaker(id, 231)
	defer h.Close()
	for range l.batches {
		b := m.make(1+m.random.IntN(3), messageSize+m.random.IntN(150), h.Offsets().HighWatermark)
		if _, err := h.Append(l.f.t.Context(), b, strategies.AcksLeader); err != nil {
			return err
		}
		if l.failed.Load() {
			return nil
		}
	}
	return nil
}

// trim follows the tail closely, so that readers are overtaken all the time.
func (l *trimmedLoad) trim(after func(start int64) error) error {
	h, random := l.log.NewHandle(), rand.New(rand.NewPCG(232, 0))
	for !l.produced.Load() && !l.failed.Load() {
		before := h.Offsets().HighWatermark - random.Int64N(30)
		if err := l.log.Trim(before); err != nil {
			return err
		}
		if err := after(h.Offsets().Start); err != nil {
			return fmt.Errorf("after a trim before %d: %w", before, err)
		}
		runtime.Gosched()
	}
	return nil
}

// readAt reads at an offset that was in the log, and checks what comes back: the first batch, and the offset
// behind the last. That is −1 if the log has been trimmed meanwhile.
func readAt(h strategies.Handle, offset int64, buf []byte) (first segment.Batch, next int64, err error) {
	p, err := h.Read(offset, buf)
	if errors.Is(err, strategies.ErrOutOfRange) {
		if o := h.Offsets(); offset >= o.Start && offset <= o.HighWatermark {
			return nil, 0, fmt.Errorf("%w at %d, in a log of %+v", err, offset, o)
		}
		return nil, -1, nil
	}
	if err != nil || len(p) == 0 {
		return nil, offset, err
	}
	first, _, err = segment.NextBatch(p)
	if err == nil && (first.BaseOffset() > offset || first.NextOffset() <= offset) {
		err = fmt.Errorf("read at %d gives a batch [%d, %d)", offset, first.BaseOffset(), first.NextOffset())
	}
	if err != nil {
		return nil, 0, err
	}
	s := newStream(2, true)
	s.next = first.BaseOffset()
	err = s.check(p)
	return first, s.next, err
}

func readSequentially(h strategies.Handle, _ *rand.Rand) error {
	buf := make([]byte, 1000)
	for next, reads := h.Offsets().Start, 0; next >= 0 && reads < 50; reads++ {
		var err error
		if _, next, err = readAt(h, next, buf); err != nil {
			return err
		}
	}
	return nil
}

func readRandomly(h strategies.Handle, random *rand.Rand) error {
	o := h.Offsets()
	_, _, err := readAt(h, o.Start+random.Int64N(o.HighWatermark-o.Start+1), make([]byte, 700))
	return err
}

// readByTime looks up a time, and then for the record that it was given.
func readByTime(h strategies.Handle, random *rand.Rand) error {
	o := h.Offsets()
	ts := o.Start + random.Int64N(o.HighWatermark-o.Start+1)
	offset, err := h.OffsetForTime(ts)
	if err != nil {
		return fmt.Errorf("offset for time %d: %w", ts, err)
	}
	if offset < o.Start || offset > h.Offsets().HighWatermark {
		return fmt.Errorf("offset for time %d is %d, in a log from %d", ts, offset, o.Start)
	}
	b, _, err := readAt(h, offset, make([]byte, 1000))
	for r := b.Records(); err == nil && r.Next(); {
		if r.Record.Offset == offset && r.Record.Timestamp < ts && offset < o.HighWatermark {
			err = fmt.Errorf("offset for time %d is %d, whose record has %d", ts, offset, r.Record.Timestamp)
		}
	}
	return err
}

// Readers get right bytes or ErrOutOfRange, however close behind them the log is trimmed; and when a trim
// returns, nothing is left of what it has dropped, though they go on.
func TestTrimUnderReaders(t *testing.T) {
	accept := func(s strategies.Strategy) bool { return shares(s) && !s.Faulty }
	forEachWith(t, shortSegments, accept, func(f *fixture) {
		goroutines := runtime.NumGoroutine()
		if f.onDir() { // readers linger between their looks at the index and the log
			faults, _ := f.faulty()
			faults.Before = func(op segmenttest.Op, _ string) {
				if op == segmenttest.Pread {
					runtime.Gosched()
				}
			}
		}
		l := &trimmedLoad{f: f, log: f.open(), batches: full(250)}
		held := openIn(f.t, f.dir)
		l.run(func(start int64) error {
			if n := filesBelow(f, start); n != 0 {
				return fmt.Errorf("%d files are left below %d", n, start)
			}
			if names := below(start, openFiles(f.t, f.dir)); len(names) != 0 {
				return fmt.Errorf("open or mapped below %d: %v", start, names)
			}
			return nil
		})
		h := l.log.NewHandle()
		if err := l.log.Trim(h.Offsets().HighWatermark); err != nil {
			f.t.Fatal(err)
		}
		if n := openIn(f.t, f.dir); n != held {
			f.t.Errorf("%d descriptors and mappings are open, %d were when the log was new", n, held)
		}
		if err := l.log.Close(); err != nil {
			f.t.Fatal(err)
		}
		if n := openIn(f.t, f.dir); n != 0 {
			f.t.Errorf("%d descriptors and mappings are open after Close", n)
		}
		eventually(f.t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= goroutines })
	})
}
