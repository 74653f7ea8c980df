package segment_test

import (
	"bytes"
	"errors"

	"tailrace/segment"
)

// consumer reads a log as consumers do, and compares it with what was appended.
type consumer struct {
	checker
	log   *history // to its end
	start int64
	views []segment.View
	bad   string // the log in which it may find damage; nowhere else
}

// view is that which holds an offset.
func (c consumer) view(offset int64) segment.View {
	for _, v := range c.views {
		if offset < v.End {
			return v
		}
	}
	c.fatalf("no segment holds offset %d", offset)
	return segment.View{}
}

// readAll reads at every offset, and from the start to the end. It returns how often that found damage.
func (c consumer) readAll() (damaged int) {
	buf := make([]byte, 4096)
	for offset := c.start; offset < c.log.end(); offset++ {
		if _, ok := c.read(offset, buf, &segment.Cursor{}); !ok {
			damaged++
		}
	}
	var cursor segment.Cursor
	for offset := c.start; offset < c.log.end(); {
		next, ok := c.read(offset, buf, &cursor)
		if !ok {
			damaged++
			next = c.view(offset).End
		}
		offset = next
	}
	return damaged
}

// read gives the offset after the batches that it has read; false where it found damage.
func (c consumer) read(offset int64, buf []byte, cursor *segment.Cursor) (next int64, ok bool) {
	v := c.view(offset)
	p, err := v.Read(offset, buf, cursor)
	if err != nil {
		return 0, c.damage(v, err)
	}
	i, found := c.log.find(offset)
	if !found {
		i--
	}
	for first := true; first || len(p) > 0; first = false {
		b, rest, err := segment.NextBatch(p)
		if err == nil {
			err = b.CheckCRC()
		}
		if err != nil {
			return 0, c.damage(v, err)
		}
		if want := c.log.batch(i); !bytes.Equal(b, want) {
			c.fatalf("Read at %d gives a batch with offset %d that is not what was appended at %d", offset, b.BaseOffset(), want.BaseOffset())
		}
		p = rest
		i++
	}
	return c.log.bounds[i].offset, true
}

// damage checks an error that tells of damage.
func (c consumer) damage(v segment.View, err error) (ok bool) {
	var corrupt *segment.CorruptError
	where := errors.As(err, &corrupt)
	switch {
	case segment.Name(v.Base()) != c.bad:
		c.fatalf("%s is sound, and gives %v", segment.Name(v.Base()), err)
	case where && corrupt.File != c.bad:
		c.fatalf("%s is bad, but the error is %v", c.bad, err)
	case !where && !errors.Is(err, segment.ErrInvalid):
		c.fatalf("%s gives an error of another kind: %v", c.bad, err)
	}
	return false
}

// lookUpAll looks up timestamps in all segments. It returns how often that found damage.
func (c consumer) lookUpAll(timestamps []int64) (damaged int) {
	var cursor segment.Cursor
	for _, ts := range timestamps {
		if !c.lookUp(ts, &cursor) {
			damaged++
		}
	}
	return damaged
}

func (c consumer) lookUp(ts int64, cursor *segment.Cursor) (ok bool) {
	want := c.log.offsetForTime(c.start, ts)
	for _, v := range c.views {
		offset, found, err := v.OffsetForTime(ts, cursor)
		if err != nil {
			return c.damage(v, err)
		}
		if found {
			if offset != want {
				c.fatalf("timestamp %d is found at %d, want %d", ts, offset, want)
			}
			return true
		}
	}
	if want != c.log.end() {
		c.fatalf("timestamp %d is not found, want %d", ts, want)
	}
	return true
}
