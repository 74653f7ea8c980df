package strategies

import "context"

// client is what the handles of all models have in common: whether they are closed, and waiting.
type client struct {
	closed bool
	tail   tail
	waiter waiter
}

func newClient(t tail) client { return client{tail: t, waiter: newWaiter()} }

// Wait implements Handle.
func (c *client) Wait(ctx context.Context, offset int64) error {
	if c.closed {
		return ErrClosed
	}
	return c.tail.highWatermark.wait(ctx, &c.waiter, offset)
}

// WaitLogEnd implements Handle.
func (c *client) WaitLogEnd(ctx context.Context, offset int64) error {
	if c.closed {
		return ErrClosed
	}
	return c.tail.logEnd.wait(ctx, &c.waiter, offset)
}

// acknowledge is the end of an append that has stored its batch at [base, end): it waits for the replicas
// where they are asked for and do not have it yet.
func (c *client) acknowledge(ctx context.Context, acks Acks, base, end int64, o Offsets) (int64, error) {
	if acks == AcksAll && end > o.HighWatermark {
		if err := c.tail.replicated(ctx, &c.waiter, end); err != nil {
			return 0, err
		}
	}
	return acknowledged(base, acks), nil
}

// acknowledged is what Append returns for a stored batch.
func acknowledged(base int64, acks Acks) int64 {
	if acks == AcksNone {
		return -1
	}
	return base
}
