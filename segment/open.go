package segment

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Partition is what Open finds: the sealed segments in order, the active one, and the checkpoint.
type Partition struct {
	Sealed     []View
	Active     *LogSegment
	Checkpoint *Checkpoint
	Recovery   Recovery
}

// Recovery says what Open has found and done.
type Recovery struct {
	// Clean: the partition was closed in order, or is new. Its logs were not read.
	Clean bool
	// Point is the recovery point that was found. Below it nothing may be missing or damaged.
	Point Point
	// Scanned is the number of bytes of log that were verified.
	Scanned int64
	// Cut is what was dropped from the end of the log, nil if nothing was.
	Cut *Cut
	// Removed names the leftovers of a roll, a trim or an earlier recovery that a crash has cut short.
	Removed []string
}

// Cut is the end of a log that recovery has dropped: bytes that were never synced, from the first on
// that is no valid batch.
type Cut struct {
	File     string // the log that was cut
	Position int64  // where it ends now
	Offset   int64  // log end offset now
	Bytes    int64  // dropped, in that log and in the segments behind it, which were removed whole
	Segments []string
	Cause    error // why the first batch that was dropped is none
}

// String says it in one line.
func (c *Cut) String() string {
	return fmt.Sprintf("%s was cut at byte %d, offset %d, and %d bytes dropped: %v", c.File, c.Position, c.Offset, c.Bytes, c.Cause)
}

// Open opens the segments of a partition, or begins a new one.
//
// After a close in order it compares sizes only; indexes are verified on their first use. Otherwise it reads
// all logs and makes their indexes again. Bytes below the recovery point that are no valid batch, and
// segments that are missing there, give a *CorruptError, and no log is changed. At or above it, the log is
// cut at the first bad batch, even if valid ones follow, and what was dropped is in Recovery.Cut. Open can
// be repeated after any failure or crash.
//
// What no crash of this store can leave, that of another writer above all, gives a *ForeignError, and nothing in the
// storage is touched.
func Open(c Config) (*Partition, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	o := opening{config: c}
	if err = o.survey(); err == nil {
		err = o.open()
	}
	if err != nil {
		for _, v := range o.views {
			err = errors.Join(err, v.Files.release())
		}
		if o.checkpoint != nil {
			err = errors.Join(err, o.checkpoint.mapping.Close())
		}
		return nil, err
	}
	last := len(o.views) - 1
	return &Partition{
		Sealed:     o.views[:last:last],
		Active:     newLogSegment(o.views[last]),
		Checkpoint: o.checkpoint,
		Recovery:   o.recovery,
	}, nil
}

// opening is an Open while it goes on: a survey, which changes nothing, and what follows from it.
type opening struct {
	config     Config
	found      *found
	checkpoint *Checkpoint
	names      []string // of all files
	bases      []int64  // of all segments that are not trimmed
	trimmed    []int64  // of those that are, but are still there
	point      Point
	scans      []*scanned // of the logs that were read and stay, up to the one that is cut
	views      []View     // of the segments so far
	recovery   Recovery
}

// survey finds out what there is, and whether it is to be opened at all.
func (o *opening) survey() (err error) {
	if o.found, err = look(o.config.Storage); err != nil {
		return err
	}
	if err := o.list(); err != nil {
		return err
	}
	for _, base := range o.trimmed {
		if err := o.examine(base); err != nil {
			return err
		}
	}
	if mark := o.found.mark; len(o.bases) > 0 && mark != nil && mark.point() == o.point {
		if o.recovery.Clean, err = mark.matches(o.config, o.bases); err != nil {
			return err
		}
	}
	if o.recovery.Clean {
		return nil
	}
	return o.scan()
}

func (o *opening) open() (err error) {
	if o.checkpoint, err = openCheckpoint(o.config.Storage); err != nil {
		return err
	}
	switch {
	case len(o.bases) == 0:
		err = o.create()
	case o.recovery.Clean:
		err = o.reopen(o.found.mark)
	default:
		err = o.recover()
	}
	if err != nil {
		return err
	}
	return o.finish()
}

// list finds the segments, and what is known of them.
func (o *opening) list() error {
	o.names = o.found.names
	o.bases = segmentBases(o.names)
	start, point := bounds(o.found.start, o.found.point, o.bases, o.found.mark)
	if o.found.start.known {
		n, found := slices.BinarySearch(o.bases, start.Base)
		o.trimmed, o.bases = o.bases[:n], o.bases[n:]
		if !found && (len(o.trimmed) > 0 || len(o.bases) > 0) {
			return corrupt(start.Base, 0, errMissing)
		}
	}
	o.point, o.recovery.Point = point, point
	if _, found := slices.BinarySearch(o.bases, point.Base); !found && point != start {
		return corrupt(point.Base, 0, errMissing)
	}
	return nil
}

// bounds are the log start and the recovery point of a partition with these slots, segments and mark. A log
// whose start is not known begins with its first segment. Where the recovery point is lost, a mark still says
// what was durable, also one that is out of date.
func bounds(startSlots, pointSlots slots2, bases []int64, mark *cleanMark) (start, point Point) {
	start, point = startSlots.value, pointSlots.value
	if !startSlots.known && len(bases) > 0 {
		start = Point{Base: bases[0], Offset: bases[0]}
	}
	if !pointSlots.known && mark != nil {
		point = mark.point()
	}
	if !pointSlots.known && mark == nil || point.Base < start.Base {
		// Of what lies below the start, nothing is left to be bad.
		point = start
	}
	return start, point
}

var errMissing = errors.New("the segment is missing")

// segmentBases are the base offsets of all logs, ascending.
func segmentBases(names []string) []int64 {
	var bases []int64
	for _, name := range names {
		if base, ok := parseName(name); ok {
			bases = append(bases, base)
		}
	}
	slices.Sort(bases)
	return bases
}

// create begins the first segment.
func (o *opening) create() error {
	base := o.point.Base
	if err := o.removeLeftovers(); err != nil {
		return err
	}
	files, err := createFiles(o.config, base)
	if err != nil {
		return err
	}
	o.recovery.Clean = true
	o.views = []View{{Files: files, End: base, MaxTimestamp: math.MinInt64}}
	return nil
}

// reopen opens segments that were closed in order.
func (o *opening) reopen(mark *cleanMark) error {
	for i, s := range mark.segments {
		active := i == len(mark.segments)-1
		sound, err := o.prepareIndexes(s.base, s.size)
		if err != nil {
			return err
		}
		files, err := openFiles(o.config, s.base, o.room(s.size, active), false)
		if err != nil {
			return err
		}
		files.sums = s.sums
		v := View{Files: files, Size: s.size, End: s.end, MaxTimestamp: s.maxTimestamp}
		o.views = append(o.views, v)
		if active || !sound {
			// Writers fill the mappings of the active segment, so that they can't wait for the first use.
			ix, err := v.indexes(&Cursor{})
			if err != nil {
				return err
			}
			files.install(ix)
		}
	}
	return nil
}

// room is the number of index slots that a segment needs. The segment size may have been lowered since an
// active one was written: it is whole then, and full.
func (o *opening) room(size int64, active bool) int64 {
	if active {
		size = max(size, o.config.Size)
	}
	return slots(size, o.config.Interval)
}

// prepareIndexes makes index files empty whose length is not that of a segment with size bytes of log.
func (o *opening) prepareIndexes(base, size int64) (sound bool, err error) {
	sound = true
	for _, suffix := range []string{indexSuffix, timeSuffix} {
		name := fileName(base, suffix)
		n := int64(-1)
		if _, there := slices.BinarySearch(o.names, name); there {
			if n, err = o.config.Storage.Size(name); err != nil {
				return false, err
			}
		}
		if n != slots(size, o.config.Interval)*entrySize {
			sound = false
			if err := o.config.Storage.Create(name); err != nil {
				return false, err
			}
		}
	}
	return sound, nil
}

// install stores indexes in the mappings, for a segment that nobody else uses yet.
func (f *Files) install(ix *indexes) {
	copy(f.mapped.offsets, ix.offsets)
	copy(f.mapped.times, ix.times)
	clear(f.mapped.offsets[len(ix.offsets):])
	clear(f.mapped.times[len(ix.times):])
	f.trusted.Store(&f.mapped)
}

// finish leaves the storage as a partition that is open.
func (o *opening) finish() error {
	if err := o.removeLeftovers(); err != nil {
		return err
	}
	if o.recovery.Clean && o.checkpoint.start.known {
		return nil
	}
	if err := o.config.Storage.SyncDir(); err != nil {
		return err
	}
	last := len(o.views) - 1
	if err := o.checkpoint.Sync(o.views[:last], o.views[last]); err != nil {
		return err
	}
	return o.checkpoint.SetStart(o.views[0].Base())
}

// removeLeftovers removes, once, segments below the start, indexes without a log, and the clean mark, which is no
// longer true.
func (o *opening) removeLeftovers() error {
	s := o.config.Storage
	for _, base := range o.trimmed {
		if err := removeFiles(s, base); err != nil {
			return err
		}
		o.recovery.Removed = append(o.recovery.Removed, Name(base))
	}
	for _, name := range o.names {
		switch {
		case name == cleanFile:
			if err := s.Remove(name); err != nil {
				return err
			}
		case name == cleanFileNew, o.orphaned(name):
			if err := s.Remove(name); err != nil {
				return err
			}
			o.recovery.Removed = append(o.recovery.Removed, name)
		}
	}
	o.trimmed, o.names = nil, nil
	return nil
}

// orphaned reports whether a file is the index of no log.
func (o *opening) orphaned(name string) bool {
	for _, suffix := range []string{indexSuffix, timeSuffix} {
		if base, ok := baseOf(name, suffix); ok {
			_, there := slices.BinarySearch(o.names, Name(base))
			return !there
		}
	}
	return false
}

// Close seals the active segment at the end of its view and releases segments that have no checkpoint. No
// other call may overlap or follow it.
func Close(sealed []View, active View) error {
	return errors.Join(active.Files.sealLog(active.Size), closeFiles(sealed, active), active.Files.cutIndexes(active.Size))
}

func closeFiles(sealed []View, active View) error {
	var err error
	for _, v := range sealed {
		err = errors.Join(err, v.Files.Close())
	}
	return errors.Join(err, active.Files.Close())
}
