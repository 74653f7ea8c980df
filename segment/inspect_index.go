package segment

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// IndexFormat is what an index file holds.
type IndexFormat int

// The formats. Kafka's entries are narrower: 8 bytes, an offset relative to the base and a position, both
// int32; and 12 bytes, a timestamp int64 and a relative offset int32.
const (
	Missing IndexFormat = iota // there is no file
	Native                     // entries of this store, 16 bytes
	Kafka
)

// String names the format.
func (f IndexFormat) String() string { return [...]string{"missing", "tailrace", "kafka"}[f] }

// IndexFile is one of the two indexes of a segment.
type IndexFile struct {
	File    string
	Format  IndexFormat
	Size    int64
	Entries int64 // without space that is allocated ahead

	entrySize int64
	base      int64
}

// IndexEntry is an entry of an offset index.
type IndexEntry struct {
	File        string
	Position    int64 // of the entry
	Offset      int64
	LogPosition int64
	Format      IndexFormat
}

// TimeIndexEntry is an entry of a time index.
type TimeIndexEntry struct {
	File      string
	Position  int64 // of the entry
	Timestamp int64
	Offset    int64
	Format    IndexFormat
}

const (
	kafkaEntry     = 8
	kafkaTimeEntry = 12

	sniffed = 64 * kafkaTimeEntry // bytes of an index that tell whose it is
)

// indexFile looks at an index. The segment is nil where there is none beside it.
func (in *inspection) indexFile(name string, s *Segment) (x IndexFile, err error) {
	x = IndexFile{File: name}
	if !in.state.has(name) {
		return x, nil
	}
	x.base, _ = baseOf(name, kindOf(name))
	if s != nil {
		x.base = s.Base
	}
	f, err := in.open(name)
	if err != nil {
		return x, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	x.Size, x.Format, x.entrySize = f.size, Native, entrySize
	if !in.state.ours {
		head, err := io.ReadAll(io.NewSectionReader(f, 0, sniffed))
		if err != nil {
			return x, err
		}
		if x.isKafka(head) {
			x.Format, x.entrySize = Kafka, x.kafkaSize()
		}
	}
	if x.Entries, err = x.used(f); err != nil {
		return x, err
	}
	if in.state.ours && s != nil {
		// An entry may consist of zeros: that of a batch at the start of the log.
		x.Entries = min(x.Size/entrySize, slots(s.Valid, in.state.interval))
	}
	return x, nil
}

func (x *IndexFile) isTime() bool { return strings.HasSuffix(x.File, timeSuffix) }

func (x *IndexFile) kafkaSize() int64 {
	if x.isTime() {
		return kafkaTimeEntry
	}
	return kafkaEntry
}

// isKafka reports whether the start of an index reads as entries of Kafka's: there, both numbers ascend, and
// those of this store, read that way, do not.
func (x *IndexFile) isKafka(head []byte) bool {
	size := x.kafkaSize()
	if x.Size%size != 0 {
		return false
	}
	kafka := IndexFile{File: x.File, Format: Kafka, entrySize: size}
	before := [2]int64{-1, -1}
	for n := int64(0); (n+1)*size <= int64(len(head)); n++ {
		p := head[n*size:][:size]
		if allZero(p) {
			return allZero(head[n*size:])
		}
		a, b := kafka.entry(p)
		if a <= before[0] || b < before[1] {
			return false
		}
		before = [2]int64{a, b}
	}
	return true
}

// entry decodes an entry; offsets of Kafka's are made absolute.
func (x *IndexFile) entry(p []byte) (a, b int64) {
	switch {
	case x.Format == Native:
		return int64(binary.BigEndian.Uint64(p)), int64(binary.BigEndian.Uint64(p[8:]))
	case x.isTime():
		return int64(binary.BigEndian.Uint64(p)), x.base + int64(int32(binary.BigEndian.Uint32(p[8:])))
	default:
		return x.base + int64(int32(binary.BigEndian.Uint32(p))), int64(int32(binary.BigEndian.Uint32(p[4:])))
	}
}

// used is the number of entries up to the last that does not consist of zeros.
func (x *IndexFile) used(f *storedFile) (n int64, err error) {
	err = x.read(f, f.size/x.entrySize, func(k int64, p []byte) error {
		if !allZero(p) {
			n = k + 1
		}
		return nil
	})
	return n, err
}

// read calls visit for each of n entries.
func (x *IndexFile) read(f *storedFile, n int64, visit func(k int64, p []byte) error) error {
	r := bufio.NewReaderSize(io.NewSectionReader(f, 0, n*x.entrySize), scanBuffer)
	p := make([]byte, x.entrySize)
	for k := int64(0); ; k++ {
		if _, err := io.ReadFull(r, p); err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := visit(k, p); err != nil {
			return err
		}
	}
}

// entries visits what an index holds.
func (in *inspection) entries(x IndexFile) (err error) {
	f, err := in.open(x.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return x.read(f, x.Entries, func(k int64, p []byte) error {
		a, b := x.entry(p)
		if x.isTime() {
			return in.visit(&TimeIndexEntry{File: x.File, Position: k * x.entrySize, Timestamp: a, Offset: b, Format: x.Format})
		}
		return in.visit(&IndexEntry{File: x.File, Position: k * x.entrySize, Offset: a, LogPosition: b, Format: x.Format})
	})
}

// logBeside is the name of the log of an index.
func logBeside(index string) string { return strings.TrimSuffix(index, kindOf(index)) + logSuffix }

// beside is the segment of an index, nil if its log is not there.
func (in *inspection) beside(index string) (*Segment, error) {
	if log := logBeside(index); in.state.has(log) {
		return in.survey(log)
	}
	return nil, nil
}
