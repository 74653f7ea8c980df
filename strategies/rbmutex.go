package strategies

import (
	"context"

	"github.com/puzpuzpuz/xsync/v4"

	"tailrace/segment"
)

// rbmutexLog has a read-write mutex that is biased towards readers, xsync's RBMutex (after BRAVO, Dice and
// Kogan, 2019): a reader marks one of several slots, each on a cache line of its own, and a writer has to
// look through all of them. Against rwmutex it changes the lock, and with it what readers share.
type rbmutexLog struct {
	admission admission
	storage   segment.Storage
	tail      tail
	maintenance

	// mu protects all below.
	mu        *xsync.RBMutex
	partition partition
	closed    bool
}

type rbmutexHandle struct {
	client
	log    *rbmutexLog
	cursor segment.Cursor
}

func openRBMutex(o Options) (Log, error) {
	p, err := openPartition(o)
	if err != nil {
		return nil, err
	}
	l := &rbmutexLog{admission: admit(o), storage: o.Storage, partition: p, mu: xsync.NewRBMutex()}
	l.tail = newTail(o, p.state.Offsets)
	l.maintenance = maintenance{of: l, checkpoint: p.checkpoint}
	l.maintain(o.Sync)
	return l, nil
}

func (l *rbmutexLog) NewHandle() Handle { return &rbmutexHandle{client: newClient(l.tail), log: l} }

func (h *rbmutexHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
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

func (l *rbmutexLog) append(ctx context.Context, b segment.Batch) (base int64, offsets Offsets, err error) {
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

func (h *rbmutexHandle) Read(offset int64, buf []byte) ([]byte, error) {
	l := h.log
	token := l.mu.RLock()
	defer l.mu.RUnlock(token)
	if h.closed || l.closed {
		return nil, ErrClosed
	}
	return l.partition.state.read(offset, buf, &h.cursor)
}

func (h *rbmutexHandle) OffsetForTime(ts int64) (int64, error) {
	l := h.log
	token := l.mu.RLock()
	defer l.mu.RUnlock(token)
	if h.closed || l.closed {
		return 0, ErrClosed
	}
	return l.partition.state.offsetForTime(ts, &h.cursor)
}

// Fetch reads among the readers, and is alone only to note a progress.
func (h *rbmutexHandle) Fetch(replica int, offset int64, buf []byte) ([]byte, error) {
	p, known, err := h.fetch(replica, offset, buf)
	if err == nil && !known {
		h.tail.published(h.log.fetched(replica, offset))
	}
	return p, err
}

func (h *rbmutexHandle) fetch(replica int, offset int64, buf []byte) (p []byte, known bool, err error) {
	l := h.log
	token := l.mu.RLock()
	defer l.mu.RUnlock(token)
	if h.closed || l.closed {
		return nil, false, ErrClosed
	}
	p, err = l.partition.state.fetch(replica, offset, buf, &h.cursor)
	return p, l.partition.state.knows(replica, offset), err
}

func (l *rbmutexLog) fetched(replica int, offset int64) Offsets {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partition.state.fetched(replica, offset)
	return l.partition.state.Offsets
}

func (h *rbmutexHandle) Offsets() Offsets { return h.log.offsets() }

func (l *rbmutexLog) offsets() Offsets {
	token := l.mu.RLock()
	defer l.mu.RUnlock(token)
	return l.partition.state.Offsets
}

func (l *rbmutexLog) picture() partitionState {
	token := l.mu.RLock()
	defer l.mu.RUnlock(token)
	return l.partition.state
}

// drop is alone with the partition: once it has let go of the lock, nobody knows the segments.
func (l *rbmutexLog) drop(start int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partition.state.trim(start)
}

func (l *rbmutexLog) fail(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail.fail(l.partition.state.LogEnd, l.partition.fail(cause))
}

func (h *rbmutexHandle) Close() error {
	h.closed = true
	return nil
}

func (l *rbmutexLog) Close() error {
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
