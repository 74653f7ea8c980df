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
	tail      tail
	maintenance

	// mu protects all below.
	mu        sync.Mutex
	partition partition
	closed    bool
}

type mutexHandle struct {
	client
	log    *mutexLog
	cursor segment.Cursor
}

func openMutex(o Options) (Log, error) {
	p, err := openPartition(o)
	if err != nil {
		return nil, err
	}
	l := &mutexLog{admission: admit(o), storage: o.Storage, partition: p}
	l.tail = newTail(o, p.state.Offsets)
	l.maintenance = maintenance{of: l, checkpoint: p.checkpoint}
	l.maintain(o.Sync)
	return l, nil
}

func (l *mutexLog) NewHandle() Handle { return &mutexHandle{client: newClient(l.tail), log: l} }

func (h *mutexHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
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

func (l *mutexLog) append(ctx context.Context, b segment.Batch) (base int64, offsets Offsets, err error) {
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

func (h *mutexHandle) Fetch(replica int, offset int64, buf []byte) ([]byte, error) {
	p, known, offsets, err := h.fetch(replica, offset, buf)
	if err == nil && !known {
		h.tail.published(offsets)
	}
	return p, err
}

func (h *mutexHandle) fetch(replica int, offset int64, buf []byte) (p []byte, known bool, o Offsets, err error) {
	l := h.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.closed || l.closed {
		return nil, false, Offsets{}, ErrClosed
	}
	p, err = l.partition.state.fetch(replica, offset, buf, &h.cursor)
	known = l.partition.state.knows(replica, offset)
	if err == nil && !known {
		l.partition.state.fetched(replica, offset)
	}
	return p, known, l.partition.state.Offsets, err
}

func (h *mutexHandle) Offsets() Offsets { return h.log.offsets() }

func (l *mutexLog) offsets() Offsets {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.partition.state.Offsets
}

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
	l.tail.fail(l.partition.state.LogEnd, l.partition.fail(cause))
}

func (h *mutexHandle) Close() error {
	h.closed = true
	return nil
}

func (l *mutexLog) Close() error {
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
