package workload

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

func TestPayloadRoundTrip(t *testing.T) {
	for _, size := range []int{MinRecordSize, MinRecordSize + 1, 100, 1024, 100_000} {
		for name, filler := range map[string][]byte{"generated": nil, "one byte": {7}, "zeros": make([]byte, 50), "long": bytes.Repeat([]byte("abc"), 99999)} {
			p := fixedPayload(1, size, filler)
			value := make([]byte, p.size)
			for _, producer := range []uint32{0, 1, math.MaxUint32} {
				for _, sequence := range []uint64{0, 1, 1 << 40, math.MaxUint64} {
					for _, time := range []int64{NoTime, 0, 1, math.MaxInt64} {
						p.Fill(value, producer, sequence, time)
						gotProducer, gotSequence, gotTime, err := p.Check(value)
						if err != nil || gotProducer != producer || gotSequence != sequence || gotTime != time {
							t.Fatalf("%s, size %d: wrote %d %d %d, read %d %d %d, %v",
								name, size, producer, sequence, time, gotProducer, gotSequence, gotTime, err)
						}
					}
				}
			}
		}
	}
}

func TestPayloadLayout(t *testing.T) {
	value := make([]byte, 30)
	fixedPayload(1, 30, []byte{0xaa}).Fill(value, 0x01020304, 0x1112131415161718, 0x2122232425262728)
	want := []byte{1, 2, 3, 4, 0, 0, 0, 0, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa}
	binary.BigEndian.PutUint32(want[4:], headerCheck(want))
	if !bytes.Equal(value, want) {
		t.Errorf("got  %x\nwant %x", value, want)
	}
}

// Every change of one byte, in every position and to every value, is found.
func TestPayloadFindsEveryFlippedByte(t *testing.T) {
	for _, filler := range [][]byte{nil, make([]byte, 10)} {
		p := fixedPayload(1, 200, filler)
		value := make([]byte, 200)
		p.Fill(value, 3, 77, 123456789)
		for at := range value {
			for flip := 1; flip < 256; flip++ {
				value[at] ^= byte(flip)
				_, _, _, err := p.Check(value)
				var wrong *PayloadError
				if !errors.As(err, &wrong) {
					t.Fatalf("byte %d flipped by %02x: %v", at, flip, err)
				}
				if wrong.Header != (at >= MinRecordSize) || wrong.Header && (wrong.Producer != 3 || wrong.Sequence != 77) {
					t.Fatalf("byte %d: %+v", at, wrong)
				}
				value[at] ^= byte(flip)
			}
		}
		if _, _, _, err := p.Check(value); err != nil {
			t.Fatalf("restored: %v", err)
		}
	}
}

func TestPayloadFindsWrongValues(t *testing.T) {
	p := fixedPayload(1, 100, nil)
	value, other, seeded := make([]byte, 100), make([]byte, 100), make([]byte, 100)
	p.Fill(value, 1, 1, 1)
	p.Fill(other, 1, 2, 1)
	fixedPayload(2, 100, nil).Fill(seeded, 1, 1, 1)
	tests := map[string][]byte{
		"zeros":           make([]byte, 100),
		"ones":            bytes.Repeat([]byte{0xff}, 100),
		"truncated":       value[:99],
		"empty":           nil,
		"too long":        append(bytes.Clone(value), 0),
		"torn":            append(bytes.Clone(value[:60]), make([]byte, 40)...),
		"another's end":   append(bytes.Clone(value[:24]), other[24:]...),
		"another seed's":  seeded,
		"shifted by one":  append(bytes.Clone(value[1:]), 0),
		"header of zeros": append(make([]byte, 24), value[24:]...),
	}
	for name, wrong := range tests {
		_, _, _, err := p.Check(wrong)
		var payload *PayloadError
		if !errors.As(err, &payload) {
			t.Errorf("%s: %v", name, err)
		}
	}
	small := fixedPayload(1, MinRecordSize, nil)
	if _, _, _, err := small.Check(make([]byte, MinRecordSize)); err == nil {
		t.Error("zeros of the smallest size pass")
	}
}

func TestPayloadErrorNamesTheRecord(t *testing.T) {
	p := fixedPayload(1, 100, nil)
	value := make([]byte, 100)
	p.Fill(value, 4, 9, 0)
	value[50] ^= 1
	_, _, _, err := p.Check(value)
	if want := "workload: record 9 of producer 4: filler differs from byte 50 of the value on"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, _, _, err = p.Check(value[:10])
	if want := "workload: record: 10 bytes instead of 100"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestPayloadIsDeterministic(t *testing.T) {
	a, b := make([]byte, 500), make([]byte, 500)
	fixedPayload(5, 500, nil).Fill(a, 1, 2, 3)
	fixedPayload(5, 500, nil).Fill(b, 1, 2, 3)
	if !bytes.Equal(a, b) {
		t.Error("the same seed made other bytes")
	}
}

func TestPayloadKeepsTheShareOfRandomBytes(t *testing.T) {
	// 10 messages of 124 bytes, 31 of each not zero; fillers of 100 bytes cut from it.
	pool := make([]byte, 1240)
	for i := range pool {
		if i%124 < 31 {
			pool[i] = 1
		}
	}
	p := fixedPayload(1, MinRecordSize+124, pool)
	value := make([]byte, p.size)
	for sequence := range uint64(1000) {
		p.Fill(value, 0, sequence, 0)
		if n := bytes.Count(value[MinRecordSize:], []byte{1}); n != 31 {
			t.Fatalf("record %d has %d bytes of 31", sequence, n)
		}
	}
}

func TestPayloadDoesNotAllocate(t *testing.T) {
	p := fixedPayload(1, 1024, nil)
	value := make([]byte, 1024)
	var sequence uint64
	allocs := testing.AllocsPerRun(1000, func() {
		sequence++
		p.Fill(value, 1, sequence, int64(sequence))
		if _, got, _, err := p.Check(value); err != nil || got != sequence {
			t.Fatal(got, err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkPayloadFill(b *testing.B) {
	p := fixedPayload(1, 1024, nil)
	value := make([]byte, 1024)
	b.SetBytes(1024)
	b.ReportAllocs()
	var sequence uint64
	for b.Loop() {
		sequence++
		p.Fill(value, 1, sequence, 0)
	}
}

func BenchmarkPayloadCheck(b *testing.B) {
	p := fixedPayload(1, 1024, nil)
	value := make([]byte, 1024)
	p.Fill(value, 1, 1, 0)
	b.SetBytes(1024)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := p.Check(value); err != nil {
			b.Fatal(err)
		}
	}
}

func fixedPayload(seed uint64, size int, filler []byte) *Payload {
	return NewPayload(seed, &Workload{RecordSize: size, Payload: filler})
}
