package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
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

// Whatever lies in a log file of which nothing is known to be durable, Open keeps the valid batches at its
// start and reports the rest.
func FuzzOpen(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, p []byte) {
		p = bytes.Clone(p)
		for rest := p; len(rest) > 0; { // so that more than the checksum is reached
			b, next, err := NextBatch(rest)
			if err != nil {
				break
			}
			binary.BigEndian.PutUint32(b[atCRC:], b.checksum())
			rest = next
		}
		s := NewHeap()
		replace(t, s, Name(0), p)
		opened, err := Open(Config{Storage: s, Size: 1 << 20, Interval: 64})
		if err != nil {
			t.Fatal(err)
		}
		v := opened.Active.Publish()
		cut := opened.Recovery.Cut
		if (cut == nil) != (v.Size == int64(len(p))) || cut != nil && (cut.Position != v.Size || cut.Bytes != int64(len(p))-v.Size) {
			t.Fatalf("log of %d bytes opens with %d, and reports %v", len(p), v.Size, cut)
		}
		p = p[:v.Size]
		if !bytes.Equal(contents(t, s, Name(0)), p) {
			t.Fatal("the log was changed, or not cut")
		}
		var corrupt *CorruptError
		index, times := referenceIndexes(p, 64)
		if !bytes.HasPrefix(contents(t, s, fileName(0, indexSuffix)), index) ||
			!bytes.HasPrefix(contents(t, s, fileName(0, timeSuffix)), times) {
			t.Fatal("indexes differ from the reference")
		}
		buf, c := make([]byte, len(p)), &Cursor{}
		for offset := int64(0); offset < v.End; {
			got, err := v.Read(offset, buf, c)
			if err != nil || len(got) == 0 {
				t.Fatalf("Read at %d = %d bytes, %v", offset, len(got), err)
			}
			for len(got) > 0 {
				var b Batch
				if b, got, err = NextBatch(got); err != nil {
					t.Fatal(err)
				}
				offset = b.NextOffset()
			}
		}
		if _, _, err := v.OffsetForTime(0, c); err != nil && !errors.As(err, &corrupt) {
			t.Fatal(err)
		}
	})
}
