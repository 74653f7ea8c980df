package strategies

import (
	"context"
	"sync"
	"sync/atomic"

	"tailrace/segment"
)

// mutexGroupLog commits for many at once: an append queues its batch, and whoever finds nobody leading leads.
// The leader takes what is queued, writes it with one call, syncs at most once, publishes one picture, answers
// the others, and hands the lead to the first of those that have queued meanwhile. Readers load the picture.
// Against mutex-rcu it changes what the holder of the lock does; against actor, that the owner is one of the
// clients, and that a lone append meets no other goroutine.
type mutexGroupLog struct {
	admission admission
	storage   segment.Storage
	tail      tail
	maintenance
	reads gate // calls that use the files of a picture

	// snapshot is stored by the holder of mu, and loaded by everybody.
	snapshot atomic.Pointer[partitionState]

	// queue protects what is in it, for moments: nobody holds it through a system call.
	queue struct {
		sync.Mutex
		writes  []*groupWrite // ascending in the order in which they are to be appended
		leading bool          // somebody leads, or has been told to
		closed  bool
		idle    chan struct{} // closed when nobody leads any more after closing
	}

	// mu protects all below. The leader holds it, and maintenance.
	mu        sync.Mutex
	partition partition
	group     []*groupWrite
}

// groupWrite is one append on its way through the queue. A handle uses the same one again, except after a
// cancellation, when the old one may still be queued.
type groupWrite struct {
	// state: from queued, either the leader moves it to claimed or the caller to left. Whom the last leader
	// has told to lead has been claimed.
	state atomic.Int32
	batch segment.Batch
	lead  bool // the token says: lead; else it brings the answer

	base    int64
	offsets Offsets
	err     error
	token   chan struct{} // of capacity 1
}

type mutexGroupHandle struct {
	client
	pin    pin
	log    *mutexGroupLog
	write  *groupWrite
	cursor segment.Cursor
}

func openMutexGroup(o Options) (Log, error) {
	p, err := openPartition(o)
	if err != nil {
		return nil, err
	}
	l := &mutexGroupLog{admission: admit(o), storage: o.Storage, partition: p}
	l.queue.idle = make(chan struct{})
	l.publish()
	l.tail = newTail(o, p.state.Offsets)
	l.maintenance = maintenance{of: l, checkpoint: p.checkpoint}
	l.maintain(o.Sync)
	return l, nil
}

func (l *mutexGroupLog) NewHandle() Handle {
	h := &mutexGroupHandle{client: newClient(l.tail), log: l, write: newGroupWrite()}
	l.reads.add(&h.pin)
	return h
}

func newGroupWrite() *groupWrite { return &groupWrite{token: make(chan struct{}, 1)} }

func (h *mutexGroupHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
	if h.closed {
		return 0, ErrClosed
	}
	if err := h.log.admission.check(ctx, b, acks); err != nil {
		return 0, err
	}
	w := h.write
	w.batch, w.lead = b, false
	w.state.Store(queued)
	lead, err := h.log.enqueue(w)
	if err != nil {
		return 0, err
	}
	if !lead {
		select {
		case <-w.token:
		case <-ctx.Done():
			if w.state.CompareAndSwap(queued, left) {
				h.write = newGroupWrite()
				return 0, ctx.Err()
			}
			<-w.token
		}
	}
	if lead || w.lead {
		h.log.commit(w)
	}
	w.batch = nil
	if w.err != nil {
		return 0, w.err
	}
	return h.acknowledge(ctx, acks, w.base, b.NextOffset(), w.offsets)
}

// enqueue queues a write, and says whether its caller is to lead.
func (l *mutexGroupLog) enqueue(w *groupWrite) (lead bool, err error) {
	l.queue.Lock()
	defer l.queue.Unlock()
	if l.queue.closed {
		return false, ErrClosed
	}
	l.queue.writes = append(l.queue.writes, w)
	if l.queue.leading {
		return false, nil
	}
	l.queue.leading = true
	w.state.Store(claimed)
	return true, nil
}

// commit is the work of the leader, whose write is own.
func (l *mutexGroupLog) commit(own *groupWrite) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.take(own)
	for _, w := range l.group {
		w.base, w.err = l.partition.add(w.batch)
	}
	err := l.partition.commit()
	l.publish()
	offsets := l.partition.state.Offsets
	if l.partition.failure != nil {
		l.tail.fail(offsets.LogEnd, l.partition.failure)
	}
	l.tail.published(offsets)
	l.handOver() // first, since it takes the next leader a while to wake up
	for i, w := range l.group {
		// A roll commits what was queued before it: that part of the group stands even if the rest fails.
		if w.err == nil && err != nil && w.base >= offsets.LogEnd {
			w.err = err
		}
		w.offsets = offsets
		l.group[i] = nil
		if w != own {
			w.token <- struct{}{}
		}
	}
}

// take claims the leader's own write and those that are queued with it.
func (l *mutexGroupLog) take(own *groupWrite) {
	l.queue.Lock()
	defer l.queue.Unlock()
	l.group = l.group[:0]
	bytes, n := 0, 0
	for _, w := range l.queue.writes {
		if len(l.group) == groupCount || bytes >= groupBytes {
			break
		}
		n++
		if w == own || w.state.CompareAndSwap(queued, claimed) {
			l.group = append(l.group, w)
			bytes += len(w.batch)
		}
	}
	rest := copy(l.queue.writes, l.queue.writes[n:])
	clear(l.queue.writes[rest:])
	l.queue.writes = l.queue.writes[:rest]
}

// handOver tells the first that is still there to lead, so that nobody has to serve the others for ever.
func (l *mutexGroupLog) handOver() {
	l.queue.Lock()
	defer l.queue.Unlock()
	for _, w := range l.queue.writes {
		if w.state.CompareAndSwap(queued, claimed) {
			w.lead = true
			w.token <- struct{}{}
			return
		}
	}
	clear(l.queue.writes)
	l.queue.writes = l.queue.writes[:0]
	l.queue.leading = false
	if l.queue.closed {
		close(l.queue.idle)
	}
}

// publish makes the state visible.
func (l *mutexGroupLog) publish() {
	l.snapshot.Store(l.partition.state.snapshot(l.snapshot.Load()))
}

func (h *mutexGroupHandle) Read(offset int64, buf []byte) ([]byte, error) {
	if h.closed || !h.log.reads.enter(&h.pin) {
		return nil, ErrClosed
	}
	defer h.log.reads.leave(&h.pin)
	return h.log.snapshot.Load().read(offset, buf, &h.cursor)
}

func (h *mutexGroupHandle) OffsetForTime(ts int64) (int64, error) {
	if h.closed || !h.log.reads.enter(&h.pin) {
		return 0, ErrClosed
	}
	defer h.log.reads.leave(&h.pin)
	return h.log.snapshot.Load().offsetForTime(ts, &h.cursor)
}

func (h *mutexGroupHandle) Fetch(replica int, offset int64, buf []byte) ([]byte, error) {
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

func (l *mutexGroupLog) fetched(replica int, offset int64) Offsets {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partition.state.fetched(replica, offset)
	l.publish()
	return l.partition.state.Offsets
}

func (h *mutexGroupHandle) Offsets() Offsets { return h.log.offsets() }

func (l *mutexGroupLog) offsets() Offsets { return l.snapshot.Load().Offsets }

func (l *mutexGroupLog) picture() partitionState { return *l.snapshot.Load() }

// drop waits for the reads that have loaded an older picture.
func (l *mutexGroupLog) drop(start int64) {
	l.mu.Lock()
	l.partition.state.trim(start)
	l.publish()
	l.mu.Unlock()
	l.reads.quiesce()
}

func (l *mutexGroupLog) fail(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail.fail(l.partition.state.LogEnd, l.partition.fail(cause))
}

func (h *mutexGroupHandle) Close() error {
	h.closed = true
	h.log.reads.remove(&h.pin)
	return nil
}

// Close lets those who are queued be served: the last leader finds nobody to hand over to.
func (l *mutexGroupLog) Close() error {
	l.queue.Lock()
	closed, leading := l.queue.closed, l.queue.leading
	l.queue.closed = true
	l.queue.Unlock()
	if closed {
		return nil
	}
	l.reads.close(l.tail.close)
	if leading {
		<-l.queue.idle
	}
	l.stopMaintaining()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.partition.close(l.storage)
}
