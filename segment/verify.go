package segment

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Verified is what a Verify has found to be sound.
type Verified struct {
	Segments int
	Batches  int64
	Records  int64 // those of compressed batches as their headers say
	Bytes    int64 // of logs
}

// Verify reads a storage, changing nothing, and compares all that is known of it: frames, checksums, records
// and offsets of the logs, the indexes with what the logs give, the recovery point, the log start and the
// mark of a clean close; and whether files are missing or left over. With a File it verifies that one and what it
// can be compared with. The first thing that is wrong comes back as a *Fault; other errors are as for Inspect.
//
// Logs of other writers may have gaps, and leader epochs, as compaction and leaders leave them, and zeros
// at their end; their records have ascending offsets, and their indexes ascend and stay inside the log.
func Verify(ctx context.Context, s Storage, o InspectOptions) (Verified, error) {
	in, err := newInspection(ctx, s, o, func(Item) error { return nil })
	if err != nil {
		return Verified{}, err
	}
	v := verification{inspection: in}
	if o.File == "" {
		err = v.storage()
	} else {
		err = v.file(o.File)
	}
	return v.sound, err
}

// verification is a Verify while it goes on.
type verification struct {
	*inspection
	sound Verified
}

func (v *verification) storage() error {
	st := v.state
	if !st.ours && st.has(cleanFile) {
		return &Fault{File: pointFile, Cause: errNoFile, Effect: Reread}
	}
	if st.ours {
		if err := v.checkpoint(); err != nil {
			return err
		}
		if err := v.cleanMark(); err != nil {
			return err
		}
		if err := v.missing(); err != nil {
			return err
		}
	}
	end := int64(-1)
	for _, base := range st.live() {
		var err error
		if end, err = v.log(Name(base), end); err != nil {
			return err
		}
	}
	if err := v.markedSegments(); err != nil {
		return err
	}
	return v.leftovers()
}

// live are the segments that are not trimmed.
func (st *state) live() []int64 {
	if !st.ours {
		return st.bases
	}
	n, _ := slices.BinarySearch(st.bases, st.startOffset)
	return st.bases[n:]
}

// file verifies one file.
func (v *verification) file(name string) error {
	switch kind := kindOf(name); {
	case name == pointFile:
		return v.checkpoint()
	case name == cleanFile:
		_, fault, err := v.readMark()
		if fault != nil {
			return fault
		}
		return err
	case kind == indexSuffix, kind == timeSuffix:
		return v.index(name)
	case kind != logSuffix:
		if err := v.recognise(name); err != nil {
			return err
		}
	}
	_, err := v.log(name, -1)
	return err
}

// index verifies an index with its log, or by itself where that is not there.
func (v *verification) index(name string) error {
	if log := logBeside(name); v.state.has(log) {
		_, err := v.log(log, -1)
		return err
	}
	x, err := v.indexFile(name, nil)
	if err != nil {
		return err
	}
	return v.ascends(&x, nil)
}

// missing finds that segments are not there, as Open does.
func (v *verification) missing() error {
	st := v.state
	start := Point{Base: st.startOffset, Offset: st.startOffset}
	for _, p := range []Point{start, st.pointAt} {
		known := p != start || len(st.bases) > 0
		if _, found := slices.BinarySearch(st.bases, p.Base); !found && known {
			return &Fault{File: Name(p.Base), Cause: errMissing, Effect: Damage}
		}
	}
	if len(st.bases) == 0 {
		return fmt.Errorf("%w: there is a recovery point, and no segment yet", ErrNoLog)
	}
	return nil
}

var (
	errTrimmed  = errors.New("left over from a trim: it lies below the log start")
	errOrphaned = errors.New("left over: an index without a log")
	errHalfMark = errors.New("left over from a close that was cut short")
)

// leftovers finds files that an open removes.
func (v *verification) leftovers() error {
	st := v.state
	if !st.ours {
		return nil
	}
	for _, name := range st.names {
		var cause error
		base, isLog := parseName(name)
		switch {
		case isLog && base < st.startOffset:
			cause = errTrimmed
		case name == cleanFileNew:
			cause = errHalfMark
		case (&opening{names: st.names}).orphaned(name):
			cause = errOrphaned
		default:
			continue
		}
		return &Fault{File: name, Cause: cause, Effect: Removed}
	}
	return nil
}
