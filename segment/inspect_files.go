package segment

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// storedFiles opens files of a storage for looking only, during one call.
type storedFiles struct {
	ctx     context.Context
	storage Storage
}

// storedFile is a file with the size that it had when it was opened.
type storedFile struct {
	io.ReaderAt
	io.Closer
	size int64
}

// open reads with pread where the storage lets it. A mapping would die under a file that somebody cuts.
func (s storedFiles) open(name string) (*storedFile, error) {
	log, err := s.storage.OpenLog(name, false)
	if errors.Is(err, fs.ErrNotExist) {
		return s.openIndex(name)
	}
	if err != nil {
		return nil, err
	}
	size, err := log.Size()
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return &storedFile{logReaderAt{s.ctx, log}, log, size}, nil
}

// openIndex copies the bytes of a storage that has indexes in memory alone.
func (s storedFiles) openIndex(name string) (*storedFile, error) {
	size, err := s.storage.Size(name)
	if err != nil {
		return nil, err
	}
	p := []byte{}
	if size > 0 {
		m, err := s.storage.MapIndex(name, size, false)
		if err != nil {
			return nil, err
		}
		p = bytes.Clone(m.Bytes())
		if err := m.Close(); err != nil {
			return nil, err
		}
	}
	return &storedFile{bytes.NewReader(p), io.NopCloser(nil), size}, nil
}

// all is the content of a small file, at most limit bytes of it.
func (s storedFiles) all(name string, limit int64) (p []byte, size int64, err error) {
	f, err := s.open(name)
	if err != nil {
		return nil, 0, err
	}
	p, err = io.ReadAll(io.NewSectionReader(f, 0, min(f.size, limit)))
	return p, f.size, errors.Join(err, f.Close())
}

// logReaderAt reads a log as io.ReaderAt says, until the context ends.
type logReaderAt struct {
	ctx context.Context
	log LogFile
}

func (r logReaderAt) ReadAt(p []byte, position int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.log.Pread(p, position)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Directory is what a storage holds.
type Directory struct {
	// Ours: it has a recovery point, as every partition of this store. What follows is known only then.
	Ours  bool
	Clean bool  // closed in order, and not opened since
	Point Point // the recovery point; where it is not known, the log start
	// Start and End are the log start and the log end; of other logs, and where they are not known, those
	// of the segments that are there.
	Start, End int64
	Interval   int64 // bytes between index slots
	Segments   int
	Others     []OtherFile // what belongs to no segment, sorted by name
}

// OtherFile is a file that belongs to no segment.
type OtherFile struct {
	Name string
	What string // "" where that is not known
}

// state is what is known of a storage before a log is read.
type state struct {
	names       []string
	bases       []int64
	ours        bool
	point       slots2
	start       slots2
	slots       []byte // the recovery-point file, filled up with zeros
	slotsSize   int64  // its size
	mark        *cleanMark
	interval    int64
	startOffset int64
	pointAt     Point // what Open takes for the recovery point
}

func (s storedFiles) state(interval int64) (*state, error) {
	names, err := s.storage.List()
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	st := &state{names: names, bases: segmentBases(names), interval: interval, slots: make([]byte, pointFileSize)}
	if st.interval <= 0 {
		st.interval = DefaultInterval
	}
	if len(st.bases) > 0 {
		st.startOffset = st.bases[0]
	}
	if _, st.ours = slices.BinarySearch(names, pointFile); !st.ours {
		return st, nil
	}
	p, size, err := s.all(pointFile, pointFileSize)
	if err != nil {
		return nil, err
	}
	copy(st.slots, p)
	st.slotsSize = size
	st.point.load(st.slots[pointSlots:][:2*slotSize])
	st.start.load(st.slots[startSlots:][:2*slotSize])
	if st.has(cleanFile) {
		p, _, err := s.all(cleanFile, int64(cleanHeader+cleanFooter+cleanEntry*(len(st.bases)+1)))
		if err != nil {
			return nil, err
		}
		st.mark = decodeCleanMark(p)
		if st.mark != nil && st.mark.interval >= 1 && st.mark.interval <= MaxSize {
			st.interval = st.mark.interval
		}
	}
	start, point := bounds(st.start, st.point, st.bases, st.mark)
	st.startOffset, st.pointAt = start.Base, point
	return st, nil
}

func (st *state) has(name string) bool {
	_, found := slices.BinarySearch(st.names, name)
	return found
}

// effect is that of bytes at a position of a log that are no valid batch with the base offset next.
func (in *inspection) effect(file string, base, position, next int64) (effect Effect, err error) {
	effect = in.state.effect(base, position)
	if effect != Dropped {
		return effect, nil
	}
	f, err := in.open(file)
	if err != nil {
		return effect, err
	}
	cause, err := strange(f, position, next)
	if cause != nil {
		effect = Refused
	}
	return effect, errors.Join(err, f.Close())
}

// effect is that of a batch that is bad at a position of a log, where a crash can have left it.
func (st *state) effect(base, position int64) Effect {
	switch {
	case !st.ours:
		return Unknown
	case st.pointAt.below(base, position):
		return Damage
	default:
		return Dropped
	}
}

func (st *state) directory(segments []*Segment) *Directory {
	d := &Directory{
		Ours: st.ours, Clean: st.mark != nil, Point: st.pointAt, Interval: st.interval,
		Start: st.startOffset, End: st.startOffset, Segments: len(segments),
	}
	if n := len(segments); n > 0 {
		d.End = segments[n-1].End
	}
	for _, name := range st.names {
		if what, other := st.describe(name); other {
			d.Others = append(d.Others, OtherFile{name, what})
		}
	}
	return d
}

// describe says what a file is that belongs to no segment.
func (st *state) describe(name string) (what string, other bool) {
	if what := ofKafka(name); what != "" {
		return what, true
	}
	switch name {
	case pointFile:
		return "the recovery point and the log start", true
	case cleanFile:
		return "the mark of a partition that was closed in order", true
	case cleanFileNew:
		return "left over from a close that was cut short", true
	}
	suffix := kindOf(name)
	base, named := baseOf(name, suffix)
	switch {
	case suffix == "" || !named:
		return "", true
	case !st.has(Name(base)):
		return "an index without a log", true
	default:
		return "", false
	}
}

// ofKafka says what a file is that a broker of Kafka keeps, and this store does not; "" of others.
func ofKafka(name string) string {
	for _, k := range []struct{ suffix, what string }{
		{".txnindex", "aborted transactions, of Kafka"},
		{".snapshot", "producer state, of Kafka"},
		{".deleted", "to be deleted, of Kafka"},
		{".cleaned", "of a compaction, of Kafka"},
		{".swap", "of a compaction, of Kafka"},
	} {
		if _, segment := parseName(name[:min(20, len(name))] + logSuffix); segment && strings.HasSuffix(name, k.suffix) {
			return k.what
		}
	}
	switch name {
	case "leader-epoch-checkpoint":
		return "leader epochs, of Kafka"
	case "partition.metadata":
		return "topic id, of Kafka"
	case "meta.properties", "bootstrap.checkpoint", "cleaner-offset-checkpoint", "log-start-offset-checkpoint",
		"recovery-point-offset-checkpoint", "replication-offset-checkpoint":
		return "state of a broker, of Kafka"
	}
	return ""
}

// kindOf is the suffix of a file that is named as one of a segment, "" of others.
func kindOf(name string) string {
	for _, suffix := range suffixes() {
		if strings.HasSuffix(name, suffix) {
			return suffix
		}
	}
	return ""
}
