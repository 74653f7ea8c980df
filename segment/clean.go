package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
)

const (
	// cleanFile is there exactly while a partition is closed, and was closed in order.
	cleanFile    = "clean"
	cleanFileNew = "clean.tmp"

	cleanMagic   = "tailrace"
	cleanVersion = 1
)

// The clean mark says what each file was when the partition was closed, so that Open need not read them:
//
//	 0  magic "tailrace"         8 bytes
//	 8  version, 1               uint32
//	12  number of segments       uint32
//	16  index interval           int64
//	24  log end offset           int64
//	then for each segment, ascending
//	 0  base offset              int64
//	 8  size of the log          int64
//	16  largest timestamp        int64
//	24  CRC-32C of the .index    uint32
//	28  CRC-32C of the .timeindex uint32
//	at the end
//	 0  CRC-32C of all before    uint32
const (
	atCleanVersion = 8

	cleanHeader = 32
	cleanEntry  = 32
	cleanFooter = 4
)

// cleanMark is a decoded clean mark.
type cleanMark struct {
	interval int64
	segments []cleanSegment
}

type cleanSegment struct {
	base, size, end, maxTimestamp int64
	sums                          indexSums
}

// indexSums are the checksums of a sealed segment's index files.
type indexSums struct{ offsets, times uint32 }

func (m cleanMark) point() Point {
	last := m.segments[len(m.segments)-1]
	return Point{Base: last.base, Position: last.size, Offset: last.end}
}

// writeCleanMark stores the mark of a partition whose segments are sealed and durable.
func writeCleanMark(s Storage, sealed []View, active View) error {
	views := append(sealed[:len(sealed):len(sealed)], active)
	size := cleanHeader + cleanEntry*len(views) + cleanFooter
	if err := s.Remove(cleanFileNew); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	m, err := s.MapIndex(cleanFileNew, int64(size), true)
	if err != nil {
		return err
	}
	p := append(m.Bytes()[:0], cleanMagic...)
	p = binary.BigEndian.AppendUint32(p, cleanVersion)
	p = binary.BigEndian.AppendUint32(p, uint32(len(views)))
	p = binary.BigEndian.AppendUint64(p, uint64(active.Files.config.Interval))
	p = binary.BigEndian.AppendUint64(p, uint64(active.End))
	for _, v := range views {
		p = binary.BigEndian.AppendUint64(p, uint64(v.Base()))
		p = binary.BigEndian.AppendUint64(p, uint64(v.Size))
		p = binary.BigEndian.AppendUint64(p, uint64(v.MaxTimestamp))
		p = binary.BigEndian.AppendUint32(p, v.Files.sums.offsets)
		p = binary.BigEndian.AppendUint32(p, v.Files.sums.times)
	}
	binary.BigEndian.AppendUint32(p, crc32.Checksum(p, castagnoli))
	if err := errors.Join(m.Sync(), m.Close()); err != nil {
		return err
	}
	if err := s.Rename(cleanFileNew, cleanFile); err != nil {
		return err
	}
	return s.SyncDir()
}

// cleanVersionOf is the version of a mark, whatever it is: all have the magic, the version and the checksum at the
// end. It is 0 for bytes that are no mark.
func cleanVersionOf(p []byte) uint32 {
	if len(p) < cleanHeader+cleanFooter {
		return 0
	}
	body, footer := p[:len(p)-cleanFooter], p[len(p)-cleanFooter:]
	if string(body[:len(cleanMagic)]) != cleanMagic || binary.BigEndian.Uint32(footer) != crc32.Checksum(body, castagnoli) {
		return 0
	}
	return binary.BigEndian.Uint32(body[atCleanVersion:])
}

// decodeCleanMark returns nil for bytes that are no clean mark.
func decodeCleanMark(p []byte) *cleanMark {
	if cleanVersionOf(p) != cleanVersion || len(p) < cleanHeader+cleanEntry+cleanFooter {
		return nil
	}
	body := p[:len(p)-cleanFooter]
	n := (len(body) - cleanHeader) / cleanEntry
	if int(binary.BigEndian.Uint32(body[12:])) != n || len(body) != cleanHeader+n*cleanEntry {
		return nil
	}
	mark := &cleanMark{interval: int64(binary.BigEndian.Uint64(body[16:])), segments: make([]cleanSegment, n)}
	end := int64(binary.BigEndian.Uint64(body[24:]))
	for i := n - 1; i >= 0; i-- {
		entry := body[cleanHeader+i*cleanEntry:]
		mark.segments[i] = cleanSegment{
			base:         int64(binary.BigEndian.Uint64(entry)),
			size:         int64(binary.BigEndian.Uint64(entry[8:])),
			end:          end,
			maxTimestamp: int64(binary.BigEndian.Uint64(entry[16:])),
			sums:         indexSums{binary.BigEndian.Uint32(entry[24:]), binary.BigEndian.Uint32(entry[28:])},
		}
		end = mark.segments[i].base
	}
	return mark
}

// matches reports whether the log is still the one that the mark speaks of: the same segments, of the
// same sizes.
func (m *cleanMark) matches(c Config, bases []int64) (bool, error) {
	if len(m.segments) != len(bases) || m.interval != c.Interval {
		return false, nil
	}
	for i, s := range m.segments {
		size, err := c.Storage.Size(Name(s.base))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("segment: clean mark: %w", err)
		}
		if err != nil || s.base != bases[i] || size != s.size {
			return false, nil
		}
	}
	return true, nil
}
