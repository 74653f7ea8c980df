package segment

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
)

// lookupLog is a partition of several segments with disordered timestamps.
func lookupLog(t *testing.T, s Storage, seed uint64) *partition {
	t.Helper()
	p := openPartition(t, Config{Storage: s, Size: 6000, Interval: 64})
	p.fill(seed, 70)
	if len(p.sealed) < 2 {
		t.Fatalf("only %d rolls", len(p.sealed))
	}
	return p
}

// read reads at an offset of stored batch i and checks that the answer is whole batches from there on.
// It returns how many.
func (p *partition) read(i int, offset int64, buf []byte, c *Cursor) int {
	p.t.Helper()
	v := p.view(p.batches[i].segment)
	for at := range buf {
		buf[at] = 0xee
	}
	got, err := v.Read(offset, buf, c)
	if err != nil {
		p.t.Fatalf("Read at %d into %d bytes: %v", offset, len(buf), err)
	}
	n := 0
	for rest := got; len(rest) > 0; n++ {
		if i+n == len(p.batches) || p.batches[i+n].segment != v.Base() || !bytes.HasPrefix(rest, p.batches[i+n].batch) {
			p.t.Fatalf("Read at %d into %d bytes: batch %d of the answer is wrong", offset, len(buf), n)
		}
		rest = rest[len(p.batches[i+n].batch):]
	}
	if n == 0 || len(got) > len(buf) || cap(got) != len(got) {
		p.t.Fatalf("Read at %d into %d bytes: %d batches, %d bytes, capacity %d", offset, len(buf), n, len(got), cap(got))
	}
	return n
}

func TestReadEveryOffset(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := lookupLog(t, s, 3)
		large, reused := make([]byte, 64<<10), &Cursor{}
		for i, want := range p.batches {
			for offset := want.batch.BaseOffset(); offset < want.batch.NextOffset(); offset++ {
				for _, size := range []int{len(want.batch), len(want.batch) + HeaderSize, 1024, 4096, len(large)} {
					if size < len(want.batch) {
						continue
					}
					p.read(i, offset, large[:size], &Cursor{})
					p.read(i, offset, large[:size], reused)
				}
			}
		}
		p.close()
	})
}

// In sequence, each read returns all the batches that fit, whatever lies before them.
func TestReadInSequence(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := lookupLog(t, s, 4)
		largest := 0
		for _, b := range p.batches {
			largest = max(largest, len(b.batch))
		}
		for _, size := range []int{largest, largest + 1, 3 * largest, 64 << 10} {
			buf, c := make([]byte, size), &Cursor{}
			for i := 0; i < len(p.batches); {
				fit, left := 0, size
				for _, b := range p.batches[i:] {
					if left -= len(b.batch); left < 0 || b.segment != p.batches[i].segment {
						break
					}
					fit++
				}
				if n := p.read(i, p.batches[i].batch.BaseOffset(), buf, c); n != fit {
					t.Fatalf("read of %d bytes at batch %d returns %d batches, %d fit", size, i, n, fit)
				}
				i += fit
			}
		}
		p.close()
	})
}

// A buffer too small for the batch is told the size of that batch, not of one that lies on the way.
func TestReadShortBuffer(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := lookupLog(t, s, 5)
		buf := make([]byte, 64<<10)
		for i, want := range p.batches {
			need, offset := len(want.batch), want.batch.NextOffset()-1
			v, reused := p.view(want.segment), &Cursor{}
			for _, size := range []int{0, 1, HeaderSize - 1, HeaderSize, HeaderSize + 1, need / 2, need - 1} {
				for _, c := range []*Cursor{{}, reused} {
					got, err := v.Read(offset, buf[:size], c)
					var short *ShortBufferError
					if !errors.As(err, &short) || short.Need != int64(need) || len(got) > 0 {
						t.Fatalf("Read of batch %d (%d bytes) into %d bytes = %d bytes, %v", i, need, size, len(got), err)
					}
				}
			}
			p.read(i, offset, buf[:need], reused)
		}
		p.close()
	})
}

// A batch that is nothing but a header can be stored, compressed: even its size must be told.
func TestReadShortBufferOfHeader(t *testing.T) {
	b := build(record{})[:HeaderSize]
	b[atLength+3] = HeaderSize - lengthOverhead
	b[atAttributes+1] = 1
	p := openPartition(t, Config{Storage: NewHeap()})
	p.append(b)
	var short *ShortBufferError
	if _, err := p.active.Publish().Read(0, make([]byte, HeaderSize-1), &Cursor{}); !errors.As(err, &short) || short.Need != HeaderSize {
		t.Errorf("Read = %v, want a need of %d", err, HeaderSize)
	}
	p.read(0, 0, make([]byte, HeaderSize), &Cursor{})
	p.close()
}

// Outside of [Base, End) there is no batch; a reader that asks all the same gets an error.
func TestReadOutside(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := lookupLog(t, s, 6)
		for _, v := range p.views() {
			for _, offset := range []int64{math.MinInt64, v.Base() - 1, v.End, v.End + 1, math.MaxInt64} {
				got, err := v.Read(offset, make([]byte, 4096), &Cursor{})
				if !errors.Is(err, ErrCorrupt) || len(got) > 0 {
					t.Errorf("Read at %d of [%d, %d) = %d bytes, %v", offset, v.Base(), v.End, len(got), err)
				}
			}
		}
		p.close()
	})
}

// timestamps are all those in the log, those beside them, and the ends of the range.
func (p *partition) timestamps() []int64 {
	all := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	for _, s := range p.batches {
		for _, r := range decode(p.t, s.batch) {
			all = append(all, r.timestamp)
			if r.timestamp > math.MinInt64 {
				all = append(all, r.timestamp-1)
			}
			if r.timestamp < math.MaxInt64 {
				all = append(all, r.timestamp+1)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// scanForTime is OffsetForTime by a look at every record.
func (p *partition) scanForTime(v View, ts int64) (int64, bool) {
	for _, s := range p.batches {
		if s.segment != v.Base() || s.end() > v.Size {
			continue
		}
		for i, r := range decode(p.t, s.batch) {
			if r.timestamp >= ts {
				return s.batch.BaseOffset() + int64(i), true
			}
		}
	}
	return 0, false
}

func TestOffsetForTime(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := lookupLog(t, s, 7)
		c := &Cursor{}
		for _, v := range p.views() {
			unknown := v
			unknown.MaxTimestamp = math.MaxInt64
			for _, ts := range p.timestamps() {
				want, wantFound := p.scanForTime(v, ts)
				for _, v := range []View{v, unknown} {
					if got, found, err := v.OffsetForTime(ts, c); err != nil || got != want || found != wantFound {
						t.Fatalf("%s: OffsetForTime(%d) = %d, %t, %v, want %d, %t", Name(v.Base()), ts, got, found, err, want, wantFound)
					}
				}
			}
		}
		p.close()
	})
}

// Views taken on the way answer as of then, however much has been appended, rolled and sealed since.
func TestViewsAreImmutable(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := openPartition(t, Config{Storage: s, Size: 6000, Interval: 64})
		r := newRand(8)
		views := []View{p.active.Publish()}
		for range 40 {
			p.append(build(randomRecords(r)...))
			views = append(views, p.active.Publish())
		}
		buf, c := make([]byte, 64<<10), &Cursor{}
		timestamps := p.timestamps()
		for _, v := range views {
			var want []byte
			end := v.Base()
			for _, s := range p.batches {
				if s.segment == v.Base() && s.end() <= v.Size {
					want, end = append(want, s.batch...), s.batch.NextOffset()
				}
			}
			if v.End != end || v.Size != int64(len(want)) {
				t.Fatalf("view of %d bytes ends at %d, want %d and %d", v.Size, v.End, len(want), end)
			}
			if v.Size > 0 {
				if got, err := v.Read(v.Base(), buf, c); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("view of %d bytes reads %d, %v", v.Size, len(got), err)
				}
			}
			for i := 0; i < len(timestamps); i += 5 {
				want, wantFound := p.scanForTime(v, timestamps[i])
				if got, found, err := v.OffsetForTime(timestamps[i], c); err != nil || got != want || found != wantFound {
					t.Fatalf("OffsetForTime(%d) = %d, %t, %v, want %d, %t", timestamps[i], got, found, err, want, wantFound)
				}
			}
		}
		p.close()
	})
}

// One cursor may serve any views in turn.
func TestCursorAcrossViews(t *testing.T) {
	p := lookupLog(t, NewHeap(), 9)
	r, c, buf := newRand(9), &Cursor{}, make([]byte, 2048)
	next := 0
	for range 2000 {
		i := next
		if r.IntN(2) == 0 || i >= len(p.batches) {
			i = r.IntN(len(p.batches))
		}
		next = i + p.read(i, p.batches[i].batch.BaseOffset(), buf, c)
	}
	p.close()
}

// Batches larger than a lookup's own buffer are found as well.
func TestOffsetForTimeLargeBatch(t *testing.T) {
	p := openPartition(t, Config{Storage: NewHeap()})
	p.append(build(record{1, nil, make([]byte, 3*scanBuffer)}), build(record{2, nil, make([]byte, 5*scanBuffer)}, record{3, nil, nil}))
	for ts, want := range map[int64]int64{1: 0, 2: 1, 3: 2} {
		if got, found, err := p.active.Publish().OffsetForTime(ts, &Cursor{}); got != want || !found || err != nil {
			t.Errorf("OffsetForTime(%d) = %d, %t, %v, want %d", ts, got, found, err, want)
		}
	}
	p.check()
	p.close()
}
