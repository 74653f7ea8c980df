package strategies

import (
	"context"
	"sync/atomic"

	"tailrace/segment"
)

// command is one request on its way to an actor and back: the article's PartitionCommand. A handle uses the
// same one again, unless its caller has left it to the owner.
type command struct {
	// state is the hand-over. From queued, either the owner moves it to claimed or the caller to left,
	// and the batch is the winner's. While an append waits for the replicas, it is replicating.
	state atomic.Int32
	kind  commandKind
	batch segment.Batch
	acks  Acks

	replica int
	offset  int64 // that is asked for, or below which to trim; a timestamp when seeking
	buf     []byte
	cursor  *segment.Cursor
	cause   error // of a failure

	// The owner sets these before it sends the token.
	base, end int64
	result    []byte
	offsets   Offsets
	err       error
	done      chan struct{} // of capacity 1: the owner never waits for a caller
}

// commandKind is what a command asks for.
type commandKind int8

const (
	appending commandKind = iota
	fetching              // note the progress of a follower
	trimming              // drop the segments below an offset
	failing               // a sync beside the appends has failed
	closing               // answer who waits for the replicas
	reading               // these three only where reads go through the mailbox
	seeking
	looking
)

// looks reports whether a command leaves the partition as it is.
func (k commandKind) looks() bool { return k == reading || k == seeking || k == looking }

const (
	queued = iota
	claimed
	replicating
	left
)

func newCommand() *command { return &command{done: make(chan struct{}, 1)} }

// claim makes the batch the owner's; false if the caller has left.
func (c *command) claim() bool { return c.state.CompareAndSwap(queued, claimed) }

// send puts the command in a mailbox.
func (c *command) send(ctx context.Context, mailbox chan<- *command) error {
	c.state.Store(queued)
	select {
	case mailbox <- c:
		return nil
	default: // a select of one case is far cheaper than one of two
	}
	select {
	case mailbox <- c:
		return nil
	case <-ctx.Done():
		c.batch = nil
		return ctx.Err()
	}
}

// wait waits for the answer. If the context ends first, the command is cancelled where the owner has not
// claimed it, and given up where it waits for the replicas: it is the owner's then, and not to be used again.
// In between the caller waits out the write.
func (c *command) wait(ctx context.Context) (given bool, err error) {
	select {
	case <-c.done:
		return false, c.err
	case <-ctx.Done():
	}
	for {
		switch {
		case c.state.CompareAndSwap(queued, left):
			return true, ctx.Err()
		case c.state.CompareAndSwap(replicating, left):
			return true, unknownOutcome(ctx.Err())
		case c.state.CompareAndSwap(claimed, left):
			<-c.done
			if c.err == ErrUnknownOutcome {
				return false, unknownOutcome(ctx.Err())
			}
			return false, c.err
		}
	}
}

// reply sends the command back to its caller.
func (c *command) reply() {
	c.batch, c.buf = nil, nil
	c.done <- struct{}{}
}
