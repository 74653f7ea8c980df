package torture

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"syscall"
	"time"

	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// failingTime bounds a round's load.
const failingTime = 100 * time.Millisecond

// failingRun is a log on a storage that fails. From the first error on no append is stored; what was acknowledged stays,
// what failed never shows, and nobody waits for ever.
type failingRun struct {
	round     *round
	log       strategies.Log
	crew      *crew
	storage   *segmenttest.Faults
	followers int
	limit     time.Duration
	failed    atomic.Bool // an append has been told
	outcomes  [][]outcome // by producer
	producing context.Context
	produced  context.CancelFunc
}

// draw lets a kind of call fail, once or for good, at some time of the round.
func (f *failingRun) draw() {
	random := f.round.random
	ops := draw(random,
		[]segmenttest.Op{segmenttest.Pwrite, segmenttest.PwriteBatches}, []segmenttest.Op{segmenttest.Pwrite, segmenttest.PwriteBatches},
		[]segmenttest.Op{segmenttest.Sync}, []segmenttest.Op{segmenttest.OpenLog}, []segmenttest.Op{segmenttest.MapIndex},
		[]segmenttest.Op{segmenttest.Truncate}, []segmenttest.Op{segmenttest.LogSize})
	nth, times := 1+random.IntN(draw(random, 5, 100)), draw(random, -1, -1, 1)
	cause := draw(random, syscall.EIO, syscall.ENOSPC)
	short := random.IntN(2) == 0
	for _, op := range ops {
		if short {
			f.storage.Short(op, nth, times, cause)
		} else {
			f.storage.Fail(op, nth, times, cause)
		}
	}
}

func (r *round) failing() error {
	where, err := r.newPlace()
	if err != nil {
		return err
	}
	defer where.remove()
	f := &failingRun{round: r, crew: newCrew(), followers: r.drawFollowers(), limit: r.time(failingTime)}
	defer f.crew.stop()
	f.producing, f.produced = context.WithCancel(f.crew.ctx)
	options := r.settings(f.followers)
	s, err := where.open()
	if err != nil {
		return err
	}
	f.storage = segmenttest.NewFaults(s)
	options.Storage = f.storage
	if f.log, err = r.strategy.Open(options); err != nil {
		return violationf("open: %v", err)
	}
	f.draw()
	if err := f.run(); err != nil {
		return err
	}
	f.storage.Clear()
	if err := r.close(f.log); err != nil {
		return err
	}
	if options.Storage, err = where.open(); err != nil {
		return err
	}
	return watched("a call after the log was opened again", r.options.Patience, func() error { return f.reopen(options) })
}

func (f *failingRun) run() error {
	f.outcomes = make([][]outcome, 1+f.round.random.IntN(4))
	left := atomic.Int64{}
	left.Store(int64(len(f.outcomes)))
	for id := range f.outcomes {
		f.crew.start(func() error {
			defer func() {
				if left.Add(-1) == 0 && !f.failed.Load() {
					f.produced() // else those who wait are told by the failure
				}
			}()
			return f.produce(id)
		})
	}
	for range 2 {
		f.crew.start(f.consume)
	}
	f.crew.start(f.waitForever)
	for replica := range f.followers {
		f.crew.start(func() error { return f.follow(replica) })
	}
	if err := f.crew.wait("a call on a storage that fails", f.limit+f.round.options.Patience); err != nil {
		return err
	}
	if !f.failed.Load() {
		return nil // in time
	}
	return watched("a call after a failure", f.round.options.Patience, f.afterwards)
}

// produce appends until that fails, and then some more.
func (f *failingRun) produce(id int) error {
	h := f.log.NewHandle()
	defer h.Close()
	m := maker{producer: id, random: newRandom(f.round.seed, uint64(id)), shape: f.round.shape}
	began, refused := time.Now(), 0
	for refused < 4 && time.Since(began) < f.limit && f.crew.ctx.Err() == nil {
		after := f.failed.Load()
		o := outcome{sequence: m.sequence, base: -1}
		b := m.next()
		o.records = int(b.RecordCount())
		acks := draw(m.random, strategies.AcksLeader, strategies.AcksLeader, strategies.AcksNone)
		var base int64
		if base, o.err = h.Append(context.Background(), b, acks); o.err == nil {
			o.base = base
		}
		clear(b)
		f.outcomes[id] = append(f.outcomes[id], o)
		switch {
		case errors.Is(o.err, strategies.ErrFailed) && (errors.Is(o.err, syscall.EIO) || errors.Is(o.err, syscall.ENOSPC)):
			f.failed.Store(true)
			refused++
		case o.err != nil:
			return violationf("an append on a storage that fails gives %v", o.err)
		case after:
			return violationf("an append is stored at %d after another was told that the partition has failed", base)
		}
	}
	return nil
}

// consume follows the log until it fails, or nobody appends any more.
func (f *failingRun) consume() error {
	h := f.log.NewHandle()
	defer h.Close()
	s := newStream(len(f.outcomes), true)
	buf := make([]byte, 2*maxBatch)
	for {
		err := h.Wait(f.producing, s.next)
		switch {
		case errors.Is(err, strategies.ErrFailed) || f.producing.Err() != nil:
			return nil
		case err != nil:
			return violationf("wait for %d: %v", s.next, err)
		}
		p, err := h.Read(s.next, buf)
		if err != nil || len(p) == 0 {
			return violationf("a read at %d after the wait for it gives %d bytes, %v", s.next, len(p), err)
		}
		if err := s.add(p); err != nil {
			return err
		}
	}
}

// waitForever waits for what never comes, until the log fails or nobody appends any more.
func (f *failingRun) waitForever() error {
	h := f.log.NewHandle()
	defer h.Close()
	if err := h.Wait(f.producing, math.MaxInt64-1); !errors.Is(err, strategies.ErrFailed) && f.producing.Err() == nil {
		return violationf("a wait for what never comes gives %v", err)
	}
	return nil
}

// follow replicates until the log fails, or nobody appends any more.
func (f *failingRun) follow(replica int) error {
	h := f.log.NewHandle()
	defer h.Close()
	s := newStream(len(f.outcomes), true)
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
		if err := h.WaitLogEnd(f.producing, s.next); errors.Is(err, strategies.ErrFailed) || f.producing.Err() != nil {
			return nil
		} else if err != nil {
			return violationf("wait for %d at the log end: %v", s.next, err)
		}
	}
}

// afterwards verifies a log that has failed, which nobody calls.
func (f *failingRun) afterwards() error {
	h := f.log.NewHandle()
	defer h.Close()
	m := maker{random: newRandom(f.round.seed, 98), shape: f.round.shape}
	buf := make([]byte, 2*maxBatch)
	for replica := range f.followers {
		if _, err := h.Fetch(replica, h.Offsets().LogEnd, buf); err != nil {
			return violationf("fetch: %v", err)
		}
	}
	before := h.Offsets()
	if before.HighWatermark != before.LogEnd {
		return violationf("all followers have the log, and the offsets are %+v", before)
	}
	for _, acks := range []strategies.Acks{strategies.AcksNone, strategies.AcksLeader, strategies.AcksAll} {
		if base, err := h.Append(context.Background(), m.next(), acks); !errors.Is(err, strategies.ErrFailed) {
			return violationf("an append after a failure gives %d, %v", base, err)
		}
	}
	if err := h.Wait(context.Background(), before.HighWatermark); !errors.Is(err, strategies.ErrFailed) {
		return violationf("a wait for what will never come gives %v", err)
	}
	if before.HighWatermark > 0 {
		if err := h.Wait(context.Background(), before.HighWatermark-1); err != nil {
			return violationf("a wait for what is there gives %v", err)
		}
	}
	if after := h.Offsets(); after != before {
		return violationf("the offsets go from %+v to %+v after a failure", before, after)
	}
	return f.account(h)
}

// account compares the log with what producers were told.
func (f *failingRun) account(h strategies.Handle) error {
	o := h.Offsets()
	found := newLedger(len(f.outcomes), o.Start)
	if err := walk(h, o, len(f.outcomes), found); err != nil {
		return err
	}
	for producer, outcomes := range f.outcomes {
		for _, outcome := range outcomes {
			if err := found.check(producer, outcome); err != nil {
				return err
			}
		}
	}
	return nil
}

// reopen verifies what is there when the storage works again.
func (f *failingRun) reopen(options strategies.Options) error {
	log, err := f.round.strategy.Open(options)
	if err != nil {
		return violationf("open after a failure and Close: %v", err)
	}
	h := log.NewHandle()
	if err := f.account(h); err != nil {
		return err
	}
	m := maker{random: newRandom(f.round.seed, 97), shape: f.round.shape}
	end := h.Offsets().LogEnd
	if base, err := h.Append(context.Background(), m.next(), strategies.AcksLeader); err != nil || base != end {
		return violationf("an append to a log that ends at %d gives %d, %v", end, base, err)
	}
	if err := log.Close(); err != nil {
		return violationf("close: %v", err)
	}
	return nil
}
