package segment

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// What a crash can leave above the recovery point: bytes that were never written, which are zeros; sectors of
// which some were written and some not, or hold garbage; and sound batches behind them. What it can't leave is
// a batch that has the right checksum, and is none that this store writes: there, somebody else has written,
// and Open changes nothing.
//
// A directory proves that it is this store's by a valid slot of the recovery point, which is durable before the
// first append, or by the mark of a close in order. Without that proof every byte has to be what this store
// writes, or what the first Open leaves when a crash ends it: an empty segment.

// largestMark is more than a mark has, of a million segments.
const largestMark = 64 << 20

// sectorSize is the least that a disk writes as a whole.
const sectorSize = 512

func foreign(file string, position int64, format string, args ...any) error {
	return &ForeignError{File: file, Position: position, Cause: fmt.Errorf(format, args...)}
}

// strange says why the bytes at a position of a log, where a batch with the base offset next should be and no
// valid one is, are what no crash leaves; nil where a crash can have left them.
func strange(file *storedFile, position, next int64) (cause, err error) {
	w := logWalker{file: file}
	head, err := w.window(position, HeaderSize)
	if err != nil || len(head) <= atMessageAttributes {
		return nil, err
	}
	size := Batch(head).Size()
	if size < minMessage0 || size > file.size-position {
		return nil, nil
	}
	p, err := w.window(position, size)
	if err != nil || int64(len(p)) < size {
		return nil, err
	}
	b := Batch(p)
	switch {
	case b[atMagic] < magic && binary.BigEndian.Uint32(b[atMessageCRC:]) == crc32.ChecksumIEEE(b[atMagic:]):
		return fmt.Errorf("a message of magic %d, which Kafka wrote before version 0.11", b[atMagic]), nil
	case b.CheckCRC() != nil:
		return nil, nil
	case b[atMagic] != magic:
		return fmt.Errorf("a batch with a right checksum and magic %d, and not 2", b[atMagic]), nil
	case b.LeaderEpoch() != 0:
		return fmt.Errorf("a batch with a right checksum and leader epoch %d, and not 0", b.LeaderEpoch()), nil
	case b.BaseOffset() != next && !tornStamp(b.BaseOffset(), next, position):
		return fmt.Errorf("a batch with a right checksum and base offset %d, and not %d", b.BaseOffset(), next), nil
	default:
		return b.checkCount(), nil
	}
}

// tornStamp reports whether a sector that was not written explains the base offset of a sound batch: the stamp
// lies outside the checksum, and its first bytes are zeros where the sector ends within it, or within the zeros
// that the length begins with.
func tornStamp(stored, expected, position int64) bool {
	missing := sectorSize - position%sectorSize // bytes of the batch in the sector
	if missing >= atLeaderEpoch {
		return false
	}
	left := 8 * max(0, atLength-missing)
	return stored == expected&(1<<left-1)
}

// checkCount validates what Check does of the number of records in the header.
func (b Batch) checkCount() error {
	if n := b.RecordCount(); n <= 0 || b.LastOffsetDelta() != n-1 {
		return errCount
	}
	return nil
}

var errCount = invalid("last offset delta does not match the record count")

// found is what Open reads of the small files before it changes anything.
type found struct {
	names        []string // of all files
	start, point slots2
	mark         *cleanMark
}

// proven reports whether the directory is known to be this store's.
func (f *found) proven() bool { return f.start.known || f.point.known || f.mark != nil }

// look reads the names and the small files of a storage.
func look(s Storage) (*found, error) {
	files := storedFiles{context.Background(), s}
	names, err := s.List()
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	f := &found{names: names}
	for _, name := range names {
		if what := ofKafka(name); what != "" {
			return nil, foreign(name, 0, "it is %s", what)
		}
	}
	if f.mark, err = f.readMark(files); err != nil {
		return nil, err
	}
	return f, errors.Join(f.readPoint(files), f.checkMark(files, cleanFileNew))
}

func (f *found) has(name string) bool {
	_, there := slices.BinarySearch(f.names, name)
	return there
}

// readMark returns nil where there is no mark, or none that makes sense: the log itself is then to be read.
func (f *found) readMark(files storedFiles) (*cleanMark, error) {
	if !f.has(cleanFile) {
		return nil, nil
	}
	p, _, err := files.all(cleanFile, largestMark)
	if err != nil {
		return nil, err
	}
	if version := cleanVersionOf(p); version > cleanVersion {
		return nil, foreign(cleanFile, atCleanVersion, "version %d, and this store knows %d", version, cleanVersion)
	}
	return decodeCleanMark(p), f.checkMark(files, cleanFile)
}

// checkMark refuses a file that would be removed as a mark, and does not begin like one or like one that was never
// written.
func (f *found) checkMark(files storedFiles, name string) error {
	if !f.has(name) {
		return nil
	}
	p, _, err := files.all(name, int64(len(cleanMagic)))
	if err == nil && !allZero(p) && string(p) != cleanMagic {
		err = foreign(name, 0, "it is no mark of a close in order")
	}
	return err
}

// markEffect is that of a mark that makes no sense.
func markEffect(p []byte) Effect {
	magic := p[:min(len(p), len(cleanMagic))]
	if !allZero(magic) && string(magic) != cleanMagic || cleanVersionOf(p) > cleanVersion {
		return Refused
	}
	return Reread
}

// readPoint reads the recovery-point file. What no slot of this store holds is refused.
func (f *found) readPoint(files storedFiles) error {
	if !f.has(pointFile) {
		return nil
	}
	p, size, err := files.all(pointFile, pointFileSize)
	if err != nil {
		return err
	}
	if size > pointFileSize {
		return foreign(pointFile, pointFileSize, "the file has %d bytes, and a recovery point has %d", size, pointFileSize)
	}
	slots := make([]byte, pointFileSize)
	copy(slots, p)
	f.point.load(slots[pointSlots:][:2*slotSize])
	f.start.load(slots[startSlots:][:2*slotSize])
	for at := 0; at < pointFileSize && !f.proven(); at += slotSize {
		// A first Open that a crash has ended leaves at most a part of its own slots, of a log that begins at 0.
		slot := slots[at:][:slotSize]
		if !allZero(slot[:slotSequence]) || binary.BigEndian.Uint64(slot[slotSequence:]) > 2 || !allZero(slot[slotPosition:slotCRC]) {
			return foreign(pointFile, int64(at), "it is no recovery point")
		}
	}
	return nil
}

// checkIndexes refuses the indexes of a log in a directory without proof, that has the offsets from base to end in size
// bytes, if they hold what this store does not write.
func (f *found) checkIndexes(s Storage, base, size, end int64) error {
	files := storedFiles{context.Background(), s}
	for _, suffix := range []string{indexSuffix, timeSuffix} {
		name := fileName(base, suffix)
		if !f.has(name) {
			continue
		}
		p, length, err := files.all(name, MaxSize)
		if err != nil {
			return err
		}
		if odd := length % entrySize; odd != 0 {
			return foreign(name, length-odd, "the file ends inside an entry")
		}
		for k := int64(1); k <= length/entrySize; k++ {
			offset, position := entryAt(p, k)
			if suffix == timeSuffix {
				offset, position = position, 0
			}
			zeros := allZero(p[entrySize*(k-1):][:entrySize])
			if !zeros && (offset < base || offset >= end || position < 0 || position >= size) {
				return foreign(name, entrySize*(k-1), "an entry that leads out of the log")
			}
		}
	}
	return nil
}
