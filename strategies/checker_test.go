package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"tailrace/segment"
	"tailrace/strategies"
)

// load is a concurrent workload, bounded by its number of operations, with a check of every answer.
type load struct {
	producers, consumers int
	batches              int  // per producer
	cancel               bool // contexts of some appends end at any moment
}

// checker runs a load once. Its methods are called by the load's goroutines.
type checker struct {
	load
	log strategies.Log

	ctx    context.Context // ends when all is produced, or at the first violation
	cancel context.CancelFunc
	end    atomic.Int64 // the log's end once all is produced
	acked  atomic.Int64 // the largest offset that was acknowledged

	mu        sync.Mutex
	violation error
	outcomes  [][]outcome // by producer
}

// outcome is what one append came to.
type outcome struct {
	sequence int // of its first record
	records  int
	base     int64 // −1 where it was not told
	err      error
}

// run returns the first violation of the contract that anybody saw, nil if there was none.
func (l load) run(log strategies.Log) error {
	c := &checker{load: l, log: log, outcomes: make([][]outcome, l.producers)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	defer c.cancel()
	c.end.Store(math.MaxInt64)
	c.acked.Store(-1)
	var producers, consumers sync.WaitGroup
	for id := range l.consumers {
		consumers.Go(func() { c.report(c.consume(id)) })
	}
	for id := range l.producers {
		producers.Go(func() { c.report(c.produce(id)) })
	}
	producers.Wait()
	if c.ctx.Err() == nil {
		// One more batch: when it is acknowledged, so is everything before it.
		base, err := log.NewHandle().Append(c.ctx, newMaker(l.producers, 0).make(1, messageSize, 0), strategies.AcksLeader)
		c.report(err)
		c.end.Store(base + 1)
	}
	c.cancel()
	consumers.Wait()
	if c.violation == nil {
		c.report(c.account())
	}
	return c.violation
}

func (c *checker) report(err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.violation == nil {
		c.violation = err
	}
	c.cancel()
}

func (c *checker) produce(id int) error {
	h, m := c.log.NewHandle(), newMaker(id, 60)
	defer h.Close()
	random := rand.New(rand.NewPCG(60, uint64(id)))
	last := int64(-1)
	for range c.batches {
		if c.ctx.Err() != nil {
			return nil
		}
		ctx, done := c.ctx, func() {}
		if c.load.cancel && random.IntN(2) == 0 {
			ctx, done = cancelledSoon(c.ctx, random.IntN(12))
		}
		acks := strategies.AcksLeader
		if random.IntN(5) == 0 {
			acks = strategies.AcksNone
		}
		before := c.acked.Load()
		sequence := m.sequence
		b := m.next()
		base, err := h.Append(ctx, b, acks)
		done()
		if c.ctx.Err() != nil {
			return nil
		}
		o := outcome{sequence: sequence, records: int(b.RecordCount()), base: base, err: err}
		switch {
		case err != nil:
			o.base = -1
			if !c.load.cancel || !errors.Is(err, context.Canceled) && !errors.Is(err, strategies.ErrUnknownOutcome) {
				return fmt.Errorf("append: %w", err)
			}
		case acks == strategies.AcksNone:
			if base != -1 {
				return fmt.Errorf("append without acks returns %d", base)
			}
		default:
			if base <= last || base <= before {
				return fmt.Errorf("append got offset %d, after it was told of %d and %d", base, last, before)
			}
			if hw := h.Offsets().HighWatermark; hw < base+int64(o.records) {
				return fmt.Errorf("high watermark is %d after the acknowledgement of [%d, %d)", hw, base, base+int64(o.records))
			}
			last = base
			raise(&c.acked, base)
		}
		c.outcomes[id] = append(c.outcomes[id], o)
	}
	return nil
}

// cancelledSoon is a context that ends after so many turns of another goroutine. done waits for it.
func cancelledSoon(parent context.Context, turns int) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(parent)
	cancelled := inBackground(func() {
		for range turns {
			runtime.Gosched()
		}
		cancel()
	})
	return ctx, func() { <-cancelled }
}

func raise(a *atomic.Int64, v int64) {
	for {
		old := a.Load()
		if v <= old || a.CompareAndSwap(old, v) {
			return
		}
	}
}

// consume follows the tail to the end.
func (c *checker) consume(id int) error {
	h := c.log.NewHandle()
	defer h.Close()
	buf := make([]byte, 700<<(id%4))
	s := newStream(c.producers, c.load.cancel)
	var last strategies.Offsets
	for s.next < c.end.Load() {
		if err := h.Wait(c.ctx, s.next); err != nil {
			if c.ctx.Err() == nil {
				return fmt.Errorf("wait for %d: %w", s.next, err)
			}
			if c.end.Load() == math.MaxInt64 {
				return nil // a violation was found
			}
			continue
		}
		p, err := h.Read(s.next, buf)
		if err != nil {
			return fmt.Errorf("read at %d: %w", s.next, err)
		}
		if len(p) == 0 {
			return fmt.Errorf("read at %d gives nothing after the wait for it", s.next)
		}
		if err := s.check(p); err != nil {
			return err
		}
		now := h.Offsets()
		if now.Start < last.Start || now.HighWatermark < last.HighWatermark || now.LogEnd < last.LogEnd ||
			now.HighWatermark < s.next || now.LogEnd < now.HighWatermark || now.Start != 0 {
			return fmt.Errorf("offsets went from %+v to %+v, read up to %d", last, now, s.next)
		}
		last = now
	}
	return nil
}

// stream checks a log in its order.
type stream struct {
	next      int64
	gaps      bool  // whether sequence numbers may be missing
	sequences []int // by producer: the next one
	visit     func(producer, sequence int, offset int64)
}

func newStream(producers int, gaps bool) *stream {
	return &stream{gaps: gaps, sequences: make([]int, producers+1)}
}

// check takes the bytes of one read.
func (s *stream) check(p []byte) error {
	for len(p) > 0 {
		b, rest, err := segment.NextBatch(p)
		if err != nil {
			return fmt.Errorf("at %d: %w", s.next, err)
		}
		if err := b.CheckCRC(); err != nil {
			return fmt.Errorf("at %d: %w", s.next, err)
		}
		if b.BaseOffset() != s.next {
			return fmt.Errorf("batch has offset %d, want %d", b.BaseOffset(), s.next)
		}
		r := b.Records()
		for r.Next() {
			producer, sequence, err := parseMessage(r.Record.Value)
			if err != nil || producer >= len(s.sequences) {
				return fmt.Errorf("record at %d: %w", r.Record.Offset, errMessage)
			}
			if want := s.sequences[producer]; sequence < want || sequence > want && !s.gaps {
				return fmt.Errorf("record at %d is number %d of producer %d, want %d", r.Record.Offset, sequence, producer, want)
			}
			s.sequences[producer] = sequence + 1
			if s.visit != nil {
				s.visit(producer, sequence, r.Record.Offset)
			}
		}
		if err := r.Err(); err != nil {
			return fmt.Errorf("at %d: %w", s.next, err)
		}
		s.next, p = b.NextOffset(), rest
	}
	return nil
}

// account walks the whole log and compares it with what the producers were told.
func (c *checker) account() error {
	offsets := make([]map[int]int64, c.producers+1)
	for i := range offsets {
		offsets[i] = map[int]int64{}
	}
	s := newStream(c.producers, c.load.cancel)
	s.visit = func(producer, sequence int, offset int64) { offsets[producer][sequence] = offset }
	h := c.log.NewHandle()
	defer h.Close()
	buf := make([]byte, 64<<10)
	for end := h.Offsets().HighWatermark; s.next < end; {
		p, err := h.Read(s.next, buf)
		if err != nil {
			return fmt.Errorf("walk at %d: %w", s.next, err)
		}
		if err := s.check(p); err != nil {
			return fmt.Errorf("walk: %w", err)
		}
	}
	if s.next != c.end.Load() {
		return fmt.Errorf("log ends at %d, want %d", s.next, c.end.Load())
	}
	for producer, outcomes := range c.outcomes {
		if len(outcomes) != c.batches {
			return fmt.Errorf("producer %d made %d of %d appends", producer, len(outcomes), c.batches)
		}
		for _, o := range outcomes {
			if err := o.check(offsets[producer]); err != nil {
				return fmt.Errorf("producer %d: %w", producer, err)
			}
		}
	}
	return nil
}

// check compares an append with where its records are; that none is there twice follows from the
// order of the sequence numbers.
func (o outcome) check(offsets map[int]int64) error {
	first, stored := offsets[o.sequence]
	for i := range o.records {
		at, ok := offsets[o.sequence+i]
		if ok != stored || ok && at != first+int64(i) {
			return fmt.Errorf("batch of record %d is there in part", o.sequence)
		}
	}
	switch {
	case o.err == nil && !stored:
		return fmt.Errorf("acknowledged record %d is missing", o.sequence)
	case o.base >= 0 && first != o.base:
		return fmt.Errorf("record %d is at %d, acknowledged at %d", o.sequence, first, o.base)
	case errors.Is(o.err, context.Canceled) && stored:
		return fmt.Errorf("record %d was cancelled, and is at %d", o.sequence, first)
	}
	return nil
}
