package strategies_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

func TestReadBounds(t *testing.T) {
	forEach(t, shares, func(f *fixture) {
		h := f.open().NewHandle()
		buf := make([]byte, 4096)
		check := func(end int64) {
			f.t.Helper()
			for _, p := range [][]byte{buf, nil, {}} {
				if p, err := h.Read(end, p); len(p) != 0 || err != nil {
					f.t.Fatalf("read at the high watermark gives %d bytes and %v", len(p), err)
				}
			}
			for _, offset := range []int64{-1, math.MinInt64, end + 1, math.MaxInt64} {
				if p, err := h.Read(offset, buf); !errors.Is(err, strategies.ErrOutOfRange) {
					f.t.Fatalf("read at %d of a log that ends at %d gives %d bytes and %v", offset, end, len(p), err)
				}
			}
		}
		check(0)
		m := newMaker(1, 10)
		for range 12 {
			last := fill(f.t, h, m, 1)[0]
			check(last.NextOffset())
		}
	})
}

// raw's pictures have the same bounds.
func TestReadBoundsOfPicture(t *testing.T) {
	forEach(t, func(s strategies.Strategy) bool { return s.PrivateFiles }, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		if p, err := h.Read(0, nil); len(p) != 0 || err != nil {
			f.t.Fatalf("read of an empty log gives %d bytes and %v", len(p), err)
		}
		want := fill(f.t, h, newMaker(1, 10), 12)
		end := want[11].NextOffset()
		h = f.reader(log, h)
		if p, err := h.Read(end, nil); len(p) != 0 || err != nil {
			f.t.Fatalf("read at the high watermark gives %d bytes and %v", len(p), err)
		}
		for _, offset := range []int64{-1, end + 1, math.MaxInt64} {
			if _, err := h.Read(offset, nil); !errors.Is(err, strategies.ErrOutOfRange) {
				f.t.Fatalf("read at %d gives %v", offset, err)
			}
		}
	})
}

// expectedRead is what Read must return: the batch that contains the offset, and as many behind it as
// fit, up to the end of its segment. Which batches share a segment follows from the layout.
func expectedRead(batches []segment.Batch, segmentSize, offset int64, size int) (p []byte, need int64) {
	first := sort.Search(len(batches), func(i int) bool { return batches[i].NextOffset() > offset })
	fill, segments := int64(0), make([]int, len(batches))
	for i, b := range batches {
		if i > 0 {
			segments[i] = segments[i-1]
		}
		if fill > 0 && fill+int64(len(b)) > segmentSize {
			segments[i], fill = segments[i]+1, 0
		}
		fill += int64(len(b))
	}
	for i := first; i < len(batches) && segments[i] == segments[first]; i++ {
		if len(p)+len(batches[i]) > size {
			break
		}
		p = append(p, batches[i]...)
	}
	if len(p) == 0 {
		return nil, int64(len(batches[first]))
	}
	return p, 0
}

// checkRead reads once and compares with everything that the contract says.
func checkRead(t *testing.T, h strategies.Handle, want []segment.Batch, segmentSize, offset int64, size int) {
	t.Helper()
	// A canary behind the buffer: nothing may be written there.
	whole := bytes.Repeat([]byte{0xa5}, size+64)
	p, err := h.Read(offset, whole[:size:size])
	expected, need := expectedRead(want, segmentSize, offset, size)
	var short *segment.ShortBufferError
	switch {
	case !bytes.Equal(whole[size:], bytes.Repeat([]byte{0xa5}, 64)):
		t.Fatalf("read of %d bytes at %d writes beyond the buffer", size, offset)
	case expected == nil && errors.As(err, &short):
		if short.Need != need {
			t.Fatalf("read of %d bytes at %d needs %d bytes, want %d", size, offset, short.Need, need)
		}
	case expected == nil:
		t.Fatalf("read of %d bytes at %d gives %d bytes and %v, want a ShortBufferError of %d", size, offset, len(p), err, need)
	case err != nil:
		t.Fatalf("read of %d bytes at %d: %v", size, offset, err)
	case len(p) == 0 || !inside(whole[:size], p):
		t.Fatalf("read of %d bytes at %d does not return a part of the buffer", size, offset)
	case !bytes.Equal(p[:min(len(p), len(expected))], expected[:min(len(p), len(expected))]):
		t.Fatalf("read of %d bytes at %d gives wrong bytes", size, offset)
	case len(p) > len(expected):
		t.Fatalf("read of %d bytes at %d gives %d bytes, want %d", size, offset, len(p), len(expected))
	}
	// Fewer batches than fit are right as long as they are whole; at least one.
	for rest := p; len(rest) > 0; {
		if _, rest, err = segment.NextBatch(rest); err != nil {
			t.Fatalf("read of %d bytes at %d gives a part of a batch: %v", size, offset, err)
		}
	}
}

// inside reports whether p is a sub-slice of whole.
func inside(whole, p []byte) bool {
	for i := range whole {
		if &whole[i] == &p[0] {
			return i+len(p) <= len(whole)
		}
	}
	return false
}

// Small buffers, of every size around the batches' own, at every offset in random order.
func TestReadSmallBuffer(t *testing.T) {
	forEach(t, stores, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		want := fill(f.t, h, newMaker(1, 11), 40)
		h = f.reader(log, h)
		random := rand.New(rand.NewPCG(11, 11))
		end := want[len(want)-1].NextOffset()
		for range 600 {
			offset := random.Int64N(end)
			i := sort.Search(len(want), func(i int) bool { return want[i].NextOffset() > offset })
			size := []int{len(want[i]), len(want[i]) - 1, len(want[i]) + 1, 0, 1, 60, 61, 62, random.IntN(1500), 1 << 16}[random.IntN(10)]
			checkRead(f.t, h, want, f.options.SegmentSize, offset, size)
		}
	})
}

// A buffer of exactly one batch reads a log of equal batches through, one at a time, in sequence and
// each from a handle without memory.
func TestReadBufferOfOneBatch(t *testing.T) {
	forEach(t, shares, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		m := newMaker(1, 12)
		var want []segment.Batch
		for range 30 {
			b := m.make(3, 40, 0)
			base, err := h.Append(f.t.Context(), b, strategies.AcksLeader)
			if err != nil {
				f.t.Fatal(err)
			}
			want = append(want, bytes.Clone(b))
			want[len(want)-1].Stamp(base)
		}
		buf := make([]byte, len(want[0]))
		for offset := range int64(90) {
			for _, h := range []strategies.Handle{h, log.NewHandle()} {
				p, err := h.Read(offset, buf)
				if err != nil || !bytes.Equal(p, want[offset/3]) {
					f.t.Fatalf("read at %d gives %d bytes and %v", offset, len(p), err)
				}
			}
		}
	})
}

// Batches larger than the scan and index buffers, and that span many index slots.
func TestReadLargeBatches(t *testing.T) {
	options := strategies.Options{SegmentSize: 1 << 20}
	forEachWith(t, options, stores, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		m := newMaker(1, 13)
		var want []segment.Batch
		for i := range 24 {
			b := m.make(1+i%3, []int{20, 150_000, 4096, 70_000}[i%4], int64(i))
			base, err := h.Append(f.t.Context(), b, strategies.AcksLeader)
			if err != nil {
				f.t.Fatal(err)
			}
			want = append(want, bytes.Clone(b))
			want[len(want)-1].Stamp(base)
		}
		h = f.reader(log, h)
		for offset := range want[len(want)-1].NextOffset() {
			for _, size := range []int{61, 100, 5000, 1 << 19} {
				checkRead(f.t, h, want, options.SegmentSize, offset, size)
			}
		}
	})
}
