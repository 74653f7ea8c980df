package strategies

import (
	"slices"
)

// This file is the second half of the actor: what its owner does. Nothing in it is called by anybody else.

// run is the owner.
func (a *partitionActor) run() {
	defer close(a.stopped)
	for c := range a.mailbox {
		if c == nil {
			return
		}
		a.step(a, c)
	}
}

// drain claims a command and those that are queued behind it, and executes them together; but for those that
// only look, which it answers at once.
func (a *partitionActor) drain(c *command) {
	a.group = a.group[:0]
	for n, bytes := 1, 0; c != nil; n++ {
		if c.claim() {
			bytes += len(c.batch) + len(c.buf)
			if a.looks(c) {
				a.look(c)
			} else {
				a.group = append(a.group, c)
			}
		}
		if n == groupCount || bytes >= groupBytes {
			break
		}
		c = a.next()
	}
	if len(a.group) > 0 {
		a.execute()
	}
}

// next is a command that is queued already, or nil.
func (a *partitionActor) next() *command {
	select {
	case c := <-a.mailbox:
		// The stop can overtake no live command, whose caller keeps the gate from closing; it can stand
		// behind cancelled ones.
		if c == nil {
			a.mailbox <- nil
		}
		return c
	default:
		return nil
	}
}

// execute carries out the group, publishes what has become of the partition, and answers.
func (a *partitionActor) execute() {
	for _, c := range a.group {
		a.apply(c)
	}
	err := a.commit()
	for i, c := range a.group {
		// A roll commits what was queued before it: that part of the group stands even if the
		// rest fails.
		if c.kind == appending && c.err == nil && err != nil && c.end > a.partition.state.LogEnd {
			c.err = err
		}
		a.answer(c)
		a.group[i] = nil
	}
}

// commit writes what has been added, publishes the partition as it is then, and wakes who waits for that.
func (a *partitionActor) commit() error {
	err := a.partition.commit()
	a.publish()
	state := &a.partition.state
	if a.partition.failure != nil {
		a.tail.fail(state.LogEnd, a.partition.failure)
	}
	a.tail.published(state.Offsets)
	a.replicated()
	return err
}

// apply does what a command asks for, but for the write.
func (a *partitionActor) apply(c *command) {
	state := &a.partition.state
	c.err = nil
	switch c.kind {
	case appending:
		if c.base, c.err = a.partition.add(c.batch); c.err == nil {
			c.end = c.batch.NextOffset()
		}
	case fetching:
		if c.cursor != nil {
			if c.result, c.err = state.fetch(c.replica, c.offset, c.buf, c.cursor); c.err != nil {
				return
			}
		}
		state.fetched(c.replica, c.offset)
	case trimming:
		state.trim(c.offset)
	case failing:
		a.partition.fail(c.cause)
	case closing:
		a.closing = true
	}
}

// looks reports whether a command changes nothing; a fetch does not if it tells of no progress.
func (a *partitionActor) looks(c *command) bool {
	if c.kind != fetching {
		return c.kind.looks()
	}
	state := a.snapshot.Load()
	return c.cursor != nil && (c.replica < 0 || c.replica >= len(state.replicas) || state.knows(c.replica, c.offset))
}

// look answers a command that changes nothing, from what everybody may see: a group that is being carried
// out may be ahead of that.
func (a *partitionActor) look(c *command) {
	state := a.snapshot.Load()
	c.err = nil
	switch c.kind {
	case reading:
		c.result, c.err = state.read(c.offset, c.buf, c.cursor)
	case seeking:
		c.base, c.err = state.offsetForTime(c.offset, c.cursor)
	case looking:
		c.offsets = state.Offsets
	case fetching:
		c.result, c.err = state.fetch(c.replica, c.offset, c.buf, c.cursor)
	}
	c.reply()
}

// publish makes the owner's state visible.
func (a *partitionActor) publish() {
	a.snapshot.Store(a.partition.state.snapshot(a.snapshot.Load()))
}

// answer sends a command back, or has it wait for the replicas.
func (a *partitionActor) answer(c *command) {
	if c.kind == appending && c.err == nil && c.acks == AcksAll && c.end > a.partition.state.HighWatermark {
		c.batch = nil
		switch {
		case a.closing:
			c.err = unknownOutcome(ErrClosed)
		case c.state.CompareAndSwap(claimed, replicating):
			a.pend(c)
			return
		default: // its caller has left, and adds why
			c.err = ErrUnknownOutcome
		}
	}
	c.reply()
}

// pend queues an append that waits for the replicas. Before the queue grows, it loses those whose callers have
// left: beside a follower that stands still, nothing else would take them out.
func (a *partitionActor) pend(c *command) {
	pending := a.acksPendingReplication
	if len(pending) == cap(pending) {
		pending = slices.DeleteFunc(pending, func(c *command) bool { return c.state.Load() == left })
	}
	a.acksPendingReplication = append(pending, c)
}

// replicated answers the appends that all replicas have, and all when the log closes.
func (a *partitionActor) replicated() {
	pending := a.acksPendingReplication
	for len(pending) > 0 && (a.closing || pending[0].end <= a.partition.state.HighWatermark) {
		c := pending[0]
		pending[0], pending = nil, pending[1:]
		if c.state.CompareAndSwap(replicating, claimed) { // else its caller has left
			if c.end > a.partition.state.HighWatermark {
				c.err = unknownOutcome(ErrClosed)
			}
			c.reply()
		}
	}
	if len(pending) == 0 {
		pending = a.acksPendingReplication[:0]
	}
	a.acksPendingReplication = pending
}
