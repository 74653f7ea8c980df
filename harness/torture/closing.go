package torture

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"tailrace/segment"
	"tailrace/strategies"
)

const (
	closesPerRound = 8
	readingCloses  = 200
	closeTime      = 250 * time.Millisecond
)

// closings close logs under load.
func (r *round) closing() error {
	began, limit := time.Now(), r.time(closeTime)
	if r.random.IntN(2) == 0 {
		for n := 0; n < readingCloses && time.Since(began) < limit; n++ {
			if err := r.closeUnderReaders(); err != nil {
				return err
			}
			r.counts.Closes++
		}
		return nil
	}
	for n := range closesPerRound {
		if n > 0 && time.Since(began) > limit {
			break
		}
		if err := r.closeOnce(uint64(n)); err != nil {
			return err
		}
		r.counts.Closes++
	}
	return nil
}

// closeRun is a log that is closed while its clients call it.
type closeRun struct {
	round    *round
	log      strategies.Log
	clients  []*closeClient
	progress atomic.Int64 // calls that have returned
	until    int64        // how many of them to close after
}

func (r *round) closeOnce(n uint64) error {
	c := &closeRun{round: r, until: int64(r.random.IntN(draw(r.random, 20, 100, 400)))}
	followers := r.drawFollowers()
	where, err := r.newPlace()
	if err != nil {
		return err
	}
	defer where.remove()
	options := r.settings(followers)
	if options.Storage, err = where.open(); err != nil {
		return err
	}
	before := held(where.dir)
	if c.log, err = r.strategy.Open(options); err != nil {
		return violationf("open: %v", err)
	}
	for id := range 2 + r.random.IntN(15) {
		c.clients = append(c.clients, &closeClient{run: c, handle: c.log.NewHandle(), followers: followers,
			maker: maker{producer: id, random: newRandom(r.seed, (n+1)<<8|uint64(id)), shape: r.shape}})
	}
	if err := c.run(); err != nil {
		return err
	}
	return c.closed(where, options, before)
}

// closeUnderReaders closes a log whose clients do nothing but read, as fast as they can: what matters is the moment at
// which a call begins.
func (r *round) closeUnderReaders() error {
	where, err := r.newPlace()
	if err != nil {
		return err
	}
	defer where.remove()
	options := r.settings(0)
	if options.Storage, err = where.open(); err != nil {
		return err
	}
	log, err := r.strategy.Open(options)
	if err != nil {
		return violationf("open: %v", err)
	}
	h := log.NewHandle()
	m := maker{random: r.random, shape: r.shape}
	if _, err := h.Append(context.Background(), m.next(), strategies.AcksLeader); err != nil {
		return violationf("append: %v", err)
	}
	c := newCrew()
	defer c.stop()
	for range 1 + r.random.IntN(6) {
		c.start(func() error {
			h := log.NewHandle()
			buf := make([]byte, maxBatch)
			for turn := int64(0); ; turn++ {
				giveWay(turn)
				if p, err := h.Read(0, buf); errors.Is(err, strategies.ErrClosed) {
					return nil
				} else if err != nil || len(p) == 0 {
					return violationf("a read beside Close gives %d bytes, %v", len(p), err)
				}
			}
		})
	}
	for range r.random.IntN(20) {
		runtime.Gosched()
	}
	if err := r.close(log); err != nil {
		return err
	}
	return c.wait("a read beside Close", r.options.Patience)
}

// closed verifies a log that has been closed, and what it leaves behind.
func (c *closeRun) closed(where *place, options strategies.Options, before resources) error {
	if err := c.afterwards(); err != nil {
		return err
	}
	if where.dir != "" {
		before.descriptors-- // the lock on the directory
	}
	patience := c.round.options.Patience
	if err := noLeaks(before, where.dir, patience); err != nil {
		return err
	}
	return watched("a call after the log was opened again", patience, func() error { return c.reopen(where, options) })
}

func (c *closeRun) run() error {
	crew := newCrew()
	defer crew.stop()
	for _, client := range c.clients {
		crew.start(client.perform)
	}
	closers := 1 + c.round.random.IntN(2)
	for range closers {
		crew.start(func() error {
			// All of them may wait for Close before they have come so far.
			for began := time.Now(); c.progress.Load() < c.until && time.Since(began) < 5*time.Millisecond; {
				runtime.Gosched()
			}
			if err := c.log.Close(); err != nil {
				return violationf("close: %v", err)
			}
			return nil
		})
	}
	return crew.wait("a call beside Close, or Close,", c.round.options.Patience)
}

// afterwards verifies that a closed log says so.
func (c *closeRun) afterwards() error {
	return watched("a call after Close", c.round.options.Patience, func() error {
		fresh := c.log.NewHandle()
		for _, h := range []strategies.Handle{c.clients[0].handle, fresh} {
			m := &c.clients[0].maker
			_, appendErr := h.Append(context.Background(), m.next(), strategies.AcksLeader)
			_, readErr := h.Read(0, make([]byte, maxBatch))
			waitErr := h.Wait(context.Background(), 1<<40)
			for _, err := range []error{appendErr, readErr, waitErr, c.log.Trim(1)} {
				if !errors.Is(err, strategies.ErrClosed) {
					return violationf("a call after Close gives %v", err)
				}
			}
		}
		if err := c.log.Close(); err != nil {
			return violationf("a second Close gives %v", err)
		}
		return nil
	})
}

// reopen verifies that all that was acknowledged is there.
func (c *closeRun) reopen(where *place, options strategies.Options) error {
	var err error
	if options.Storage, err = where.open(); err != nil {
		return err
	}
	clean := false
	options.Recovered = func(r segment.Recovery) { clean = r.Clean }
	log, err := c.round.strategy.Open(options)
	if err != nil {
		return violationf("open after Close: %v", err)
	}
	if !clean {
		return violationf("a log that was closed in order has to be recovered")
	}
	h := log.NewHandle()
	o := h.Offsets()
	if o.Start > o.HighWatermark || o.HighWatermark != o.LogEnd {
		return violationf("the offsets of an opened log are %+v", o)
	}
	found := newLedger(len(c.clients), o.Start)
	if err := walk(h, o, len(c.clients), found); err != nil {
		return err
	}
	for id, client := range c.clients {
		for _, outcome := range client.outcomes {
			if err := found.check(id, outcome); err != nil {
				return err
			}
		}
	}
	m := maker{random: c.round.random, shape: c.round.shape}
	if base, err := h.Append(context.Background(), m.next(), strategies.AcksLeader); err != nil || base != o.LogEnd {
		return violationf("the first append to an opened log, which ends at %d, gives %d, %v", o.LogEnd, base, err)
	}
	if err := log.Close(); err != nil {
		return violationf("close: %v", err)
	}
	return nil
}

// closeClient calls until it is told that the log is closed.
type closeClient struct {
	run       *closeRun
	handle    strategies.Handle
	maker     maker
	followers int
	outcomes  []outcome
	buf       [maxBatch]byte
}

func (c *closeClient) perform() error {
	for {
		err := c.call(c.maker.random)
		c.run.progress.Add(1)
		switch {
		case errors.Is(err, strategies.ErrClosed):
			return nil
		case errors.Is(err, strategies.ErrUnknownOutcome), contextEnded(err), errors.Is(err, strategies.ErrOutOfRange):
		case err != nil:
			return violationf("a call beside Close gives %v", err)
		}
	}
}

// call makes one. Some wait for what only Close brings.
func (c *closeClient) call(random *rand.Rand) error {
	switch random.IntN(8) {
	case 0, 1, 2:
		ctx, done := context.Background(), func() {}
		if random.IntN(2) == 0 {
			ctx, done = endingSoon(ctx, random)
		}
		defer done()
		o := outcome{sequence: c.maker.sequence, base: -1}
		b := c.maker.next()
		o.records = int(b.RecordCount())
		acks := draw(random, strategies.AcksLeader, strategies.AcksLeader, strategies.AcksNone, strategies.AcksAll)
		var base int64
		if base, o.err = c.handle.Append(ctx, b, acks); o.err == nil {
			o.base = base
		}
		clear(b)
		c.outcomes = append(c.outcomes, o)
		return o.err
	case 3:
		o := c.handle.Offsets()
		if random.IntN(2) == 0 {
			return c.handle.WaitLogEnd(context.Background(), o.LogEnd+random.Int64N(30))
		}
		return c.handle.Wait(context.Background(), o.HighWatermark+random.Int64N(30))
	case 4:
		_, err := c.handle.OffsetForTime(random.Int64N(200))
		return err
	case 5:
		if c.followers == 0 {
			return nil
		}
		o := c.handle.Offsets()
		_, err := c.handle.Fetch(random.IntN(c.followers), draw(random, o.LogEnd, o.LogEnd, o.Start), c.buf[:])
		return err
	case 6:
		if random.IntN(8) > 0 {
			return nil
		}
		if random.IntN(2) == 0 {
			return c.run.log.Retain(strategies.Retention{Bytes: 1 + random.Int64N(2000)})
		}
		return c.run.log.Trim(c.handle.Offsets().HighWatermark)
	default:
		o := c.handle.Offsets()
		_, err := c.handle.Read(o.Start+random.Int64N(o.HighWatermark-o.Start+1), c.buf[:])
		return err
	}
}
