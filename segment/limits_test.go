package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// compressed is a batch of exactly size bytes that claims to hold count compressed records.
func compressed(size int, count int32, maxTimestamp int64) Batch {
	header := build(record{timestamp: maxTimestamp})[:HeaderSize]
	return changed(append(header, make([]byte, size-HeaderSize)...), func(b Batch) {
		binary.BigEndian.PutUint32(b[atLength:], uint32(size-lengthOverhead))
		b[atAttributes+1] = 1
		binary.BigEndian.PutUint32(b[atRecordCount:], uint32(count))
		binary.BigEndian.PutUint32(b[atLastOffsetDelta:], uint32(count-1))
	})
}

// crash ends a partition without a clean mark.
func (p *partition) crash() {
	p.t.Helper()
	if err := p.checkpoint.Close(p.sealed, p.active.Publish(), true); err != nil {
		p.t.Fatal(err)
	}
}

// openAgain opens what p has left, of which it does not know all.
func (p *partition) openAgain() *partition {
	q := openPartition(p.t, p.config)
	q.batches = p.batches
	return q
}

// reopenBoth opens what p has left after a crash, and again after a close in order.
func (p *partition) reopenBoth(test func(p *partition)) {
	p.t.Helper()
	p.crash()
	p = p.reopen()
	if p.recovery.Clean {
		p.t.Error("Open found a partition clean that had crashed")
	}
	test(p)
	p.close()
	p = p.reopen()
	if !p.recovery.Clean {
		p.t.Error("Open found a partition crashed that was closed")
	}
	test(p)
	p.close()
}

// Positions and relative offsets have 31 bits: the last batches of a segment of the largest size, with the
// most records, are written and found like any others.
func TestLargestSegment(t *testing.T) {
	const filler, fillerRecords, tail = 16 << 20, 16<<20 - 1000, 64 << 10
	p := openPartition(t, Config{Storage: newSparse(), Size: MaxSize})
	addFiller := func(b Batch) {
		if _, ok := p.active.Add(b); !ok {
			t.Fatalf("no room at %d", p.active.added.Size)
		}
		p.write()
	}
	large := compressed(filler, fillerRecords, 1)
	if err := large.Check(); err != nil {
		t.Fatal(err)
	}
	for MaxSize-p.active.added.Size >= filler+tail {
		addFiller(large)
	}
	addFiller(compressed(int(MaxSize-tail-p.active.added.Size), fillerRecords, 1))

	r, timestamp := newRand(1), int64(100)
	for MaxSize-p.active.added.Size > 4000 {
		timestamp += r.Int64N(50)
		p.append(build(record{timestamp, nil, randomBytes(r)}, record{timestamp - 40, nil, randomBytes(r)}))
	}
	left := int(MaxSize - p.active.added.Size)
	p.append(compressed(left-100, int32(MaxSize-1-p.active.End()), timestamp))
	for _, b := range []Batch{batchOf(t, 101), build(record{}, record{})} {
		if p.active.Files().Fits(b, MaxSize-100, MaxSize-1) {
			t.Errorf("a batch of %d bytes and %d records fits 100 bytes and a record", len(b), b.RecordCount())
		}
	}
	p.append(batchOf(t, 100))
	last := p.active.Publish()
	if last.Size != MaxSize || last.End != MaxSize {
		t.Fatalf("segment has %d bytes and ends at offset %d, want %d", last.Size, last.End, MaxSize)
	}
	p.close()
	if p = p.openAgain(); !p.recovery.Clean || p.recovery.Point != last.point() {
		t.Fatalf("the full segment opens with %+v", p.recovery)
	}
	p.append(batchOf(t, MinBatch))
	if len(p.sealed) != 1 || p.active.Files().Base() != MaxSize {
		t.Fatalf("%d rolls, and the active segment begins at %d", len(p.sealed), p.active.Files().Base())
	}

	first, stamps := p.batches[0], append([]stamp{{timestamp: 1}}, p.stamps()...) // that of the first filler
	test := func(p *partition) {
		v := p.sealed[0]
		buf, c := make([]byte, 8<<10), &Cursor{}
		for i, b := range p.batches {
			p.read(i, b.batch.BaseOffset(), buf, c)
			p.read(i, b.batch.NextOffset()-1, buf, &Cursor{})
		}
		ix, err := v.indexes(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range p.batches {
			for k := firstSlot(b.position, DefaultInterval); b.segment == 0 && k <= slots(b.end(), DefaultInterval); k++ {
				if offset, position := entryAt(ix.offsets, k); offset != b.batch.BaseOffset() || position != b.position {
					t.Fatalf("slot %d is (%d, %d), want (%d, %d)", k, offset, position, b.batch.BaseOffset(), b.position)
				}
			}
		}
		for _, ts := range instants(stamps) {
			want, wantFound := firstAtLeast(stamps, v, ts)
			if got, found, err := v.OffsetForTime(ts, c); err != nil || found != wantFound || got != want {
				t.Fatalf("OffsetForTime(%d) = %d, %t, %v, want %d, %t", ts, got, found, err, want, wantFound)
			}
		}
		if got, err := v.Read(first.batch.BaseOffset()-1, make([]byte, filler), c); err != nil || Batch(got).NextOffset() != first.batch.BaseOffset() {
			t.Fatalf("Read of the last filler = %d bytes, %v", len(got), err)
		}
	}
	test(p)
	p.crash()
	p = p.openAgain()
	if p.recovery.Scanned != MaxSize+MinBatch || p.recovery.Cut != nil {
		t.Errorf("recovery has verified %d bytes, and cut %v", p.recovery.Scanned, p.recovery.Cut)
	}
	test(p)
	p.close()
	p = p.openAgain()
	if !p.recovery.Clean {
		t.Error("Open found a partition crashed that was closed")
	}
	test(p)
	p.close()
}

// A log file larger than a segment can be is no segment, and is left alone. As large is cut where its zeros
// begin.
func TestOpenLargestFile(t *testing.T) {
	for _, size := range []int64{MaxSize, MaxSize + 1} {
		dir := tempDir(t)
		s, err := OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		b := batchOf(t, 100)
		replace(t, s, Name(0), b)
		replace(t, s, pointFile, pointFileWith(Point{}))
		if err := os.Truncate(filepath.Join(dir, Name(0)), size); err != nil {
			t.Fatal(err)
		}
		opened, err := Open(Config{Storage: s})
		if size > MaxSize {
			if got, sizeErr := s.Size(Name(0)); !errors.Is(err, ErrForeign) || got != size || sizeErr != nil {
				t.Errorf("Open of %d bytes = %v, and leaves %d bytes, %v", size, err, got, sizeErr)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if cut := opened.Recovery.Cut; cut == nil || cut.Bytes != size-100 || !errors.Is(cut.Cause, ErrInvalid) {
			t.Errorf("Open of %d bytes cuts %v", size, cut)
		}
		if err := Close(nil, opened.Active.Publish()); err != nil {
			t.Error(err)
		}
	}
}

// Compressed batches hold any number of records, so that a segment can run out of relative offsets long
// before it is full.
func TestRollAtRecordLimit(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := openPartition(t, Config{Storage: s, Interval: 64})
		for _, group := range []struct {
			counts []int32
			rolled bool // before the last of them
		}{
			{[]int32{math.MaxInt32}, false},
			{[]int32{1}, true},
			{[]int32{math.MaxInt32 - 2, 1}, false},
			{[]int32{1}, true},
			{[]int32{1 << 30, 1<<30 - 2}, false},
			{[]int32{2}, true},
			{[]int32{math.MaxInt32 - 1}, true},
			{[]int32{math.MaxInt32}, true},
		} {
			rolls := len(p.sealed)
			for _, count := range group.counts {
				b := compressed(100, count, 1)
				if err := b.Check(); err != nil {
					t.Fatal(err)
				}
				p.append(b)
			}
			if rolled := len(p.sealed) > rolls; rolled != group.rolled {
				t.Errorf("after %d records: rolled is %t", group.counts, rolled)
			}
		}
		test := func(p *partition) {
			for _, v := range p.views() {
				if v.End-v.Base() > MaxSize {
					t.Errorf("%s holds %d records", Name(v.Base()), v.End-v.Base())
				}
			}
			buf := make([]byte, 1000)
			for i, b := range p.batches {
				for _, offset := range []int64{b.batch.BaseOffset(), (b.batch.BaseOffset() + b.batch.NextOffset()) / 2, b.batch.NextOffset() - 1} {
					p.read(i, offset, buf, &Cursor{})
				}
			}
		}
		test(p)
		p.reopenBoth(test)
	})
}

// Offsets end with the largest int64, which is never a record's.
func TestLastOffsets(t *testing.T) {
	const base = math.MaxInt64 - 5
	eachStorage(t, func(t *testing.T, s Storage) {
		point := make([]byte, pointFileSize)
		for _, half := range [][]byte{point[pointSlots:startSlots], point[startSlots:]} {
			(&slots2{p: half}).store(Point{Base: base, Offset: base})
		}
		replace(t, s, pointFile, point)
		p := openPartition(t, Config{Storage: s, Size: 1000, Interval: 64})
		if p.active.End() != base {
			t.Fatalf("log begins at %d, want %d", p.active.End(), int64(base))
		}
		refuse := func(p *partition, count int32) {
			t.Helper()
			b := compressed(100, count, 1)
			want := slices.Clone(b)
			if _, ok := p.active.Add(b); ok || !b.Overflows(p.active.End()) || !slices.Equal(b, want) {
				t.Errorf("a batch of %d records at %d: taken is %t, overflows is %t", count, p.active.End(), ok, b.Overflows(p.active.End()))
			}
		}
		refuse(p, 6)
		refuse(p, math.MaxInt32)
		p.append(build(record{timestamp: 1}, record{timestamp: 2}))
		refuse(p, 4)
		p.append(compressed(100, 2, 2))
		refuse(p, 2)
		p.append(batchOf(t, MinBatch))
		refuse(p, 1)

		test := func(p *partition) {
			t.Helper()
			if p.active.End() != math.MaxInt64 {
				t.Errorf("log ends at %d", p.active.End())
			}
			refuse(p, 1)
			for i, b := range p.batches {
				for offset := b.batch.BaseOffset(); offset < b.batch.NextOffset(); offset++ {
					p.read(i, offset, make([]byte, 1000), &Cursor{})
				}
			}
			v := p.view(base)
			if offset, found, err := v.OffsetForTime(2, &Cursor{}); offset != base+1 || !found || err != nil {
				t.Errorf("OffsetForTime(2) = %d, %t, %v", offset, found, err)
			}
			if _, err := v.Read(math.MaxInt64, make([]byte, 1000), &Cursor{}); !errors.Is(err, ErrCorrupt) {
				t.Errorf("Read at the end = %v", err)
			}
		}
		test(p)
		p.roll()
		test(p)
		p.reopenBoth(test)
	})
}

// Whoever waits until a batch overflows must know in time, for any record count.
func TestOverflows(t *testing.T) {
	for _, test := range []struct {
		base  int64
		count int32
		want  bool
	}{
		{0, math.MaxInt32, false},
		{math.MaxInt64 - math.MaxInt32, math.MaxInt32, false},
		{math.MaxInt64 - math.MaxInt32 + 1, math.MaxInt32, true},
		{math.MaxInt64 - 1, 1, false},
		{math.MaxInt64, 1, true},
	} {
		b := compressed(100, test.count, 1)
		if got := b.Overflows(test.base); got != test.want {
			t.Errorf("%d records at %d: Overflows is %t", test.count, test.base, got)
		}
		b.Stamp(test.base)
		if err := b.Check(); (err != nil) != test.want {
			t.Errorf("%d records at %d: Check = %v", test.count, test.base, err)
		}
	}
}

// Segments of exactly one batch, each as large as a segment may be.
func TestSegmentsOfOneBatch(t *testing.T) {
	for _, size := range []int{MinBatch, 100, 5000} {
		for _, interval := range []int64{1, 64, int64(size) - 1, int64(size), MaxSize} {
			t.Run(fmt.Sprintf("size=%d/interval=%d", size, interval), func(t *testing.T) {
				eachStorage(t, func(t *testing.T, s Storage) {
					p := openPartition(t, Config{Storage: s, Size: int64(size), Interval: interval})
					for range 4 {
						p.append(batchOf(t, size))
						if got := p.active.Publish().Size; got != int64(size) {
							t.Fatalf("segment has %d bytes", got)
						}
					}
					larger := batchOf(t, size+1)
					if _, ok := p.active.Add(larger); ok || p.active.Files().Fits(larger, 0, 0) {
						t.Error("a batch larger than a segment fits")
					}
					if len(p.sealed) != 3 {
						t.Errorf("%d rolls, want 3", len(p.sealed))
					}
					test := func(p *partition) {
						for i, b := range p.batches {
							if n := p.read(i, b.batch.BaseOffset(), make([]byte, 2*size), &Cursor{}); n != 1 {
								t.Errorf("Read crosses into the next segment: %d batches", n)
							}
							offset, found, err := p.view(b.segment).OffsetForTime(1, &Cursor{})
							if offset != b.batch.BaseOffset() || !found || err != nil {
								t.Errorf("OffsetForTime = %d, %t, %v, want %d", offset, found, err, b.batch.BaseOffset())
							}
						}
					}
					test(p)
					p.reopenBoth(test)
					for _, b := range p.batches {
						index, times := referenceIndexes(b.batch, interval)
						if !bytes.Equal(contents(t, s, fileName(b.segment, indexSuffix)), index) ||
							!bytes.Equal(contents(t, s, fileName(b.segment, timeSuffix)), times) {
							t.Errorf("indexes of %s differ from the reference", Name(b.segment))
						}
					}
				})
			})
		}
	}
}

// Attributes that the store gives no meaning are stored as they are, whatever they say.
func TestAttributes(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := openPartition(t, Config{Storage: s, Size: 1000, Interval: 64})
		for attributes := range 1 << 8 {
			b := changed(build(record{timestamp: 1}, record{timestamp: 2}), func(b Batch) {
				b[atAttributes], b[atAttributes+1] = byte(attributes), byte(attributes)
			})
			if err := b.Check(); err != nil {
				t.Fatalf("attributes %016b: Check = %v", b.Attributes(), err)
			}
			p.append(b)
		}
		p.checkLookups()
		p.reopenBoth((*partition).checkLookups)
	})
}

// What another broker has stamped into a batch is written over, outside the checksum; a stored batch with
// another epoch has been changed since.
func TestLeaderEpoch(t *testing.T) {
	p := openPartition(t, Config{Storage: NewHeap()})
	foreign := batchOf(t, 100)
	foreign.Stamp(1 << 40)
	binary.BigEndian.PutUint32(foreign[atLeaderEpoch:], 7)
	if err := foreign.Check(); err != nil || foreign.LeaderEpoch() != 7 {
		t.Fatalf("epoch is %d, and Check gives %v", foreign.LeaderEpoch(), err)
	}
	p.append(batchOf(t, 100), foreign)
	got, err := p.active.Publish().Read(1, make([]byte, 100), &Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	if b := Batch(got); b.LeaderEpoch() != 0 || b.BaseOffset() != 1 || b.Check() != nil {
		t.Errorf("stored with epoch %d at %d, and Check gives %v", b.LeaderEpoch(), b.BaseOffset(), b.Check())
	}
	if err := p.active.Files().WriteAt(Batch{0, 0, 0, 7}, 100+atLeaderEpoch); err != nil {
		t.Fatal(err)
	}
	var corrupt *CorruptError
	if _, err := p.active.Publish().Read(1, make([]byte, 100), &Cursor{}); !errors.As(err, &corrupt) ||
		corrupt.Position != 100 || !strings.Contains(err.Error(), "leader epoch") {
		t.Errorf("Read of a changed epoch = %v", err)
	}
	p.close()
}
