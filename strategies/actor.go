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
	if err == nil && !state.knows(replica, offset) {
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
