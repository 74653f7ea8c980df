package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"
)

func seeds(f *testing.F) {
	f.Helper()
	one := build(record{1, []byte("key"), []byte("value")})
	f.Add([]byte{})
	f.Add([]byte(one))
	f.Add([]byte(one[:HeaderSize]))
	f.Add(append(bytes.Clone(one), build(record{-5, nil, nil}, record{9, []byte{}, []byte{}})...))
	f.Add(golden(f, "segment.log.golden"))
}

func FuzzRecords(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, p []byte) {
		b := Batch(p)
		it := b.Records()
		left := len(p)
		n := int32(0)
		for ; it.Next(); n++ {
			r := it.Record
			if r.Offset < b.BaseOffset() || r.Offset >= b.NextOffset() {
				t.Fatalf("offset %d lies outside [%d, %d)", r.Offset, b.BaseOffset(), b.NextOffset())
			}
			if left -= minRecord - 3 + len(r.Key) + len(r.Value) + len(r.RawHeaders); left < 0 || r.Headers > len(r.RawHeaders) {
				t.Fatal("records hold more bytes than the batch")
			}
		}
		if err := it.Err(); err == nil && n != b.RecordCount() {
			t.Fatalf("%d records, want %d", n, b.RecordCount())
		} else if err != nil && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrCompressed) {
			t.Fatal(err)
		}
	})
}

func FuzzNextBatch(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, p []byte) {
		for rest := p; len(rest) > 0; {
			b, next, err := NextBatch(rest)
			if err != nil {
				if !errors.Is(err, ErrInvalid) || b != nil || len(next) != len(rest) {
					t.Fatalf("NextBatch = %d bytes, %d left, %v", len(b), len(next), err)
				}
				return
			}
			if len(b) < HeaderSize || int64(len(b)) != b.Size() || len(b)+len(next) != len(rest) || b.NextOffset() <= b.BaseOffset() {
				t.Fatalf("NextBatch = %d bytes of %d, %d left", len(b), len(rest), len(next))
			}
			rest = next
		}
	})
}

// repaired gives the batches at the start of a log right checksums, so that more than these is reached, and
// stamps them with the offsets from next on if asked.
func repaired(log []byte, next int64, stamp bool) []byte {
	log = bytes.Clone(log)
	for rest := log; len(rest) >= HeaderSize; {
		if stamp {
			Batch(rest).Stamp(next)
		}
		b, behind, err := NextBatch(rest)
		if err != nil {
			break
		}
		binary.BigEndian.PutUint32(b[atCRC:], b.checksum())
		next, rest = b.NextOffset(), behind
	}
	return log
}

// soundStart is the size of the valid batches at the start of a log, and the offset behind them.
func soundStart(log []byte, next int64) (size, end int64) {
	for {
		b, _, err := NextBatch(log[size:])
		if err != nil || b.CheckCRC() != nil || b.BaseOffset() != next || b.LeaderEpoch() != 0 || b.checkCount() != nil {
			return size, next
		}
		size, next = size+int64(len(b)), b.NextOffset()
	}
}

// pointFileWith is a recovery-point file that says so.
func pointFileWith(point Point) []byte {
	p := make([]byte, pointFileSize)
	(&slots2{p: p[pointSlots:startSlots]}).store(point)
	return p
}

// Whatever lies in two logs, Open keeps the valid batches at their start and reports the rest, or says what
// is bad below the recovery point, or what no crash leaves, and changes nothing.
func FuzzOpen(f *testing.F) {
	one := build(record{1, []byte("key"), []byte("value")})
	log := append(bytes.Clone(one), build(record{-5, nil, nil}, record{9, []byte{}, []byte{}})...)
	log = append(log, golden(f, "segment.log.golden")...)
	f.Add(log, log, true, false, false, uint16(0), uint8(0))
	f.Add(log, log[:len(log)-1], true, false, true, uint16(len(log)-1), uint8(1))
	f.Add(log, []byte(one), true, false, true, uint16(len(one)), uint8(1))
	f.Add(log, []byte(one), true, false, true, uint16(len(one)+1), uint8(1))
	f.Add(log, append(bytes.Clone(one), make([]byte, 100)...), true, false, true, uint16(len(one)), uint8(1))
	f.Add(log, []byte{}, true, true, true, uint16(len(log)), uint8(0))
	f.Add(log[:len(log)-9], log, true, false, true, uint16(100), uint8(0))
	f.Add([]byte{}, log, false, false, false, uint16(0), uint8(0))
	f.Add([]byte(one), make([]byte, 200), false, false, true, uint16(10), uint8(0))
	f.Fuzz(func(t *testing.T, first, second []byte, stamp, gap, known bool, position uint16, segment uint8) {
		first = repaired(first, 0, stamp)
		size, end := soundStart(first, 0)
		base := max(end, 1)
		if gap {
			base++
		}
		second = repaired(second, base, stamp)
		logs := map[int64][]byte{0: first, base: second}

		// Where the valid log ends, and how much of each segment is kept.
		kept, bad := map[int64][]byte{0: first[:size]}, &CorruptError{File: Name(0), Position: size}
		below := int64(position) > size || segment%2 == 1
		if size == int64(len(first)) && end == base {
			size, end = soundStart(second, base)
			kept[base], bad = second[:size], &CorruptError{File: Name(base), Position: size}
			below = int64(position) > size && segment%2 == 1
			if size == int64(len(second)) && !(known && below) {
				bad = nil
			}
		}

		s := NewHeap()
		replace(t, s, Name(0), first)
		replace(t, s, Name(base), second)
		if known {
			point := Point{Position: int64(position)}
			if segment%2 == 1 {
				point.Base, point.Offset = base, base
			}
			replace(t, s, pointFile, pointFileWith(point))
		}
		opened, err := Open(Config{Storage: s, Size: 1 << 20, Interval: 64})
		if bad != nil && known && below {
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) || corrupt.File != bad.File || corrupt.Position != bad.Position {
				t.Fatalf("Open = %v, want byte %d of %s", err, bad.Position, bad.File)
			}
			kept = logs
		} else if foreign, is := errors.AsType[*ForeignError](err); is {
			if known && bad == nil || known && foreignBatch(logs) == 0 {
				t.Fatalf("Open = %v, with a recovery point and without a batch of another writer", err)
			}
			if bad != nil && !known && (foreign.File != bad.File || foreign.Position != bad.Position) && foreignBatch(logs) == 0 {
				t.Fatalf("Open = %v, want byte %d of %s", err, bad.Position, bad.File)
			}
			kept = logs
		} else if err != nil {
			t.Fatal(err)
		} else if bad != nil && !known {
			t.Fatal("bad logs without a recovery point were opened")
		}
		for base := range logs {
			log, there := kept[base]
			if _, err := s.Size(Name(base)); (err == nil) != there || there && !bytes.Equal(contents(t, s, Name(base)), log) {
				t.Fatalf("%s was changed, or not cut", Name(base))
			}
		}
		if err != nil {
			return
		}
		cut := opened.Recovery.Cut
		if (cut == nil) != (bad == nil) || cut != nil && (cut.File != bad.File || cut.Position != bad.Position || cut.Offset != end) {
			t.Fatalf("Open reports %v, want %v", cut, bad)
		}
		views := append(opened.Sealed, opened.Active.Publish())
		if len(views) != len(kept) || views[len(views)-1].End != end {
			t.Fatalf("%d segments up to offset %d, want %d up to %d", len(views), views[len(views)-1].End, len(kept), end)
		}
		for _, v := range views {
			checkView(t, v, kept[v.Base()])
		}
	})
}

// foreignBatch counts the places of logs at which something begins that could be a sound batch of another writer.
func foreignBatch(logs map[int64][]byte) (n int) {
	for _, log := range logs {
		for at := range log {
			if len(log)-at < minMessage0 {
				break
			}
			size := Batch(log[at:]).Size()
			if size < minMessage0 || size > int64(len(log)-at) {
				continue
			}
			b := Batch(log[at : at+int(size)])
			old := b[atMagic] < magic && binary.BigEndian.Uint32(b[atMessageCRC:]) == crc32.ChecksumIEEE(b[atMagic:])
			if old || b.CheckCRC() == nil {
				n++
			}
		}
	}
	return n
}

// checkView compares what can be read of a view with its log.
func checkView(t *testing.T, v View, log []byte) {
	t.Helper()
	if v.Size != int64(len(log)) {
		t.Fatalf("%s has %d bytes, want %d", Name(v.Base()), v.Size, len(log))
	}
	buf, c := make([]byte, len(log)), &Cursor{}
	ix, err := v.indexes(c)
	if err != nil {
		t.Fatal(err)
	}
	index, times := referenceIndexes(log, v.Files.config.Interval)
	if !bytes.HasPrefix(ix.offsets, index) || !bytes.HasPrefix(ix.times, times) {
		t.Fatal("indexes differ from the reference")
	}
	for rest := log; len(rest) > 0; {
		b, behind, err := NextBatch(rest)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*Cursor{c, {}} {
			if got, err := v.Read(b.NextOffset()-1, buf, c); err != nil || !bytes.Equal(got, rest) {
				t.Fatalf("Read at %d = %d bytes, %v", b.NextOffset()-1, len(got), err)
			}
		}
		// The records of what another has written need not be valid.
		if _, _, err := v.OffsetForTime(b.MaxTimestamp(), c); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		rest = behind
	}
}
