package workload

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"
)

// Where the fields of a value begin; see Payload.
const (
	atProducer = 0
	atCheck    = 4
	atSequence = 8
	atTime     = 16
	atFiller   = 24
)

// MinRecordSize is the size in bytes of a record's value without filler.
const MinRecordSize = atFiller

// NoTime is the intended time of a record that nobody waits for, such as one of the prefill.
const NoTime int64 = -1

// generatedPool is the size of a generated pool: large enough for two records to differ, small enough
// to stay in the processor's cache.
const generatedPool = 64 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Payload builds and checks the values of records of one size. Building is a copy and checking a
// comparison, with no allocation in either. It is read-only: any number of goroutines may use it.
//
// The value of a record, big-endian:
//
//	 0  producer   uint32  who wrote it
//	 4  check      uint32  CRC-32C of bytes 0–3 and 8–23
//	 8  sequence   uint64  number of the record among those of its producer
//	16  time       int64   when it was meant to be sent, in ns since the run's epoch; NoTime if never
//	24  filler             a piece of the payload's pool that producer and sequence determine
type Payload struct {
	size  int
	start uint64 // number of places in pool where a filler may begin
	pool  []byte // start + size − MinRecordSize bytes, or none
}

// NewPayload makes the payload of records of size bytes, which is at least MinRecordSize. The filler
// is the source of filler bytes, repeated as needed and copied; without one it is random bytes that
// the seed determines.
func NewPayload(seed uint64, size int, filler []byte) *Payload {
	size = max(size, MinRecordSize)
	if len(filler) == 0 {
		filler = make([]byte, generatedPool)
		var key [32]byte
		binary.BigEndian.PutUint64(key[:], seed)
		_, _ = rand.NewChaCha8(key).Read(filler) // never fails
	}
	p := &Payload{size: size, start: uint64(len(filler)), pool: make([]byte, len(filler)+size-MinRecordSize)}
	for at := 0; at < len(p.pool); {
		at += copy(p.pool[at:], filler)
	}
	return p
}

// Size is the size in bytes of a value.
func (p *Payload) Size() int { return p.size }

// Fill writes the value of a record into dst, which has room for Size bytes.
func (p *Payload) Fill(dst []byte, producer uint32, sequence uint64, time int64) {
	dst = dst[:p.size]
	binary.BigEndian.PutUint32(dst[atProducer:], producer)
	binary.BigEndian.PutUint64(dst[atSequence:], sequence)
	binary.BigEndian.PutUint64(dst[atTime:], uint64(time))
	binary.BigEndian.PutUint32(dst[atCheck:], headerCheck(dst))
	copy(dst[atFiller:], p.filler(producer, sequence))
}

// Check says whether value is one that Fill wrote, and with which arguments. A value of another size,
// of zeros, or with any byte changed is a *PayloadError.
func (p *Payload) Check(value []byte) (producer uint32, sequence uint64, time int64, err error) {
	if len(value) != p.size {
		return 0, 0, 0, &PayloadError{Problem: fmt.Sprintf("%d bytes instead of %d", len(value), p.size)}
	}
	producer = binary.BigEndian.Uint32(value[atProducer:])
	sequence = binary.BigEndian.Uint64(value[atSequence:])
	time = int64(binary.BigEndian.Uint64(value[atTime:]))
	if stored, computed := binary.BigEndian.Uint32(value[atCheck:]), headerCheck(value); stored != computed {
		return 0, 0, 0, &PayloadError{Problem: fmt.Sprintf("header check is %08x instead of %08x", stored, computed)}
	}
	if filler := p.filler(producer, sequence); !bytes.Equal(value[atFiller:], filler) {
		return 0, 0, 0, &PayloadError{Header: true, Producer: producer, Sequence: sequence,
			Problem: fmt.Sprintf("filler differs from byte %d of the value on", atFiller+firstDifference(value[atFiller:], filler))}
	}
	return producer, sequence, time, nil
}

func (p *Payload) filler(producer uint32, sequence uint64) []byte {
	// The high word of a product scales a hash to a range (Lemire, "Fast random integer generation in
	// an interval", 2019); cheaper than a division.
	at, _ := bits.Mul64(mix64(sequence^uint64(producer)<<40), p.start)
	return p.pool[at:][:p.size-MinRecordSize]
}

func headerCheck(value []byte) uint32 {
	crc := crc32.Update(0, castagnoli, value[atProducer:atCheck])
	return crc32.Update(crc, castagnoli, value[atSequence:atFiller])
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// PayloadError says how a value differs from what was written.
type PayloadError struct {
	// Header says that the header was sound, so that Producer and Sequence are known.
	Header   bool
	Producer uint32
	Sequence uint64
	Problem  string
}

func (e *PayloadError) Error() string {
	if e.Header {
		return fmt.Sprintf("workload: record %d of producer %d: %s", e.Sequence, e.Producer, e.Problem)
	}
	return "workload: record: " + e.Problem
}
