package segment

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
)

var (
	errShortLog = errors.New("the log ends before the recovery point")
	errNoJoin   = errors.New("the next segment does not begin where this one ends")
)

// scan reads every log, and decides where the log ends and whether that can be what a crash has left. It changes
// nothing.
func (o *opening) scan() error {
	for i, base := range o.bases {
		if n := len(o.scans); n > 0 && o.scans[n-1].bad != nil {
			if err := o.examine(base); err != nil {
				return err
			}
			continue
		}
		s, err := o.scanLog(base)
		if err != nil {
			return err
		}
		o.scans, o.views = append(o.scans, s), append(o.views, s.View)
		o.recovery.Scanned += s.Size
		if err := o.judge(s, o.bases[i+1:]); err != nil {
			return err
		}
	}
	if o.found.proven() {
		return nil
	}
	for _, name := range o.names { // indexes without a log are what a first Open has left, and are empty
		if base, ok := baseOf(name, kindOf(name)); ok && o.orphaned(name) {
			if err := o.found.checkIndexes(o.config.Storage, base, 0, base); err != nil {
				return err
			}
		}
	}
	return nil
}

// judge says whether a log that was read is damaged or foreign, with the segments behind it.
func (o *opening) judge(s *scanned, behind []int64) error {
	name := Name(s.Base())
	damaged := o.point.below(s.Base(), s.Size)
	switch {
	case s.bad != nil:
	case len(behind) == 0 && damaged:
		s.bad = errShortLog
	case len(behind) > 0 && s.End != behind[0]:
		s.bad = errNoJoin
		if s.End > behind[0] && !damaged {
			return foreign(Name(behind[0]), 0, "the segment begins at offset %d, and the one before it ends at %d", behind[0], s.End)
		}
	}
	switch {
	case s.bad != nil && damaged:
		return corrupt(s.Base(), s.Size, s.bad)
	case s.strange != nil:
		return foreign(name, s.Size, "%w", s.strange)
	case o.found.proven():
		return nil
	case s.bad != nil:
		return foreign(name, s.Size, "%w, in a directory without a recovery point", s.bad)
	default:
		return o.found.checkIndexes(o.config.Storage, s.Base(), s.Size, s.End)
	}
}

// examine reads a log that is to be removed, for what no crash can have left.
func (o *opening) examine(base int64) error {
	s, err := o.scanLog(base)
	if err != nil {
		return err
	}
	if s.strange != nil {
		err = foreign(Name(base), s.Size, "%w", s.strange)
	}
	return errors.Join(err, s.Files.release())
}

// recover makes the indexes of the logs again, and cuts the log where it is no longer sound.
func (o *opening) recover() error {
	last := len(o.scans) - 1
	for i, s := range o.scans {
		if err := o.reindex(s, i == last); err != nil {
			return err
		}
	}
	if s := o.scans[last]; s.bad != nil {
		return o.cut(s, o.bases[last+1:])
	}
	return nil
}

// scanned is the valid start of a log, whose indexes are not mapped yet.
type scanned struct {
	View
	indexes  indexes
	intact   bool // the index files have just that, so that indexes is empty
	fileSize int64
	bad      error // why the batch behind the valid ones is none; nil at the end of the file
	strange  error // why no crash can have left that; nil where one can
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
		return nil, foreign(Name(base), MaxSize, "the file has %d bytes, and a segment at most %d", s.fileSize, MaxSize)
	}
	whole := View{Files: files, Size: s.fileSize, End: -1}
	s.indexes, s.Size, err = whole.index(&Cursor{}, func(b Batch) error {
		if err := b.checkCount(); err != nil {
			return err
		}
		s.End = b.NextOffset()
		s.MaxTimestamp = max(s.MaxTimestamp, b.MaxTimestamp())
		return nil
	})
	if bad, is := errors.AsType[*CorruptError](err); is {
		s.bad = bad.Cause
		s.strange, err = strange(&storedFile{logReaderAt{context.Background(), log}, nil, s.fileSize}, s.Size, s.End)
	}
	if err == nil {
		err = o.compare(s)
	}
	return s, err
}

// compare forgets the indexes that were made from a log if they are in their files: all of them would take a 128th
// of the logs in memory, until it is known that they may be stored.
func (o *opening) compare(s *scanned) error {
	s.Files.sums = s.indexes.sums()
	files := storedFiles{context.Background(), o.config.Storage}
	for i, want := range [][]byte{s.indexes.offsets, s.indexes.times} {
		name := fileName(s.Base(), []string{indexSuffix, timeSuffix}[i])
		if !o.found.has(name) {
			return nil
		}
		p, size, err := files.all(name, int64(len(want)))
		if err != nil || size != int64(len(want)) || !bytes.Equal(p, want) {
			return err
		}
	}
	s.indexes, s.intact = indexes{}, true
	return nil
}

// reindex gives a scanned segment its indexes.
func (o *opening) reindex(s *scanned, active bool) error {
	if _, err := o.prepareIndexes(s.Base(), s.Size); err != nil {
		return err
	}
	if err := s.Files.mapIndexes(o.room(s.Size, active), false); err != nil {
		return err
	}
	if s.intact {
		s.Files.trusted.Store(&s.Files.mapped)
	} else {
		s.Files.install(&s.indexes)
		s.indexes = indexes{}
	}
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
