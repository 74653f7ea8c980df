package torture

import (
	"errors"
	"math"
	"math/rand/v2"

	"tailrace/segment"
	"tailrace/strategies"
)

// producer is one of a long run.
type producer struct {
	*longRun
	handle    *longClient
	maker     maker
	last      int64 // the largest offset that it was told
	batchTime int64 // largest timestamp of its last batch
	outcomes  []outcome
	buf       [maxBatch]byte
}

func (p *producer) append() error {
	random := p.maker.random
	ctx, done := p.crew.ctx, func() {}
	if p.cancels && random.IntN(2) == 0 {
		ctx, done = endingSoon(ctx, random)
	}
	p.handle.renew(random)
	acks := draw(random, strategies.AcksNone, strategies.AcksLeader, strategies.AcksLeader, strategies.AcksAll)
	before := p.acked.Load()
	o := outcome{sequence: p.maker.sequence, base: -1}
	// About as late as the records that others are appending.
	clock := int64(o.sequence * p.producers)
	b := p.maker.of(p.maker.records(), func() int64 { return clock + random.Int64N(50) })
	o.records = int(b.RecordCount())
	p.batchTime = b.MaxTimestamp()
	var base int64
	base, o.err = p.handle.Append(ctx, b, acks)
	ended := ctx.Err() != nil
	done()
	clear(b) // it is ours again: whoever still uses it stores nonsense
	if p.crew.ctx.Err() != nil {
		return nil
	}
	var err error
	switch {
	case o.err == nil && acks == strategies.AcksNone:
		if base != -1 {
			err = violationf("an append without acks returns %d", base)
		}
	case o.err == nil:
		o.base = base
		err = p.told(o, before, acks)
	case !ended || !contextEnded(o.err) && !errors.Is(o.err, strategies.ErrUnknownOutcome):
		err = violationf("append: %v", o.err)
	}
	p.outcomes = append(p.outcomes, o)
	return err
}

// told verifies an acknowledgement; before is what others had been told when the append began.
func (p *producer) told(o outcome, before int64, acks strategies.Acks) error {
	end := o.base + int64(o.records)
	if o.base <= p.last || o.base <= before {
		return violationf("an append gets offset %d, and before it began %d and %d had been told", o.base, p.last, before)
	}
	p.last = o.base
	raise(&p.acked, o.base)
	now := p.handle.Offsets()
	if now.LogEnd < end {
		return violationf("the log end is %d after an append up to %d", now.LogEnd, end)
	}
	if p.followers > 0 && acks != strategies.AcksAll {
		return nil
	}
	if have := p.allows(); have < end {
		return violationf("an append up to %d is acknowledged for all, and at no moment had all followers said to have more than what is below %d",
			end, have)
	}
	if now.HighWatermark < end {
		return violationf("the high watermark is %d after the acknowledgement of an append up to %d", now.HighWatermark, end)
	}
	raise(&p.visible, end)
	p.latest.Store(p.batchTime)
	if p.maker.random.IntN(4) > 0 {
		return nil
	}
	return p.readBack(o)
}

// readBack reads what was just acknowledged.
func (p *producer) readBack(o outcome) error {
	got, err := p.handle.Read(o.base, p.buf[:])
	if errors.Is(err, strategies.ErrOutOfRange) {
		return p.mustBeTrimmed(p.handle, o.base)
	}
	if err != nil {
		return violationf("read of what was acknowledged at %d: %v", o.base, err)
	}
	first := true
	return split(got, func(b segment.Batch) error {
		if !first {
			return nil
		}
		first = false
		return eachMessage(b, p.producers+1, func(producer, sequence int, offset int64) error {
			if producer != p.maker.producer || sequence-o.sequence != int(offset-o.base) {
				return violationf("record %d of producer %d is at offset %d, where record %d of producer %d was acknowledged",
					sequence, producer, offset, o.sequence+int(offset-o.base), p.maker.producer)
			}
			return nil
		})
	})
}

// consume follows the log to its end.
func (l *longRun) consume(stream uint64, buffer int) error {
	h := l.newClient()
	defer h.close()
	random := newRandom(l.round.seed, stream)
	buf := make([]byte, buffer)
	s := l.newStream()
	for s.next < l.end.Load() && l.crew.ctx.Err() == nil {
		h.renew(random)
		if err := h.Wait(l.produced, s.next); err != nil {
			if l.produced.Err() == nil {
				return violationf("wait for %d: %v", s.next, err)
			}
			if l.end.Load() == math.MaxInt64 {
				return nil // somebody has failed
			}
			continue
		}
		p, err := h.Read(s.next, buf)
		if errors.Is(err, strategies.ErrOutOfRange) {
			if err := l.mustBeTrimmed(h, s.next); err != nil {
				return err
			}
			s.jump(h.Offsets().Start)
			continue
		}
		if err != nil {
			return violationf("read at %d: %v", s.next, err)
		}
		if len(p) == 0 {
			return violationf("a read at %d gives nothing after the wait for it", s.next)
		}
		if err := s.add(p); err != nil {
			return err
		}
		if hw := h.Offsets().HighWatermark; s.next > hw {
			return violationf("a read goes up to %d, and the high watermark is %d", s.next, hw)
		}
	}
	l.mu.Lock()
	l.records += s.records
	l.mu.Unlock()
	return nil
}

// longClient is a client's handle, which it may exchange for a new one.
type longClient struct {
	strategies.Handle
	run *longRun
}

func (l *longRun) newClient() *longClient { return &longClient{l.log.NewHandle(), l} }

// renew is to be called between calls.
func (c *longClient) renew(random *rand.Rand) {
	if c.run.handles && random.IntN(50) == 0 {
		c.close()
		c.Handle = c.run.log.NewHandle()
	}
}

func (c *longClient) close() { _ = c.Handle.Close() } // it gives no error
