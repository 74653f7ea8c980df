package strategies

import (
	"context"
	"sync/atomic"

	"tailrace/segment"
)

// partitionActor is the article's model: one goroutine owns the partition and is the only one to
// change it; everybody else sends it commands, and reads an immutable picture that it replaces after
// each change (read-copy-update). A read is a load of a pointer and a pread, and waits for nobody.
//
// The owner drains what is queued into one write, at most one sync and one publication, so that its
// clients share their cost. The segment list is copied only on a roll; a publication is one allocation.
type partitionActor struct {
	admission admission
	storage   segment.Storage
	waiters   *waiters
	upkeep    maintenance
	gate      gate
	stopped   chan struct{} // closed when the owner has returned

	// mailbox is never closed. A nil command stops the owner: it is sent when the gate is shut, every
	// call has left and maintenance is over, so that no command can come after it.
	mailbox chan *command

	// snapshot is stored by the owner alone, and loaded by everybody.
	snapshot atomic.Pointer[partitionState]

	// All below belongs to the owner.
	partition partition
	group     []*command
}

// command is one request on its way to the owner and back, mostly an append. A handle uses the same one
// again, except after a cancellation, when the old one may still be in the mailbox.
type command struct {
	kind commandKind
	// state is the hand-over: from queued, either the owner moves it to claimed or the caller to
	// cancelled, and the batch is the winner's.
	state atomic.Int32
	batch segment.Batch
	start int64 // of a trim
	cause error // of a failure

	// The owner sets these before it sends the token.
	base int64
	err  error
	done chan struct{} // of capacity 1: the owner never waits for a caller
}

// commandKind is what a command asks for.
type commandKind int8

const (
	appending commandKind = iota
	trimming              // drop the segments below start
	failing               // a sync beside the appends has failed
)

const (
	queued = iota
	claimed
	cancelled
)

const (
	mailboxSize = 256
	// groupCount and groupBytes bound what the owner drains at once, and thereby how long the first
	// command of a group waits for the last.
	groupCount = 256
	groupBytes = 1 << 20
)

// partitionHandle is the article's PartitionHandle.
type partitionHandle struct {
	pin     pin
	actor   *partitionActor
	command *command
	cursor  segment.Cursor
	waiter  waiter
	closed  bool
}

func openActor(o Options) (Log, error) {
	p, err := openPartition(o)
	if err != nil {
		return nil, err
	}
	a := &partitionActor{
		admission: admit(o),
		storage:   o.Storage,
		mailbox:   make(chan *command, mailboxSize),
		stopped:   make(chan struct{}),
		partition: p,
	}
	a.publish()
	a.waiters = newWaiters(a.highWatermark)
	a.upkeep = maintenance{checkpoint: p.checkpoint, picture: a.picture, drop: a.drop, fail: a.fail}
	go a.run()
	a.upkeep.start(o.Sync)
	return a, nil
}

func (a *partitionActor) NewHandle() Handle {
	h := &partitionHandle{actor: a, command: newCommand(), waiter: newWaiter()}
	a.gate.add(&h.pin)
	return h
}

func newCommand() *command { return &command{done: make(chan struct{}, 1)} }

func (h *partitionHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
	a := h.actor
	if h.closed {
		return 0, ErrClosed
	}
	if err := a.admission.check(ctx, b, acks); err != nil {
		return 0, err
	}
	if !a.gate.enter(&h.pin) {
		return 0, ErrClosed
	}
	defer a.gate.leave(&h.pin)
	c := h.command
	c.batch = b
	c.state.Store(queued)
	select {
	case a.mailbox <- c:
	default: // a select of one case is far cheaper than one of two
		select {
		case a.mailbox <- c:
		case <-ctx.Done():
			c.batch = nil
			return 0, ctx.Err()
		}
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		if c.state.CompareAndSwap(queued, cancelled) {
			h.command = newCommand()
			return 0, ctx.Err()
		}
		<-c.done
	}
	if c.err != nil {
		return 0, c.err
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
		a.drain(c)
		if len(a.group) > 0 {
			a.execute()
		}
	}
}

// drain claims the first command and those that are queued behind it.
func (a *partitionActor) drain(c *command) {
	a.group = a.group[:0]
	for bytes := 0; ; {
		if c.state.CompareAndSwap(queued, claimed) {
			a.group = append(a.group, c)
			bytes += len(c.batch)
		}
		if len(a.group) == groupCount || bytes >= groupBytes {
			return
		}
		select {
		case c = <-a.mailbox:
			// The stop can overtake no live command, whose caller keeps the gate from closing; it can
			// stand behind cancelled ones.
			if c == nil {
				a.mailbox <- nil
				return
			}
		default:
			return
		}
	}
}

// execute appends the group, publishes it at once, and answers.
func (a *partitionActor) execute() {
	for _, c := range a.group {
		c.base, c.err = 0, nil
		switch c.kind {
		case appending:
			c.base, c.err = a.partition.add(c.batch)
		case trimming:
			a.partition.state.trim(c.start)
		case failing:
			a.partition.fail(c.cause)
		}
	}
	err := a.partition.commit()
	a.publish()
	if a.partition.failure != nil {
		a.waiters.fail(a.partition.failure)
	}
	a.waiters.published(a.partition.state.HighWatermark)
	for i, c := range a.group {
		// A roll commits what was queued before it: that part of the group stands even if the
		// rest fails.
		if c.kind == appending && c.err == nil && err != nil && c.base >= a.partition.state.LogEnd {
			c.err = err
		}
		c.batch = nil
		a.group[i] = nil
		c.done <- struct{}{}
	}
}

// publish makes the owner's state visible. Only the small head is copied: the sealed segments are
// shared from picture to picture.
func (a *partitionActor) publish() {
	next := a.partition.state
	a.snapshot.Store(&next)
}

func (h *partitionHandle) Read(offset int64, buf []byte) ([]byte, error) {
	if h.closed || !h.actor.gate.enter(&h.pin) {
		return nil, ErrClosed
	}
	p, err := h.actor.snapshot.Load().read(offset, buf, &h.cursor)
	h.actor.gate.leave(&h.pin)
	return p, err
}

func (h *partitionHandle) OffsetForTime(ts int64) (int64, error) {
	if h.closed || !h.actor.gate.enter(&h.pin) {
		return 0, ErrClosed
	}
	defer h.actor.gate.leave(&h.pin)
	return h.actor.snapshot.Load().offsetForTime(ts, &h.cursor)
}

func (h *partitionHandle) Fetch(int, int64, []byte) ([]byte, error) { return nil, ErrUnsupported }

func (h *partitionHandle) Wait(ctx context.Context, offset int64) error {
	if h.closed {
		return ErrClosed
	}
	return h.actor.waiters.wait(ctx, &h.waiter, offset)
}

func (h *partitionHandle) Offsets() Offsets { return h.actor.snapshot.Load().Offsets }

func (a *partitionActor) highWatermark() int64 { return a.snapshot.Load().HighWatermark }

func (a *partitionActor) Trim(before int64) error { return a.upkeep.trim(before) }

func (a *partitionActor) Retain(r Retention) error { return a.upkeep.retain(r) }

func (a *partitionActor) LastSynced() int64 { return a.upkeep.checkpoint.LastSynced() }

func (a *partitionActor) picture() partitionState { return *a.snapshot.Load() }

// drop waits for the owner to publish a picture without the segments, and then for the reads that began
// with an older one.
func (a *partitionActor) drop(start int64) {
	a.ask(&command{kind: trimming, start: start, done: make(chan struct{}, 1)})
	a.gate.quiesce()
}

func (a *partitionActor) fail(cause error) {
	a.ask(&command{kind: failing, cause: cause, done: make(chan struct{}, 1)})
}

// ask sends a command of maintenance, which ends before the owner does.
func (a *partitionActor) ask(c *command) {
	a.mailbox <- c
	<-c.done
}

func (h *partitionHandle) Close() error {
	h.closed = true
	h.actor.gate.remove(&h.pin)
	return nil
}

func (a *partitionActor) Close() error {
	if !a.gate.close(a.waiters.close) {
		return nil
	}
	a.upkeep.close()
	a.mailbox <- nil
	<-a.stopped
	return a.partition.close(a.storage)
}
