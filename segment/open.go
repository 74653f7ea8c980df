package segment

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
)

// Open opens the segments of a partition that was closed, or begins a new one: the sealed segments in
// order, and the active one. The log is verified from the batch of the last index slot on. An index that
// does not have the length that its log demands, or whose last entry the log does not bear out, is
// rebuilt from the log, all of which is verified then. Bytes that are no valid batch give a
// *CorruptError: nothing is cut.
func Open(c Config) (sealed []View, active *LogSegment, err error) {
	c, err = c.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	bases, err := list(c.Storage)
	if err != nil {
		return nil, nil, err
	}
	if len(bases) == 0 {
		active, err = Create(c, 0)
		return nil, active, err
	}
	defer func() {
		if err != nil {
			for _, v := range sealed {
				err = errors.Join(err, v.Files.Close())
			}
			sealed, active = nil, nil
		}
	}()
	last := len(bases) - 1
	for i, base := range bases[:last] {
		v, err := reopen(c, base, false)
		if err != nil {
			return sealed, nil, err
		}
		sealed = append(sealed, v)
		if v.End != bases[i+1] {
			return sealed, nil, v.Files.corrupt(v.Size,
				fmt.Errorf("segment ends at offset %d, the next begins at %d", v.End, bases[i+1]))
		}
	}
	v, err := reopen(c, bases[last], true)
	if err != nil {
		return sealed, nil, err
	}
	return sealed, newLogSegment(v), nil
}

// list returns the base offsets of the segments in a storage, ascending.
func list(s Storage) ([]int64, error) {
	names, err := s.List()
	if err != nil {
		return nil, err
	}
	var bases []int64
	for _, name := range names {
		if base, ok := parseName(name); ok {
			bases = append(bases, base) // names sort as their numbers do
		}
	}
	return bases, nil
}

// reopen opens one segment; the active one gets room for all of its index slots.
func reopen(c Config, base int64, active bool) (v View, err error) {
	size, err := c.Storage.Size(Name(base))
	if err != nil {
		return View{}, err
	}
	used := slots(size, c.Interval)
	sound := true
	for _, suffix := range []string{indexSuffix, timeSuffix} {
		n, err := c.Storage.Size(fileName(base, suffix))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return View{}, err
		}
		if err != nil || n != used*entrySize {
			sound = false
			if err := c.Storage.Create(fileName(base, suffix)); err != nil {
				return View{}, err
			}
		}
	}
	room := used
	if active {
		// The segment size may have been lowered since: the log is whole then, and full.
		room = slots(max(size, c.Size), c.Interval)
	}
	files, err := openFiles(c, base, room, false)
	if err != nil {
		return View{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, files.Close())
		}
	}()
	v = View{Files: files, Size: size, End: base, MaxTimestamp: math.MinInt64}
	if sound && v.tail(used) == nil {
		return v, nil
	}
	// The log alone decides, also where an index that has the right length made no sense.
	err = v.rebuild()
	return v, err
}

var errIndex = errors.New("segment: the last index entry does not match the log")

// tail finds the end of a segment whose indexes are whole: from the batch of the last slot on.
func (v *View) tail(used int64) error {
	next, start := v.Files.base, int64(0)
	indexed := used * v.Files.config.Interval // the byte that the last slot stands for
	if used > 0 {
		var offset int64
		next, start = entryAt(v.Files.indexBytes, used)
		v.MaxTimestamp, offset = entryAt(v.Files.timeBytes, used)
		if offset != next || start > indexed {
			return errIndex
		}
	}
	return v.walk(start, next, &Cursor{}, func(b Batch, position int64) error {
		if used > 0 && position == start && (position+b.Size() <= indexed || b.MaxTimestamp() > v.MaxTimestamp) {
			return errIndex
		}
		v.End = b.NextOffset()
		v.MaxTimestamp = max(v.MaxTimestamp, b.MaxTimestamp())
		return nil
	})
}

// rebuild derives both indexes from the log.
func (v *View) rebuild() error {
	s := newLogSegment(View{Files: v.Files, End: v.Files.base, MaxTimestamp: math.MinInt64})
	if err := v.Walk(&Cursor{}, func(b Batch, _ int64) error {
		s.index(b)
		return nil
	}); err != nil {
		return err
	}
	*v = s.written
	return nil
}

// Close seals the active segment at the end of its view and releases all. No other call may overlap or
// follow it.
func Close(sealed []View, active View) error {
	err := active.Files.Seal(active.Size)
	for _, v := range sealed {
		err = errors.Join(err, v.Files.Close())
	}
	return errors.Join(err, active.Files.Close())
}

// Scan reads every log of a storage from its first byte to its last, in the order of their base
// offsets, without their indexes and without changing anything, and calls visit for each batch with
// the name of its file and its position there. Frames and checksums are verified; that offsets follow
// each other is left to visit. The batch is valid during the call, and an error from visit ends the
// scan. Bytes that are no valid batch give a *CorruptError.
func Scan(s Storage, visit func(file string, b Batch, position int64) error) error {
	bases, err := list(s)
	if err != nil {
		return err
	}
	var c Cursor
	for _, base := range bases {
		if err := scanLog(s, base, &c, visit); err != nil {
			return err
		}
	}
	return nil
}

func scanLog(s Storage, base int64, c *Cursor, visit func(file string, b Batch, position int64) error) (err error) {
	name := Name(base)
	log, err := s.OpenLog(name, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	size, err := log.Size()
	if err != nil {
		return err
	}
	v := View{Files: &Files{config: Config{Storage: s}, base: base, log: log}, Size: size}
	return v.scan(0, c, func(b Batch, position int64) error {
		if err := b.CheckCRC(); err != nil {
			return err
		}
		return visit(name, b, position)
	})
}
