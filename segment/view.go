package segment

import (
	"errors"
	"math"
)

// View is an immutable picture of a segment: which of its bytes are committed. The article calls it
// SegmentView; the index count that it carries there follows from the size here. A view is small, is
// copied freely, and may be read from any number of goroutines as long as its files are open.
type View struct {
	Files *Files
	Size  int64 // committed bytes of the log
	End   int64 // offset after the last committed record
	// MaxTimestamp is the largest timestamp of the view, or math.MaxInt64 where it is not known.
	MaxTimestamp int64
}

var (
	errShortFile = errors.New("file ends inside the committed log")
	errNoBatch   = errors.New("no batch holds the offset")
	errUneven    = errors.New("committed log ends inside a batch")
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
// must lie in [Base, End), and returns them as a sub-slice of buf. Errors: *ShortBufferError, or a
// *CorruptError.
func (v View) Read(offset int64, buf []byte, c *Cursor) ([]byte, error) {
	if len(buf) < HeaderSize {
		// Too small to look for the batch in; its size is still to be told.
		if _, err := v.Read(offset, make([]byte, HeaderSize), c); err != nil {
			return nil, err
		}
		return nil, &ShortBufferError{Need: HeaderSize}
	}
	position := c.position
	if c.files != v.Files || c.offset != offset {
		position = v.position(offset)
	}
	for {
		p, err := v.pread(buf, position)
		if err != nil {
			return nil, err
		}
		skip, err := v.skip(p, position, offset)
		if err != nil {
			return nil, err
		}
		if skip >= int64(len(p)) && skip > 0 {
			position += skip
			continue
		}
		if n, next, err := v.whole(p[skip:], position+skip); err != nil {
			return nil, err
		} else if n > 0 {
			*c = Cursor{files: v.Files, offset: next, position: position + skip + n, scratch: c.scratch}
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

// position is that of a batch at or before the one that contains offset, from the index.
func (v View) position(offset int64) int64 {
	if offset == v.Files.base {
		return 0
	}
	index := v.Files.indexBytes
	k := lastBelow(index, slots(v.Size, v.Files.config.Interval), offset)
	if k == 0 {
		return 0
	}
	_, position := entryAt(index, k)
	return position
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

// skip is the distance from the start of p, which lies at position, to the batch that contains
// offset. It may lead beyond p; it is 0 also where p is too short to tell.
func (v View) skip(p []byte, position, offset int64) (int64, error) {
	for at := int64(0); ; {
		if position+at >= v.Size {
			return 0, v.Files.corrupt(position+at, errNoBatch)
		}
		if at+HeaderSize > int64(len(p)) {
			return at, nil
		}
		b := Batch(p[at:])
		if err := b.checkFrame(); err != nil {
			return 0, v.Files.corrupt(position+at, err)
		}
		if b.BaseOffset() > offset {
			return 0, v.Files.corrupt(position+at, errNoBatch)
		}
		if b.NextOffset() > offset {
			return at, nil
		}
		at += b.Size()
	}
}

// whole is the length of the whole batches at the start of p, and the offset after them.
func (v View) whole(p []byte, position int64) (n, next int64, err error) {
	for n+HeaderSize <= int64(len(p)) {
		b := Batch(p[n:])
		if err := b.checkFrame(); err != nil {
			return 0, 0, v.Files.corrupt(position+n, err)
		}
		if n+b.Size() > int64(len(p)) {
			break
		}
		n += b.Size()
		next = b.NextOffset()
	}
	return n, next, nil
}

// scanBuffer is the size of the buffer with which lookups by timestamp and opening scan a log.
const scanBuffer = 64 << 10

// OffsetForTime returns the first offset of the view whose record has a timestamp of at least ts;
// false if there is none. Timestamps need not be in order. It may read the log from the last index
// entry before the match on. Where the records are compressed, it returns the batch's base offset.
func (v View) OffsetForTime(ts int64, c *Cursor) (offset int64, found bool, err error) {
	if v.Size == 0 || v.MaxTimestamp < ts {
		return 0, false, nil
	}
	// Slot k covers the log up to and including its batch, so the match lies behind the batch of the
	// last slot that is below ts.
	position := int64(0)
	if ts > math.MinInt64 {
		n := slots(v.Size, v.Files.config.Interval)
		if k := lastBelow(v.Files.timeBytes, n, ts-1); k > 0 {
			_, position = entryAt(v.Files.indexBytes, k)
		}
	}
	err = v.scan(position, c, func(b Batch, _ int64) error {
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

// scan calls visit for every batch from position on, with the batch's position. The batch is valid
// during the call. errStop from visit ends the scan without an error; another error is given its
// place.
func (v View) scan(position int64, c *Cursor, visit func(b Batch, position int64) error) error {
	if c.scratch == nil {
		c.scratch = make([]byte, scanBuffer)
	}
	for position < v.Size {
		p, err := v.pread(c.scratch, position)
		if err != nil {
			return err
		}
		n, _, err := v.whole(p, position)
		if err != nil {
			return err
		}
		if n == 0 {
			err := v.tooShort(p, position)
			var short *ShortBufferError
			if !errors.As(err, &short) {
				return err
			}
			c.scratch = make([]byte, short.Need)
			continue
		}
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
	}
	return nil
}

// Walk calls visit for every batch of the view in order, checksum verified, with its position in the
// log. The batch is valid during the call; an error from visit ends the walk and comes back with that
// place, in a *CorruptError.
func (v View) Walk(c *Cursor, visit func(b Batch, position int64) error) error {
	return v.walk(0, v.Files.base, c, visit)
}

// walk is Walk from the batch at position on, which must have the base offset next.
func (v View) walk(position, next int64, c *Cursor, visit func(b Batch, position int64) error) error {
	return v.scan(position, c, func(b Batch, position int64) error {
		if b.BaseOffset() != next {
			return invalid("base offset does not follow the batch before it")
		}
		next = b.NextOffset()
		if err := b.CheckCRC(); err != nil {
			return err
		}
		return visit(b, position)
	})
}
