package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// Layout of the message sets that Kafka wrote before version 0.11, as far as it is used here. Base offset
// and length lie where those of a batch lie, and so does the magic.
const (
	atMessageCRC        = 12 // CRC-32 (IEEE) of everything from the magic to the end
	atMessageAttributes = 17
	atMessageTimestamp  = 18 // magic 1 only

	minMessage0 = 26
	minMessage1 = 34

	// Attributes of a batch that nothing but a reader of all records needs to know.
	transactional = 0x10
	control       = 0x20
)

var (
	errZeros  = invalid("zeros where a batch should begin")
	errCutOff = invalid("batch is cut off")
)

// Segment is a log and what the frames of its batches say.
type Segment struct {
	File  string // of the log
	Base  int64  // in its name; where it has none, that of the first batch
	End   int64  // offset after the last batch
	Size  int64  // of the file in bytes
	Valid int64  // bytes at its start that are batches
	Zeros int64  // bytes of zeros at its end, if another writer has allocated them ahead

	Batches, Records int64 // Records counts those in compressed batches as their headers do

	// Timestamps: of the first batch its base, of the last its largest, and the largest of all. They mean
	// nothing where Batches is 0.
	FirstTimestamp, LastTimestamp, MaxTimestamp int64

	Index, TimeIndex IndexFile
}

// StoredBatch is a batch in a log, or a message set of an older format.
type StoredBatch struct {
	File     string
	Position int64
	Size     int64
	Magic    int8 // 2, or 0 or 1 for a message set of Kafka before 0.11

	BaseOffset, LastOffset      int64
	BaseTimestamp, MaxTimestamp int64 // −1 where the format has none
	Records                     int32 // −1 where that cannot be told
	LeaderEpoch                 int32
	ProducerID                  int64
	ProducerEpoch               int16
	BaseSequence                int32

	Compression                        string // none, gzip, snappy, lz4, zstd, or the number of another
	Transactional, Control, AppendTime bool

	CRC   uint32 // as stored
	Sound bool   // CRC is that of the bytes

	bytes []byte
}

// compression names a codec.
func compression(attributes int16) string {
	codec := int(attributes & compressionMask)
	names := [...]string{"none", "gzip", "snappy", "lz4", "zstd"}
	if codec < len(names) {
		return names[codec]
	}
	return fmt.Sprintf("codec %d", codec)
}

// logWalker steps through a log of this store or of Kafka.
type logWalker struct {
	file *storedFile
	ours bool // no older formats
	buf  []byte
	at   int64 // position of buf
}

// window is n bytes at a position, fewer at the end of the file.
func (w *logWalker) window(position, n int64) ([]byte, error) {
	n = min(n, w.file.size-position)
	if position < w.at || position+n > w.at+int64(len(w.buf)) {
		size := min(max(n, scanBuffer), w.file.size-position)
		if int64(cap(w.buf)) < size {
			w.buf = make([]byte, size)
		}
		got, err := w.file.ReadAt(w.buf[:size], position)
		if err != nil && err != io.EOF {
			return nil, err
		}
		w.at, w.buf = position, w.buf[:got]
		n = min(n, int64(got))
	}
	return w.buf[position-w.at:][:n], nil
}

// next is the batch at a position, valid until the next call; io.EOF at the end. Bytes that are no batch
// give an error that wraps ErrInvalid.
func (w *logWalker) next(position int64) ([]byte, error) {
	head, err := w.window(position, HeaderSize)
	if err != nil {
		return nil, err
	}
	if len(head) == 0 {
		return nil, io.EOF
	}
	size, err := w.frame(head)
	if err != nil {
		return nil, err
	}
	if size > w.file.size-position {
		return nil, errCutOff
	}
	p, err := w.window(position, size)
	if err == nil && int64(len(p)) < size {
		err = errCutOff // the file has become shorter
	}
	return p, err
}

// frame is the size of the batch, or of the message of an older format, that begins with head.
func (w *logWalker) frame(head []byte) (int64, error) {
	switch {
	case allZero(head):
		return 0, errZeros
	case len(head) <= atMagic:
		return 0, errCutOff
	case head[atMagic] < magic && !w.ours:
		return frameMessage(head)
	case len(head) < HeaderSize && head[atMagic] == magic:
		return 0, errCutOff
	default:
		return Batch(head).Size(), Batch(head).checkFrame()
	}
}

func frameMessage(head []byte) (int64, error) {
	size, least := Batch(head).Size(), int64(minMessage0)
	if head[atMagic] == 1 {
		least = minMessage1
	}
	switch {
	case size < least:
		return 0, invalid("length field is below the size of a message")
	case int64(len(head)) < least:
		return 0, errCutOff
	case Batch(head).BaseOffset() < 0 || Batch(head).BaseOffset() == math.MaxInt64:
		return 0, invalid("offset out of range")
	}
	return size, nil
}

func allZero(p []byte) bool {
	for _, x := range p {
		if x != 0 {
			return false
		}
	}
	return true
}

// zeros reports whether nothing but zeros lies from a position on.
func (w *logWalker) zeros(position int64) (bool, error) {
	for position < w.file.size {
		p, err := w.window(position, scanBuffer)
		if err != nil || len(p) == 0 || !allZero(p) {
			return false, err
		}
		position += int64(len(p))
	}
	return true, nil
}

// walk calls visit for each batch. The error of bytes that are no batch comes back as bad, with the
// position at which the batches end.
func (w *logWalker) walk(visit func(p []byte, position int64) error) (end int64, bad, err error) {
	for position := int64(0); ; {
		p, err := w.next(position)
		switch {
		case err == io.EOF:
			return position, nil, nil
		case errors.Is(err, ErrInvalid):
			return position, err, nil
		case err != nil:
			return position, nil, err
		}
		if err := visit(p, position); err != nil {
			return position, nil, err
		}
		position += int64(len(p))
	}
}

// describeBatch decodes what next has returned.
func describeBatch(file string, p []byte, position int64) StoredBatch {
	b := Batch(p)
	s := StoredBatch{File: file, Position: position, Size: int64(len(p)), Magic: int8(p[atMagic]), BaseOffset: b.BaseOffset(), bytes: p}
	if s.Magic < magic {
		return s.message()
	}
	attributes := b.Attributes()
	s.LastOffset = b.NextOffset() - 1
	s.BaseTimestamp, s.MaxTimestamp = b.BaseTimestamp(), b.MaxTimestamp()
	s.Records, s.LeaderEpoch = b.RecordCount(), b.LeaderEpoch()
	s.ProducerID, s.ProducerEpoch, s.BaseSequence = b.ProducerID(), b.ProducerEpoch(), b.BaseSequence()
	s.Compression = compression(attributes)
	s.AppendTime = b.AppendTime()
	s.Transactional, s.Control = attributes&transactional != 0, attributes&control != 0
	s.CRC = b.CRC()
	return s
}

// message decodes a message of an older format. A compressed one holds an unknown number of others, and has
// the offset of the last.
func (s StoredBatch) message() StoredBatch {
	attributes := int16(s.bytes[atMessageAttributes])
	s.LastOffset = s.BaseOffset
	s.BaseTimestamp, s.MaxTimestamp = -1, -1
	if s.Magic == 1 {
		s.MaxTimestamp = int64(binary.BigEndian.Uint64(s.bytes[atMessageTimestamp:]))
		s.BaseTimestamp = s.MaxTimestamp
		s.AppendTime = attributes&appendTime != 0
	}
	s.Records = 1
	if attributes&compressionMask != 0 {
		s.Records = -1
	}
	s.LeaderEpoch, s.ProducerID, s.ProducerEpoch, s.BaseSequence = -1, -1, -1, -1
	s.Compression = compression(attributes)
	s.CRC = binary.BigEndian.Uint32(s.bytes[atMessageCRC:])
	return s
}

// checksum computes the CRC that should be stored.
func (s *StoredBatch) checksum() uint32 {
	if s.Magic < magic {
		return crc32.ChecksumIEEE(s.bytes[atMagic:])
	}
	return Batch(s.bytes).checksum()
}
