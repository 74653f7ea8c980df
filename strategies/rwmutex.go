package strategies

import (
	"context"
	"sync"

	"tailrace/segment"
)

// rwmutexLog lets readers in together and writers alone: a sync.RWMutex around every access. A read
// holds the lock through its pread, so that an append waits for the slowest reader inside, and a
// waiting append holds up the readers that come after it (sync.RWMutex does not let writers starve).
// The readers' count is one word that all of them change.
type rwmutexLog struct {
	admission admission
	storage   segment.Storage
	waiters   *waiters
	upkeep    maintenance

	// mu protects all below.
	mu        sync.RWMutex
	partition partition
	closed    bool
}

type rwmutexHandle struct {
	log    *rwmutexLog
	cursor segment.Cursor
	waiter waiter
	closed bool
}

func openRWMutex(o Options) (Log, error) {
	p, err := openPartition(o)
	if err != nil {
		return nil, err
	}
	l := &rwmutexLog{admission: admit(o), storage: o.Storage, partition: p}
	l.waiters = newWaiters(l.highWatermark)
	l.upkeep = maintenance{checkpoint: p.checkpoint, picture: l.picture, drop: l.drop, fail: l.fail}
	l.upkeep.start(o.Sync)
	return l, nil
}

func (l *rwmutexLog) NewHandle() Handle { return &rwmutexHandle{log: l, waiter: newWaiter()} }

func (h *rwmutexHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
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

func (l *rwmutexLog) append(ctx context.Context, b segment.Batch) (int64, error) {
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

func (h *rwmutexHandle) Read(offset int64, buf []byte) ([]byte, error) {
	l := h.log
	l.mu.RLock()
	defer l.mu.RUnlock()
	if h.closed || l.closed {
		return nil, ErrClosed
	}
	return l.partition.state.read(offset, buf, &h.cursor)
}

func (h *rwmutexHandle) OffsetForTime(ts int64) (int64, error) {
	l := h.log
	l.mu.RLock()
	defer l.mu.RUnlock()
	if h.closed || l.closed {
		return 0, ErrClosed
	}
	return l.partition.state.offsetForTime(ts, &h.cursor)
}

func (h *rwmutexHandle) Fetch(int, int64, []byte) ([]byte, error) { return nil, ErrUnsupported }

func (h *rwmutexHandle) Wait(ctx context.Context, offset int64) error {
	if h.closed {
		return ErrClosed
	}
	return h.log.waiters.wait(ctx, &h.waiter, offset)
}

func (h *rwmutexHandle) Offsets() Offsets {
	h.log.mu.RLock()
	defer h.log.mu.RUnlock()
	return h.log.partition.state.Offsets
}

func (l *rwmutexLog) highWatermark() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.partition.state.HighWatermark
}

func (l *rwmutexLog) Trim(before int64) error { return l.upkeep.trim(before) }

func (l *rwmutexLog) Retain(r Retention) error { return l.upkeep.retain(r) }

func (l *rwmutexLog) LastSynced() int64 { return l.upkeep.checkpoint.LastSynced() }

func (l *rwmutexLog) picture() partitionState {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.partition.state
}

// drop is alone with the partition: once it has let go of the lock, nobody knows the segments.
func (l *rwmutexLog) drop(start int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partition.state.trim(start)
}

func (l *rwmutexLog) fail(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiters.fail(l.partition.fail(cause))
}

func (h *rwmutexHandle) Close() error {
	h.closed = true
	return nil
}

func (l *rwmutexLog) Close() error {
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
