package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

func TestBatchGolden(t *testing.T) {
	records := []record{
		{1700000000000, nil, []byte("first")},
		{1699999999000, []byte("key"), nil},
		{1700000300000, []byte{}, []byte{}},
	}
	want := golden(t, "batch.golden")
	got := build(records...)
	if !bytes.Equal(got, want) {
		t.Fatalf("batch is\n% x, want\n% x", []byte(got), want)
	}
	if err := got.Check(); err != nil {
		t.Fatal(err)
	}
	if !equalRecords(decode(t, want), records) {
		t.Error("decoded records differ")
	}
}

func TestHeaderFields(t *testing.T) {
	b := Batch(golden(t, "batch.golden"))
	b.Stamp(41)
	for _, field := range []struct {
		name      string
		got, want int64
	}{
		{"base offset", b.BaseOffset(), 41},
		{"next offset", b.NextOffset(), 44},
		{"size", b.Size(), int64(len(b))},
		{"CRC", int64(b.CRC()), int64(referenceCRC(b[21:]))},
		{"attributes", int64(b.Attributes()), 0},
		{"last offset delta", int64(b.LastOffsetDelta()), 2},
		{"base timestamp", b.BaseTimestamp(), 1700000000000},
		{"max timestamp", b.MaxTimestamp(), 1700000300000},
		{"producer id", b.ProducerID(), -1},
		{"producer epoch", int64(b.ProducerEpoch()), -1},
		{"base sequence", int64(b.BaseSequence()), -1},
		{"record count", int64(b.RecordCount()), 3},
	} {
		if field.got != field.want {
			t.Errorf("%s is %d, want %d", field.name, field.got, field.want)
		}
	}
}

// Value must give the bytes of Add, whatever the buffer held before.
func TestBuilderValue(t *testing.T) {
	var b Builder
	for _, size := range []int{300, 0, 1, 63, 64, 200, 8192} {
		value := bytes.Repeat([]byte{7}, size)
		want := build(record{5, nil, value}, record{6, nil, value})
		b.Reset()
		copy(b.Value(5, size), value)
		copy(b.Value(6, size), value)
		if b.Len() != len(want) {
			t.Errorf("value of %d bytes: Len is %d, want %d", size, b.Len(), len(want))
		}
		if !bytes.Equal(b.Finish(), want) {
			t.Errorf("value of %d bytes: Value and Add differ", size)
		}
	}
}

func TestEmptyBuilder(t *testing.T) {
	var b Builder
	if err := b.Finish().Check(); !errors.Is(err, ErrInvalid) {
		t.Errorf("batch without records: %v, want ErrInvalid", err)
	}
}

func TestNextBatch(t *testing.T) {
	first, second := build(record{value: []byte("a")}), build(record{value: []byte("bc")})
	p := append(bytes.Clone(first), second...)
	b, rest, err := NextBatch(p)
	if err != nil || !bytes.Equal(b, first) || !bytes.Equal(rest, second) || cap(b) != len(b) {
		t.Fatalf("NextBatch = %d bytes (capacity %d), %d left, %v", len(b), cap(b), len(rest), err)
	}
	for n := range len(first) {
		if _, rest, err := NextBatch(p[:n]); !errors.Is(err, ErrInvalid) || len(rest) != n {
			t.Errorf("%d bytes of a batch: %d left, %v", n, len(rest), err)
		}
	}
}

// Malformed records behind a right checksum are an error of the iteration.
func TestRecordsMalformed(t *testing.T) {
	for name, damage := range map[string]func(b Batch){
		"record longer than the batch": func(b Batch) { b[HeaderSize] = 0x7e },
		"negative record length":       func(b Batch) { b[HeaderSize] = 0x01 },
		"record shorter than said":     func(b Batch) { b[HeaderSize]-- },
		"unending varint":              func(b Batch) { copy(b[HeaderSize:], bytes.Repeat([]byte{0xff}, 12)) },
		"offset above the last":        func(b Batch) { b[HeaderSize+3] = 0x04 },
		"negative offset":              func(b Batch) { b[HeaderSize+3] = 0x01 },
		"value length −2":              func(b Batch) { b[HeaderSize+5] = 0x03 },
		"negative header count":        func(b Batch) { b[HeaderSize+10] = 0x01 },
		"headers beyond the record":    func(b Batch) { b[HeaderSize+10] = 0x7e },
		"more records than counted":    func(b Batch) { binary.BigEndian.PutUint32(b[atRecordCount:], 1) },
		"fewer records than counted":   func(b Batch) { binary.BigEndian.PutUint32(b[atRecordCount:], 3) },
		"negative record count":        func(b Batch) { binary.BigEndian.PutUint32(b[atRecordCount:], math.MaxUint32) },
	} {
		b := build(record{value: []byte("abcd")}, record{value: []byte("abcd")})
		damage(b)
		it := b.Records()
		n := 0
		for it.Next() {
			n++
		}
		if !errors.Is(it.Err(), ErrInvalid) || n > 2 {
			t.Errorf("%s: %d records, error %v", name, n, it.Err())
		}
	}
}
