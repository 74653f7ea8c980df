package segment

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"math"
	"sync/atomic"
)

// pointFile is the name of a partition's recovery-point file.
const pointFile = "recovery-point"

// The recovery-point file is a table of four slots of 32 bytes, mapped into memory: two for the recovery
// point, two for the log start. Each is written in turn, so that a torn one leaves the one before.
//
//	 0  base offset of the segment   int64
//	 8  offset                       int64
//	16  sequence number              int64   the higher one counts
//	24  position in the segment      uint32
//	28  CRC-32C of bytes 0 to 27     uint32
const (
	slotSize      = 32
	slotOffset    = 8
	slotSequence  = 16
	slotPosition  = 24
	slotCRC       = 28
	pointSlots    = 0
	startSlots    = 2 * slotSize
	maxSequence   = math.MaxInt64 / 2 // nobody counts that far
	pointFileSize = 4 * slotSize
)

// Point is a place in the log between two batches.
type Point struct {
	Base     int64 // of the segment
	Position int64 // in its log
	Offset   int64 // of the record that begins there, or will
}

// below reports whether a byte of the log lies before the point.
func (p Point) below(base, position int64) bool {
	return base < p.Base || base == p.Base && position < p.Position
}

// Checkpoint is what a partition knows across a crash beside its log: the recovery point, up to which
// the log has been made durable, and the log start. A byte that is bad below the recovery point is
// damage; at or above it, it can be what a crash has left.
//
// Advance and Sync must not overlap each other; SetStart must not overlap itself. LastSynced may be called
// at any time.
type Checkpoint struct {
	storage Storage
	mapping Mapping
	synced  atomic.Int64 // offset of the recovery point

	point, start slots2
}

// slots2 is one value in two slots of the file.
type slots2 struct {
	p        []byte
	sequence int64
	value    Point
	known    bool // a slot was valid, or the value has been set since
}

// openCheckpoint opens the file, or makes it. Slots that make no sense are as if they were empty: what
// they said is then not known.
func openCheckpoint(s Storage) (*Checkpoint, error) {
	_, err := s.Size(pointFile)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, err
	}
	m, err := s.MapIndex(pointFile, pointFileSize, missing)
	if err != nil {
		return nil, err
	}
	p := m.Bytes()
	c := &Checkpoint{storage: s, mapping: m}
	c.point.load(p[pointSlots:][:2*slotSize])
	c.start.load(p[startSlots:][:2*slotSize])
	c.synced.Store(c.point.value.Offset)
	return c, nil
}

func (s *slots2) load(p []byte) {
	s.p = p
	for _, slot := range [][]byte{p[:slotSize], p[slotSize:]} {
		if binary.BigEndian.Uint32(slot[slotCRC:]) != crc32.Checksum(slot[:slotCRC], castagnoli) {
			continue
		}
		sequence := int64(binary.BigEndian.Uint64(slot[slotSequence:]))
		v := Point{
			Base:     int64(binary.BigEndian.Uint64(slot)),
			Position: int64(binary.BigEndian.Uint32(slot[slotPosition:])),
			Offset:   int64(binary.BigEndian.Uint64(slot[slotOffset:])),
		}
		if sequence > s.sequence && sequence < maxSequence && v.Base >= 0 && v.Offset >= v.Base && v.Position <= MaxSize {
			s.sequence, s.known, s.value = sequence, true, v
		}
	}
}

func (s *slots2) store(v Point) {
	s.sequence++
	s.value, s.known = v, true
	slot := s.p[s.sequence%2*slotSize:][:slotSize]
	binary.BigEndian.PutUint64(slot, uint64(v.Base))
	binary.BigEndian.PutUint64(slot[slotOffset:], uint64(v.Offset))
	binary.BigEndian.PutUint64(slot[slotSequence:], uint64(s.sequence))
	binary.BigEndian.PutUint32(slot[slotPosition:], uint32(v.Position))
	binary.BigEndian.PutUint32(slot[slotCRC:], crc32.Checksum(slot[:slotCRC], castagnoli))
}

// Advance says that a view, and all segments before it, have been synced. It stores to memory alone: a
// recovery point that a crash loses is one that lies lower.
func (c *Checkpoint) Advance(v View) {
	c.point.store(v.point())
	c.synced.Store(v.End)
}

// LastSynced is the offset below which everything is durable, as of some moment before the return.
func (c *Checkpoint) LastSynced() int64 { return c.synced.Load() }

// Sync makes the segments durable that are not yet, the active one up to its view, and advances to that.
// Appends may go on meanwhile; the segments must stay open. The names of the segments must be durable, as
// they are under every policy but the one that never syncs.
func (c *Checkpoint) Sync(sealed []View, active View) error {
	for _, v := range sealed {
		if !c.point.known || v.Base() >= c.point.value.Base {
			if err := v.Files.Sync(); err != nil {
				return err
			}
		}
	}
	if err := active.Files.Sync(); err != nil {
		return err
	}
	c.Advance(active)
	return nil
}

// SetStart moves the log start to the base of a segment, for good when it returns: segments below it may
// be removed then, and what a crash leaves of them is removed by the next Open.
func (c *Checkpoint) SetStart(base int64) error {
	// The name of the segment that begins there must not be lost when those before it are gone.
	if err := c.storage.SyncDir(); err != nil {
		return err
	}
	last := c.start
	for range 2 { // both slots: the one before speaks of segments that will be gone
		c.start.store(Point{Base: base, Offset: base})
		if err := c.mapping.Sync(); err != nil {
			if last.known {
				c.start.store(last.value) // it has not moved, for all that anybody may rely on
			}
			return err
		}
	}
	return nil
}

// point is the end of a view.
func (v View) point() Point { return Point{Base: v.Base(), Position: v.Size, Offset: v.End} }

// Close makes the log durable, marks it as closed cleanly unless it has failed, and releases the segments.
// No other call may overlap or follow it.
//
// The segments are released first, and the mark is written after: a process that has no more descriptors has
// those of the segments then.
func (c *Checkpoint) Close(sealed []View, active View, failed bool) error {
	err := active.Files.sealLog(active.Size)
	clean := err == nil && !failed
	if clean {
		err = c.syncAll(sealed, active)
	}
	released := closeFiles(sealed, active)
	clean = clean && err == nil && released == nil
	err = errors.Join(err, released, active.Files.cutIndexes(active.Size))
	if clean && err == nil {
		err = writeCleanMark(c.storage, sealed, active)
	}
	return errors.Join(err, c.mapping.Close())
}

// syncAll makes the log durable, and the recovery point and the log start, in both slots.
func (c *Checkpoint) syncAll(sealed []View, active View) error {
	if c.point.value != active.point() {
		if err := c.storage.SyncDir(); err != nil {
			return err
		}
		if err := c.Sync(sealed, active); err != nil {
			return err
		}
	}
	// Twice, so that both slots hold it.
	c.Advance(active)
	c.start.store(c.start.value)
	return c.mapping.Sync()
}
