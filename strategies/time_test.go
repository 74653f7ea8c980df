package strategies_test

import (
	"math"
	"sync"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

// firstSince is OffsetForTime by a full scan.
func firstSince(batches []segment.Batch, ts, end int64) int64 {
	for _, b := range batches {
		for r := b.Records(); r.Next(); {
			if r.Record.Timestamp >= ts {
				return r.Record.Offset
			}
		}
	}
	return end
}

func TestOffsetForTime(t *testing.T) {
	forEach(t, stores, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		for _, ts := range []int64{math.MinInt64, 0, math.MaxInt64} {
			if got, err := h.OffsetForTime(ts); got != 0 || err != nil {
				f.t.Fatalf("offset for time %d of an empty log is %d and %v, want 0", ts, got, err)
			}
		}
		var want []segment.Batch
		m := newMaker(1, 20)
		check := func(h strategies.Handle) {
			f.t.Helper()
			end := want[len(want)-1].NextOffset()
			for _, ts := range []int64{math.MinInt64, math.MinInt64 + 1, -101, -100, 0, 899, 900, math.MaxInt64} {
				if got, err := h.OffsetForTime(ts); got != firstSince(want, ts, end) || err != nil {
					f.t.Fatalf("offset for time %d is %d and %v, want %d", ts, got, err, firstSince(want, ts, end))
				}
			}
			for ts := int64(-110); ts < 920; ts += 7 {
				if got, err := h.OffsetForTime(ts); got != firstSince(want, ts, end) || err != nil {
					f.t.Fatalf("offset for time %d is %d and %v, want %d", ts, got, err, firstSince(want, ts, end))
				}
			}
		}
		if f.strategy.PrivateFiles {
			want = fill(f.t, h, m, 60)
			check(f.reader(log, h))
			return
		}
		for range 6 {
			want = append(want, fill(f.t, h, m, 10)...)
			check(h)
		}
	})
}

// Ascending timestamps in ascending segments: the answer lies in a segment of its own each time.
func TestOffsetForTimeAcrossSegments(t *testing.T) {
	forEach(t, stores, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		m := newMaker(1, 21)
		const batches = 50
		for i := range batches {
			if _, err := h.Append(f.t.Context(), m.make(2, 30, int64(10*i)), strategies.AcksLeader); err != nil {
				f.t.Fatal(err)
			}
		}
		h = f.reader(log, h)
		for i := range batches {
			for ts := int64(10*i - 9); ts <= int64(10*i); ts++ {
				if got, err := h.OffsetForTime(ts); got != int64(2*i) || err != nil {
					f.t.Fatalf("offset for time %d is %d and %v, want %d", ts, got, err, 2*i)
				}
			}
		}
		if got, err := h.OffsetForTime(10 * batches); got != 2*batches || err != nil {
			f.t.Fatalf("offset for a time beyond the last is %d and %v, want the high watermark", got, err)
		}
	})
}

// Beside appends with ascending times, a lookup of a time that is there finds its record, and one of
// a time that never comes gives a high watermark of that moment.
func TestOffsetForTimeBesideAppends(t *testing.T) {
	accept := func(s strategies.Strategy) bool { return shares(s) && !s.Faulty }
	forEach(t, accept, func(f *fixture) {
		log := f.open()
		const batches = 150
		var wg sync.WaitGroup
		wg.Go(func() {
			h, m := log.NewHandle(), newMaker(1, 22)
			for i := range batches {
				if _, err := h.Append(f.t.Context(), m.make(1, 40, int64(i)), strategies.AcksLeader); err != nil {
					f.t.Error(err)
				}
			}
		})
		for range 3 {
			wg.Go(func() {
				h := log.NewHandle()
				for i := int64(0); i < batches; i++ {
					if err := h.Wait(f.t.Context(), i); err != nil {
						f.t.Error(err)
						return
					}
					if got, err := h.OffsetForTime(i); got != i || err != nil {
						f.t.Errorf("offset for time %d is %d and %v", i, got, err)
					}
					before := h.Offsets().HighWatermark
					got, err := h.OffsetForTime(math.MaxInt64)
					if after := h.Offsets().HighWatermark; err != nil || got < before || got > after {
						f.t.Errorf("no match gives %d and %v, want a high watermark between %d and %d", got, err, before, after)
					}
				}
			})
		}
		finishes(f.t, "looking up", inBackground(wg.Wait))
	})
}
