package strategies

import (
	"context"
	"slices"
	"sync/atomic"

	"tailrace/segment"
)

// partitionActor is the article's model: one goroutine owns the partition and is the only one to
// change it; everybody else sends it commands, and reads an immutable picture that it replaces after
// each change (read-copy-update). A read is a load of a pointer and a pread, and waits for nobody.
//
// The owner drains what is queued into one write, at most one sync and one publication, so that its
// clients share their cost. The segment list is copied only on a roll or a trim; a publication is one
// allocation.
type partitionActor struct {
	admission admission
	storage   segment.Storage
	tail      tail
	maintenance
	reads   gate          // calls that use the files of a picture
	calls   gate          // calls that wait for the owner
	stopped chan struct{} // closed when the owner has returned

	// mailbox is never closed. A nil command stops the owner: it is sent when both gates are shut, every
	// call has left and maintenance is over, so that no command can come after it.
	mailbox chan *command

	// snapshot is stored by the owner alone, and loaded by everybody.
	snapshot atomic.Pointer[partitionState]

	// All below belongs to the owner.

	// step handles a command, and those behind it that the variant takes along.
	step      func(a *partitionActor, c *command)
	partition partition
	group     []*command
	// acksPendingReplication are appends that are written and wait for the replicas, ascending.
	acksPendingReplication []*command
	closing                bool // they are not waited for any more
}

const (
	mailboxSize = 256
	// groupCount and groupBytes bound what the owner drains at once, and thereby how long the first
	// command of a group waits for the last.
	groupCount = 256
	groupBytes = 1 << 20
)

// partitionHandle is the article's PartitionHandle.
type partitionHandle struct {
	client
	reading pin
	calling pin
	actor   *partitionActor
	command *command
	cursor  segment.Cursor
}

func openActor(o Options) (Log, error) { return startActor(o, (*partitionActor).drain) }

func startActor(o Options, step func(*partitionActor, *command)) (*partitionActor, error) {
	p, err := openPartition(o)
	if err != nil {
		return nil, err
	}
	a := &partitionActor{
		admission: admit(o),
		storage:   o.Storage,
		mailbox:   make(chan *command, mailboxSize),
		stopped:   make(chan struct{}),
		step:      step,
		partition: p,
	}
	a.publish()
	a.tail = newTail(o, p.state.Offsets)
	a.maintenance = maintenance{of: a, checkpoint: p.checkpoint}
	go a.run()
	a.maintain(o.Sync)
	return a, nil
}

func (a *partitionActor) NewHandle() Handle { return a.newHandle() }

func (a *partitionActor) newHandle() *partitionHandle {
	h := &partitionHandle{client: newClient(a.tail), actor: a, command: newCommand()}
	a.reads.add(&h.reading)
	a.calls.add(&h.calling)
	return h
}

func (h *partitionHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
	a := h.actor
	if h.closed {
		return 0, ErrClosed
	}
	if err := a.admission.check(ctx, b, acks); err != nil {
		return 0, err
	}
	if !a.calls.enter(&h.calling) {
		return 0, ErrClosed
	}
	defer a.calls.leave(&h.calling)
	c := h.command
	c.kind, c.batch, c.acks = appending, b, acks
	if err := c.send(ctx, a.mailbox); err != nil {
		return 0, err
	}
	given, err := c.wait(ctx)
	if given {
		h.command = newCommand()
	}
	if err != nil {
		return 0, err
	}
	return acknowledged(c.base, acks), nil
}

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
	replicas := a.snapshot.Load().replicas
	return c.cursor != nil && (c.replica < 0 || c.replica >= len(replicas) || replicas[c.replica] == c.offset)
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

// publish makes the owner's state visible. Only the small head is copied: the sealed segments are
// shared from picture to picture.
func (a *partitionActor) publish() {
	next := a.partition.state
	a.snapshot.Store(&next)
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

func (h *partitionHandle) Read(offset int64, buf []byte) ([]byte, error) {
	if h.closed || !h.actor.reads.enter(&h.reading) {
		return nil, ErrClosed
	}
	p, err := h.actor.snapshot.Load().read(offset, buf, &h.cursor)
	h.actor.reads.leave(&h.reading)
	return p, err
}

func (h *partitionHandle) OffsetForTime(ts int64) (int64, error) {
	if h.closed || !h.actor.reads.enter(&h.reading) {
		return 0, ErrClosed
	}
	defer h.actor.reads.leave(&h.reading)
	return h.actor.snapshot.Load().offsetForTime(ts, &h.cursor)
}

// Fetch reads from a picture, and tells the owner of a progress that the picture does not show.
func (h *partitionHandle) Fetch(replica int, offset int64, buf []byte) ([]byte, error) {
	if h.closed || !h.actor.reads.enter(&h.reading) {
		return nil, ErrClosed
	}
	state := h.actor.snapshot.Load()
	p, err := state.fetch(replica, offset, buf, &h.cursor)
	h.actor.reads.leave(&h.reading)
	if err == nil && state.replicas[replica] != offset {
		h.command.kind, h.command.replica, h.command.offset, h.command.cursor = fetching, replica, offset, nil
		err = h.ask()
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// ask has the owner carry out the handle's command, whatever the context.
func (h *partitionHandle) ask() error {
	if h.closed || !h.actor.calls.enter(&h.calling) {
		return ErrClosed
	}
	defer h.actor.calls.leave(&h.calling)
	return h.actor.ask(h.command)
}

func (h *partitionHandle) Offsets() Offsets { return h.actor.offsets() }

func (a *partitionActor) offsets() Offsets { return a.snapshot.Load().Offsets }

func (a *partitionActor) picture() partitionState { return *a.snapshot.Load() }

// drop waits for the owner to publish a picture without the segments, and then for the reads that began
// with an older one.
func (a *partitionActor) drop(start int64) {
	c := newCommand()
	c.kind, c.offset = trimming, start
	a.ask(c)
	a.reads.quiesce()
}

func (a *partitionActor) fail(cause error) {
	c := newCommand()
	c.kind, c.cause = failing, cause
	a.ask(c)
}

// ask sends a command and waits. The owner must be kept from stopping meanwhile.
func (a *partitionActor) ask(c *command) error {
	c.state.Store(queued)
	a.mailbox <- c
	<-c.done
	return c.err
}

func (h *partitionHandle) Close() error {
	if !h.closed {
		h.closed = true
		h.actor.reads.remove(&h.reading)
		h.actor.calls.remove(&h.calling)
	}
	return nil
}

func (a *partitionActor) Close() error {
	first := a.calls.close(func() {
		a.tail.close()
		// Nobody waits for the replicas any more.
		c := newCommand()
		c.kind = closing
		a.ask(c)
	})
	if !first {
		return nil
	}
	a.reads.close(func() {})
	a.stopMaintaining()
	a.mailbox <- nil
	<-a.stopped
	return a.partition.close(a.storage)
}
