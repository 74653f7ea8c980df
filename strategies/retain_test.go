package strategies_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"tailrace/segment"
	"tailrace/strategies"
)

func bytesOf(batches []segment.Batch) (n int64) {
	for _, b := range batches {
		n += int64(len(b))
	}
	return n
}

func latestOf(batches []segment.Batch) int64 {
	latest := int64(math.MinInt64)
	for _, b := range batches {
		latest = max(latest, b.MaxTimestamp())
	}
	return latest
}

// retained is what a retention leaves of a log.
func retained(batches []segment.Batch, limit int64, r strategies.Retention) []segment.Batch {
	segments := divide(batches, limit)
	for len(segments) > 1 {
		behind := bytesOf(slices.Concat(segments[1:]...))
		large := r.Bytes > 0 && behind >= r.Bytes
		old := !r.Since.IsZero() && time.UnixMilli(latestOf(segments[0])).Before(r.Since)
		if !large && !old {
			break
		}
		segments = segments[1:]
	}
	return slices.Concat(segments...)
}

// retentions are those at, before and behind every boundary of a log.
func retentions(batches []segment.Batch, limit int64) []strategies.Retention {
	sizes := []int64{-1, 0, 1, math.MaxInt64}
	times := []time.Time{{}, time.UnixMilli(math.MinInt64 / 4), time.UnixMilli(1 << 40)}
	segments := divide(batches, limit)
	for i := range segments {
		behind := bytesOf(slices.Concat(segments[i:]...))
		latest := latestOf(segments[i])
		for d := int64(-1); d <= 1; d++ {
			sizes = append(sizes, behind+d)
			times = append(times, time.UnixMilli(latest+d))
		}
	}
	var all []strategies.Retention
	for i, n := range sizes {
		all = append(all, strategies.Retention{Bytes: n})
		all = append(all, strategies.Retention{Bytes: n, Since: times[i*7%len(times)]})
	}
	for _, since := range times {
		all = append(all, strategies.Retention{Since: since})
	}
	return all
}

func TestRetain(t *testing.T) {
	for name, next := range map[string]func(m *maker) segment.Batch{
		"times=random":    (*maker).next,
		"times=ascending": func(m *maker) segment.Batch { return m.make(1, 200, int64(10*m.sequence)) },
	} {
		forEachWith(t, shortSegments, shares, func(f *fixture) {
			f.t.Run(name, func(t *testing.T) {
				fresh := func() (*fixture, strategies.Log, []segment.Batch) {
					f := f.fresh(t)
					log := f.open()
					h, m := log.NewHandle(), newMaker(1, 210)
					var batches []segment.Batch
					for range 12 {
						batches = append(batches, put(t, h, next(m)))
					}
					return f, log, batches
				}
				f, log, batches := fresh()
				for _, r := range retentions(batches, f.options.SegmentSize) {
					want := retained(batches, f.options.SegmentSize, r)
					if err := log.Retain(r); err != nil {
						t.Fatal(err)
					}
					if got := log.NewHandle().Offsets().Start; got != want[0].BaseOffset() {
						t.Fatalf("%+v leaves a log from %d, want %d", r, got, want[0].BaseOffset())
					}
					if len(want) == len(batches) {
						continue // nothing has gone
					}
					hasSegments(f, want)
					if err := log.Close(); err != nil {
						t.Fatal(err)
					}
					f, log, _ = fresh()
				}
			})
		})
	}
}

// A record goes when its timestamp lies before, and not when it is the same.
func TestRetainSinceBoundary(t *testing.T) {
	for _, latest := range []int64{0, 5, -5} {
		t.Run(fmt.Sprintf("latest=%d", latest), func(t *testing.T) {
			forEachWith(t, shortSegments, shares, func(f *fixture) {
				log := f.open()
				h, m := log.NewHandle(), newMaker(1, 211)
				for range 3 { // a segment each
					put(f.t, h, m.make(1, 600, latest))
				}
				for _, step := range []struct {
					after time.Duration
					start int64
				}{{-time.Nanosecond, 0}, {0, 0}, {time.Millisecond, 2}} {
					if err := log.Retain(strategies.Retention{Since: time.UnixMilli(latest).Add(step.after)}); err != nil {
						f.t.Fatal(err)
					}
					if got := h.Offsets().Start; got != step.start {
						f.t.Fatalf("records of %d, kept since %v later: the log starts at %d, want %d", latest, step.after, got, step.start)
					}
				}
			})
		})
	}
}
