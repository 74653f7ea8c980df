package segment

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// CheckpointSlot is one of the four slots of a recovery-point file.
type CheckpointSlot struct {
	File     string
	Position int64
	LogStart bool // of the log start, rather than of the recovery point
	Valid    bool // its checksum is right; if not, it is torn, or has never been written
	Counts   bool // it is the newer valid one
	Sequence int64
	Point    Point
}

// CleanSegment is what the mark of a partition that was closed in order says of a segment.
type CleanSegment struct {
	File         string
	Position     int64
	Interval     int64 // bytes between index slots, of all segments
	Base, End    int64
	Size         int64
	MaxTimestamp int64
	IndexCRC     uint32
	TimeIndexCRC uint32
}

// slot decodes slot i of a recovery-point file.
func (st *state) slot(i int) CheckpointSlot {
	p := st.slots[i*slotSize:][:slotSize]
	var one slots2
	one.load(append(p[:slotSize:slotSize], make([]byte, slotSize)...))
	s := CheckpointSlot{
		File: pointFile, Position: int64(i * slotSize), LogStart: i*slotSize >= startSlots,
		Valid: binary.BigEndian.Uint32(p[slotCRC:]) == crc32.Checksum(p[:slotCRC], castagnoli) && one.known,
	}
	s.Sequence, s.Point = one.sequence, one.value
	pair := st.point
	if s.LogStart {
		pair = st.start
	}
	s.Counts = s.Valid && s.Sequence == pair.sequence
	return s
}

// slotsOf visits the slots of the recovery-point file.
func (in *inspection) slotsOf() error {
	for i := range pointFileSize / slotSize {
		s := in.state.slot(i)
		if err := in.visit(&s); err != nil {
			return err
		}
	}
	return nil
}

var errNoMark = errors.New("it is not the mark of a partition that was closed in order, or it is damaged")

// clean visits what the clean mark says.
func (in *inspection) clean() error {
	mark, fault, err := in.readMark()
	if err != nil {
		return err
	}
	if fault != nil {
		return in.ends(fault)
	}
	for i := range mark.segments {
		s := mark.item(i)
		if err := in.visit(&s); err != nil {
			return err
		}
	}
	return nil
}

// readMark reads the mark by itself: there need be no segments to compare it with. The fault is that of a mark
// that makes no sense.
func (in *inspection) readMark() (*cleanMark, *Fault, error) {
	p, _, err := in.all(cleanFile, MaxSize)
	if err != nil {
		return nil, nil, err
	}
	mark := decodeCleanMark(p)
	if mark == nil {
		return nil, &Fault{File: cleanFile, Cause: errNoMark, Effect: markEffect(p)}, nil
	}
	return mark, nil, nil
}

func (m *cleanMark) item(i int) CleanSegment {
	s := m.segments[i]
	return CleanSegment{
		File: cleanFile, Position: int64(cleanHeader + i*cleanEntry), Interval: m.interval,
		Base: s.base, End: s.end, Size: s.size, MaxTimestamp: s.maxTimestamp,
		IndexCRC: s.sums.offsets, TimeIndexCRC: s.sums.times,
	}
}
