package segment

import "errors"

// Scan reads every log of a storage from its first byte to its last, in the order of their base
// offsets, without their indexes and without changing anything, and calls visit for each batch with
// the name of its file and its position there. Frames and checksums are verified; that offsets follow
// each other is left to visit. The batch is valid during the call, and an error from visit ends the
// scan. Bytes that are no valid batch give a *CorruptError.
func Scan(s Storage, visit func(file string, b Batch, position int64) error) error {
	names, err := s.List()
	if err != nil {
		return err
	}
	var c Cursor
	for _, base := range segmentBases(names) {
		if err := scanLog(s, base, &c, visit); err != nil {
			return err
		}
	}
	return nil
}

// ScanSegment is Scan for the one segment that begins at an offset. It may run beside appends to others:
// the segment must be sealed.
func ScanSegment(s Storage, base int64, visit func(file string, b Batch, position int64) error) error {
	var c Cursor
	return scanLog(s, base, &c, visit)
}

// Bases returns the offsets at which the segments of a storage begin, ascending.
func Bases(s Storage) ([]int64, error) {
	names, err := s.List()
	return segmentBases(names), err
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
	v := View{Files: &Files{config: Config{Storage: s}, base: base, log: log}, Size: size, End: -1}
	return v.scan(0, -1, c, func(b Batch, position int64) error {
		if err := b.CheckCRC(); err != nil {
			return err
		}
		return visit(name, b, position)
	})
}
