package torture

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"tailrace/strategies"
)

// longTime bounds how long the producers of a long run go on.
const longTime = 250 * time.Millisecond

// longRun is many clients on one log. Each checks its answers by what it knows, and by what is announced in
// the words below: who is going to allow something announces it first, so that whoever sees it happen finds
// the announcement.
type longRun struct {
	round     *round
	log       strategies.Log
	crew      *crew
	producers int
	followers int
	batches   int // per producer
	limit     time.Duration
	cancels   bool // contexts of some appends end at any moment
	trimmers  int
	// prefill is how many segments there are before the others begin, of a batch each: a list of so many takes a while to
	// copy, in which others roll and trim.
	prefill int
	retains bool // some of them go by size
	handles bool // clients come with a new handle now and then

	acked   atomic.Int64 // the largest offset that an append was told
	visible atomic.Int64 // the largest end of an append that must be visible
	trimmed atomic.Int64 // below it a trim may take
	end     atomic.Int64 // the log's, once all is produced
	latest  atomic.Int64 // a timestamp that was acknowledged
	*progress

	produced     context.Context // ends after end is known
	allProduced  context.CancelFunc
	mu           sync.Mutex
	records      int64       // verified
	all          [][]outcome // by producer
	lastProducer sync.WaitGroup
}

func (r *round) longRun() error {
	l := &longRun{
		round:     r,
		producers: 1 + r.random.IntN(6),
		followers: r.drawFollowers(),
		batches:   50 + r.random.IntN(3000),
		cancels:   r.random.IntN(2) == 0,
		trimmers:  draw(r.random, 0, 0, 1, 2, 3),
		retains:   r.random.IntN(3) == 0,
		handles:   r.random.IntN(2) == 0,
		limit:     r.time(longTime),
	}
	l.progress = newProgress(l.followers)
	consumers := 1 + r.random.IntN(3)
	where, err := r.newPlace()
	if err != nil {
		return err
	}
	defer where.remove()
	options := r.settings(l.followers)
	if r.random.IntN(2) == 0 {
		options.SegmentSize, options.IndexInterval = 30_000, r.indexInterval(30_000)
	}
	if many := r.random.IntN(4) == 0; many {
		where.onDisk()
		r.shape = shape{1, 1}
		options.SegmentSize, l.prefill, l.trimmers = int64(r.shape.largest()), 300+r.random.IntN(700), 2
	}
	if options.Storage, err = where.open(); err != nil {
		return err
	}
	if l.log, err = r.strategy.Open(options); err != nil {
		return violationf("open: %v", err)
	}
	if err := l.run(consumers, where); err != nil {
		return err
	}
	r.counts.Records += l.records
	return r.close(l.log)
}

func (l *longRun) run(consumers int, where *place) error {
	l.crew = newCrew()
	defer l.crew.stop()
	l.produced, l.allProduced = context.WithCancel(l.crew.ctx)
	l.acked.Store(-1)
	l.end.Store(math.MaxInt64)
	l.all = make([][]outcome, l.producers+1)
	if err := l.fill(); err != nil {
		return err
	}
	for id := range l.producers {
		l.lastProducer.Add(1)
		l.crew.start(func() error {
			defer l.lastProducer.Done()
			return l.produce(id)
		})
	}
	l.crew.start(l.finish)
	for id := range consumers {
		l.crew.start(func() error { return l.consume(uint64(300+id), maxBatch+700<<id) })
	}
	for id := range l.followers {
		l.crew.start(func() error { return l.follow(id) })
	}
	for id := range 3 {
		l.crew.start(func() error { return l.look(uint64(100+id), id == 0) })
	}
	for id := range l.trimmers {
		l.crew.start(func() error { return l.trim(uint64(200 + id)) })
	}
	if where.dir != "" {
		l.crew.start(func() error { return l.occupy(where.dir) })
	}
	if err := l.crew.wait("a call of a long run", l.limit+l.round.options.Patience); err != nil {
		return err
	}
	return watched("a read", l.round.options.Patience, l.account)
}

// newStream is that of a client that begins where fill has ended.
func (l *longRun) newStream() *stream {
	s := newStream(l.producers+1, l.cancels)
	if l.prefill > 0 {
		s.jump(int64(l.prefill))
	}
	return s
}

// fill appends what is there before the others begin.
func (l *longRun) fill() error {
	h := l.log.NewHandle()
	defer h.Close()
	m := maker{producer: l.producers, random: newRandom(l.round.seed, 95), shape: l.round.shape}
	for range l.prefill {
		base, err := h.Append(l.crew.ctx, m.of(1, func() int64 { return 0 }), strategies.AcksLeader)
		if err != nil {
			return violationf("append: %v", err)
		}
		raise(&l.acked, base)
	}
	return nil
}

// finish appends once more when the producers are done: when that is acknowledged, so is all before it.
func (l *longRun) finish() error {
	l.lastProducer.Wait()
	defer l.allProduced()
	h := l.log.NewHandle()
	defer h.Close()
	m := maker{producer: l.producers, random: newRandom(l.round.seed, 99), shape: l.round.shape, sequence: l.prefill}
	b := m.of(1, func() int64 { return 0 })
	base, err := h.Append(l.crew.ctx, b, strategies.AcksAll)
	switch {
	case l.crew.ctx.Err() != nil:
		return nil
	case err != nil:
		return violationf("append: %v", err)
	}
	l.all[l.producers] = []outcome{{sequence: l.prefill, records: 1, base: base}}
	l.end.Store(base + 1)
	return nil
}

func (l *longRun) produce(id int) error {
	h := l.newClient()
	defer h.close()
	p := &producer{longRun: l, handle: h, last: -1,
		maker: maker{producer: id, random: newRandom(l.round.seed, uint64(id)), shape: l.round.shape}}
	defer func() { l.all[id] = p.outcomes }()
	began := time.Now()
	for range l.batches {
		if l.crew.ctx.Err() != nil || time.Since(began) > l.limit {
			return nil
		}
		if err := p.append(); err != nil {
			return err
		}
	}
	return nil
}

func raise(a *atomic.Int64, v int64) {
	for {
		old := a.Load()
		if v <= old || a.CompareAndSwap(old, v) {
			return
		}
	}
}

// trim trims at random until all is produced, and now and then the same once more.
func (l *longRun) trim(stream uint64) error {
	h := l.log.NewHandle()
	defer h.Close()
	random := newRandom(l.round.seed, stream)
	for l.produced.Err() == nil {
		o := h.Offsets()
		before := o.Start + random.Int64N(o.HighWatermark-o.Start+1)
		if l.prefill > 0 {
			before = min(before, o.Start+random.Int64N(5))
		}
		var err error
		if l.retains && l.prefill == 0 && random.IntN(2) == 0 {
			raise(&l.trimmed, math.MaxInt64)
			err = l.log.Retain(strategies.Retention{Bytes: 1 + random.Int64N(100_000)})
		} else {
			raise(&l.trimmed, before)
			err = l.log.Trim(before)
		}
		if err != nil {
			return violationf("trim: %v", err)
		}
		for range random.IntN(50) {
			pause(random)
		}
	}
	return nil
}

// account walks the whole log and compares it with what the producers were told.
func (l *longRun) account() error {
	h := l.log.NewHandle()
	defer h.Close()
	o := h.Offsets()
	if o.HighWatermark != l.end.Load() || o.LogEnd != o.HighWatermark {
		return violationf("the last append ends at %d, the offsets are %+v", l.end.Load(), o)
	}
	found := newLedger(l.producers+1, o.Start)
	if err := walk(h, o, l.producers+1, found); err != nil {
		return err
	}
	for producer, outcomes := range l.all {
		for _, outcome := range outcomes {
			if err := found.check(producer, outcome); err != nil {
				return err
			}
		}
	}
	return nil
}

// walk reads a log from its start to its high watermark.
func walk(h strategies.Handle, o strategies.Offsets, producers int, found *ledger) error {
	s := newStream(producers, true)
	s.next, s.visit = o.Start, found.visit
	buf := make([]byte, 64<<10)
	for s.next < o.HighWatermark {
		p, err := h.Read(s.next, buf)
		if err != nil {
			return violationf("read at %d: %v", s.next, err)
		}
		if len(p) == 0 {
			return violationf("a read at %d, below the high watermark %d, gives nothing", s.next, o.HighWatermark)
		}
		if err := s.add(p); err != nil {
			return err
		}
	}
	return nil
}
