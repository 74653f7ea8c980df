package segment

import (
	"encoding/binary"
	"errors"
	"math"
)

// View is an immutable picture of a segment: which of its bytes are committed. The article calls it
// SegmentView; the index count that it carries there follows from the size here. A view is small, is
// copied freely, and may be read from any number of goroutines as long as its files are open.
type View struct {
	Files *Files
	Size  int64 // committed bytes of the log
	End   int64 // offset after the last committed record; negative while it is being found out
	// MaxTimestamp is the largest timestamp of the view, or math.MaxInt64 where it is not known.
	MaxTimestamp int64
}

var (
	errShortFile = errors.New("file ends inside the committed log")
	errNoBatch   = errors.New("no batch holds the offset")
	errUneven    = errors.New("committed log ends inside a batch")
	errGap       = invalid("base offset does not follow the batch before it")
	errEpoch     = invalid("leader epoch is not 0")
	errEnd       = errors.New("committed log ends at another offset")
)

// Base is the offset of the view's first record.
func (v View) Base() int64 { return v.Files.base }

// Cursor is a reader's scratch: where its last read ended, so that the next one in sequence finds its
// position without a search. The zero value is ready. It is used by one goroutine at a time, with
// views of any segment.
type Cursor struct {
	files    *Files
	offset   int64
	position int64
	scratch  []byte
}

// Read reads whole batches into buf with pread, the first being the one that contains offset, which
// must lie in [Base, End), and returns them as a sub-slice of buf. A view whose End has been lowered, to
// between two batches, gives those before it. Their frames are checked and their
// offsets, which the checksum does not cover; the checksum is the reader's to check. Errors:
// *ShortBufferError, or a *CorruptError.
func (v View) Read(offset int64, buf []byte, c *Cursor) ([]byte, error) {
	if len(buf) < HeaderSize {
		// Too small to look for the batch in; its size is still to be told.
		if _, err := v.Read(offset, make([]byte, HeaderSize), c); err != nil {
			return nil, err
		}
		return nil, &ShortBufferError{Need: HeaderSize}
	}
	position, next := c.position, c.offset
	if c.files != v.Files || c.offset != offset {
		var err error
		if position, next, err = v.find(offset, c); err != nil {
			return nil, err
		}
	}
	for {
		p, err := v.pread(buf, position)
		if err != nil {
			return nil, err
		}
		var skip int64
		if skip, next, err = v.skip(p, position, next, offset); err != nil {
			return nil, err
		}
		if skip >= int64(len(p)) && skip > 0 {
			position += skip
			continue
		}
		if n, next, err := v.whole(p[skip:], position+skip, next); err != nil {
			return nil, err
		} else if n > 0 {
			c.files, c.offset, c.position = v.Files, next, position+skip+n
			return p[skip : skip+n : skip+n], nil
		}
		if skip == 0 {
			return nil, v.tooShort(p, position)
		}
		// The batch begins in the buffer, or behind it, but does not end there.
		position += skip
	}
}

// tooShort says why p, which begins with the wanted batch and fills its buffer or ends with the
// committed log, does not hold that batch: a size beyond the log's end is no reason to ask for a
// larger buffer.
func (v View) tooShort(p []byte, position int64) error {
	if len(p) < HeaderSize || Batch(p).Size() > v.Size-position {
		return v.Files.corrupt(position, errUneven)
	}
	return &ShortBufferError{Need: Batch(p).Size()}
}

// find gives a batch at or before the one that contains offset, from the index.
func (v View) find(offset int64, c *Cursor) (position, base int64, err error) {
	if offset == v.Files.base {
		return 0, v.Files.base, nil
	}
	ix, err := v.indexes(c)
	if err != nil {
		return 0, 0, err
	}
	n := slots(v.Size, v.Files.config.Interval)
	if n == 0 {
		return 0, v.Files.base, nil
	}
	// Records of about the same size lie where they would if all had the same.
	guess := float64(n) * float64(offset-v.Files.base) / float64(v.End-v.Files.base)
	k := lastBelowNear(ix.offsets, n, offset, int64(guess))
	if k == 0 {
		return 0, v.Files.base, nil
	}
	base, position = entryAt(ix.offsets, k)
	return position, base, nil
}

// pread fills buf from the committed log, as far as that goes.
func (v View) pread(buf []byte, position int64) ([]byte, error) {
	if position < 0 || position > v.Size {
		return nil, v.Files.corrupt(position, errNoBatch)
	}
	p := buf[:min(int64(len(buf)), v.Size-position)]
	n, err := v.Files.log.Pread(p, position)
	if err != nil {
		return nil, err
	}
	if n < len(p) {
		return nil, v.Files.corrupt(position+int64(n), errShortFile)
	}
	return p, nil
}

// check validates the frame of a batch and what was stamped into it; next is the base offset that it must
// have. Logs of other writers, of which nobody knows that, have a negative one.
func (v View) check(b Batch, next int64) error {
	if err := b.checkFrame(); err != nil {
		return err
	}
	switch {
	case next < 0:
	case b.BaseOffset() != next:
		return errGap
	case b.LeaderEpoch() != 0:
		return errEpoch
	}
	return nil
}

// step is what check comes to for a batch of this store, in a few loads: its size and the offset after it, or
// false for what check has an error for. Readers go through every frame that they fetch.
func (b Batch) step(next int64) (size, end int64, ok bool) {
	if len(b) < HeaderSize {
		return 0, 0, false
	}
	lengthAndEpoch := binary.BigEndian.Uint64(b[atLength:])
	size = int64(int32(lengthAndEpoch>>32)) + lengthOverhead
	delta := int64(b.LastOffsetDelta())
	end = next + delta + 1
	ok = b.BaseOffset() == next && uint32(lengthAndEpoch) == 0 && b[atMagic] == magic &&
		size >= HeaderSize && delta >= 0 && next >= 0 && end >= 0
	return size, end, ok
}

// skip is the distance from the start of p, where a batch with the base offset next lies at position, to
// the batch that contains offset, and the base offset of that one. It may lead beyond p; it ends early
// where p is too short to tell.
func (v View) skip(p []byte, position, next, offset int64) (at, base int64, err error) {
	for {
		if position+at >= v.Size || next > offset {
			return 0, 0, v.Files.corrupt(position+at, errNoBatch)
		}
		if at+HeaderSize > int64(len(p)) {
			return at, next, nil
		}
		b := Batch(p[at:])
		size, end, ok := b.step(next)
		if !ok {
			return 0, 0, v.Files.corrupt(position+at, v.check(b, next))
		}
		if end > offset {
			return at, next, nil
		}
		at += size
		next = end
	}
}

// whole is the length of the whole batches at the start of p, of which the first has the base offset
// next, and the offset after them. It ends before one that is bad, unless that is the first.
func (v View) whole(p []byte, position, next int64) (n, end int64, err error) {
	foreign := next < 0
	for n+HeaderSize <= int64(len(p)) && (foreign || v.End < 0 || next < v.End) {
		b := Batch(p[n:])
		size, after, ok := b.step(next)
		if !ok {
			if err := v.check(b, next); err != nil {
				if n > 0 {
					break
				}
				return 0, 0, v.Files.corrupt(position, err)
			}
			size, after = b.Size(), next // foreign
		}
		if n+size > int64(len(p)) {
			break
		}
		n += size
		next = after
	}
	if position+n == v.Size && n > 0 && !foreign && v.End >= 0 && next != v.End {
		return 0, 0, v.Files.corrupt(position+n, errEnd)
	}
	return n, next, nil
}

// A scan, of lookups by timestamp and of opening, reads with a buffer of scanBuffer bytes. It begins with
// firstScan, since a lookup mostly ends within an interval and a batch.
const (
	scanBuffer = 64 << 10
	firstScan  = 8 << 10
)

// OffsetForTime returns the first offset of the view whose record has a timestamp of at least ts;
// false if there is none. Timestamps need not be in order. It may read the log from the last index
// entry before the match on. Where the records are compressed, it returns the batch's base offset.
func (v View) OffsetForTime(ts int64, c *Cursor) (offset int64, found bool, err error) {
	if v.Size == 0 || v.MaxTimestamp < ts {
		return 0, false, nil
	}
	// Slot k covers the log up to and including its batch, so the match lies behind the batch of the
	// last slot that is below ts.
	position, base := int64(0), v.Files.base
	if n := slots(v.Size, v.Files.config.Interval); ts > math.MinInt64 && n > 0 {
		ix, err := v.indexes(c)
		if err != nil {
			return 0, false, err
		}
		if k := lastBelow(ix.times, n, ts-1); k > 0 {
			base, position = entryAt(ix.offsets, k)
		}
	}
	err = v.scan(position, base, c, func(b Batch, _ int64) error {
		if err := b.CheckCRC(); err != nil {
			return err
		}
		if b.MaxTimestamp() < ts {
			return nil
		}
		if b.Compressed() {
			offset, found = b.BaseOffset(), true
			return errStop
		}
		r := b.Records()
		for r.Next() {
			if r.Record.Timestamp >= ts {
				offset, found = r.Record.Offset, true
				return errStop
			}
		}
		return r.Err()
	})
	return offset, found, err
}

var errStop = errors.New("segment: scan stopped")

// scan calls visit for every batch from position on, where the base offset is next, with the batch's
// position. The batch is valid during the call. errStop from visit ends the scan without an error; another
// error is given its place.
func (v View) scan(position, next int64, c *Cursor, visit func(b Batch, position int64) error) error {
	if c.scratch == nil {
		c.scratch = make([]byte, scanBuffer)
	}
	size := firstScan
	for position < v.Size && (v.End < 0 || next < v.End) {
		p, err := v.pread(c.scratch[:size], position)
		if err != nil {
			return err
		}
		n, end, err := v.whole(p, position, next)
		if err != nil {
			return err
		}
		if n == 0 {
			err := v.tooShort(p, position)
			short, ok := errors.AsType[*ShortBufferError](err)
			if !ok {
				return err
			}
			if short.Need > int64(len(c.scratch)) {
				c.scratch = make([]byte, short.Need)
			}
			size = len(c.scratch)
			continue
		}
		size = min(2*size, len(c.scratch))
		for rest := p[:n]; len(rest) > 0; {
			var b Batch
			if b, rest, err = NextBatch(rest); err == nil {
				err = visit(b, position)
			}
			if err == errStop {
				return nil
			}
			if err != nil {
				return v.Files.corrupt(position, err)
			}
			position += int64(len(b))
		}
		next = end
	}
	return nil
}

// Walk calls visit for every batch of the view in order, checksum verified, with its position in the
// log. The batch is valid during the call; an error from visit ends the walk and comes back with that
// place, in a *CorruptError.
func (v View) Walk(c *Cursor, visit func(b Batch, position int64) error) error {
	return v.scan(0, v.Files.base, c, func(b Batch, position int64) error {
		if err := b.CheckCRC(); err != nil {
			return err
		}
		return visit(b, position)
	})
}

// indexes gives the indexes to look up in. Those of a segment that was closed and opened are compared
// with their checksums first, by whoever comes first, and made again from the log if they differ: several
// may do so at once, and one result stays.
func (v View) indexes(c *Cursor) (*indexes, error) {
	f := v.Files
	if ix := f.trusted.Load(); ix != nil {
		return ix, nil
	}
	n := slots(v.Size, f.config.Interval) * entrySize
	ix := &f.mapped
	if (indexes{ix.offsets[:n], ix.times[:n]}).sums() != f.sums {
		var err error
		if ix, err = v.rebuild(c); err != nil {
			return nil, err
		}
	}
	f.trusted.CompareAndSwap(nil, ix)
	return f.trusted.Load(), nil
}

// rebuild makes the indexes of a segment anew, from its log, also where the view's end has been lowered.
func (v View) rebuild(c *Cursor) (*indexes, error) {
	v.End = -1
	ix, size, err := v.index(c, func(Batch) error { return nil })
	if err == nil && size != v.Size {
		err = v.Files.corrupt(size, errUneven)
	}
	if err != nil {
		return nil, err
	}
	return &ix, nil
}

// index makes the index entries of a view from its log, and calls visit for each batch; its error is that of the
// batch. With an error come the entries of the valid batches before it, which have size bytes.
func (v View) index(c *Cursor, visit func(Batch) error) (ix indexes, size int64, err error) {
	interval := v.Files.config.Interval
	n := slots(v.Size, interval) * entrySize
	ix = indexes{make([]byte, n), make([]byte, n)}
	latest := int64(math.MinInt64)
	err = v.Walk(c, func(b Batch, position int64) error {
		if err := visit(b); err != nil {
			return err
		}
		latest = max(latest, b.MaxTimestamp())
		size = position + int64(len(b))
		putEntries(ix.offsets, position, size, interval, b.BaseOffset(), position)
		putEntries(ix.times, position, size, interval, latest, b.BaseOffset())
		return nil
	})
	n = slots(size, interval) * entrySize
	return indexes{ix.offsets[:n], ix.times[:n]}, size, err
}
