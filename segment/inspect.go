package segment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// ErrNoLog: there is nothing to inspect, since a storage or a file holds no log.
var ErrNoLog = errors.New("segment: no log")

// InspectOptions say what Inspect and Verify look at. The zero value is the whole storage.
type InspectOptions struct {
	// File is the name of the one file to look at: a log under any name, one of the two indexes, or
	// one of the small files of a partition. What belongs to it is consulted where it is there.
	File string
	// Records asks Inspect for each record, too.
	Records bool
	// Interval is the number of bytes between index slots, by default DefaultInterval. Where a
	// partition was closed in order, it is known, and this is not looked at.
	Interval int64
}

// Item is one thing that Inspect finds: a *Directory, *Segment, *StoredBatch, *StoredRecord,
// *IndexEntry, *TimeIndexEntry, *CheckpointSlot, *CleanSegment or *Fault.
type Item interface{ item() }

func (*Directory) item()      {}
func (*Segment) item()        {}
func (*StoredBatch) item()    {}
func (*StoredRecord) item()   {}
func (*IndexEntry) item()     {}
func (*TimeIndexEntry) item() {}
func (*CheckpointSlot) item() {}
func (*CleanSegment) item()   {}
func (*Fault) item()          {}

// Effect is what a fault means for a partition.
type Effect int

// The effects.
const (
	// Unknown: there is no recovery point, so that nobody knows what was durable.
	Unknown Effect = iota
	// Damage: it was durable. A read gives an error, and after a crash the partition does not open.
	Damage
	// Dropped: the next open cuts the log there.
	Dropped
	// Kept: its checksum is right, so that it was written that way, and an open keeps it.
	Kept
	// Rebuilt: the next open, or the first use, makes the index again from the log.
	Rebuilt
	// Reread: the next open does not trust it, and reads all logs.
	Reread
	// Removed: the next open removes the file.
	Removed
	// Refused: no crash leaves that, so that the next open fails, and changes nothing.
	Refused
)

// String names it: unknown, damage, dropped, kept, rebuilt, reread, removed or refused.
func (e Effect) String() string {
	switch e {
	case Damage:
		return "damage"
	case Dropped:
		return "dropped"
	case Kept:
		return "kept"
	case Rebuilt:
		return "rebuilt"
	case Reread:
		return "reread"
	case Removed:
		return "removed"
	case Refused:
		return "refused"
	default:
		return "unknown"
	}
}

// Meaning says it to people.
func (e Effect) Meaning() string {
	switch e {
	case Damage:
		return "below the recovery point: it was durable, so this is damage"
	case Dropped:
		return "not below the recovery point: the next open cuts the log there"
	case Kept:
		return "it was written that way, and an open keeps it"
	case Rebuilt:
		return "an open makes the index again from the log"
	case Reread:
		return "the next open does not rely on it and reads all logs"
	case Removed:
		return "the next open removes it"
	case Refused:
		return "no crash leaves that: the next open fails, and changes nothing"
	default:
		return "there is no recovery point that says whether it was durable"
	}
}

// Fault is a place that is not as it should be. As an error it wraps ErrCorrupt and the cause.
type Fault struct {
	File     string // name in its storage
	Position int64  // byte position in the file
	Cause    error
	Effect   Effect
}

func (f *Fault) Error() string {
	return fmt.Sprintf("segment: %s: byte %d: %v; %s", f.File, f.Position, f.Cause, f.Effect.Meaning())
}

// Unwrap gives ErrCorrupt and the cause.
func (f *Fault) Unwrap() []error { return []error{ErrCorrupt, f.Cause} }

// Inspect reads a storage, changing nothing, and calls visit for what is there, in order: the Directory;
// then for each log the Segment, its batches, each followed by its records if they are asked for, and the
// entries of both indexes. With a File it begins at the segment. It works on logs of other writers too.
//
// A batch with a bad checksum is visited like any other. Bytes that are no batch are visited as a *Fault, in
// their place, and what lies behind them in that log is left out: such a fault, the first of them, comes
// back when all else has been visited. Items are valid during the call. An error from visit ends
// the inspection.
//
// The partition may be open meanwhile; what is being written then may look like a fault. Other errors: those
// of the storage, ErrNoLog, and that of the context when it ends, which is looked at between reads.
func Inspect(ctx context.Context, s Storage, o InspectOptions, visit func(Item) error) error {
	in, err := newInspection(ctx, s, o, visit)
	if err != nil {
		return err
	}
	if o.File == "" {
		err = in.storage()
	} else {
		err = in.file(o.File)
	}
	if err == nil && in.fault != nil {
		err = in.fault
	}
	return err
}

// inspection is an Inspect or a Verify while it goes on.
type inspection struct {
	storedFiles
	options InspectOptions
	visit   func(Item) error
	state   *state
	fault   *Fault // the first that ended a log
}

func newInspection(ctx context.Context, s Storage, o InspectOptions, visit func(Item) error) (*inspection, error) {
	files := storedFiles{ctx, s}
	state, err := files.state(o.Interval)
	if err != nil {
		return nil, err
	}
	if o.File == "" && len(state.bases) == 0 && !state.ours {
		return nil, fmt.Errorf("%w: no file is named like 00000000000000000000%s", ErrNoLog, logSuffix)
	}
	if o.File != "" && !slices.Contains(state.names, o.File) {
		return nil, fmt.Errorf("segment: %s: %w", o.File, fs.ErrNotExist)
	}
	return &inspection{storedFiles: files, options: o, visit: visit, state: state}, nil
}

func (in *inspection) storage() error {
	segments := make([]*Segment, len(in.state.bases))
	for i, base := range in.state.bases {
		var err error
		if segments[i], err = in.survey(Name(base)); err != nil {
			return err
		}
	}
	if err := in.visit(in.state.directory(segments)); err != nil {
		return err
	}
	for _, s := range segments {
		if err := in.segment(s); err != nil {
			return err
		}
	}
	return nil
}

// file inspects one file.
func (in *inspection) file(name string) error {
	switch kind := kindOf(name); {
	case name == pointFile:
		return in.slotsOf()
	case name == cleanFile:
		return in.clean()
	case kind == indexSuffix, kind == timeSuffix:
		s, err := in.beside(name)
		if err != nil {
			return err
		}
		x, err := in.indexFile(name, s)
		if err != nil {
			return err
		}
		return in.entries(x)
	case kind != logSuffix:
		if err := in.recognise(name); err != nil {
			return err
		}
	}
	s, err := in.survey(name)
	if err != nil {
		return err
	}
	return in.segment(s)
}

// recognise refuses a file that does not look like a log and is not named like one.
func (in *inspection) recognise(name string) error {
	log, err := in.open(name)
	if err != nil {
		return err
	}
	defer log.Close()
	w := logWalker{file: log}
	if _, err := w.next(0); err != nil {
		return fmt.Errorf("%w: %s neither begins with a batch nor is named as a file of a log", ErrNoLog, name)
	}
	return nil
}

func (in *inspection) segment(s *Segment) error {
	if err := in.visit(s); err != nil {
		return err
	}
	if err := in.batches(s); err != nil {
		return err
	}
	for _, x := range []IndexFile{s.Index, s.TimeIndex} {
		if x.Format == Missing {
			continue
		}
		if err := in.entries(x); err != nil {
			return err
		}
	}
	return nil
}

// ends keeps a fault behind which a log is not read, and visits it.
func (in *inspection) ends(f *Fault) error {
	if in.fault == nil {
		in.fault = f
	}
	return in.visit(f)
}
