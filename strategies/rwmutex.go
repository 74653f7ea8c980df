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
	tail      tail
	maintenance

	// mu protects all below.
	mu        sync.RWMutex
	partition partition
	closed    bool
}

type rwmutexHandle struct {
	client
	log    *rwmutexLog
	cursor segment.Cursor
}

func openRWMutex(o Options) (Log, error) {
	p, err := openPartition(o)
	if err != nil {
		return nil, err
	}
	l := &rwmutexLog{admission: admit(o), storage: o.Storage, partition: p}
	l.tail = newTail(o, p.state.Offsets)
	l.maintenance = maintenance{of: l, checkpoint: p.checkpoint}
	l.maintain(o.Sync)
	return l, nil
}

func (l *rwmutexLog) NewHandle() Handle { return &rwmutexHandle{client: newClient(l.tail), log: l} }

func (h *rwmutexHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
	if h.closed {
		return 0, ErrClosed
	}
	if err := h.log.admission.check(ctx, b, acks); err != nil {
		return 0, err
	}
	base, offsets, err := h.log.append(ctx, b)
	if err != nil {
		return 0, err
	}
	h.tail.published(offsets)
	return h.acknowledge(ctx, acks, base, b.NextOffset(), offsets)
}

func (l *rwmutexLog) append(ctx context.Context, b segment.Batch) (base int64, offsets Offsets, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, Offsets{}, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return 0, Offsets{}, err
	}
	base, err = l.partition.append(b)
	if l.partition.failure != nil {
		l.tail.fail(l.partition.state.LogEnd, l.partition.failure)
	}
	return base, l.partition.state.Offsets, err
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

// Fetch reads among the readers, and is alone only to note a progress.
func (h *rwmutexHandle) Fetch(replica int, offset int64, buf []byte) ([]byte, error) {
	p, known, err := h.fetch(replica, offset, buf)
	if err == nil && !known {
		h.tail.published(h.log.fetched(replica, offset))
	}
	return p, err
}

func (h *rwmutexHandle) fetch(replica int, offset int64, buf []byte) (p []byte, known bool, err error) {
	l := h.log
	l.mu.RLock()
	defer l.mu.RUnlock()
	if h.closed || l.closed {
		return nil, false, ErrClosed
	}
	p, err = l.partition.state.fetch(replica, offset, buf, &h.cursor)
	return p, l.partition.state.knows(replica, offset), err
}

func (l *rwmutexLog) fetched(replica int, offset int64) Offsets {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partition.state.fetched(replica, offset)
	return l.partition.state.Offsets
}

func (h *rwmutexHandle) Offsets() Offsets { return h.log.offsets() }

func (l *rwmutexLog) offsets() Offsets {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.partition.state.Offsets
}

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
	l.tail.fail(l.partition.state.LogEnd, l.partition.fail(cause))
}

func (h *rwmutexHandle) Close() error {
	h.closed = true
	return nil
}

func (l *rwmutexLog) Close() error {
	// Before the lock, which a write that is stuck may hold: who waits for records need not wait for that.
	if !l.tail.closeFirst() {
		return nil
	}
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	// Outside the lock, which a trim may be about to take.
	l.stopMaintaining()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.partition.close(l.storage)
}
