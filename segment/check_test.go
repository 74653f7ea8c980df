package segment

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// Outside the checksum lie the base offset, which Append stamps, the length and the magic, which Check
// compares, and the partition leader epoch, which nothing here gives a meaning.
func TestCheckFindsFlips(t *testing.T) {
	intact := build(record{1, []byte("key"), []byte("value")}, record{2, nil, []byte("v")})
	intact.Stamp(77)
	if err := intact.Check(); err != nil {
		t.Fatal(err)
	}
	for at := range intact {
		for flip := 1; flip < 256; flip++ {
			b := slices.Clone(intact)
			b[at] ^= byte(flip)
			err := b.Check()
			// A base offset may be any that is not negative.
			free := at < atLength && b.BaseOffset() >= 0 || at >= atLeaderEpoch && at < atMagic
			if free && err != nil || !free && !errors.Is(err, ErrInvalid) {
				t.Fatalf("byte %d flipped by %02x: %v", at, flip, err)
			}
		}
	}
}

func TestCheckFindsTruncation(t *testing.T) {
	b := build(record{1, []byte("key"), []byte("value")})
	for n := range b {
		if err := b[:n].Check(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%d of %d bytes: %v", n, len(b), err)
		}
	}
	if err := append(slices.Clone(b), 0).Check(); !errors.Is(err, ErrInvalid) {
		t.Errorf("a byte too many: %v", err)
	}
}

// Fields that contradict each other under a right checksum.
func TestCheckFindsContradictions(t *testing.T) {
	put32 := func(at int, v int32) func(b Batch) {
		return func(b Batch) { binary.BigEndian.PutUint32(b[at:], uint32(v)) }
	}
	both := func(count int32) func(b Batch) {
		return func(b Batch) {
			put32(atRecordCount, count)(b)
			put32(atLastOffsetDelta, count-1)(b)
		}
	}
	for _, test := range []struct {
		name, problem string
		damage        func(b Batch)
	}{
		{"no records", "no records", put32(atRecordCount, 0)},
		{"negative count", "no records", put32(atRecordCount, -2)},
		{"count above the offsets", "does not match the record count", put32(atRecordCount, 3)},
		{"count below the offsets", "does not match the record count", put32(atRecordCount, 1)},
		{"impossible count", "impossible", both(20)},
		{"largest count", "impossible", both(math.MaxInt32)},
		{"negative delta", "negative last offset delta", put32(atLastOffsetDelta, -1)},
		{"length below the header", "below the header size", put32(atLength, HeaderSize-lengthOverhead-1)},
		{"negative length", "below the header size", put32(atLength, -1)},
		{"length of a header", "does not match the size", put32(atLength, HeaderSize-lengthOverhead)},
		{"largest length", "does not match the size", put32(atLength, math.MaxInt32)},
		{"magic 1", "magic", func(b Batch) { b[atMagic] = 1 }},
		{"magic 3", "magic", func(b Batch) { b[atMagic] = 3 }},
		{"negative offset", "offset out of range", func(b Batch) { b.Stamp(-1) }},
		{"offset overflow", "offset out of range", func(b Batch) { b.Stamp(math.MaxInt64 - 1) }},
	} {
		b := build(record{value: []byte("a")}, record{value: []byte("b")})
		test.damage(b)
		binary.BigEndian.PutUint32(b[atCRC:], referenceCRC(b[atAttributes:]))
		if err := b.Check(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: %v, want %q", test.name, err, test.problem)
		}
	}
}

func TestCheckCRC(t *testing.T) {
	b := build(record{value: []byte("a")})
	if err := b.CheckCRC(); err != nil {
		t.Error(err)
	}
	b[len(b)-2]++
	if err := b.CheckCRC(); !errors.Is(err, ErrInvalid) {
		t.Errorf("changed value: %v", err)
	}
	if err := b[:HeaderSize-1].CheckCRC(); !errors.Is(err, ErrInvalid) {
		t.Errorf("cut header: %v", err)
	}
}
