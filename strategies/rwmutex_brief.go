package strategies

import (
	"context"
	"sync"

	"tailrace/segment"
)

// rwmutexBriefLog holds its read-write mutex only to pick: a read copies the small head of the partition's
// state under the shared lock, and reads the log, which is immutable there, outside of it. An append waits for
// no pread. Against rwmutex it changes how long readers hold the lock; against mutex-brief, that they share it.
type rwmutexBriefLog struct {
	admission admission
	storage   segment.Storage
	tail      tail
	maintenance
	reads gate // calls that use the files without the lock

	// mu protects all below.
	mu        sync.RWMutex
	partition partition
	closed    bool
}

type rwmutexBriefHandle struct {
	client
	pin    pin
	log    *rwmutexBriefLog
	cursor segment.Cursor
}

func openRWMutexBrief(o Options) (Log, error) {
	p, err := openPartition(o)
	if err != nil {
		return nil, err
	}
	l := &rwmutexBriefLog{admission: admit(o), storage: o.Storage, partition: p}
	l.tail = newTail(o, p.state.Offsets)
	l.maintenance = maintenance{of: l, checkpoint: p.checkpoint}
	l.maintain(o.Sync)
	return l, nil
}

func (l *rwmutexBriefLog) NewHandle() Handle {
	h := &rwmutexBriefHandle{client: newClient(l.tail), log: l}
	l.reads.add(&h.pin)
	return h
}

func (h *rwmutexBriefHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
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

func (l *rwmutexBriefLog) append(ctx context.Context, b segment.Batch) (base int64, offsets Offsets, err error) {
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

func (h *rwmutexBriefHandle) Read(offset int64, buf []byte) ([]byte, error) {
	if h.closed || !h.log.reads.enter(&h.pin) {
		return nil, ErrClosed
	}
	defer h.log.reads.leave(&h.pin)
	state := h.log.picture()
	return state.read(offset, buf, &h.cursor)
}

func (h *rwmutexBriefHandle) OffsetForTime(ts int64) (int64, error) {
	if h.closed || !h.log.reads.enter(&h.pin) {
		return 0, ErrClosed
	}
	defer h.log.reads.leave(&h.pin)
	state := h.log.picture()
	return state.offsetForTime(ts, &h.cursor)
}

func (h *rwmutexBriefHandle) Fetch(replica int, offset int64, buf []byte) ([]byte, error) {
	if h.closed || !h.log.reads.enter(&h.pin) {
		return nil, ErrClosed
	}
	defer h.log.reads.leave(&h.pin)
	state, known := h.log.pick(replica, offset)
	p, err := state.fetch(replica, offset, buf, &h.cursor)
	if err == nil && !known {
		h.tail.published(h.log.fetched(replica, offset))
	}
	return p, err
}

// pick is the picture for a follower, and whether its progress is known.
func (l *rwmutexBriefLog) pick(replica int, offset int64) (partitionState, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.partition.state, l.partition.state.knows(replica, offset)
}

func (l *rwmutexBriefLog) fetched(replica int, offset int64) Offsets {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partition.state.fetched(replica, offset)
	return l.partition.state.Offsets
}

func (h *rwmutexBriefHandle) Offsets() Offsets { return h.log.offsets() }

func (l *rwmutexBriefLog) offsets() Offsets {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.partition.state.Offsets
}

func (l *rwmutexBriefLog) picture() partitionState {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.partition.state
}

// drop waits for the reads that have picked before.
func (l *rwmutexBriefLog) drop(start int64) {
	l.mu.Lock()
	l.partition.state.trim(start)
	l.mu.Unlock()
	l.reads.quiesce()
}

func (l *rwmutexBriefLog) fail(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail.fail(l.partition.state.LogEnd, l.partition.fail(cause))
}

func (h *rwmutexBriefHandle) Close() error {
	h.closed = true
	h.log.reads.remove(&h.pin)
	return nil
}

func (l *rwmutexBriefLog) Close() error {
	// Before the lock, which a write that is stuck may hold: who waits for records need not wait for that.
	if !l.reads.close(l.tail.close) {
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
