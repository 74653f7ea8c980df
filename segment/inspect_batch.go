package segment

import (
	"errors"
	"strings"
)

// StoredRecord is a record of a batch in a log.
type StoredRecord struct {
	File       string
	Position   int64 // of its batch
	Offset     int64
	Timestamp  int64
	Key, Value []byte // nil where they are null
	Headers    []Header
}

// Header is one header of a record.
type Header struct {
	Key   string
	Value []byte // nil where it is null
}

// begin looks at the name of a log, and, where that does not give its base offset, at its first batch.
func (in *inspection) begin(name string) (s *Segment, err error) {
	s = &Segment{File: name}
	base, named := baseOf(name, logSuffix)
	if !named {
		log, err := in.open(name)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		w := logWalker{file: log, ours: in.state.ours}
		if p, err := w.next(0); err == nil {
			base = Batch(p).BaseOffset()
		}
	}
	s.Base, s.End = base, base
	return s, nil
}

// survey reads the frames of a log, and looks at its indexes.
func (in *inspection) survey(name string) (s *Segment, err error) {
	if s, err = in.begin(name); err != nil {
		return nil, err
	}
	log, err := in.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	s.Size = log.size
	w := logWalker{file: log, ours: in.state.ours}
	var bad error
	s.Valid, bad, err = w.walk(func(p []byte, position int64) error {
		b := describeBatch(name, p, position)
		s.count(&b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.Zeros, err = in.allocated(&w, s.Valid, bad); err != nil {
		return nil, err
	}
	return s, in.indexesOf(s)
}

// count adds a batch at the end.
func (s *Segment) count(b *StoredBatch) {
	if s.Batches == 0 {
		s.FirstTimestamp, s.MaxTimestamp = b.BaseTimestamp, b.MaxTimestamp
	}
	s.Batches++
	s.Records += int64(max(b.Records, 0))
	s.LastTimestamp, s.MaxTimestamp = b.MaxTimestamp, max(s.MaxTimestamp, b.MaxTimestamp)
	s.End = b.LastOffset + 1
}

// indexesOf looks at the indexes beside a log.
func (in *inspection) indexesOf(s *Segment) (err error) {
	stem := strings.TrimSuffix(s.File, logSuffix)
	if s.Index, err = in.indexFile(stem+indexSuffix, s); err == nil {
		s.TimeIndex, err = in.indexFile(stem+timeSuffix, s)
	}
	return err
}

// allocated is the number of zeros at the end of the log of another writer, which Kafka may allocate ahead.
func (in *inspection) allocated(w *logWalker, end int64, bad error) (int64, error) {
	if bad != errZeros || in.state.ours {
		return 0, nil
	}
	zeros, err := w.zeros(end)
	if err != nil || !zeros {
		return 0, err
	}
	return w.file.size - end, nil
}

// batches visits all of a log, which may have changed since it was surveyed.
func (in *inspection) batches(s *Segment) (err error) {
	log, err := in.open(s.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	w := logWalker{file: log, ours: in.state.ours}
	end, bad, err := w.walk(func(p []byte, position int64) error {
		b := describeBatch(s.File, p, position)
		b.Sound = b.CRC == b.checksum()
		if err := in.visit(&b); err != nil {
			return err
		}
		if !in.options.Records || b.Magic != magic || b.Compression != "none" {
			return nil
		}
		return in.records(s, &b)
	})
	if err != nil || bad == nil {
		return err
	}
	if zeros, err := in.allocated(&w, end, bad); err != nil || zeros > 0 {
		return err
	}
	effect, err := in.effect(s.File, s.Base, end, s.End)
	if err != nil {
		return err
	}
	return in.ends(&Fault{File: s.File, Position: end, Cause: bad, Effect: effect})
}

// records visits the records of a batch, as far as they decode.
func (in *inspection) records(s *Segment, b *StoredBatch) error {
	r := Batch(b.bytes).Records()
	for r.Next() {
		err := in.visit(&StoredRecord{
			File: b.File, Position: b.Position, Offset: r.Record.Offset, Timestamp: r.Record.Timestamp,
			Key: r.Record.Key, Value: r.Record.Value, Headers: r.Record.headers(),
		})
		if err != nil {
			return err
		}
	}
	if r.Err() == nil {
		return nil
	}
	f := &Fault{File: b.File, Position: b.Position, Cause: r.Err(), Effect: Kept}
	if !b.Sound {
		f.Effect = in.state.effect(s.Base, b.Position)
	}
	return in.visit(f)
}

// headers decodes RawHeaders.
func (r Record) headers() []Header {
	d := decoder{p: r.RawHeaders}
	var headers []Header
	for range r.Headers {
		key, value := d.nullable(), d.nullable()
		if d.bad {
			break
		}
		headers = append(headers, Header{string(key), value})
	}
	return headers
}
