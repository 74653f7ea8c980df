package strategies

import (
	"context"
	"sync"

	"tailrace/segment"
)

// mutexLog is the plainest model, and the oracle for the others: one sync.Mutex around every access,
// reads included, as the article defines it. Readers take turns with writers and with each other, for
// as long as their system call takes.
type mutexLog struct {
	admission admission
	storage   segment.Storage
	waiters   *waiters
	upkeep    maintenance

	// mu protects all below.
	mu        sync.Mutex
	partition partition
	closed    bool
}

type mutexHandle struct {
	log    *mutexLog
	cursor segment.Cursor
	waiter waiter
	closed bool
}

func openMutex(o Options) (Log, error) {
	p, err := openPartition(o)
	if err != nil {
		return nil, err
	}
	l := &mutexLog{admission: admit(o), storage: o.Storage, partition: p}
	l.waiters = newWaiters(l.highWatermark)
	l.upkeep = maintenance{checkpoint: p.checkpoint, picture: l.picture, drop: l.drop, fail: l.fail}
	l.upkeep.start(o.Sync)
	return l, nil
}

func (l *mutexLog) NewHandle() Handle { return &mutexHandle{log: l, waiter: newWaiter()} }

func (h *mutexHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
	if h.closed {
		return 0, ErrClosed
	}
	if err := h.log.admission.check(ctx, b, acks); err != nil {
		return 0, err
	}
	base, err := h.log.append(ctx, b)
	if err != nil {
		return 0, err
	}
	h.log.waiters.published(b.NextOffset())
	return acknowledged(base, acks), nil
}

func (l *mutexLog) append(ctx context.Context, b segment.Batch) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	base, err := l.partition.append(b)
	if l.partition.failure != nil {
		l.waiters.fail(l.partition.failure)
	}
	return base, err
}

func (h *mutexHandle) Read(offset int64, buf []byte) ([]byte, error) {
	l := h.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.closed || l.closed {
		return nil, ErrClosed
	}
	return l.partition.state.read(offset, buf, &h.cursor)
}

func (h *mutexHandle) OffsetForTime(ts int64) (int64, error) {
	l := h.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.closed || l.closed {
		return 0, ErrClosed
	}
	return l.partition.state.offsetForTime(ts, &h.cursor)
}

func (h *mutexHandle) Fetch(int, int64, []byte) ([]byte, error) { return nil, ErrUnsupported }

func (h *mutexHandle) Wait(ctx context.Context, offset int64) error {
	if h.closed {
		return ErrClosed
	}
	return h.log.waiters.wait(ctx, &h.waiter, offset)
}

func (h *mutexHandle) Offsets() Offsets {
	h.log.mu.Lock()
	defer h.log.mu.Unlock()
	return h.log.partition.state.Offsets
}

func (l *mutexLog) highWatermark() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.partition.state.HighWatermark
}

func (l *mutexLog) Trim(before int64) error { return l.upkeep.trim(before) }

func (l *mutexLog) Retain(r Retention) error { return l.upkeep.retain(r) }

func (l *mutexLog) LastSynced() int64 { return l.upkeep.checkpoint.LastSynced() }

func (l *mutexLog) picture() partitionState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.partition.state
}

// drop is alone with the partition: once it has let go of the lock, nobody knows the segments.
func (l *mutexLog) drop(start int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partition.state.trim(start)
}

func (l *mutexLog) fail(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiters.fail(l.partition.fail(cause))
}

func (h *mutexHandle) Close() error {
	h.closed = true
	return nil
}

func (l *mutexLog) Close() error {
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	l.mu.Unlock()
	if closed {
		return nil
	}
	// Outside the lock, which the waker and a trim may be about to take.
	l.waiters.close()
	l.upkeep.close()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.partition.close(l.storage)
}
