package segment

import (
	"encoding/binary"
	"slices"
)

// Builder encodes records into one batch after another, in a buffer that it keeps: after the first
// batches of a size it does not allocate. The zero value is an empty batch. It is used by one goroutine
// at a time.
type Builder struct {
	buf   []byte
	count int32
	base  int64 // timestamp of the first record
	max   int64
}

// Reset begins an empty batch. It invalidates the last one that Finish returned.
func (b *Builder) Reset() {
	b.buf = append(b.buf[:0], make([]byte, HeaderSize)...)
	b.count, b.base, b.max = 0, 0, 0
}

// Add appends a record; a nil key or value is stored as null. The timestamp is in milliseconds
// since the epoch and may lie before the last one.
func (b *Builder) Add(timestamp int64, key, value []byte) {
	b.open(timestamp, key, nullableSize(value))
	b.appendBytes(value)
	b.close()
}

// Value appends a record without a key and returns the size bytes of its value to be filled in,
// which saves a copy. The slice is valid until the next call.
func (b *Builder) Value(timestamp int64, size int) []byte {
	b.open(timestamp, nil, varintSize(int64(size))+size)
	b.buf = binary.AppendVarint(b.buf, int64(size))
	at := len(b.buf)
	b.buf = slices.Grow(b.buf, size+1)[:at+size]
	b.close()
	return b.buf[at : at+size : at+size]
}

// Finish completes the batch: counts, timestamps and checksum, with base offset 0 and no producer.
// The batch is valid until the next Reset.
func (b *Builder) Finish() Batch {
	b.begin()
	p := Batch(b.buf)
	binary.BigEndian.PutUint32(p[atLength:], uint32(len(p)-lengthOverhead))
	p[atMagic] = magic
	binary.BigEndian.PutUint32(p[atLastOffsetDelta:], uint32(b.count-1))
	binary.BigEndian.PutUint64(p[atBaseTimestamp:], uint64(b.base))
	binary.BigEndian.PutUint64(p[atMaxTimestamp:], uint64(b.max))
	binary.BigEndian.PutUint64(p[atProducerID:], ^uint64(0))
	binary.BigEndian.PutUint16(p[atProducerEpoch:], ^uint16(0))
	binary.BigEndian.PutUint32(p[atBaseSequence:], ^uint32(0))
	binary.BigEndian.PutUint32(p[atRecordCount:], uint32(b.count))
	binary.BigEndian.PutUint32(p[atCRC:], p.checksum())
	return p
}

// Len is the size in bytes of the batch so far.
func (b *Builder) Len() int { return len(b.buf) }

// begin makes room for the header in a builder that has never been Reset.
func (b *Builder) begin() {
	if len(b.buf) == 0 {
		b.Reset()
	}
}

// open appends a record up to its key; the encoded value has valueBytes bytes.
func (b *Builder) open(timestamp int64, key []byte, valueBytes int) {
	b.begin()
	if b.count == 0 {
		b.base, b.max = timestamp, timestamp
	}
	b.max = max(b.max, timestamp)
	delta := timestamp - b.base
	n := 1 + varintSize(delta) + varintSize(int64(b.count)) + nullableSize(key) + valueBytes + 1
	b.buf = binary.AppendVarint(b.buf, int64(n))
	b.buf = append(b.buf, 0)
	b.buf = binary.AppendVarint(b.buf, delta)
	b.buf = binary.AppendVarint(b.buf, int64(b.count))
	b.appendBytes(key)
}

// close appends an empty list of headers.
func (b *Builder) close() {
	b.buf = append(b.buf, 0)
	b.count++
}

func (b *Builder) appendBytes(p []byte) {
	if p == nil {
		b.buf = binary.AppendVarint(b.buf, -1)
		return
	}
	b.buf = binary.AppendVarint(b.buf, int64(len(p)))
	b.buf = append(b.buf, p...)
}

func nullableSize(p []byte) int {
	if p == nil {
		return 1
	}
	return varintSize(int64(len(p))) + len(p)
}

// varintSize is the encoded size of a zig-zag varint.
func varintSize(v int64) int {
	u := uint64(v)<<1 ^ uint64(v>>63)
	n := 1
	for ; u >= 0x80; u >>= 7 {
		n++
	}
	return n
}
