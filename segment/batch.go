package segment

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// Layout of a Kafka RecordBatch v2 header (Kafka protocol guide, "Record Batch"). All numbers are
// big-endian. The CRC covers everything from attributes to the end of the batch, so that a broker
// can stamp the base offset without computing it again.
const (
	// HeaderSize is the size in bytes of a batch without records.
	HeaderSize = 61

	atBaseOffset      = 0
	atLength          = 8 // bytes after this field
	atLeaderEpoch     = 12
	atMagic           = 16
	atCRC             = 17
	atAttributes      = 21
	atLastOffsetDelta = 23
	atBaseTimestamp   = 27
	atMaxTimestamp    = 35
	atProducerID      = 43
	atProducerEpoch   = 51
	atBaseSequence    = 53
	atRecordCount     = 57

	lengthOverhead = 12 // bytes of a batch that its length field does not count
	magic          = 2

	// minRecord is the size in bytes of the smallest record: a length, attributes, two deltas, two
	// empty byte strings and a header count, of one byte each.
	minRecord = 7

	// MinBatch is the size in bytes of the smallest batch that Check accepts.
	MinBatch = HeaderSize + minRecord

	compressionMask = 0x07
	appendTime      = 0x08
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Batch is one encoded Kafka RecordBatch v2, the unit of append. Its accessors read the header and
// need at least HeaderSize bytes; Check says whether the rest holds what the header claims.
type Batch []byte

// BaseOffset is the offset of the first record.
func (b Batch) BaseOffset() int64 { return int64(binary.BigEndian.Uint64(b[atBaseOffset:])) }

// Stamp writes what a broker adds to a batch: the offset of the first record, and the leader epoch,
// which is 0 where leaders are not elected. Both lie outside the CRC. A reader of this store knows what
// both must be, so that no byte of a stored batch can change unnoticed.
func (b Batch) Stamp(offset int64) {
	binary.BigEndian.PutUint64(b[atBaseOffset:], uint64(offset))
	binary.BigEndian.PutUint32(b[atLeaderEpoch:], 0)
}

// LeaderEpoch is the epoch of the leader that stamped the batch.
func (b Batch) LeaderEpoch() int32 { return int32(binary.BigEndian.Uint32(b[atLeaderEpoch:])) }

// NextOffset is the offset after the last record.
func (b Batch) NextOffset() int64 { return b.BaseOffset() + int64(b.LastOffsetDelta()) + 1 }

// Size is the size in bytes that the header claims, from the base offset to the last record. It is
// negative or below HeaderSize where the header is not one.
func (b Batch) Size() int64 {
	return int64(int32(binary.BigEndian.Uint32(b[atLength:]))) + lengthOverhead
}

// CRC is the checksum that the header claims.
func (b Batch) CRC() uint32 { return binary.BigEndian.Uint32(b[atCRC:]) }

// Attributes holds the compression (bits 0 to 2), the timestamp type (3), and whether the batch is
// transactional (4) or a control batch (5).
func (b Batch) Attributes() int16 { return int16(binary.BigEndian.Uint16(b[atAttributes:])) }

// AppendTime reports whether a broker has given all records the time of the append, MaxTimestamp, in
// place of their own.
func (b Batch) AppendTime() bool { return b.Attributes()&appendTime != 0 }

// Compressed reports whether the records are compressed; they are then stored and not decoded.
func (b Batch) Compressed() bool { return b.Attributes()&compressionMask != 0 }

// LastOffsetDelta is the offset of the last record less the base offset.
func (b Batch) LastOffsetDelta() int32 {
	return int32(binary.BigEndian.Uint32(b[atLastOffsetDelta:]))
}

// BaseTimestamp is the timestamp, in milliseconds since the epoch, that record deltas add to.
func (b Batch) BaseTimestamp() int64 { return int64(binary.BigEndian.Uint64(b[atBaseTimestamp:])) }

// MaxTimestamp is the largest timestamp of the records, in milliseconds since the epoch.
func (b Batch) MaxTimestamp() int64 { return int64(binary.BigEndian.Uint64(b[atMaxTimestamp:])) }

// ProducerID, ProducerEpoch and BaseSequence identify an idempotent producer; −1 means none.
func (b Batch) ProducerID() int64 { return int64(binary.BigEndian.Uint64(b[atProducerID:])) }

// ProducerEpoch: see ProducerID.
func (b Batch) ProducerEpoch() int16 { return int16(binary.BigEndian.Uint16(b[atProducerEpoch:])) }

// BaseSequence: see ProducerID.
func (b Batch) BaseSequence() int32 { return int32(binary.BigEndian.Uint32(b[atBaseSequence:])) }

// RecordCount is the number of records.
func (b Batch) RecordCount() int32 { return int32(binary.BigEndian.Uint32(b[atRecordCount:])) }

// checksum computes the CRC-32C of the bytes that it covers.
func (b Batch) checksum() uint32 { return crc32.Checksum(b[atAttributes:], castagnoli) }

// Check validates a batch that is to be appended: its size is the one that the header claims, the
// magic is 2, the checksum is right, and it has at least one record, as many as its offsets say. Unless
// they are compressed, the records are decoded: their offsets ascend by one, and the largest of their
// timestamps is the header's, which lookups by time rely on. It runs in the caller's goroutine, before
// any lock. Errors wrap ErrInvalid.
func (b Batch) Check() error {
	if err := b.checkFrame(); err != nil {
		return err
	}
	if b.Size() != int64(len(b)) {
		return invalid("length field does not match the size of the batch")
	}
	count := b.RecordCount()
	switch {
	case count <= 0:
		return invalid("no records")
	case len(b) < MinBatch:
		return invalid("no room for a record")
	case b.LastOffsetDelta() != count-1:
		return invalid("last offset delta does not match the record count")
	case !b.Compressed() && int64(count)*minRecord > int64(len(b)-HeaderSize):
		return invalid("record count is impossible for the size")
	}
	if err := b.CheckCRC(); err != nil {
		return err
	}
	if b.Compressed() {
		return nil
	}
	return b.checkRecords()
}

// checkRecords decodes the records without keeping anything of them: through Records it would take three
// times as long.
func (b Batch) checkRecords() error {
	base, latest := b.BaseTimestamp(), int64(math.MinInt64)
	d := decoder{p: b[HeaderSize:]}
	for i := range int64(b.RecordCount()) {
		timestamp, offset, ok := d.skipRecord()
		if !ok {
			return invalid("record is malformed")
		}
		if offset != i {
			return invalid("record offsets do not ascend by one")
		}
		latest = max(latest, base+timestamp)
	}
	if len(d.p) > 0 {
		return invalid("bytes after the last record")
	}
	if !b.AppendTime() && latest != b.MaxTimestamp() {
		return invalid("max timestamp is not that of any record, or not the largest")
	}
	return nil
}

// Overflows reports whether a batch at this base offset would need offsets beyond an int64.
func (b Batch) Overflows(base int64) bool { return base > math.MaxInt64-int64(b.RecordCount()) }

// CheckCRC compares the checksum that the header claims with that of the bytes. Errors wrap
// ErrInvalid.
func (b Batch) CheckCRC() error {
	if len(b) < HeaderSize {
		return invalid("shorter than a header")
	}
	if b.CRC() != b.checksum() {
		return invalid("checksum mismatch")
	}
	return nil
}

// checkFrame validates what a reader relies on to step from one batch to the next.
func (b Batch) checkFrame() error {
	switch {
	case len(b) < HeaderSize:
		return invalid("shorter than a header")
	case b[atMagic] != magic:
		return invalid("magic is not 2")
	case b.Size() < HeaderSize:
		return invalid("length field is below the header size")
	case b.LastOffsetDelta() < 0:
		return invalid("negative last offset delta")
	case b.BaseOffset() < 0 || b.NextOffset() < 0:
		return invalid("offset out of range")
	}
	return nil
}

// NextBatch splits the first batch from bytes as Read returns them. Errors wrap ErrInvalid.
func NextBatch(p []byte) (b Batch, rest []byte, err error) {
	if err := Batch(p).checkFrame(); err != nil {
		return nil, p, err
	}
	size := Batch(p).Size()
	if size > int64(len(p)) {
		return nil, p, invalid("batch is cut off")
	}
	return Batch(p[:size:size]), p[size:], nil
}
