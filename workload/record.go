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

// Payload builds and checks the values of records. Building is a copy and checking a comparison, with no
// allocation in either. It is read-only: any number of goroutines may use it.
//
// The value of a record, big-endian:
//
//	 0  producer   uint32  who wrote it
//	 4  check      uint32  CRC-32C of bytes 0–3 and 8–23
//	 8  sequence   uint64  number of the record among those of its producer
//	16  time       int64   when it was meant to be sent, in ns since the run's epoch; NoTime if never
//	24  filler             a piece of the payload's pool that producer and sequence determine
//
// Its size is determined by seed, producer and sequence, so that a checker knows it without having
// seen the records before. Where records are lines, the header lies over the first 24 bytes of one, and
// the filler is the rest of it.
type Payload struct {
	kind SizeKind
	size int // of all, or of the largest

	start uint64 // number of places in pool where a filler may begin
	pool  []byte // start + size − MinRecordSize bytes, or none

	salt   uint64   // of the hashes that draw sizes, from the seed
	lowest int      // SizesUniform
	span   uint64   // SizesUniform: number of sizes from lowest on
	table  []uint32 // SizesLognormal
	lines  [][]byte // SizesLines: what follows the header in a record of each
}

// NewPayload makes the payload of the workload's records: of RecordSize and Sizes, with Payload as the
// source of filler bytes, repeated as needed and copied; without one it is random bytes that the seed
// determines. Lines are not copied: the workload's Payload must not change while they are used. Sizes
// below MinRecordSize become MinRecordSize.
func NewPayload(seed uint64, w *Workload) *Payload {
	p := &Payload{kind: w.Sizes.Kind, size: max(w.RecordSize, MinRecordSize), salt: mix64(seed)}
	switch p.kind {
	case SizesUniform:
		p.lowest = max(w.Sizes.Min, MinRecordSize)
		p.size = max(w.Sizes.Max, p.lowest)
		p.span = uint64(p.size-p.lowest) + 1
	case SizesLognormal:
		p.table = w.Sizes.lognormalTable()
		p.size = int(p.table[len(p.table)-1])
	case SizesLines:
		for line := range payloadLines(w.Payload) {
			p.lines = append(p.lines, line[min(len(line), MinRecordSize):])
		}
		if len(p.lines) > 0 {
			return p
		}
		p.kind = SizesFixed
	default:
		p.kind = SizesFixed
	}
	filler := w.Payload
	if len(filler) == 0 {
		filler = make([]byte, generatedPool)
		var key [32]byte
		binary.BigEndian.PutUint64(key[:], seed)
		_, _ = rand.NewChaCha8(key).Read(filler) // never fails
	}
	p.start = uint64(len(filler))
	p.pool = make([]byte, len(filler)+p.size-MinRecordSize)
	for at := 0; at < len(p.pool); {
		at += copy(p.pool[at:], filler)
	}
	return p
}

// Size is the size in bytes of the value of a record.
func (p *Payload) Size(producer uint32, sequence uint64) int {
	if p.kind == SizesFixed {
		return p.size
	}
	return p.drawnSize(placeHash(producer, sequence))
}

// drawnSize is the size of a record whose filler lies where the hash says. It takes a hash of its own, so
// that size and place are independent.
func (p *Payload) drawnSize(hash uint64) int {
	switch hash = mix64(hash ^ p.salt); p.kind {
	case SizesUniform:
		return p.lowest + int(scale(hash, p.span))
	case SizesLognormal:
		return int(p.table[scale(hash, lognormalQuantiles)])
	default:
		return MinRecordSize + len(p.lines[scale(hash, uint64(len(p.lines)))])
	}
}

// Fill writes the value of a record into dst, which has room for Size bytes.
func (p *Payload) Fill(dst []byte, producer uint32, sequence uint64, time int64) {
	filler := p.filler(producer, sequence)
	dst = dst[:atFiller+len(filler)]
	binary.BigEndian.PutUint32(dst[atProducer:], producer)
	binary.BigEndian.PutUint64(dst[atSequence:], sequence)
	binary.BigEndian.PutUint64(dst[atTime:], uint64(time))
	binary.BigEndian.PutUint32(dst[atCheck:], headerCheck(dst))
	copy(dst[atFiller:], filler)
}

// Check says whether value is one that Fill wrote, and with which arguments. A value of another size,
// of zeros, or with any byte changed is a *PayloadError.
func (p *Payload) Check(value []byte) (producer uint32, sequence uint64, time int64, err error) {
	if p.kind == SizesFixed && len(value) != p.size {
		return 0, 0, 0, &PayloadError{Problem: fmt.Sprintf("%d bytes instead of %d", len(value), p.size)}
	}
	if len(value) < MinRecordSize {
		return 0, 0, 0, &PayloadError{Problem: fmt.Sprintf("%d bytes, fewer than a header has", len(value))}
	}
	producer = binary.BigEndian.Uint32(value[atProducer:])
	sequence = binary.BigEndian.Uint64(value[atSequence:])
	time = int64(binary.BigEndian.Uint64(value[atTime:]))
	if stored, computed := binary.BigEndian.Uint32(value[atCheck:]), headerCheck(value); stored != computed {
		return 0, 0, 0, &PayloadError{Problem: fmt.Sprintf("header check is %08x instead of %08x", stored, computed)}
	}
	filler := p.filler(producer, sequence)
	if !bytes.Equal(value[atFiller:], filler) {
		return 0, 0, 0, &PayloadError{Header: true, Producer: producer, Sequence: sequence, Problem: difference(value, filler)}
	}
	return producer, sequence, time, nil
}

// difference says how a value with a sound header differs from one with the filler.
func difference(value, filler []byte) string {
	if size := atFiller + len(filler); len(value) != size {
		return fmt.Sprintf("%d bytes instead of %d", len(value), size)
	}
	return fmt.Sprintf("filler differs from byte %d of the value on", atFiller+firstDifference(value[atFiller:], filler))
}

func (p *Payload) filler(producer uint32, sequence uint64) []byte {
	hash := placeHash(producer, sequence)
	size := p.size
	if p.kind != SizesFixed {
		if p.kind == SizesLines {
			return p.lines[scale(mix64(hash^p.salt), uint64(len(p.lines)))]
		}
		size = p.drawnSize(hash)
	}
	return p.pool[scale(hash, p.start):][:size-MinRecordSize]
}

func placeHash(producer uint32, sequence uint64) uint64 {
	return mix64(sequence ^ uint64(producer)<<40)
}

// scale brings a hash to [0, n). The high word of a product does it (Lemire, "Fast random integer
// generation in an interval", 2019); cheaper than a division.
func scale(hash, n uint64) uint64 {
	high, _ := bits.Mul64(hash, n)
	return high
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
