package segment

import (
	"errors"
	"math"
)

// LogSegment is the append side of the active segment for a single owner: no two of its calls may
// overlap. Readers use the views that Publish returns; a batch is visible to them only once its
// owner has handed such a view out, so that the owner decides what comes first (a sync, say).
type LogSegment struct {
	files *Files

	// written is the log that has been written, added has the queued batches beside it.
	written View
	added   View
	batches []Batch
}

// Create begins an empty segment.
func Create(c Config, base int64) (*LogSegment, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	files, err := createFiles(c, base)
	if err != nil {
		return nil, err
	}
	return newLogSegment(View{Files: files, End: base, MaxTimestamp: math.MinInt64}), nil
}

func newLogSegment(v View) *LogSegment {
	return &LogSegment{files: v.Files, written: v, added: v}
}

// Files gives the segment's files, for writers who coordinate among themselves.
func (s *LogSegment) Files() *Files { return s.files }

// Add stamps a checked batch with the next offset and queues it for Write; false, and nothing
// happens, if the segment has no room, or no offsets are left (Batch.Overflows). The batch must stay as it
// is until Write has returned.
func (s *LogSegment) Add(b Batch) (base int64, ok bool) {
	base = s.added.End
	if !s.files.Fits(b, s.added.Size, base-s.files.base) {
		return 0, false
	}
	b.Stamp(base)
	s.batches = append(s.batches, b)
	s.added.Size += int64(len(b))
	s.added.End = b.NextOffset()
	s.added.MaxTimestamp = max(s.added.MaxTimestamp, b.MaxTimestamp())
	return base, true
}

// Write writes the queued batches, in one call to the system where there are several, and sets their
// index entries. After an error the segment must take no more appends: what Publish returns is still
// the log before the failed call.
func (s *LogSegment) Write() error {
	var err error
	switch len(s.batches) {
	case 0:
	case 1:
		err = s.files.log.Pwrite(s.batches[0], s.written.Size)
	default:
		err = s.files.log.PwriteBatches(s.batches, s.written.Size)
	}
	if err == nil {
		for _, b := range s.batches {
			s.index(b)
		}
	}
	clear(s.batches) // keeps no caller's batch alive
	s.batches = s.batches[:0]
	return err
}

// index accounts for a batch behind the written log.
func (s *LogSegment) index(b Batch) {
	w := &s.written
	start, end := w.Size, w.Size+int64(len(b))
	w.Size, w.End = end, b.NextOffset()
	w.MaxTimestamp = max(w.MaxTimestamp, b.MaxTimestamp())
	s.files.SetIndex(b.BaseOffset(), start, end)
	s.files.SetTime(w.MaxTimestamp, b.BaseOffset(), start, end)
}

// End is the offset that the next batch gets, queued ones counted.
func (s *LogSegment) End() int64 { return s.added.End }

// Publish returns the view of everything that has been written.
func (s *LogSegment) Publish() View { return s.written }

// Roll seals the segment, in which nothing may be queued, and begins the next one at its end. Views
// stay readable.
func (s *LogSegment) Roll() (*LogSegment, error) {
	return s.written.Roll()
}

// Roll is LogSegment.Roll for writers who coordinate among themselves: the view is all that will ever be
// written to the segment. It must not overlap a write.
func (v View) Roll() (*LogSegment, error) {
	next, err := Create(v.Files.config, v.End)
	if err != nil {
		return nil, err
	}
	if err := v.Files.Seal(v.Size); err != nil {
		return nil, errors.Join(err, Remove([]View{next.written}))
	}
	return next, nil
}
