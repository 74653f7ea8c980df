package strategies

import (
	"context"
	"sync"
	"sync/atomic"

	"tailrace/segment"
)

// mutexRCULog is the actor without the channel: writers take a mutex, and publish an immutable picture before
// they let go of it; readers load the picture and take no lock. Against mutex-brief it changes how readers get
// their picture; against actor, who may write.
type mutexRCULog struct {
	admission admission
	storage   segment.Storage
	tail      tail
	maintenance
	reads gate // calls that use the files of a picture

	// snapshot is stored by the lock's holder, and loaded by everybody.
	snapshot atomic.Pointer[partitionState]

	// mu protects all below.
	mu        sync.Mutex
	partition partition
	closed    bool
}

type mutexRCUHandle struct {
	client
	pin    pin
	log    *mutexRCULog
	cursor segment.Cursor
}

func openMutexRCU(o Options) (Log, error) {
	p, err := openPartition(o)
	if err != nil {
		return nil, err
	}
	l := &mutexRCULog{admission: admit(o), storage: o.Storage, partition: p}
	l.publish()
	l.tail = newTail(o, p.state.Offsets)
	l.maintenance = maintenance{of: l, checkpoint: p.checkpoint}
	l.maintain(o.Sync)
	return l, nil
}

func (l *mutexRCULog) NewHandle() Handle {
	h := &mutexRCUHandle{client: newClient(l.tail), log: l}
	l.reads.add(&h.pin)
	return h
}

func (h *mutexRCUHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
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

func (l *mutexRCULog) append(ctx context.Context, b segment.Batch) (base int64, offsets Offsets, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, Offsets{}, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return 0, Offsets{}, err
	}
	base, err = l.partition.append(b)
	l.publish()
	if l.partition.failure != nil {
		l.tail.fail(l.partition.state.LogEnd, l.partition.failure)
	}
	return base, l.partition.state.Offsets, err
}

// publish makes the lock holder's state visible.
func (l *mutexRCULog) publish() {
	l.snapshot.Store(l.partition.state.snapshot(l.snapshot.Load()))
}

func (h *mutexRCUHandle) Read(offset int64, buf []byte) ([]byte, error) {
	if h.closed || !h.log.reads.enter(&h.pin) {
		return nil, ErrClosed
	}
	defer h.log.reads.leave(&h.pin)
	state := h.log.snapshot.Load()
	return state.read(offset, buf, &h.cursor)
}

func (h *mutexRCUHandle) OffsetForTime(ts int64) (int64, error) {
	if h.closed || !h.log.reads.enter(&h.pin) {
		return 0, ErrClosed
	}
	defer h.log.reads.leave(&h.pin)
	state := h.log.snapshot.Load()
	return state.offsetForTime(ts, &h.cursor)
}

func (h *mutexRCUHandle) Fetch(replica int, offset int64, buf []byte) ([]byte, error) {
	if h.closed || !h.log.reads.enter(&h.pin) {
		return nil, ErrClosed
	}
	defer h.log.reads.leave(&h.pin)
	state := h.log.snapshot.Load()
	p, err := state.fetch(replica, offset, buf, &h.cursor)
	if err == nil && !state.knows(replica, offset) {
		h.tail.published(h.log.fetched(replica, offset))
	}
	return p, err
}

func (l *mutexRCULog) fetched(replica int, offset int64) Offsets {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partition.state.fetched(replica, offset)
	l.publish()
	return l.partition.state.Offsets
}

func (h *mutexRCUHandle) Offsets() Offsets { return h.log.offsets() }

func (l *mutexRCULog) offsets() Offsets { return l.snapshot.Load().Offsets }

func (l *mutexRCULog) picture() partitionState { return *l.snapshot.Load() }

// drop waits for the reads that have loaded an older picture.
func (l *mutexRCULog) drop(start int64) {
	l.mu.Lock()
	l.partition.state.trim(start)
	l.publish()
	l.mu.Unlock()
	l.reads.quiesce()
}

func (l *mutexRCULog) fail(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail.fail(l.partition.state.LogEnd, l.partition.fail(cause))
}

func (h *mutexRCUHandle) Close() error {
	h.closed = true
	h.log.reads.remove(&h.pin)
	return nil
}

func (l *mutexRCULog) Close() error {
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
