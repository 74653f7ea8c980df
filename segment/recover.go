package segment

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

var (
	errShortLog = errors.New("the log ends before the recovery point")
	errNoJoin   = errors.New("the next segment does not begin where this one ends")
)

// recover reads every log, makes its indexes again, and cuts the log where it is no longer sound. Nothing
// but indexes is changed before all of it is known to be possible.
func (o *opening) recover() error {
	last := len(o.bases) - 1
	for i, base := range o.bases {
		s, err := o.scanLog(base)
		if err != nil {
			return err
		}
		if i < last && s.bad == nil && s.End != o.bases[i+1] {
			s.bad = errNoJoin
		}
		damaged := o.point.below(base, s.Size)
		if i == last && s.bad == nil && damaged {
			s.bad = errShortLog
		}
		if s.bad != nil && damaged {
			return errors.Join(corrupt(base, s.Size, s.bad), s.Files.release())
		}
		o.views = append(o.views, s.View)
		if err := o.reindex(s, i == last || s.bad != nil); err != nil {
			return err
		}
		if s.bad != nil {
			return o.cut(s, o.bases[i+1:])
		}
	}
	return nil
}

// scanned is the valid start of a log, whose indexes are not mapped yet.
type scanned struct {
	View
	indexes  indexes
	fileSize int64
	bad      error // why the batch behind the valid ones is none; nil at the end of the file
}

// scanLog finds the valid batches at the start of a log, and makes their index entries.
func (o *opening) scanLog(base int64) (s *scanned, err error) {
	log, err := o.config.Storage.OpenLog(Name(base), false)
	if err != nil {
		return nil, err
	}
	files := &Files{config: o.config, base: base, log: log}
	s = &scanned{View: View{Files: files, End: base, MaxTimestamp: math.MinInt64}}
	defer func() {
		if err != nil {
			err = errors.Join(err, files.release())
		}
	}()
	if s.fileSize, err = log.Size(); err != nil {
		return nil, err
	}
	if s.fileSize > MaxSize {
		return nil, fmt.Errorf("segment: %s has %d bytes, and a segment has at most %d", Name(base), s.fileSize, MaxSize)
	}
	whole := View{Files: files, Size: s.fileSize, End: -1}
	s.indexes, s.Size, err = whole.index(&Cursor{}, func(b Batch) {
		s.End = b.NextOffset()
		s.MaxTimestamp = max(s.MaxTimestamp, b.MaxTimestamp())
	})
	o.recovery.Scanned += s.Size
	var bad *CorruptError
	if errors.As(err, &bad) {
		s.bad, err = bad.Cause, nil
	}
	return s, err
}

// reindex gives a scanned segment its indexes.
func (o *opening) reindex(s *scanned, active bool) error {
	if _, err := o.prepareIndexes(s.Base(), s.Size); err != nil {
		return err
	}
	if err := s.Files.mapIndexes(o.room(s.Size, active), false); err != nil {
		return err
	}
	s.Files.sums = s.indexes.sums()
	s.Files.install(&s.indexes)
	return nil
}

// cut drops what lies behind the valid start of a log. Segments are removed from the last on, so that what is left ends where
// the log is bad until it is truncated.
func (o *opening) cut(s *scanned, behind []int64) error {
	cut := &Cut{File: Name(s.Base()), Position: s.Size, Offset: s.End, Bytes: s.fileSize - s.Size, Cause: s.bad}
	for _, base := range slices.Backward(behind) {
		size, err := o.config.Storage.Size(Name(base))
		if err != nil {
			return err
		}
		if err := removeFiles(o.config.Storage, base); err != nil {
			return err
		}
		cut.Bytes += size
		cut.Segments = append(cut.Segments, Name(base))
	}
	slices.Reverse(cut.Segments)
	o.recovery.Cut = cut
	return s.Files.log.Truncate(s.Size)
}
