package torture

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"tailrace/segment"
	"tailrace/strategies"
)

const (
	// momentsTime bounds a round, and so does momentsSteps.
	momentsTime  = 200 * time.Millisecond
	momentsSteps = 1 << 14
)

// moments is a log that one client changes step by step, while others look at it. What there is after each step is
// known, so that whoever looks must be shown one of the moments of its call, and never parts of two.
type moments struct {
	round   *round
	log     strategies.Log
	options strategies.Options
	crew    *crew
	limit   time.Duration

	// states has what there is after each step. Those up to begun may be there, the one of done has been there.
	states      []moment
	begun, done atomic.Int64
	over        atomic.Bool
	looks       atomic.Int64

	// batches are those of the log, in order. The client puts one there before it begins its step.
	batches []segment.Batch
}

// moment is what there is after a step.
type moment struct {
	strategies.Offsets
	batches int
}

func (r *round) moments() error {
	where, err := r.newPlace()
	if err != nil {
		return err
	}
	defer where.remove()
	m := &moments{round: r, crew: newCrew(), options: r.settings(r.drawFollowers()), limit: r.time(momentsTime),
		states: make([]moment, momentsSteps+1), batches: make([]segment.Batch, momentsSteps)}
	defer m.crew.stop()
	if m.options.Storage, err = where.open(); err != nil {
		return err
	}
	if m.log, err = r.strategy.Open(m.options); err != nil {
		return violationf("open: %v", err)
	}
	m.crew.start(m.change)
	for id := range 2 + r.random.IntN(4) {
		random := newRandom(r.seed, uint64(id+1))
		look := draw(r.random, m.lookAtOffsets, m.readTheOldest, m.look)
		m.crew.start(func() error { return look(random) })
	}
	if err := m.crew.wait("a call beside one client that changes the log", m.limit+r.options.Patience); err != nil {
		return err
	}
	r.counts.Looks += m.looks.Load()
	return r.close(m.log)
}

// changer is the client that changes the log, and what it knows of it.
type changer struct {
	*moments
	moment // as it will be after the step
	handle strategies.Handle
	random *rand.Rand
	maker  maker
	said   []int64 // by follower
	ends   []int64 // of the sealed segments that are there
	size   int64   // of the active segment
	buf    []byte
}

func (m *moments) change() error {
	defer m.over.Store(true)
	random := newRandom(m.round.seed, 0)
	c := &changer{moments: m, handle: m.log.NewHandle(), random: random, buf: make([]byte, 2*maxBatch),
		maker: maker{random: random, shape: m.round.shape}, said: make([]int64, m.options.Replicas)}
	defer c.handle.Close()
	began := time.Now()
	for step := range momentsSteps {
		if m.crew.ctx.Err() != nil || time.Since(began) > m.limit {
			return nil
		}
		call := c.next()
		m.states[step+1] = c.moment
		m.begun.Store(int64(step + 1))
		if err := call(); err != nil {
			return err
		}
		m.done.Store(int64(step + 1))
		if o := c.handle.Offsets(); o != c.Offsets {
			return violationf("after a call the offsets are %+v, want %+v", o, c.Offsets)
		}
		if random.IntN(4) == 0 {
			spin(random, 3*time.Microsecond)
		}
	}
	return nil
}

// next draws a call, and moves on to what there is after it.
func (c *changer) next() (call func() error) {
	switch n := c.random.IntN(10); {
	case n < 3 && len(c.said) > 0:
		return c.fetch()
	case n < 5:
		return c.trim()
	default:
		return c.append()
	}
}

func (c *changer) append() func() error {
	first := c.LogEnd
	// The time of a record is ten times its offset.
	at := first
	b := c.maker.of(c.maker.records(), func() int64 { at++; return 10 * (at - 1) })
	if c.size+int64(len(b)) > c.options.SegmentSize {
		c.ends, c.size = append(c.ends, first), 0
	}
	c.size += int64(len(b))
	c.LogEnd += int64(b.RecordCount())
	c.raise()
	stored := bytes.Clone(b)
	segment.Batch(stored).Stamp(first)
	c.moments.batches[c.moment.batches] = stored
	c.moment.batches++
	acks := strategies.AcksLeader
	if c.HighWatermark == c.LogEnd {
		acks = draw(c.random, strategies.AcksLeader, strategies.AcksAll)
	}
	return func() error {
		base, err := c.handle.Append(context.Background(), b, acks)
		clear(b)
		if err != nil || base != first {
			return violationf("an append gives %d, %v, want offset %d", base, err, first)
		}
		if synced := c.log.LastSynced(); c.options.Sync == segment.EveryBatch() && synced != c.LogEnd {
			return violationf("after an append up to %d, each synced, all below %d is synced", c.LogEnd, synced)
		}
		return nil
	}
}

func (c *changer) fetch() func() error {
	replica := c.random.IntN(len(c.said))
	offset := c.LogEnd
	if batches := c.moments.batches[:c.moment.batches]; len(batches) > 0 && c.random.IntN(3) == 0 {
		offset = max(c.Start, batches[len(batches)-1-c.random.IntN(min(len(batches), 20))].BaseOffset())
	}
	c.said[replica] = offset
	c.raise()
	return func() error {
		if _, err := c.handle.Fetch(replica, offset, c.buf); err != nil {
			return violationf("fetch at %d: %v", offset, err)
		}
		return nil
	}
}

func (c *changer) raise() { c.HighWatermark = max(c.HighWatermark, min(c.LogEnd, least(c.said))) }

// least is the smallest of some numbers, if there are any.
func least(numbers []int64) int64 {
	if len(numbers) == 0 {
		return math.MaxInt64
	}
	return slices.Min(numbers)
}

func (c *changer) trim() func() error {
	before := c.Start + c.random.Int64N(c.HighWatermark-c.Start+1)
	for len(c.ends) > 0 && c.ends[0] <= before {
		c.Start, c.ends = c.ends[0], c.ends[1:]
	}
	return func() error {
		if err := c.log.Trim(before); err != nil {
			return violationf("trim: %v", err)
		}
		return nil
	}
}
