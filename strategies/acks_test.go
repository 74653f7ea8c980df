package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

// beginReplicated is begin for an append that waits for all replicas, through a handle.
func beginReplicated(t *testing.T, h strategies.Handle, producer int) *attempt {
	ctx, cancel := context.WithCancel(context.Background())
	a := &attempt{cancel: cancel, batch: newMaker(producer, 80).make(1, 100, 0)}
	a.bytes = string(a.batch)
	a.done = inBackground(func() {
		a.base, a.err = h.Append(ctx, a.batch, strategies.AcksAll)
		if hw := h.Offsets().HighWatermark; a.err == nil && hw <= a.base {
			t.Errorf("append at %d is acknowledged by all at high watermark %d", a.base, hw)
		}
	})
	return a
}

// pend begins appends one after the other, each in the log before the next and none acknowledged; the
// producers are numbered as their offsets.
func (f *fixture) pend(log strategies.Log, n int) (handles []strategies.Handle, pending []*attempt) {
	f.t.Helper()
	observer := log.NewHandle()
	for range n {
		end := observer.Offsets().LogEnd
		h := log.NewHandle()
		handles = append(handles, h)
		pending = append(pending, beginReplicated(f.t, h, int(end)))
		eventually(f.t, "writing", func() bool { return observer.Offsets().LogEnd == end+1 })
	}
	return handles, pending
}

// stillPending fails the test if one of the appends has returned.
func stillPending(t *testing.T, pending []*attempt) {
	t.Helper()
	for i, a := range pending {
		select {
		case <-a.done:
			t.Fatalf("append %d of %d that the replicas do not have returns %d and %v", i, len(pending), a.base, a.err)
		default:
		}
	}
}

// acknowledgedAt checks that an append returns with an offset.
func (a *attempt) acknowledgedAt(t *testing.T, base int64) {
	t.Helper()
	finishes(t, "an append that all replicas have", a.done)
	if a.base != base || a.err != nil {
		t.Fatalf("append returns %d and %v, want %d", a.base, a.err, base)
	}
}

// Each of the acks comes at its time: none and leader with nobody fetching, all with the last follower.
func TestAcksBesideReplicas(t *testing.T) {
	forEachReplicated(t, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		for end := int64(0); end < 9; end += 3 {
			for i, want := range []int64{-1, end + 1} {
				base, err := h.Append(context.Background(), newMaker(1, 210).make(1, 100, 0), strategies.Acks(i))
				if err != nil || base != want {
					f.t.Fatalf("append with acks %d returns %d and %v, want %d", i, base, err, want)
				}
			}
			_, pending := f.pend(log, 1)
			for replica := range f.options.Replicas {
				fetch(f.t, h, replica, end+2) // the batch itself is fetched only with the next offset
			}
			for replica := range f.options.Replicas - 1 {
				fetch(f.t, h, replica, end+3)
			}
			stillPending(f.t, pending)
			if o := h.Offsets(); o != (strategies.Offsets{HighWatermark: end + 2, LogEnd: end + 3}) {
				f.t.Fatalf("offsets are %+v before the last follower has %d", o, end+2)
			}
			fetch(f.t, h, f.options.Replicas-1, end+3)
			pending[0].acknowledgedAt(f.t, end+2)
			if hw := h.Offsets().HighWatermark; hw != end+3 {
				f.t.Fatalf("high watermark is %d when all have fetched at %d", hw, end+3)
			}
		}
	})
}

// Many appends wait at once and are acknowledged one by one as the slowest follower comes along. Meanwhile
// nobody else waits for them: not the appends for themselves, nor readers, followers and trims.
func TestAcksAllInOrder(t *testing.T) {
	forEachReplicated(t, func(f *fixture) {
		log := f.open()
		const n = 8
		_, pending := f.pend(log, n)
		h := log.NewHandle()
		for offset := range int64(n) {
			stillPending(f.t, pending[offset:])
			for replica := f.options.Replicas - 1; replica >= 0; replica-- {
				fetch(f.t, h, replica, offset+1)
			}
			pending[offset].acknowledgedAt(f.t, offset)
			finishes(f.t, "all others", inBackground(func() {
				appendOne(f.t, h, strategies.AcksLeader)
				appendOne(f.t, h, strategies.AcksNone)
				if got := int64(len(contents(f.t, h, h.Offsets().Start))); got == 0 || got > offset+1 {
					f.t.Errorf("%d batches are visible below %d", got, offset+1)
				}
				if _, err := h.OffsetForTime(0); err != nil {
					f.t.Error(err)
				}
				if err := log.Trim(offset / 2); err != nil {
					f.t.Error(err)
				}
			}))
		}
		f.fetchAll(h, h.Offsets().LogEnd)
	})
}

// One fetch may acknowledge a crowd, whatever order its members came in.
func TestAcksAllTogether(t *testing.T) {
	o := strategies.Options{SegmentSize: 6000, Replicas: 2}
	forEachWith(t, o, isCore, func(f *fixture) {
		log := f.open()
		const producers = 64
		var all []*attempt
		for id := range producers {
			all = append(all, beginReplicated(f.t, log.NewHandle(), id))
		}
		h := log.NewHandle()
		eventually(f.t, "writing", func() bool { return h.Offsets().LogEnd == producers })
		stillPending(f.t, all)
		f.fetchAll(h, producers)
		for _, a := range all {
			finishes(f.t, "an append that all replicas have", a.done)
			a.scribble()
		}
		stored := byProducer(f.t, h)
		for id, a := range all {
			if a.err != nil {
				f.t.Errorf("append of producer %d gives %v", id, a.err)
			}
			a.check(f.t, id, stored)
		}
	})
}

// Two fetches follow each other while the waker is at work for the first: the second wakes too.
func TestAcksAllInQuickSuccession(t *testing.T) {
	o := strategies.Options{Replicas: 1}
	forEachWith(t, o, isCore, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		for end := int64(0); end < 200; end += 2 {
			_, pending := f.pend(log, 2)
			fetch(f.t, h, 0, end+1)
			fetch(f.t, h, 0, end+2)
			pending[0].acknowledgedAt(f.t, end)
			pending[1].acknowledgedAt(f.t, end+1)
		}
	})
}

// A follower that has lost its log fetches from the start again. Nothing becomes invisible; what is appended
// from then on waits until it has caught up.
func TestRegressedFollowerHoldsUpAcks(t *testing.T) {
	forEachReplicated(t, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		fill(f.t, h, newMaker(1, 211), 10)
		before := h.Offsets().LogEnd
		f.fetchAll(h, before)
		const regressed = 0
		fetch(f.t, h, regressed, 0)
		_, pending := f.pend(log, 2)
		for replica := 1; replica < f.options.Replicas; replica++ {
			fetch(f.t, h, replica, before+2)
		}
		for _, b := range contents(f.t, h, 0) {
			fetch(f.t, h, regressed, b.NextOffset())
			stillPending(f.t, pending)
			if o := h.Offsets(); o != (strategies.Offsets{HighWatermark: before, LogEnd: before + 2}) {
				f.t.Fatalf("offsets are %+v while a follower catches up at %d, want the high watermark %d", o, b.NextOffset(), before)
			}
		}
		fetch(f.t, h, regressed, before+1)
		pending[0].acknowledgedAt(f.t, before)
		stillPending(f.t, pending[1:])
		fetch(f.t, h, regressed, before+2)
		pending[1].acknowledgedAt(f.t, before+1)
	})
}

// replication is a leader under load with followers that append what they fetch to logs of their own.
type replication struct {
	checker
	producersDone atomic.Bool
	consumed      []atomic.Int64 // by consumer: up to where
}

// TestReplication runs it under every candidate, with other candidates' logs for the followers.
func TestReplication(t *testing.T) {
	for _, procs := range []int{1, 2, 8} {
		for _, cancel := range []bool{false, true} {
			t.Run(fmt.Sprintf("gomaxprocs=%d/cancel=%t", procs, cancel), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				o := strategies.Options{SegmentSize: 1500, IndexInterval: 100, Replicas: 2}
				turn := 0
				forEachWith(t, o, isCore, func(f *fixture) {
					followers := make([]strategies.Log, o.Replicas)
					for i := range followers {
						turn++
						other := *f.fresh(f.t)
						other.strategy = candidate(turn)
						other.options.Replicas = 0
						followers[i] = other.open()
					}
					leader := f.open()
					r := newReplication(load{producers: 4, consumers: 3, batches: 12, cancel: cancel}, leader)
					finishes(f.t, "replicating", inBackground(func() { r.run(followers) }))
					if r.violation != nil {
						f.t.Fatal(r.violation)
					}
					h := leader.NewHandle()
					want := contents(f.t, h, h.Offsets().Start)
					for _, l := range followers {
						sameBatches(f.t, contents(f.t, l.NewHandle(), h.Offsets().Start), want)
					}
					// A follower's log has all from 0 on, what the leader has dropped included.
					r.log = followers[0]
					if err := r.account(); err != nil {
						f.t.Fatal(err)
					}
				})
			})
		}
	}
}

// candidate is one of those that are not controls, in turn.
func candidate(turn int) strategies.Strategy {
	for {
		if s := strategies.List[turn%len(strategies.List)]; isCore(s) {
			return s
		}
		turn++
	}
}

func newReplication(l load, log strategies.Log) *replication {
	r := &replication{consumed: make([]atomic.Int64, l.consumers)}
	r.load, r.log, r.outcomes = l, log, make([][]outcome, l.producers)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.acked.Store(-1)
	return r
}

// run returns when all is produced, replicated and consumed, or a violation was found.
func (r *replication) run(followers []strategies.Log) {
	defer r.cancel()
	var producers, others sync.WaitGroup
	for id := range r.consumers {
		others.Go(func() { r.report(r.consume(id)) })
	}
	for replica, l := range followers {
		others.Go(func() { r.report(r.replicate(replica, l)) })
	}
	others.Go(func() { r.report(r.trim()) })
	for id := range r.producers {
		producers.Go(func() { r.report(r.produce(id)) })
	}
	producers.Wait()
	r.end.Store(r.log.NewHandle().Offsets().LogEnd)
	r.producersDone.Store(true)
	r.cancel()
	others.Wait()
}

// finished reports whether a client that has come to an offset has no more to do.
func (r *replication) finished(offset int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.violation != nil || r.producersDone.Load() && offset == r.end.Load()
}

func (r *replication) produce(id int) error {
	h, m := r.log.NewHandle(), newMaker(id, 220)
	defer h.Close()
	random := rand.New(rand.NewPCG(220, uint64(id)))
	last := int64(-1)
	for range r.batches {
		ctx, done := r.ctx, func() {}
		if r.load.cancel && random.IntN(2) == 0 {
			ctx, done = cancelledSoon(r.ctx, random.IntN(40))
		}
		acks := []strategies.Acks{strategies.AcksAll, strategies.AcksAll, strategies.AcksLeader, strategies.AcksNone}[random.IntN(4)]
		before, sequence := r.acked.Load(), m.sequence
		b := m.next()
		o := outcome{sequence: sequence, records: int(b.RecordCount())}
		o.base, o.err = h.Append(ctx, b, acks)
		done()
		for i := range b {
			b[i] = 0xee // the buffer is the producer's again
		}
		if r.ctx.Err() != nil {
			return nil
		}
		switch {
		case o.err != nil:
			if !r.load.cancel || !errors.Is(o.err, context.Canceled) && !errors.Is(o.err, strategies.ErrUnknownOutcome) {
				return fmt.Errorf("append: %w", o.err)
			}
			o.base = -1
		case acks == strategies.AcksNone:
			if o.base != -1 {
				return fmt.Errorf("append without acks returns %d", o.base)
			}
		default:
			if o.base <= last || o.base <= before {
				return fmt.Errorf("append got offset %d, after it was told of %d and %d", o.base, last, before)
			}
			end, offsets := o.base+int64(o.records), h.Offsets()
			if offsets.LogEnd < end || acks == strategies.AcksAll && offsets.HighWatermark < end {
				return fmt.Errorf("offsets are %+v after the acknowledgement %d of [%d, %d)", offsets, acks, o.base, end)
			}
			last = o.base
			raise(&r.acked, o.base)
		}
		r.outcomes[id] = append(r.outcomes[id], o)
	}
	return nil
}

// consume follows the high watermark; every other consumer polls.
func (r *replication) consume(id int) error {
	h := r.log.NewHandle()
	defer h.Close()
	buf := make([]byte, 1000<<(id%3))
	s := newStream(r.producers, r.load.cancel)
	var last strategies.Offsets
	for !r.finished(s.next) {
		if id%2 == 0 {
			if err := h.Wait(r.ctx, s.next); err != nil && r.ctx.Err() == nil {
				return fmt.Errorf("wait for %d: %w", s.next, err)
			}
		}
		p, err := h.Read(s.next, buf)
		if err != nil {
			return fmt.Errorf("read at %d: %w", s.next, err)
		}
		if err := s.check(p); err != nil {
			return err
		}
		now := h.Offsets()
		if now.Start < last.Start || now.HighWatermark < last.HighWatermark || now.LogEnd < last.LogEnd ||
			now.Start > now.HighWatermark || now.HighWatermark > now.LogEnd || now.HighWatermark < s.next {
			return fmt.Errorf("offsets went from %+v to %+v, read up to %d", last, now, s.next)
		}
		last = now
		r.consumed[id].Store(s.next)
		if len(p) == 0 {
			runtime.Gosched()
		}
	}
	return nil
}

// replicate is a follower: it says how far it is with each fetch, and waits when it has all.
func (r *replication) replicate(replica int, to strategies.Log) error {
	h, own := r.log.NewHandle(), to.NewHandle()
	defer h.Close()
	buf := make([]byte, 2000)
	for next := int64(0); ; {
		p, err := h.Fetch(replica, next, buf)
		if err != nil {
			return fmt.Errorf("fetch at %d: %w", next, err)
		}
		if len(p) == 0 {
			if r.finished(next) {
				return nil
			}
			if err := h.WaitLogEnd(r.ctx, next); err != nil && r.ctx.Err() == nil {
				return fmt.Errorf("wait for the log end %d: %w", next, err)
			}
			runtime.Gosched()
		}
		for len(p) > 0 {
			var b segment.Batch
			if b, p, err = segment.NextBatch(p); err != nil {
				return fmt.Errorf("fetch at %d: %w", next, err)
			}
			if b.BaseOffset() != next {
				return fmt.Errorf("fetch gives a batch at %d, want %d", b.BaseOffset(), next)
			}
			base, err := own.Append(context.Background(), b, strategies.AcksAll)
			if err != nil || base != next {
				return fmt.Errorf("append to the follower's log returns %d and %w, want %d", base, err, next)
			}
			next = b.NextOffset()
		}
	}
}

// trim drops what all consumers have read.
func (r *replication) trim() error {
	h := r.log.NewHandle()
	defer h.Close()
	for next := int64(20); ; next += 20 {
		if err := h.Wait(r.ctx, next); err != nil {
			if r.ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("wait for %d: %w", next, err)
		}
		least := r.consumed[0].Load()
		for i := range r.consumed {
			least = min(least, r.consumed[i].Load())
		}
		if err := r.log.Trim(least); err != nil {
			return fmt.Errorf("trim below %d: %w", least, err)
		}
	}
}
