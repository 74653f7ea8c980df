package segment

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// indexCheck compares an index of this store with what its log gives.
type indexCheck struct {
	name     string
	file     *storedFile
	interval int64
	r        *bufio.Reader
	at       int64 // position of r
	sum      uint32
	fault    *Fault // the first; what is wrong with the log is said before it
}

func (v *verification) newIndexCheck(x IndexFile) (*indexCheck, error) {
	f, err := v.open(x.File)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, 0, f.size), scanBuffer)
	return &indexCheck{name: x.File, file: f, interval: v.state.interval, r: r}, nil
}

func (c *indexCheck) fail(position int64, format string, args ...any) {
	c.fault = &Fault{File: c.name, Position: position, Cause: fmt.Errorf(format, args...), Effect: Rebuilt}
}

// batch compares the slots of the batch in [start, end) of the log, each of which must be (a, b).
func (c *indexCheck) batch(start, end, a, b int64) error {
	if c == nil || c.fault != nil {
		return nil
	}
	var want, got [entrySize]byte
	binary.BigEndian.PutUint64(want[:], uint64(a))
	binary.BigEndian.PutUint64(want[8:], uint64(b))
	for k := firstSlot(start, c.interval); k <= slots(end, c.interval); k++ {
		_, err := io.ReadFull(c.r, got[:])
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			c.fail(c.file.size, "the file ends before entry %d of its log", k)
			return nil
		case err != nil:
			return err
		case got != want:
			x, y := entryAt(got[:], 1)
			c.fail(c.at, "entry %d is (%d, %d), and the log gives (%d, %d)", k, x, y, a, b)
			return nil
		}
		c.sum = crc32.Update(c.sum, castagnoli, got[:])
		c.at += entrySize
	}
	return nil
}

// finish compares the end. Nothing lies behind the entries of a partition that was closed in order; of any
// other, space that was allocated ahead, which is zeros.
func (c *indexCheck) finish(closed bool) error {
	if c.fault != nil {
		return c.fault
	}
	if rest := c.file.size - c.at; closed && rest > 0 {
		c.fail(c.at, "%d bytes lie behind the last entry of its log", rest)
		return c.fault
	}
	for {
		x, err := c.r.ReadByte()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case x != 0:
			c.fail(c.at, "bytes behind the last entry of its log are not zeros")
			return c.fault
		}
		c.at++
	}
}
