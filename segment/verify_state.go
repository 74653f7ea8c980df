package segment

import (
	"errors"
	"fmt"
)

var (
	errNoSlot   = errors.New("neither slot is valid")
	errTornSlot = errors.New("slot is not valid, and a partition that was closed in order has none such")
	errOldSlot  = errors.New("slot differs from the other, and in a partition that was closed in order they are equal")
	errStale    = errors.New("recovery point is not the log end that the clean mark gives")
)

// checkpoint verifies the recovery-point file. One slot of a pair may be torn, unless the partition was
// closed in order.
func (v *verification) checkpoint() error {
	st := v.state
	fault := func(position int64, cause error) error {
		effect := Reread
		if st.slotsSize > pointFileSize {
			effect = Refused
		}
		return &Fault{File: pointFile, Position: position, Cause: cause, Effect: effect}
	}
	if st.slotsSize != pointFileSize {
		return fault(min(st.slotsSize, pointFileSize), fmt.Errorf("file has %d bytes, not %d", st.slotsSize, pointFileSize))
	}
	for _, pair := range []struct {
		at     int
		values slots2
	}{{pointSlots, st.point}, {startSlots, st.start}} {
		written := !allZero(st.slots[pair.at:][:2*slotSize])
		if !pair.values.known && (written || st.mark != nil) {
			return fault(int64(pair.at), errNoSlot)
		}
		if st.mark == nil {
			continue
		}
		for i := range 2 {
			s := st.slot(pair.at/slotSize + i)
			if !s.Valid {
				return fault(s.Position, errTornSlot)
			}
			if s.Point != pair.values.value {
				return fault(s.Position, errOldSlot)
			}
		}
	}
	return nil
}

// cleanMark verifies the mark as far as no log need be read for it.
func (v *verification) cleanMark() error {
	st := v.state
	if !st.has(cleanFile) {
		return nil
	}
	fault := func(file string, position int64, cause error) error {
		return &Fault{File: file, Position: position, Cause: cause, Effect: Reread}
	}
	mark := st.mark
	switch {
	case mark == nil:
		if _, bad, err := v.readMark(); err != nil {
			return err
		} else if bad != nil {
			return bad
		}
		return fault(cleanFile, 0, errNoMark)
	case mark.interval != st.interval:
		return fault(cleanFile, 16, fmt.Errorf("index interval of %d bytes is outside 1 to %d", mark.interval, MaxSize))
	case mark.point() != st.pointAt:
		return fault(pointFile, st.activeSlot(), errStale)
	}
	return nil
}

// markedSegments compares which segments there are with the mark.
func (v *verification) markedSegments() error {
	mark, live := v.state.mark, v.state.live()
	if mark == nil {
		return nil
	}
	if len(mark.segments) != len(live) {
		cause := fmt.Errorf("it speaks of %d segments, and there are %d", len(mark.segments), len(live))
		return &Fault{File: cleanFile, Position: 12, Cause: cause, Effect: Reread}
	}
	for i, base := range live {
		if s := mark.item(i); s.Base != base {
			cause := fmt.Errorf("it speaks of %s, and the segment is %s", Name(s.Base), Name(base))
			return &Fault{File: cleanFile, Position: s.Position, Cause: cause, Effect: Reread}
		}
	}
	return nil
}

// activeSlot is the position of the slot that the recovery point is in.
func (st *state) activeSlot() int64 { return st.point.sequence % 2 * slotSize }

// marked is what the clean mark says of a segment; nil if there is none.
func (st *state) marked(base int64) *CleanSegment {
	if st.mark == nil {
		return nil
	}
	for i, s := range st.mark.segments {
		if s.base == base {
			item := st.mark.item(i)
			return &item
		}
	}
	return nil
}

// agrees compares a segment that is sound with the clean mark.
func (m *CleanSegment) agrees(s *Segment, sums indexSums) error {
	fault := func(at int64, effect Effect, format string, args ...any) error {
		return &Fault{File: m.File, Position: m.Position + at, Cause: fmt.Errorf("%s: "+format, append([]any{s.File}, args...)...), Effect: effect}
	}
	switch {
	case m.Size != s.Size:
		return fault(8, Reread, "the mark gives %d bytes, and it has %d", m.Size, s.Size)
	case m.End != s.End:
		return fault(0, Kept, "the mark gives the end offset %d, and it ends at %d", m.End, s.End)
	case m.MaxTimestamp != s.MaxTimestamp:
		return fault(16, Kept, "the mark gives the largest timestamp %d, and it is %d", m.MaxTimestamp, s.MaxTimestamp)
	case m.IndexCRC != sums.offsets:
		return fault(24, Rebuilt, "the mark gives another checksum of its index")
	case m.TimeIndexCRC != sums.times:
		return fault(28, Rebuilt, "the mark gives another checksum of its time index")
	}
	return nil
}
