package torture

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"

	"github.com/anishathalye/porcupine"

	"tailrace/segment"
	"tailrace/strategies"
)

// historyClient is one client of a history. What it does is drawn from its own source.
type historyClient struct {
	history *history
	id      int
	random  *rand.Rand
	cancels bool // contexts of some calls end at any moment
	trims   bool
	watches bool // it only looks at the offsets
	calls   int

	planned []int // batches to append, in order
	handle  strategies.Handle
	last    strategies.Offsets // as far as it was told
	noted   int64              // the last offset that a follower asked for
	buf     []byte

	recorded []porcupine.Operation
}

// plan makes the batches that the client is going to append, at most one for each operation.
func (c *historyClient) plan() {
	for range c.calls {
		acks := draw(c.random, strategies.AcksNone, strategies.AcksLeader, strategies.AcksLeader, strategies.AcksAll)
		c.planned = append(c.planned, c.history.newBatch(c, acks))
	}
}

// perform is what a client does.
func (c *historyClient) perform(ctx context.Context) error {
	for range c.calls {
		if ctx.Err() != nil {
			return nil
		}
		pause(c.random)
		if err := c.operation(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *historyClient) operation(ctx context.Context) error {
	if c.watches {
		for range 3 {
			if err := c.offsets(); err != nil {
				return err
			}
		}
		return nil
	}
	switch n := c.random.IntN(20); {
	case n < 8:
		ctx, done := c.context(ctx)
		defer done()
		batch := c.planned[0]
		c.planned = c.planned[1:]
		return c.append(ctx, batch)
	case n < 13:
		_, err := c.read(c.offset(), int64(segment.HeaderSize+c.random.IntN(2*c.history.round.shape.largest())))
		return err
	case n < 15:
		return c.offsets()
	case n < 17:
		return c.seek(c.random.Int64N(220) - 10)
	case n < 18:
		// Nobody may ever append what is waited for.
		ctx, done := cancelledSoon(ctx, c.random.IntN(20))
		defer done()
		return c.wait(ctx, waiting, c.offset())
	case !c.trims:
		return c.offsets()
	case n < 19:
		return c.trim(c.offset())
	default:
		return c.retain(int64(c.random.IntN(3000)))
	}
}

// offset draws one that is worth asking for.
func (c *historyClient) offset() int64 {
	switch c.random.IntN(4) {
	case 0:
		return c.last.HighWatermark
	case 1:
		return c.random.Int64N(c.last.LogEnd + 5)
	default:
		return c.last.Start + c.random.Int64N(c.last.HighWatermark-c.last.Start+1)
	}
}

// context is one that may end while a call goes on.
func (c *historyClient) context(parent context.Context) (ctx context.Context, done func()) {
	if !c.cancels || c.random.IntN(2) == 0 {
		return parent, func() {}
	}
	return endingSoon(parent, c.random)
}

// record enters an operation that has just returned.
func (c *historyClient) record(call int64, in input, out output) {
	c.recordUntil(call, c.history.tick(), in, out)
}

func (c *historyClient) recordUntil(call, end int64, in input, out output) {
	c.recorded = append(c.recorded, porcupine.Operation{ClientId: c.id, Input: in, Call: call, Output: out, Return: end})
}

func (c *historyClient) append(ctx context.Context, batch int) error {
	info := c.history.model.batches[batch]
	b := segment.Batch(bytes.Clone(info.bytes))
	call := c.history.tick()
	base, err := c.handle.Append(ctx, b, info.acks)
	end := c.history.tick()
	clear(b) // it is ours again: whoever still uses it stores nonsense
	in := input{kind: storing, batch: batch}
	switch {
	case errors.Is(err, strategies.ErrUnknownOutcome) && ctx.Err() != nil:
		c.recordUntil(call, never, in, output{base: -1})
		return nil
	case contextEnded(err) && ctx.Err() != nil:
		return nil // it never happened; where it is read, no order explains that
	case err != nil:
		return violationf("append: %v", err)
	case info.acks == strategies.AcksNone:
		if base != -1 {
			return violationf("an append without acks returns %d", base)
		}
		c.recordUntil(call, never, in, output{base: -1})
		return nil
	case base < 0:
		return violationf("an append returns %d", base)
	}
	c.recordUntil(call, end, in, output{base: base})
	c.last.LogEnd = max(c.last.LogEnd, base+info.count)
	if info.acks == strategies.AcksAll || c.history.model.followers == 0 {
		c.recordUntil(call, end, input{kind: replicated, offset: base + info.count - 1}, output{})
		c.last.HighWatermark = max(c.last.HighWatermark, base+info.count)
	}
	return nil
}

func (c *historyClient) offsets() error {
	call := c.history.tick()
	o := c.handle.Offsets()
	c.record(call, input{kind: looking}, output{offsets: o})
	if o.Start > o.HighWatermark || o.HighWatermark > o.LogEnd || o.Start < c.last.Start {
		return violationf("offsets are %+v", o)
	}
	c.last = o
	return nil
}

func (c *historyClient) seek(time int64) error {
	call := c.history.tick()
	offset, err := c.handle.OffsetForTime(time)
	c.record(call, input{kind: seeking, time: time}, output{base: offset})
	if err != nil {
		return violationf("offset for a time: %v", err)
	}
	return nil
}

func (c *historyClient) trim(before int64) error {
	call := c.history.tick()
	err := c.history.log.Trim(before)
	c.record(call, input{kind: trimming, offset: before}, output{})
	if err != nil {
		return violationf("trim: %v", err)
	}
	return nil
}

func (c *historyClient) retain(size int64) error {
	size = max(size, 1) // 0 sets no limit
	call := c.history.tick()
	err := c.history.log.Retain(strategies.Retention{Bytes: size})
	c.record(call, input{kind: retaining, bytes: size}, output{})
	if err != nil {
		return violationf("retain: %v", err)
	}
	return nil
}

// wait records a wait that was not cut short.
func (c *historyClient) wait(ctx context.Context, k kind, offset int64) error {
	call := c.history.tick()
	wait := c.handle.Wait
	if k == waitingEnd {
		wait = c.handle.WaitLogEnd
	}
	switch err := wait(ctx, offset); {
	case err == nil:
		c.record(call, input{kind: k, offset: offset}, output{})
	case ctx.Err() == nil:
		return violationf("wait for %d: %v", offset, err)
	}
	return nil
}

// follow is what a follower does until the context ends.
func (c *historyClient) follow(ctx context.Context, replica int) error {
	next := int64(0)
	for ctx.Err() == nil {
		before := next
		var err error
		if next, err = c.fetch(replica, next); err != nil {
			return err
		}
		if next > before {
			continue
		}
		if err := c.offsets(); err != nil {
			return err
		}
		if next < c.last.Start || c.random.IntN(8) == 0 {
			next = c.last.Start // it was trimmed, or the follower has lost what it had
			continue
		}
		if err := c.wait(ctx, waitingEnd, next); err != nil {
			return err
		}
	}
	return nil
}
