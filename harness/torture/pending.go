package torture

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"tailrace/segment"
	"tailrace/strategies"
)

// pendingTime bounds the part of a round in which appends are cancelled.
const pendingTime = 100 * time.Millisecond

// pendingRun is a log one of whose followers stands still, so that appends for all can only be cancelled. What they leave
// behind must not grow with their number.
type pendingRun struct {
	round     *round
	log       strategies.Log
	crew      *crew
	followers int
	limit     time.Duration
	cancelled atomic.Int64 // appends that were stored and given up
}

func (r *round) pending() error {
	where, err := r.newPlace()
	if err != nil {
		return err
	}
	defer where.remove()
	if where.disk != nil { // it remembers every write
		where.disk, where.heap = nil, segment.NewHeap()
	}
	p := &pendingRun{round: r, followers: 1 + r.random.IntN(maxFollowers), limit: r.time(pendingTime)}
	// One segment, which does not grow in number of objects.
	options := strategies.Options{SegmentSize: 16 << 20, Replicas: p.followers}
	if options.Storage, err = where.open(); err != nil {
		return err
	}
	if p.log, err = r.strategy.Open(options); err != nil {
		return violationf("open: %v", err)
	}
	clients := 2 + r.random.IntN(6)
	if err := p.cancel(clients, p.limit/8); err != nil { // what is allocated once
		return err
	}
	before, already := objects(), p.cancelled.Load()
	if err := p.cancel(clients, p.limit); err != nil {
		return err
	}
	cancelled := p.cancelled.Load() - already
	if grown := objects() - before; grown > 500+cancelled/2 {
		return violationf("%d more objects are kept after %d appends that were cancelled while they waited for a follower that stands still",
			grown, cancelled)
	}
	r.counts.Cancelled += cancelled
	if err := p.handles(); err != nil {
		return err
	}
	if err := watched("an append for all, or a fetch", r.options.Patience, p.catchUp); err != nil {
		return err
	}
	return r.close(p.log)
}

// objects is how many there are on the heap, without garbage.
func objects() int64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/objects:objects"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// cancel has clients append for all for a time.
func (p *pendingRun) cancel(clients int, limit time.Duration) error {
	p.crew = newCrew()
	defer p.crew.stop()
	stop, done := context.WithTimeout(p.crew.ctx, limit)
	defer done()
	for id := range clients {
		random := newRandom(p.round.seed, uint64(id))
		p.crew.start(func() error { return p.client(stop, id, random) })
	}
	p.crew.start(func() error { return p.follow(stop) })
	return p.crew.wait("a call that is cancelled", limit+p.round.options.Patience)
}

// client makes calls that can only be cancelled.
func (p *pendingRun) client(stop context.Context, id int, random *rand.Rand) error {
	h := p.log.NewHandle()
	defer h.Close()
	m := maker{producer: id, random: random}
	for stop.Err() == nil {
		ctx, done := cancelledSoon(p.crew.ctx, random.IntN(30)) // a timer would outlive it for a while
		var err error
		if random.IntN(4) == 0 {
			err = h.Wait(ctx, h.Offsets().LogEnd+random.Int64N(3))
		} else {
			_, err = h.Append(ctx, m.next(), strategies.AcksAll)
		}
		ended := ctx.Err() != nil
		done()
		switch {
		case p.crew.ctx.Err() != nil:
			return nil
		case err == nil:
			return violationf("an append for all, or a wait for it, is over while a follower has nothing")
		case !ended || !contextEnded(err) && !errors.Is(err, strategies.ErrUnknownOutcome):
			return violationf("an append for all: %v", err)
		case errors.Is(err, strategies.ErrUnknownOutcome):
			p.cancelled.Add(1)
		}
	}
	return nil
}

// follow has all followers but the first fetch.
func (p *pendingRun) follow(ctx context.Context) error {
	h := p.log.NewHandle()
	defer h.Close()
	buf := make([]byte, 2*maxBatch)
	for ctx.Err() == nil {
		for replica := 1; replica < p.followers; replica++ {
			if _, err := h.Fetch(replica, h.Offsets().LogEnd, buf); err != nil {
				return violationf("fetch: %v", err)
			}
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// catchUp has many append for all, and then the followers fetch: all are answered at once, and find that it is so.
func (p *pendingRun) catchUp() error {
	fetcher := p.log.NewHandle()
	defer fetcher.Close()
	c := newCrew()
	defer c.stop()
	var left atomic.Int64
	for id := range 1 + p.round.random.IntN(64) {
		left.Add(1)
		h, m := p.log.NewHandle(), maker{producer: id, random: newRandom(p.round.seed, uint64(id))}
		c.start(func() error {
			defer left.Add(-1)
			defer h.Close()
			b := m.next()
			base, err := h.Append(context.Background(), b, strategies.AcksAll)
			if o := h.Offsets(); err != nil || o.HighWatermark < base+int64(b.RecordCount()) {
				return violationf("an append for all gives %d, %v, and then the offsets are %+v", base, err, o)
			}
			return nil
		})
	}
	buf := make([]byte, 2*maxBatch)
	for left.Load() > 0 {
		time.Sleep(time.Duration(p.round.random.IntN(300)) * time.Microsecond)
		for replica := range p.followers {
			if _, err := fetcher.Fetch(replica, fetcher.Offsets().LogEnd, buf); err != nil {
				return violationf("fetch: %v", err)
			}
		}
	}
	return c.wait("an append for all", p.round.options.Patience)
}

// handles opens and closes many.
func (p *pendingRun) handles() error {
	before := objects()
	for range manyHandles {
		if err := p.log.NewHandle().Close(); err != nil {
			return violationf("close of a handle: %v", err)
		}
	}
	if grown := objects() - before; grown > manyHandles/2 {
		return violationf("%d more objects are kept after %d handles were opened and closed", grown, manyHandles)
	}
	return nil
}

// manyHandles is so many that what each leaves behind stands out.
const manyHandles = 2000
