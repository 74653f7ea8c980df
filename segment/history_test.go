package segment_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tailrace/segment"
)

// history is everything that was appended to a log, from offset 0 on, trimmed or not.
type history struct {
	bytes  []byte  // of all batches, one behind the other
	bounds []bound // between batches, ascending; the last one is the end
}

// bound is where a batch begins.
type bound struct {
	offset int64
	at     int // in history.bytes
}

func newHistory() *history { return &history{bounds: []bound{{}}} }

func (h *history) end() int64 { return h.bounds[len(h.bounds)-1].offset }

// append adds a copy of a stamped batch.
func (h *history) append(b segment.Batch) {
	h.bytes = append(h.bytes, b...)
	h.bounds = append(h.bounds, bound{b.NextOffset(), len(h.bytes)})
}

// until is the history up to a batch bound, as a copy that goes its own way.
func (h *history) until(end int64) *history {
	i, _ := h.find(end)
	return &history{bytes.Clone(h.bytes[:h.bounds[i].at]), slices.Clone(h.bounds[:i+1])}
}

// find gives the place in bounds of the one with an offset, or of the first above it.
func (h *history) find(offset int64) (i int, found bool) {
	return slices.BinarySearchFunc(h.bounds, offset, func(b bound, offset int64) int {
		return int(b.offset - offset)
	})
}

// between is the bytes of all batches between two offsets; false where one of them lies within a batch.
func (h *history) between(from, to int64) (p []byte, ok bool) {
	i, first := h.find(from)
	k, last := h.find(to)
	if !first || !last || i > k {
		return nil, false
	}
	return h.bytes[h.bounds[i].at:h.bounds[k].at], true
}

// batch is the i-th batch.
func (h *history) batch(i int) segment.Batch {
	return segment.Batch(h.bytes[h.bounds[i].at:h.bounds[i+1].at])
}

// maxTimestamp is the largest between two bounds.
func (h *history) maxTimestamp(from, to int64) int64 {
	latest := int64(math.MinInt64)
	i, _ := h.find(from)
	for ; h.bounds[i].offset < to; i++ {
		latest = max(latest, h.batch(i).MaxTimestamp())
	}
	return latest
}

// offsetForTime is the first offset from a bound on whose record has a timestamp of at least ts; the end where
// there is none.
func (h *history) offsetForTime(from, ts int64) int64 {
	i, _ := h.find(from)
	for ; h.bounds[i].offset < h.end(); i++ {
		records := h.batch(i).Records()
		for records.Next() {
			if records.Record.Timestamp >= ts {
				return records.Record.Offset
			}
		}
	}
	return h.end()
}

// valid is how far a log that begins at base is what was appended, in whole batches.
func (h *history) valid(log []byte, base int64) (size, end int64) {
	i, found := h.find(base)
	if !found {
		return 0, base
	}
	for ; i+1 < len(h.bounds) && bytes.HasPrefix(log[size:], h.batch(i)); i++ {
		size += int64(len(h.batch(i)))
	}
	return size, h.bounds[i].offset
}

// judgement is what Open must find.
type judgement struct {
	bad *place
	end int64
	cut *segment.Cut // without the cause
}

type place struct {
	file     string
	position int64
}

// judge says what Open must make of files whose log begins at start, when no byte below the recovery point
// may be bad. It compares bytes with what was appended, and knows nothing of checksums.
func (h *history) judge(files map[string][]byte, start int64, point segment.Point) judgement {
	if _, there := files[segment.Name(start)]; !there {
		return judgement{bad: &place{segment.Name(start), 0}}
	}
	if _, there := files[segment.Name(point.Base)]; !there && point.Base > start {
		return judgement{bad: &place{segment.Name(point.Base), 0}}
	}
	names := logs(files)
	names = names[slices.Index(names, segment.Name(start)):]
	end := start
	for i, name := range names {
		base := baseOf(name)
		var size int64
		size, end = h.valid(files[name], base)
		last := i == len(names)-1
		damaged := base < point.Base || base == point.Base && size < point.Position
		sound := size == int64(len(files[name])) && (last && !damaged || !last && names[i+1] == segment.Name(end))
		switch {
		case sound:
			continue
		case damaged:
			return judgement{bad: &place{name, size}}
		}
		cut := &segment.Cut{File: name, Position: size, Offset: end, Bytes: int64(len(files[name])) - size, Segments: names[i+1:]}
		for _, behind := range cut.Segments {
			cut.Bytes += int64(len(files[behind]))
		}
		return judgement{end: end, cut: cut}
	}
	return judgement{end: end}
}

// logs lists the names of all logs, ascending.
func logs(files map[string][]byte) []string {
	var names []string
	for name := range files {
		if strings.HasSuffix(name, ".log") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// baseOf is the offset in a file's name.
func baseOf(name string) (base int64) {
	for _, digit := range name[:20] {
		base = 10*base + int64(digit-'0')
	}
	return base
}

func newRand(seed ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed[0], seed[len(seed)-1]))
}

// randomBatch has some records, with timestamps that go back as often as forth.
func randomBatch(r *rand.Rand, records, value int) segment.Batch {
	var b segment.Builder
	b.Reset()
	for range 1 + r.IntN(records) {
		p := make([]byte, r.IntN(value))
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		b.Add(r.Int64N(60)-20, nil, p)
	}
	return b.Finish()
}
