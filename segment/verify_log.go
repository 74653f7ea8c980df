package segment

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

var (
	errBelow    = invalid("base offset is below the end of the batch before it, or below the name of the log")
	errUnsorted = invalid("record offsets do not ascend")
	errPoint    = errors.New("no batch ends at the recovery point, or it has another offset there")
	errNoFile   = errors.New("the file is missing")
)

// logCheck verifies one log. Those of other writers may begin anywhere, and have gaps.
type logCheck struct {
	*verification
	segment *Segment
	next    int64 // least base offset of the next batch; that of the next batch in a log of ours
	point   bool  // the recovery point was passed, or does not lie inside
	indexes [2]*indexCheck
}

// log verifies a log with its indexes. Its base is at least after, unless that is negative; what comes
// back is the offset behind it.
func (v *verification) log(name string, after int64) (end int64, err error) {
	s, err := v.begin(name)
	if err != nil {
		return 0, err
	}
	if err := v.indexesOf(s); err != nil {
		return 0, err
	}
	c := &logCheck{verification: v, segment: s, next: s.Base}
	if _, named := baseOf(name, logSuffix); !named && !v.state.ours {
		c.next = 0
	}
	c.next = max(c.next, after)
	if at := v.state.pointAt; v.state.ours && v.state.point.known && at.Base == s.Base {
		c.point = at.Position == 0 && at.Offset == c.next
	} else {
		c.point = true
	}
	for i, x := range []IndexFile{s.Index, s.TimeIndex} {
		if x.Format != Native {
			continue
		}
		if c.indexes[i], err = v.newIndexCheck(x); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, c.indexes[i].file.Close()) }()
	}
	if err := c.batches(); err != nil {
		return 0, err
	}
	if err := c.checkIndexes(); err != nil {
		return 0, err
	}
	v.sound.Segments++
	v.sound.Batches += s.Batches
	v.sound.Records += s.Records
	v.sound.Bytes += s.Valid
	return s.End, nil
}

func (c *logCheck) batches() (err error) {
	s := c.segment
	log, err := c.open(s.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	s.Size, s.MaxTimestamp = log.size, math.MinInt64
	w := logWalker{file: log, ours: c.state.ours}
	var bad error
	s.Valid, bad, err = w.walk(c.batch)
	if err != nil {
		return err
	}
	if bad != nil {
		if s.Zeros, err = c.allocated(&w, s.Valid, bad); err == nil && s.Zeros == 0 {
			err = c.fault(s.Valid, bad)
		}
		return err
	}
	return c.joins()
}

// fault is a batch at a position that is none.
func (c *logCheck) fault(position int64, cause error) error {
	effect, err := c.effect(c.segment.File, c.segment.Base, position, c.next)
	if err != nil {
		return err
	}
	return &Fault{File: c.segment.File, Position: position, Cause: cause, Effect: effect}
}

func (c *logCheck) batch(p []byte, position int64) error {
	b := describeBatch(c.segment.File, p, position)
	switch {
	case c.state.ours && b.BaseOffset != c.next:
		return c.fault(position, errGap)
	case c.state.ours && b.LeaderEpoch != 0:
		return c.fault(position, errEpoch)
	case b.BaseOffset < c.next:
		return c.fault(position, errBelow)
	case b.CRC != b.checksum():
		return c.fault(position, invalid("checksum mismatch"))
	}
	if err := c.checkRecords(&b); err != nil {
		return &Fault{File: b.File, Position: position, Cause: err, Effect: Kept}
	}
	s := c.segment
	s.count(&b)
	c.next = s.End
	end := position + b.Size
	if at := c.state.pointAt; end == at.Position && c.next == at.Offset {
		c.point = true
	}
	return errors.Join(
		c.indexes[0].batch(position, end, b.BaseOffset, position),
		c.indexes[1].batch(position, end, s.MaxTimestamp, b.BaseOffset))
}

// checkRecords verifies what a checksum does not: that a batch was built well.
func (c *logCheck) checkRecords(b *StoredBatch) error {
	switch {
	case c.state.ours:
		return Batch(b.bytes).Check()
	case b.Magic != magic || b.Compression != "none":
		return nil
	}
	before := b.BaseOffset - 1
	r := Batch(b.bytes).Records()
	for r.Next() {
		if r.Record.Offset <= before {
			return errUnsorted
		}
		before = r.Record.Offset
	}
	return r.Err()
}

// joins verifies where a log of ours ends.
func (c *logCheck) joins() error {
	if !c.state.ours {
		return nil
	}
	s, live := c.segment, c.state.live()
	i, found := slices.BinarySearch(live, s.Base)
	last := !found || i == len(live)-1
	switch {
	case last && found && c.state.pointAt.below(s.Base, s.Size):
		return c.fault(s.Size, errShortLog)
	case !last && s.End > live[i+1] && !c.state.pointAt.below(s.Base, s.Size):
		return &Fault{File: Name(live[i+1]), Cause: errNoJoin, Effect: Refused}
	case !last && s.End != live[i+1]:
		return c.fault(s.Size, errNoJoin)
	case !c.point:
		return &Fault{File: pointFile, Position: c.state.activeSlot(), Cause: errPoint, Effect: Kept}
	}
	return nil
}

// checkIndexes verifies the indexes of a log that is sound.
func (c *logCheck) checkIndexes() error {
	s := c.segment
	for i, x := range []IndexFile{s.Index, s.TimeIndex} {
		var err error
		switch {
		case x.Format == Kafka:
			err = c.ascends(&x, s)
		case x.Format == Native:
			err = c.indexes[i].finish(c.state.mark != nil)
		case c.state.ours && s.File == Name(s.Base): // of a copy under another name, nobody expects one
			err = &Fault{File: x.File, Cause: errNoFile, Effect: Rebuilt}
		}
		if err != nil {
			return err
		}
	}
	mark := c.state.marked(s.Base)
	if mark == nil || c.indexes[0] == nil || c.indexes[1] == nil {
		return nil
	}
	return mark.agrees(s, indexSums{c.indexes[0].sum, c.indexes[1].sum})
}

// ascends verifies an index whose log cannot give its bytes: that its entries ascend, and stay inside the log if
// that is there.
func (v *verification) ascends(x *IndexFile, s *Segment) (err error) {
	f, err := v.open(x.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	fault := func(position int64, format string, args ...any) error {
		return &Fault{File: x.File, Position: position, Cause: fmt.Errorf(format, args...), Effect: Rebuilt}
	}
	if odd := x.Size % x.entrySize; odd != 0 {
		return fault(x.Size-odd, "the file ends inside an entry")
	}
	before := [2]int64{math.MinInt64, math.MinInt64}
	return x.read(f, x.Entries, func(k int64, p []byte) error {
		a, b := x.entry(p)
		offset, position := a, b
		if x.isTime() {
			offset, position = b, 0
		}
		switch at := k * x.entrySize; {
		case a < before[0] || b < before[1]:
			return fault(at, "entry (%d, %d) is below the one before it", a, b)
		case s != nil && (offset < s.Base || offset >= s.End):
			return fault(at, "entry has the offset %d, outside %d to %d of the log", offset, s.Base, s.End-1)
		case s != nil && (position < 0 || position >= s.Valid):
			return fault(at, "entry has the position %d, outside the %d bytes of the log", position, s.Valid)
		}
		before = [2]int64{a, b}
		return nil
	})
}
