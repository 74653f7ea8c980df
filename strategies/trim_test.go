package strategies_test

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tailrace/segment"
	"tailrace/strategies"
)

// shortSegments cuts a log into segments of two or three batches.
var shortSegments = strategies.Options{SegmentSize: 700, IndexInterval: 64}

// divide is the rule by which batches come to lie in segments: one that would make a segment longer than
// the limit begins the next.
func divide(batches []segment.Batch, limit int64) (segments [][]segment.Batch) {
	size := int64(math.MaxInt32)
	for _, b := range batches {
		if size += int64(len(b)); size > limit {
			segments = append(segments, nil)
			size = int64(len(b))
		}
		last := len(segments) - 1
		segments[last] = append(segments[last], b)
	}
	return segments
}

// trimmed is what a trim leaves of a log.
func trimmed(batches []segment.Batch, limit, before int64) []segment.Batch {
	segments := divide(batches, limit)
	for len(segments) > 1 && segments[1][0].BaseOffset() <= before {
		segments = segments[1:]
	}
	return slices.Concat(segments...)
}

// holds checks that a log consists of these batches and its storage of their segments.
func holds(f *fixture, h strategies.Handle, want []segment.Batch) {
	f.t.Helper()
	start, end := want[0].BaseOffset(), want[len(want)-1].NextOffset()
	if got := h.Offsets(); got != (strategies.Offsets{Start: start, HighWatermark: end, LogEnd: end}) {
		f.t.Fatalf("offsets are %+v, want %d to %d", got, start, end)
	}
	buf := make([]byte, 4096)
	for _, offset := range []int64{math.MinInt64, -1, 0, start - 1, end + 1, math.MaxInt64} {
		if offset >= start && offset <= end {
			continue
		}
		if p, err := h.Read(offset, buf); !errors.Is(err, strategies.ErrOutOfRange) {
			f.t.Fatalf("read at %d of a log from %d to %d gives %d bytes and %v", offset, start, end, len(p), err)
		}
	}
	sameBatches(f.t, contents(f.t, h, start), want)
	for _, b := range want {
		for offset := b.BaseOffset(); offset < b.NextOffset(); offset++ {
			if p, err := h.Read(offset, buf); err != nil || !bytes.HasPrefix(p, b) {
				f.t.Fatalf("read at %d does not give the batch at %d: %v", offset, b.BaseOffset(), err)
			}
		}
	}
	for ts := int64(-110); ts < 920; ts += 51 {
		if got, err := h.OffsetForTime(ts); err != nil || got != firstSince(want, ts, end) {
			f.t.Fatalf("offset for time %d is %d and %v, want %d", ts, got, err, firstSince(want, ts, end))
		}
	}
	hasSegments(f, want)
}

// hasSegments checks that the segments of these batches, and no others, have files.
func hasSegments(f *fixture, batches []segment.Batch) {
	f.t.Helper()
	names, err := f.options.Storage.List()
	if err != nil {
		f.t.Fatal(err)
	}
	var want []string
	for _, s := range divide(batches, f.options.SegmentSize) {
		stem := strings.TrimSuffix(segment.Name(s[0].BaseOffset()), "log")
		want = append(want, stem+"index", stem+"log", stem+"timeindex")
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.ContainsAny(name, "0123456789") })
	if !slices.Equal(names, want) {
		f.t.Fatalf("files are %v, want %v", names, want)
	}
}

// below is those of the names of segment files, whatever follows them, whose segment begins before an
// offset.
func below(offset int64, names []string) (found []string) {
	for _, name := range names {
		stem, _, _ := strings.Cut(filepath.Base(name), ".")
		if base, err := strconv.ParseInt(stem, 10, 64); err == nil && base < offset {
			found = append(found, name)
		}
	}
	return found
}

// filesBelow counts the files of segments that begin before an offset.
func filesBelow(f *fixture, offset int64) int {
	f.t.Helper()
	names, err := f.options.Storage.List()
	if err != nil {
		f.t.Fatal(err)
	}
	return len(below(offset, names))
}

// reopened closes a log and opens it again.
func (f *fixture) reopened(log strategies.Log) strategies.Log {
	f.t.Helper()
	if err := log.Close(); err != nil {
		f.t.Fatal(err)
	}
	return f.open()
}

// A trim at every offset there is, and beyond both ends.
func TestTrim(t *testing.T) {
	forEachWith(t, shortSegments, shares, func(f *fixture) {
		befores := []int64{math.MinInt64, -1, math.MaxInt64}
		for before := int64(0); before < 30; before++ {
			befores = append(befores, before)
		}
		for _, before := range befores {
			f := f.fresh(f.t)
			log := f.open()
			h := log.NewHandle()
			batches := fill(f.t, h, newMaker(1, 200), 11)
			want := trimmed(batches, f.options.SegmentSize, before)
			for range 2 {
				if err := log.Trim(before); err != nil {
					f.t.Fatalf("trim before %d: %v", before, err)
				}
				holds(f, h, want)
			}
			want = append(want, fill(f.t, h, newMaker(2, 200), 5)...)
			holds(f, h, want)
			if err := log.Close(); err != nil {
				f.t.Fatal(err)
			}
			if before%5 == 0 {
				log = f.open()
				holds(f, log.NewHandle(), want)
				if err := log.Close(); err != nil {
					f.t.Fatal(err)
				}
			}
		}
	})
}

// A log that is appended to, trimmed and reopened for a long time. Its start never goes back.
func TestTrimAgainAndAgain(t *testing.T) {
	forEachWith(t, shortSegments, shares, func(f *fixture) {
		log := f.open()
		h, m := log.NewHandle(), newMaker(1, 201)
		want := fill(f.t, h, m, 1)
		for round := range 60 {
			want = append(want, fill(f.t, h, m, m.random.IntN(8))...)
			end := want[len(want)-1].NextOffset()
			before := want[0].BaseOffset() - 3 + m.random.Int64N(end-want[0].BaseOffset()+6)
			want = trimmed(want, f.options.SegmentSize, before)
			if err := log.Trim(before); err != nil {
				f.t.Fatal(err)
			}
			if round%7 == 6 {
				log = f.reopened(log)
				h = log.NewHandle()
			}
			holds(f, h, want)
		}
	})
}

func TestTrimEmptyLog(t *testing.T) {
	forEachWith(t, shortSegments, shares, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		retention := strategies.Retention{Bytes: 1, Since: time.Now()}
		for range 2 {
			if err := errors.Join(log.Trim(math.MaxInt64), log.Retain(retention)); err != nil {
				f.t.Fatal(err)
			}
			if got := h.Offsets(); got != (strategies.Offsets{}) {
				f.t.Fatalf("offsets are %+v", got)
			}
			log = f.reopened(log)
			h = log.NewHandle()
		}
		holds(f, h, fill(f.t, h, newMaker(1, 202), 9))
	})
}

// The record with the largest timestamp goes first, those with smaller ones are found after it.
func TestOffsetForTimeAfterTrim(t *testing.T) {
	forEachWith(t, shortSegments, shares, func(f *fixture) {
		log := f.open()
		h, m := log.NewHandle(), newMaker(1, 203)
		for i := range int64(20) { // a segment each, timestamps descending
			if _, err := h.Append(f.t.Context(), m.make(1, 600, 1000-10*i), strategies.AcksLeader); err != nil {
				f.t.Fatal(err)
			}
		}
		for start := int64(0); start < 20; start++ {
			if err := log.Trim(start); err != nil {
				f.t.Fatal(err)
			}
			latest := 1000 - 10*start
			for ts, want := range map[int64]int64{latest + 1: 20, latest: start, latest - 200: start} {
				if got, err := h.OffsetForTime(ts); got != want || err != nil {
					f.t.Fatalf("offset for time %d in a log from %d is %d and %v, want %d", ts, start, got, err, want)
				}
			}
		}
	})
}

func TestTrimAfterClose(t *testing.T) {
	forEachWith(t, shortSegments, shares, func(f *fixture) {
		log := f.open()
		want := fill(f.t, log.NewHandle(), newMaker(1, 204), 14)
		if err := log.Close(); err != nil {
			f.t.Fatal(err)
		}
		for name, err := range map[string]error{
			"trim": log.Trim(5), "trim nothing": log.Trim(-1),
			"retain": log.Retain(strategies.Retention{Bytes: 1}), "retain all": log.Retain(strategies.Retention{}),
		} {
			if !errors.Is(err, strategies.ErrClosed) {
				f.t.Errorf("%s gives %v, want ErrClosed", name, err)
			}
		}
		holds(f, f.open().NewHandle(), want)
	})
}
