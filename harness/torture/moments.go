package torture

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
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

// lookAtOffsets looks at nothing else, and as often as it can: what is shown of two moments is shown between two loads.
func (m *moments) lookAtOffsets(*rand.Rand) error {
	h := m.log.NewHandle()
	defer h.Close()
	looks := int64(0)
	defer func() { m.looks.Add(looks) }()
	for ; !m.over.Load(); looks++ {
		giveWay(looks)
		first := m.done.Load()
		o := h.Offsets()
		if m.options.Sync == segment.EveryBatch() {
			if synced := m.log.LastSynced(); synced < o.LogEnd {
				return violationf("the log end is %d, each batch is synced before it is shown, and all below %d is", o.LogEnd, synced)
			}
		}
		if m.states[first].Offsets == o {
			continue
		}
		during := m.states[first : m.begun.Load()+1]
		if !slices.ContainsFunc(during, func(s moment) bool { return s.Offsets == o }) {
			return violationf("the offsets are %+v, and were that at no moment of the call: %+v", o, during)
		}
	}
	return nil
}

// giveWay lets others run after some turns of a tight loop: on one processor they would wait for 10 ms each time.
func giveWay(turn int64) {
	if turn%64 == 63 {
		runtime.Gosched()
	}
}

// readTheOldest reads what is trimmed next.
func (m *moments) readTheOldest(*rand.Rand) error {
	h := m.log.NewHandle()
	defer h.Close()
	buf := make([]byte, maxBatch)
	looks := int64(0)
	defer func() { m.looks.Add(looks) }()
	for ; !m.over.Load(); looks++ {
		giveWay(looks)
		first := m.done.Load()
		at := m.states[first].Start
		p, err := h.Read(at, buf)
		during := m.states[first : m.begun.Load()+1]
		if !slices.ContainsFunc(during, func(s moment) bool { return m.mayRead(s, at, p, err) }) {
			return violationf("a read at %d gives %d bytes, %v, which was right at no moment of the call: %+v", at, len(p), err, during)
		}
	}
	return nil
}

// look compares what it is shown with the moments of its call.
func (m *moments) look(random *rand.Rand) error {
	h := m.log.NewHandle()
	defer h.Close()
	buf := make([]byte, 4*maxBatch)
	looks := int64(0)
	defer func() { m.looks.Add(looks) }()
	for ; !m.over.Load(); looks++ {
		giveWay(looks)
		first := m.done.Load()
		state := m.states[first]
		var judge func(moment) bool
		what, at := "the offsets", int64(0)
		var got any
		switch n := random.IntN(8); {
		case n < 5 || state.LogEnd == 0:
			o := h.Offsets()
			got, judge = o, func(s moment) bool { return s.Offsets == o }
		case n == 5:
			what, at = "a read", max(0, draw(random, state.Start-1, state.Start, state.HighWatermark-1, state.HighWatermark))
			p, err := h.Read(at, buf)
			got, judge = err, func(s moment) bool { return m.mayRead(s, at, p, err) }
		case n == 6:
			at = state.Start + random.Int64N(state.HighWatermark-state.Start+1)
			what = "a look for the time of an offset"
			found, err := h.OffsetForTime(10*at - random.Int64N(10))
			got = found
			judge = func(s moment) bool { return err == nil && found == min(max(at, s.Start), s.HighWatermark) }
		default:
			what, at = "a wait", state.HighWatermark-1
			if at < 0 {
				continue
			}
			err := h.Wait(m.crew.ctx, at)
			got, judge = err, func(moment) bool { return err == nil || m.crew.ctx.Err() != nil }
		}
		last := m.begun.Load()
		during := m.states[first : last+1]
		if !slices.ContainsFunc(during, judge) {
			return violationf("%s (%d) gives %+v, which was right at no moment of the call: the offsets were %+v", what, at, got, during)
		}
	}
	return nil
}

// mayRead judges an answer by what there was at one moment.
func (m *moments) mayRead(s moment, offset int64, p []byte, err error) bool {
	switch {
	case errors.Is(err, strategies.ErrOutOfRange):
		return offset < s.Start || offset > s.HighWatermark
	case err != nil || offset < s.Start || offset > s.HighWatermark:
		return false
	case offset == s.HighWatermark:
		return len(p) == 0
	}
	batches := m.batches[:s.batches]
	i := sort.Search(len(batches), func(i int) bool { return batches[i].NextOffset() > offset })
	got := len(p) > 0
	for ; len(p) > 0 && i < len(batches) && batches[i].NextOffset() <= s.HighWatermark && bytes.HasPrefix(p, batches[i]); i++ {
		p = p[len(batches[i]):]
	}
	return got && len(p) == 0
}
