package segment

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// inspect gives copies of what Inspect visits.
func inspect(t testing.TB, s Storage, o InspectOptions) (items []Item, err error) {
	t.Helper()
	err = Inspect(t.Context(), s, o, func(i Item) error {
		switch i := i.(type) {
		case *Directory, *Segment, *IndexEntry, *TimeIndexEntry, *CheckpointSlot, *CleanSegment, *Fault:
			items = append(items, i)
		case *StoredBatch:
			i.bytes = bytes.Clone(i.bytes)
			items = append(items, i)
		case *StoredRecord:
			i.Key, i.Value = bytes.Clone(i.Key), bytes.Clone(i.Value)
			items = append(items, i)
		default:
			t.Fatalf("Inspect visits a %T", i)
		}
		return nil
	})
	return items, err
}

// only gives the items of one kind.
func only[T Item](items []Item) (found []T) {
	for _, i := range items {
		if i, ok := i.(T); ok {
			found = append(found, i)
		}
	}
	return found
}

func TestInspect(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := openPartition(t, Config{Storage: s, Size: reopenConfig.Size, Interval: reopenConfig.Interval})
		p.fill(101, 50)
		compare := func(clean bool) {
			t.Helper()
			before := snapshot(t, s)
			items, err := inspect(t, s, InspectOptions{Records: true, Interval: reopenConfig.Interval})
			if err != nil {
				t.Fatal(err)
			}
			sameFiles(t, snapshot(t, s), before)
			d := items[0].(*Directory)
			if !d.Ours || d.Clean != clean || d.Start != 0 || d.End != p.active.End() || d.Segments != len(p.views()) ||
				d.Interval != reopenConfig.Interval || clean && d.Point != p.active.Publish().point() {
				t.Errorf("directory is %+v", d)
			}
			compareSegments(t, p, only[*Segment](items))
			records := only[*StoredRecord](items)
			for i, b := range only[*StoredBatch](items) {
				want := p.batches[i]
				if b.File != Name(want.segment) || b.Position != want.position || !bytes.Equal(b.bytes, want.batch) || !b.Sound ||
					b.BaseOffset != want.batch.BaseOffset() || b.LastOffset != want.batch.NextOffset()-1 || b.Compression != "none" {
					t.Fatalf("batch %d is %+v", i, b)
				}
				for k, r := range decode(t, want.batch) {
					got := records[k]
					if got.Offset != b.BaseOffset+int64(k) || !equalRecords([]record{{got.Timestamp, got.Key, got.Value}}, []record{r}) {
						t.Fatalf("record is %+v, want %+v", got, r)
					}
				}
				records = records[b.Records:]
			}
			for _, v := range p.views() {
				var index, times []byte
				for _, e := range only[*IndexEntry](items) {
					if e.File == fileName(v.Base(), indexSuffix) {
						index = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(index, uint64(e.Offset)), uint64(e.LogPosition))
					}
				}
				for _, e := range only[*TimeIndexEntry](items) {
					if e.File == fileName(v.Base(), timeSuffix) {
						times = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(times, uint64(e.Timestamp)), uint64(e.Offset))
					}
				}
				if wantIndex, wantTimes := referenceIndexes(p.log(v.Base()), reopenConfig.Interval); !bytes.Equal(index, wantIndex) || !bytes.Equal(times, wantTimes) {
					t.Errorf("index entries of %s differ from the reference", Name(v.Base()))
				}
			}
		}
		compare(false)
		p.close()
		compare(true)
	})
}

func compareSegments(t *testing.T, p *partition, segments []*Segment) {
	t.Helper()
	next := 0
	for i, v := range p.views() {
		s := segments[i]
		first, batches, records := next, int64(0), int64(0)
		for ; next < len(p.batches) && p.batches[next].segment == v.Base(); next++ {
			batches++
			records += int64(p.batches[next].batch.RecordCount())
		}
		if s.File != Name(v.Base()) || s.Base != v.Base() || s.End != v.End || s.Size != v.Size || s.Valid != v.Size || s.Batches != batches ||
			s.Records != records || s.MaxTimestamp != v.MaxTimestamp || s.FirstTimestamp != p.batches[first].batch.BaseTimestamp() ||
			s.LastTimestamp != p.batches[next-1].batch.MaxTimestamp() || s.Index.Format != Native {
			t.Errorf("segment %d is %+v", i, s)
		}
	}
}

// A bad checksum is shown in its place; bytes that are no batch end a log, and not the inspection.
func TestInspectDamage(t *testing.T) {
	s := NewHeap()
	p := closedLog(t, s, 102, 50)
	unsound, broken := p.batches[1], p.batches[3]
	log := contents(t, s, Name(0))
	log[unsound.end()-1] ^= 1
	log[broken.position+atMagic] = 9
	replace(t, s, Name(0), log)
	items, err := inspect(t, s, InspectOptions{})
	var fault *Fault
	if !errors.As(err, &fault) || fault.File != Name(0) || fault.Position != broken.position || fault.Effect != Damage {
		t.Errorf("Inspect = %v", err)
	}
	if got := only[*Fault](items); len(got) != 1 || got[0].Position != broken.position {
		t.Errorf("faults %v", got)
	}
	batches := only[*StoredBatch](items)
	for i, b := range batches[:3] {
		if b.Sound != (i != 1) {
			t.Errorf("batch %d: sound %t", i, b.Sound)
		}
	}
	if last := batches[len(batches)-1]; last.LastOffset != p.active.End()-1 {
		t.Errorf("the last batch is %+v", last)
	}
}

func TestInspectSmallFiles(t *testing.T) {
	s := NewHeap()
	p := closedLog(t, s, 103, 50)
	items, err := inspect(t, s, InspectOptions{File: pointFile})
	slots := only[*CheckpointSlot](items)
	if err != nil || len(slots) != 4 {
		t.Fatalf("%d slots, %v", len(slots), err)
	}
	counts := 0
	for i, slot := range slots {
		want := p.active.Publish().point()
		if i >= 2 {
			want = Point{}
		}
		if slot.Position != int64(32*i) || !slot.Valid || slot.Point != want || slot.LogStart != (i >= 2) {
			t.Errorf("slot %d is %+v", i, slot)
		}
		if slot.Counts {
			counts++
		}
	}
	if counts != 2 {
		t.Errorf("%d slots count, want 2", counts)
	}
	items, err = inspect(t, s, InspectOptions{File: cleanFile})
	marks := only[*CleanSegment](items)
	if err != nil || len(marks) != len(p.views()) {
		t.Fatalf("%d segments in the mark, %v", len(marks), err)
	}
	for i, v := range p.views() {
		m := marks[i]
		if m.Base != v.Base() || m.Size != v.Size || m.End != v.End || m.MaxTimestamp != v.MaxTimestamp ||
			m.IndexCRC != referenceCRC(contents(t, s, fileName(v.Base(), indexSuffix))) {
			t.Errorf("mark of segment %d is %+v", i, m)
		}
	}
}

func TestInspectEnds(t *testing.T) {
	s := NewHeap()
	closedLog(t, s, 107, 50)
	ctx, cancel := context.WithCancel(t.Context())
	err := Inspect(ctx, s, InspectOptions{}, func(Item) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Inspect = %v", err)
	}
	if _, err := Verify(ctx, s, InspectOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify = %v", err)
	}
	stop := errors.New("stop")
	if err := Inspect(t.Context(), s, InspectOptions{}, func(Item) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Inspect = %v, want the error of visit", err)
	}
}

// Nothing that lies in a file makes an inspection fail in another way than with a fault.
func FuzzInspect(f *testing.F) {
	seeds(f)
	f.Add(golden(f, "segment.index.golden"))
	f.Add(golden(f, "segment.timeindex.golden"))
	f.Add(kafkaMessages())
	s := NewHeap()
	closedLog(f, s, 106, 20)
	f.Add(contents(f, s, pointFile))
	f.Add(contents(f, s, cleanFile))
	f.Fuzz(func(t *testing.T, p []byte) {
		p = bytes.Clone(p)
		for rest := p; len(rest) > 0 && rest[len(rest)-1]%2 == 0; { // so that more than the checksum is reached
			b, next, err := NextBatch(rest)
			if err != nil {
				break
			}
			restamp(b)
			rest = next
		}
		names := []string{Name(0), "any", fileName(0, indexSuffix), fileName(0, timeSuffix), pointFile, cleanFile}
		for _, ours := range []bool{false, true} {
			for _, name := range names {
				s := NewHeap()
				replace(t, s, Name(0), build(record{1, []byte("key"), []byte("value")}))
				if ours {
					replace(t, s, pointFile, make([]byte, pointFileSize))
				}
				replace(t, s, name, p)
				before := snapshot(t, s)
				for _, o := range []InspectOptions{{Records: true, Interval: 16}, {File: name, Records: true}} {
					var fault *Fault
					size := int64(len(p)) + MinBatch + 100
					allowed := func(err error) bool { return err == nil || errors.As(err, &fault) || errors.Is(err, ErrNoLog) }
					items, err := inspect(t, s, o)
					if !allowed(err) || err != nil && fault == nil && len(items) > 0 {
						t.Fatalf("Inspect = %d items, %v", len(items), err)
					}
					for _, b := range only[*StoredBatch](items) {
						if b.Position < 0 || b.Position+b.Size > size || b.LastOffset < b.BaseOffset || b.LastOffset == math.MaxInt64 {
							t.Fatalf("batch %+v", b)
						}
					}
					sound, err := Verify(t.Context(), s, o)
					if !allowed(err) || sound.Bytes > size {
						t.Fatalf("Verify = %+v, %v", sound, err)
					}
				}
				sameFiles(t, snapshot(t, s), before)
			}
		}
	})
}
