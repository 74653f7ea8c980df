package torture

import (
	"encoding/binary"
	"math/rand/v2"

	"tailrace/segment"
)

// maker makes the batches of one producer. A batch is valid until the next call.
type maker struct {
	builder  segment.Builder
	random   *rand.Rand
	shape    shape
	producer int
	sequence int
}

// shape is what the batches of a round look like. The zero value is up to three small records.
type shape struct {
	records int // of a batch at most
	extra   int // bytes of a value, beside the message, at most
}

// shapes are those that rounds draw from. A batch of the largest has less than maxBatch bytes.
var shapes = []shape{{}, {}, {}, {1, 1}, {12, 20}, {40, 10}, {2, 1500}}

func (s shape) orDefault() shape {
	if s.records == 0 {
		return shape{3, 60}
	}
	return s
}

// largest is at least the size in bytes of any batch of the shape.
func (s shape) largest() int {
	const recordOverhead = 24
	s = s.orDefault()
	return segment.HeaderSize + s.records*(recordOverhead+messageSize+s.extra)
}

// messageSize is the size in bytes of the smallest value of a record: producer and sequence number.
const messageSize = 12

// maxBatch is more than the size in bytes of any batch.
const maxBatch = 4096

// next builds a batch of random sizes and timestamps.
func (m *maker) next() segment.Batch {
	return m.of(m.records(), func() int64 { return m.random.Int64N(200) })
}

// records draws how many a batch has.
func (m *maker) records() int { return 1 + m.random.IntN(m.shape.orDefault().records) }

func (m *maker) of(records int, timestamp func() int64) segment.Batch {
	m.builder.Reset()
	for range records {
		fillMessage(m.builder.Value(timestamp(), messageSize+m.random.IntN(m.shape.orDefault().extra)), m.producer, m.sequence)
		m.sequence++
	}
	return m.builder.Finish()
}

// fillMessage derives every byte from producer and sequence number.
func fillMessage(p []byte, producer, sequence int) {
	binary.BigEndian.PutUint32(p, uint32(producer))
	binary.BigEndian.PutUint64(p[4:], uint64(sequence))
	for i := messageSize; i < len(p); i++ {
		p[i] = byte(producer*17 + sequence*31 + i)
	}
}

// parseMessage is the inverse; false if nobody wrote these bytes.
func parseMessage(p []byte) (producer, sequence int, ok bool) {
	if len(p) < messageSize {
		return 0, 0, false
	}
	producer, sequence = int(binary.BigEndian.Uint32(p)), int(binary.BigEndian.Uint64(p[4:]))
	for i := messageSize; i < len(p); i++ {
		if p[i] != byte(producer*17+sequence*31+i) {
			return 0, 0, false
		}
	}
	return producer, sequence, true
}

// split gives the batches of what a read has returned, each of them sound.
func split(p []byte, visit func(segment.Batch) error) error {
	for len(p) > 0 {
		b, rest, err := segment.NextBatch(p)
		if err != nil {
			return violationf("a read returns what is no batch: %v", err)
		}
		if err := b.CheckCRC(); err != nil {
			return violationf("a read returns a broken batch at offset %d: %v", b.BaseOffset(), err)
		}
		if err := visit(b); err != nil {
			return err
		}
		p = rest
	}
	return nil
}
