package strategies

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"tailrace/segment"
)

// This file is the second half of the atomics model: writers finish in any order, and are committed in
// the order of the log.

const (
	ringUnit   = 64 // at most segment.MinBatch
	ringSlots  = 1 << 14
	ringWindow = ringUnit * ringSlots // bytes in flight

	yields = 4 // times that a waiter gives way before it parks

	maxCommits = 64 // that a writer does for others in a row where they are fast
)

// completion is a slot of the ring. Its other fields are written before size is set, and read after.
type completion struct {
	size         atomic.Uint64 // extent of the finished batch; 0 while there is none
	maxTimestamp int64
	owner        *atomicsHandle
}

// ready reports whether the batch behind the committed ones is finished.
func (l *atomicsLog) ready(s *atomicsSegment) bool {
	at := extent(s.committed.Load()).bytes()
	return at < extent(s.tail.Load()).bytes() && l.ring[at/ringUnit%ringSlots].size.Load() != 0
}

// advance commits what is finished, if nobody else does. It looks again after it has let go of the
// baton: a batch may have been finished in between, whose writer found the baton taken. A holder whose own
// batch (which ends at end) is committed hands over to the next parked writer: at once where commits are
// slow because they sync, else after a while. It would never get back to its caller as long as others find
// something to finish in time, and where a commit takes a sync, they always do.
func (l *atomicsLog) advance(s *atomicsSegment, end int64) {
	for commits := 0; l.ready(s) && l.failure.Load() == nil && s.baton.CompareAndSwap(false, true); commits++ {
		next := l.commit(s)
		s.baton.Store(false)
		own := extent(s.committed.Load()).bytes() >= end
		if own && (l.sync.Bytes > 0 || commits >= maxCommits) && next != nil && next.unpark() {
			return
		}
	}
}

// commit is called with the baton. It moves the committed word over the finished prefix, after a sync
// if the policy says so, and wakes its writers. It returns the owner of the next finished batch.
func (l *atomicsLog) commit(s *atomicsSegment) (next *atomicsHandle) {
	if l.failure.Load() != nil {
		return nil
	}
	at, tail := extent(s.committed.Load()), extent(s.tail.Load())
	n := 0
	for ; n < len(s.owners) && at.bytes() < tail.bytes(); n++ {
		slot := &l.ring[at.bytes()/ringUnit%ringSlots]
		size := extent(slot.size.Load())
		if size == 0 {
			break
		}
		s.maxTimestamp = max(s.maxTimestamp, slot.maxTimestamp)
		s.files.SetTime(s.maxTimestamp, s.files.Base()+at.records(), at.bytes(), at.bytes()+size.bytes())
		s.owners[n] = slot.owner
		slot.size.Store(0)
		at += size
	}
	if n == 0 {
		return nil
	}
	if l.sync.Due(at.bytes() - s.synced) {
		if err := s.files.Sync(); err != nil {
			l.giveUp(s, err)
			return nil
		}
		s.synced = at.bytes()
		l.checkpoint.Advance(segment.View{Files: s.files, Size: at.bytes(), End: s.files.Base() + at.records()})
	}
	s.committed.Store(uint64(at))
	if len(l.followers.replicas) == 0 {
		end := s.files.Base() + at.records()
		l.tail.published(Offsets{HighWatermark: end, LogEnd: end})
	} else {
		l.tail.published(l.offsets())
	}
	for _, h := range s.owners[:n] {
		h.unpark()
	}
	if moved := s.moved.Load(); moved != nil && s.moved.CompareAndSwap(moved, nil) {
		close(*moved)
	}
	if l.ready(s) {
		next = l.ring[at.bytes()/ringUnit%ringSlots].owner
	}
	return next
}

// await returns when the segment is committed up to end, where the caller's batch ends. It commits itself where it
// can.
func (h *atomicsHandle) await(ctx context.Context, s *atomicsSegment, end int64) error {
	h.log.advance(s, end)
	if over, err := h.log.committed(s, end); over {
		return err
	}
	h.waits.Commit++
	begun := h.waits.begin()
	err := h.awaitOthers(ctx, s, end)
	h.waits.end(&h.waits.CommitTime, begun)
	return err
}

// committed reports whether the segment is committed up to end, or with an error that it never will be.
func (l *atomicsLog) committed(s *atomicsSegment, end int64) (bool, error) {
	failure := l.failure.Load() // before committed, which stands still after it
	if extent(s.committed.Load()).bytes() >= end {
		return true, nil
	}
	if failure != nil {
		return true, *failure
	}
	return false, nil
}

// awaitOthers spins and gives way briefly, then parks until it is woken. It tries the baton again after each wake, not
// while it spins: whoever had it then, or finishes the batch in front, commits this one too, and looking at their
// words all the time would only slow them down.
func (h *atomicsHandle) awaitOthers(ctx context.Context, s *atomicsSegment, end int64) error {
	l := h.log
	for turn := 0; ; turn++ {
		switch {
		case turn < l.spins:
		case turn < l.spins+yields:
			runtime.Gosched()
		default:
			if err := h.park(ctx, s, end); err != nil {
				return err
			}
			l.advance(s, end)
		}
		if over, err := l.committed(s, end); over {
			return err
		}
	}
}

// park blocks until there may be something to do.
func (h *atomicsHandle) park(ctx context.Context, s *atomicsSegment, end int64) error {
	l := h.log
	h.parked.Store(true)
	// Who commits looks at parked after it has moved the committed word or let go of the baton.
	if extent(s.committed.Load()).bytes() >= end || l.ready(s) && !s.baton.Load() {
		h.unparkSelf()
		return nil
	}
	h.waits.Parked++
	select {
	case <-h.wake:
	case <-l.failed:
		h.unparkSelf()
	case <-ctx.Done():
		h.unparkSelf()
		l.advance(s, end) // the wake may have been the baton's
		if extent(s.committed.Load()).bytes() < end {
			return unknownOutcome(ctx.Err())
		}
	}
	return nil
}

// awaitRing returns when a batch may be marked that is ahead of the committed position by the ring's length.
func (h *atomicsHandle) awaitRing(s *atomicsSegment, ahead int64) error {
	if extent(s.committed.Load()).bytes() >= ahead {
		return nil
	}
	h.waits.Ring++
	begun := h.waits.begin()
	err := h.log.awaitMove(s, ahead)
	h.waits.end(&h.waits.RingTime, begun)
	return err
}

// awaitMove is await for who owns no batch there: whoever has to wait for room in the ring, or rolls.
func (l *atomicsLog) awaitMove(s *atomicsSegment, end int64) error {
	for extent(s.committed.Load()).bytes() < end {
		l.advance(s, end)
		moved := s.watch()
		// Who commits looks at moved after it has moved the committed word.
		if extent(s.committed.Load()).bytes() >= end {
			break
		}
		if failure := l.failure.Load(); failure != nil {
			return *failure
		}
		if l.ready(s) && !s.baton.Load() {
			continue
		}
		select {
		case <-moved:
		case <-l.failed:
		}
	}
	return nil
}

// watch returns a channel that the next commit closes.
func (s *atomicsSegment) watch() <-chan struct{} {
	for {
		if moved := s.moved.Load(); moved != nil {
			return *moved
		}
		moved := make(chan struct{})
		if s.moved.CompareAndSwap(nil, &moved) {
			return moved
		}
	}
}

// unpark wakes a parked handle; false if it was not parked.
func (h *atomicsHandle) unpark() bool {
	if !h.parked.Load() || !h.parked.CompareAndSwap(true, false) {
		return false
	}
	h.wake <- struct{}{}
	return true
}

// unparkSelf takes parked back, and the token if somebody was faster.
func (h *atomicsHandle) unparkSelf() {
	if !h.parked.CompareAndSwap(true, false) {
		<-h.wake
	}
}

// poison makes a failed write or roll known: nothing is committed any more. It takes the baton of s,
// which is the active segment since the caller keeps it from being complete or from having a successor;
// so a commit under way is over, and no later one begins.
func (l *atomicsLog) poison(s *atomicsSegment, cause error) error {
	s.takeBaton()
	l.giveUp(s, cause)
	s.baton.Store(false)
	return *l.failure.Load()
}

// fail is poison for who is beside the appends: the active segment may be complete and have a successor
// before its baton is taken.
func (l *atomicsLog) fail(cause error) {
	for {
		s := l.segments.Load().active
		s.takeBaton()
		active := l.segments.Load().active == s
		if active {
			l.giveUp(s, cause)
		}
		s.baton.Store(false)
		if active {
			return
		}
	}
}

// takeBaton waits for the baton, whose holder may be in a sync.
func (s *atomicsSegment) takeBaton() {
	for turn := 0; !s.baton.CompareAndSwap(false, true); turn++ {
		if turn < yields {
			runtime.Gosched()
		} else {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// giveUp is poison for the baton's holder.
func (l *atomicsLog) giveUp(s *atomicsSegment, cause error) {
	err := failure(cause)
	if l.failure.CompareAndSwap(nil, &err) {
		close(l.failed)
		l.tail.fail(s.files.Base()+extent(s.committed.Load()).records(), err)
	}
}
