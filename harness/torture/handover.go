package torture

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"tailrace/strategies"
)

// handoverTime bounds a round.
const handoverTime = 150 * time.Millisecond

// lockstep is producers that append once per turn, and do not begin the next before everybody has read this
// one. Nobody is rescued by a later append: one lost wake-up or commit, and all stand still.
type lockstep struct {
	round     *round
	log       strategies.Log
	crew      *crew
	followers int
	// lateness is up to how long a consumer stays away: how long an append takes until it publishes differs a lot.
	lateness time.Duration
	crowd    int
	cancels  bool // calls are cancelled at any moment, and made again
	limit    time.Duration
	// turns is how many there are: the first producer sets it to one more than the turn that it begins, which
	// the others may have begun too, but have not finished without it.
	turns atomic.Int64

	// turn is how many each producer has finished, seen up to where each consumer has read.
	turn, seen []atomic.Int64
	done       context.Context // ends when the producers are done
	finish     context.CancelFunc
}

func (r *round) handover() error {
	l := &lockstep{
		round:     r,
		crew:      newCrew(),
		followers: r.drawFollowers(),
		lateness:  draw(r.random, 3*time.Microsecond, 10*time.Microsecond, 30*time.Microsecond, 100*time.Microsecond),
		turn:      make([]atomic.Int64, draw(r.random, 1, 1, 2, 2, 3, 4)),
		seen:      make([]atomic.Int64, draw(r.random, 0, 0, 1, 2, 3)),
		crowd:     draw(r.random, 0, 0, 300),
		cancels:   r.random.IntN(3) == 0,
		limit:     r.time(handoverTime),
	}
	defer l.crew.stop()
	l.turns.Store(math.MaxInt64)
	l.done, l.finish = context.WithCancel(l.crew.ctx)
	where, err := r.newPlace()
	if err != nil {
		return err
	}
	defer where.remove()
	options := r.settings(l.followers)
	if r.random.IntN(2) == 0 {
		// Thousands of index entries for each batch: who commits takes about as long as who writes, so that others mostly
		// finish while it is at it.
		r.shape, options.SegmentSize, options.IndexInterval = shape{2, 1500}, 30_000, draw(r.random, int64(1), 4)
	}
	if options.Storage, err = where.open(); err != nil {
		return err
	}
	if l.log, err = r.strategy.Open(options); err != nil {
		return violationf("open: %v", err)
	}
	l.start()
	if err := l.crew.wait("a call in lockstep", l.limit+r.options.Patience); err != nil {
		return err
	}
	r.counts.Handovers += l.turns.Load()
	return r.close(l.log)
}

func (l *lockstep) start() {
	var producers sync.WaitGroup
	for id := range l.turn {
		producers.Add(1)
		l.crew.start(func() error {
			defer producers.Done()
			return l.produce(id)
		})
	}
	for id := range l.seen {
		l.crew.start(func() error { return l.consume(id) })
	}
	for id := range l.followers {
		l.crew.start(func() error { return l.follow(id) })
	}
	// A crowd that waits for what never comes, so that to find a place among them takes a while.
	for range l.crowd {
		l.crew.start(func() error {
			h := l.log.NewHandle()
			defer h.Close()
			if err := h.Wait(l.done, math.MaxInt64-1); l.done.Err() == nil {
				return violationf("a wait for what never comes gives %v", err)
			}
			return nil
		})
	}
	l.crew.start(func() error {
		producers.Wait()
		l.finish()
		return nil
	})
}

func (l *lockstep) produce(id int) error {
	h := l.log.NewHandle()
	defer h.Close()
	m := maker{producer: id, random: newRandom(l.round.seed, uint64(id)), shape: l.round.shape}
	began := time.Now()
	for turn := int64(0); turn < l.turns.Load(); turn++ {
		if id == 0 && time.Since(began) > l.limit {
			l.turns.Store(turn + 1)
		}
		end, err := l.append(h, &m)
		if err != nil || l.crew.ctx.Err() != nil {
			return err
		}
		l.turn[id].Store(turn + 1)
		if !l.all(l.turn, turn+1) || !l.all(l.seen, end) {
			return nil
		}
		spin(m.random, draw(m.random, 0, time.Microsecond, 5*time.Microsecond)+1)
	}
	return nil
}

// append appends a batch until it is told where that ends. One that was cancelled on its way may be there twice.
func (l *lockstep) append(h strategies.Handle, m *maker) (end int64, err error) {
	for {
		b := m.next()
		ctx, done := l.context(m.random)
		base, err := h.Append(ctx, b, draw(m.random, strategies.AcksLeader, strategies.AcksAll))
		ended := ctx.Err() != nil
		done()
		switch {
		case err == nil:
			return base + int64(b.RecordCount()), nil
		case l.crew.ctx.Err() != nil:
			return 0, nil
		case !ended || !contextEnded(err) && !errors.Is(err, strategies.ErrUnknownOutcome):
			return 0, violationf("append: %v", err)
		}
	}
}

// context is one that may end while a call goes on.
func (l *lockstep) context(random *rand.Rand) (ctx context.Context, done func()) {
	if !l.cancels || random.IntN(4) > 0 {
		return l.crew.ctx, func() {}
	}
	return endingSoon(l.crew.ctx, random)
}

// wait is a call of Wait or WaitLogEnd, which may be cancelled and made again; false when the producers are done.
func (l *lockstep) wait(wait func(context.Context, int64) error, offset int64, random *rand.Rand) (bool, error) {
	for l.cancels && random.IntN(4) == 0 {
		ctx, done := endingSoon(l.done, random)
		err := wait(ctx, offset)
		done()
		if err == nil {
			return true, nil
		}
	}
	err := wait(l.done, offset)
	if err != nil && l.done.Err() == nil {
		return false, violationf("wait for %d: %v", offset, err)
	}
	return err == nil, nil
}

// all waits until all words have come to a value; false if the run has ended before.
func (l *lockstep) all(words []atomic.Int64, value int64) bool {
	for i := range words {
		for words[i].Load() < value {
			if l.crew.ctx.Err() != nil {
				return false
			}
			runtime.Gosched()
		}
	}
	return true
}

func (l *lockstep) consume(id int) error {
	h := l.log.NewHandle()
	defer h.Close()
	random := newRandom(l.round.seed, uint64(100+id))
	s := newStream(len(l.turn), l.cancels)
	buf := make([]byte, 2*maxBatch)
	for {
		if there, err := l.wait(h.Wait, s.next, random); !there {
			return err
		}
		p, err := h.Read(s.next, buf)
		if err != nil {
			return violationf("read at %d: %v", s.next, err)
		}
		if len(p) == 0 {
			return violationf("a read at %d gives nothing after the wait for it", s.next)
		}
		if err := s.add(p); err != nil {
			return err
		}
		l.seen[id].Store(s.next)
		// To come to the wait now before, now after the next append, or just between two of its steps.
		spin(random, l.lateness)
	}
}

func (l *lockstep) follow(replica int) error {
	h := l.log.NewHandle()
	defer h.Close()
	random := newRandom(l.round.seed, uint64(200+replica))
	s := newStream(len(l.turn), l.cancels)
	buf := make([]byte, 2*maxBatch)
	for {
		p, err := h.Fetch(replica, s.next, buf)
		if err != nil {
			return violationf("fetch at %d: %v", s.next, err)
		}
		if err := s.add(p); err != nil {
			return err
		}
		if len(p) > 0 {
			continue
		}
		if there, err := l.wait(h.WaitLogEnd, s.next, random); !there {
			return err
		}
	}
}
