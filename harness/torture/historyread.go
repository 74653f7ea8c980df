package torture

import (
	"bytes"
	"errors"

	"tailrace/segment"
	"tailrace/strategies"
)

func (c *historyClient) read(offset, size int64) (next int64, err error) {
	in := input{kind: reading, offset: offset, buffer: size}
	call := c.history.tick()
	p, err := c.handle.Read(offset, c.buffer(size))
	return c.answered(call, in, p, err)
}

func (c *historyClient) fetch(replica int, offset int64) (next int64, err error) {
	in := input{kind: fetching, replica: replica, offset: offset, buffer: 2 * maxBatch}
	call := c.history.tick()
	p, err := c.handle.Fetch(replica, offset, c.buffer(in.buffer))
	next, violation := c.answered(call, in, p, err)
	if err == nil && (offset != c.noted || c == c.history.driver) {
		c.noted = offset
		c.recordUntil(call, c.history.clock.Load(), input{kind: noting, replica: replica, offset: offset}, output{})
	}
	return next, violation
}

func (c *historyClient) buffer(size int64) []byte {
	if int64(len(c.buf)) < size {
		c.buf = make([]byte, size)
	}
	return c.buf[:size]
}

// answered records a read, and returns where the next one in sequence begins.
func (c *historyClient) answered(call int64, in input, p []byte, err error) (next int64, violation error) {
	end := c.history.tick()
	var out output
	next = in.offset
	short, isShort := errors.AsType[*segment.ShortBufferError](err)
	switch {
	case errors.Is(err, strategies.ErrOutOfRange):
		out.outOfRange = true
	case isShort:
		out.need = short.Need
	case err != nil:
		return next, violationf("read at %d: %v", in.offset, err)
	default:
		violation = split(p, func(b segment.Batch) error {
			batch, err := c.history.identify(b)
			out.batches = append(out.batches, batch)
			next = b.NextOffset()
			return err
		})
	}
	c.recordUntil(call, end, in, out)
	if in.kind == reading {
		c.last.HighWatermark = max(c.last.HighWatermark, next)
	}
	c.last.LogEnd = max(c.last.LogEnd, next)
	return next, violation
}

// identify finds the batch that was appended, and compares all of its bytes.
func (h *history) identify(b segment.Batch) (batch int, err error) {
	records := b.Records()
	if !records.Next() {
		return 0, violationf("the batch at %d has no records", b.BaseOffset())
	}
	batch, _, ok := parseMessage(records.Record.Value)
	if !ok || batch >= len(h.model.batches) {
		return 0, violationf("the batch at %d is none that was appended", b.BaseOffset())
	}
	// All but the base offset, which is the log's.
	if want := h.model.batches[batch].bytes; !bytes.Equal(b[8:], want[8:]) {
		return batch, violationf("the batch at %d has not the bytes of batch %d", b.BaseOffset(), batch)
	}
	return batch, nil
}
