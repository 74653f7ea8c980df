package strategies

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// tail is who waits for the log to grow. Waiting is not what the models differ in, so all use this.
type tail struct {
	// highWatermark has the consumers, and the producers who wait for the replicas.
	highWatermark *waiters
	// logEnd has the followers. Without replicas, the two ends are one.
	logEnd *waiters
}

// newTail is that of a log with these offsets.
func newTail(o Options, offsets Offsets) tail {
	t := tail{highWatermark: newWaiters(offsets.HighWatermark)}
	t.logEnd = t.highWatermark
	if o.Replicas > 0 {
		t.logEnd = newWaiters(offsets.LogEnd)
	}
	return t
}

// published is called after an end has been raised, and before the call that raised it returns.
func (t tail) published(o Offsets) {
	t.highWatermark.published(o.HighWatermark)
	if t.logEnd != t.highWatermark {
		t.logEnd.published(o.LogEnd)
	}
}

// replicated waits until all replicas have an append that ends at an offset.
func (t tail) replicated(ctx context.Context, n *waiter, end int64) error {
	err := t.highWatermark.wait(ctx, n, end-1)
	if err == nil || end <= t.highWatermark.end.Load() {
		return nil
	}
	return unknownOutcome(err)
}

// unknownOutcome says why, and wraps ErrUnknownOutcome alone: the error of a context or of a log that is closed
// would say that nothing was appended.
func unknownOutcome(cause error) error { return fmt.Errorf("%w: %v", ErrUnknownOutcome, cause) }

// fail is called when the log will not grow any more.
func (t tail) fail(logEnd int64, err error) {
	t.highWatermark.fail(logEnd, err)
	if t.logEnd != t.highWatermark {
		t.logEnd.fail(logEnd, err)
	}
}

// close ends all waiting. It is called once.
func (t tail) close() {
	t.highWatermark.close()
	if t.logEnd != t.highWatermark {
		t.logEnd.close()
	}
}

// closeFirst is close for models without a gate; false if it was called before.
func (t tail) closeFirst() bool {
	if t.highWatermark.closed.Swap(true) {
		return false
	}
	t.close()
	return true
}

// waiters are the calls that wait for one end of the log: a list, ascending by offset, with its nodes in
// the handles, and one goroutine that wakes them. An append pays a word of its own to raise, a load, and at
// most one signal that does not block, however many wait: woken by the append itself, 1,000 waiters would cost it
// milliseconds.
type waiters struct {
	// end is the model's, as far as it has been published here. Whoever waits looks at this word alone: while
	// they looked at the model's, 1,000 that had been woken queued at its lock, and the p99 of the next append was
	// 100 µs, 20 times that of one with nobody waiting; now it is twice that.
	end atomic.Int64

	// least is the smallest offset that is waited for, MaxInt64 if none. A waiter lowers it before it
	// looks at the end for the last time, an append raises the end before it looks at least: one of the
	// two sees the other.
	least  atomic.Int64
	signal chan struct{} // of capacity 1: a pending signal covers all that was published before it is taken
	stop   chan struct{}
	done   chan struct{}

	closed atomic.Bool

	mu     sync.Mutex
	list   waiter // sentinel of a ring
	ending error  // why nobody may wait any more for an offset from limit on; nil while they may
	limit  int64
}

// waiter is a handle's node in the list.
type waiter struct {
	offset     int64
	prev, next *waiter // nil when not in the list
	// ready gets one token when the waker takes the node off the list.
	ready chan struct{}
}

func newWaiter() waiter { return waiter{ready: make(chan struct{}, 1)} }

func newWaiters(end int64) *waiters {
	w := &waiters{
		signal: make(chan struct{}, 1),
		stop:   make(chan struct{}),
		done:   make(chan struct{}),
	}
	w.end.Store(end)
	w.least.Store(math.MaxInt64)
	w.list.prev, w.list.next = &w.list, &w.list
	go w.run()
	return w
}

func (w *waiters) published(end int64) {
	for { // appends may come here in another order than to the log
		last := w.end.Load()
		if end <= last || w.end.CompareAndSwap(last, end) {
			break
		}
	}
	if end > w.least.Load() {
		w.wake()
	}
}

// wait returns when an offset is below the end.
func (w *waiters) wait(ctx context.Context, n *waiter, offset int64) error {
	for {
		if w.closed.Load() {
			return ErrClosed
		}
		if offset < w.end.Load() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.enlist(n, offset); err != nil {
			if err != ErrClosed && offset < w.end.Load() {
				return nil // it got there before the partition failed
			}
			return err
		}
		if offset < w.end.Load() {
			w.delist(n)
			return nil
		}
		select {
		case <-n.ready:
		case <-ctx.Done():
			if w.delist(n) {
				return ctx.Err()
			}
		}
	}
}

// fail ends waiting for offsets from limit on with an error, now and from now on: the end can't get there.
func (w *waiters) fail(limit int64, err error) {
	w.mu.Lock()
	if w.ending == nil {
		w.ending, w.limit = err, limit
	}
	w.mu.Unlock()
	w.wake()
}

// close ends all waiting with ErrClosed and stops the waker.
func (w *waiters) close() {
	w.closed.Store(true)
	w.mu.Lock()
	w.ending, w.limit = ErrClosed, math.MinInt64
	w.mu.Unlock()
	close(w.stop)
	<-w.done
}

func (w *waiters) wake() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

func (w *waiters) run() {
	defer close(w.done)
	for {
		select {
		case <-w.signal:
			w.release(w.end.Load())
		case <-w.stop:
			w.release(math.MaxInt64)
			return
		}
	}
}

// release takes the waiters below the end off the list, in order, and those for whom waiting has ended. It does so
// in portions, and gives way in between: whoever has appended may be waiting for the processor.
func (w *waiters) release(end int64) {
	for w.releaseSome(end) {
		runtime.Gosched()
	}
}

// releasePortion is how many waiters are woken at a time, some microseconds.
const releasePortion = 32

// releaseSome releases a portion; false when nobody is left to be released.
func (w *waiters) releaseSome(end int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range releasePortion {
		switch first, last := w.list.next, w.list.prev; {
		case first != &w.list && first.offset < end:
			first.release()
		case w.ending != nil && last != &w.list && last.offset >= w.limit:
			last.release()
		default:
			least := int64(math.MaxInt64)
			if first != &w.list {
				least = first.offset
			}
			// In one store: an append that found MaxInt64 in between would wake nobody.
			w.least.Store(least)
			return false
		}
	}
	return true
}

func (n *waiter) release() {
	n.unlink()
	n.ready <- struct{}{}
}

// enlist looks for the waiter's place from the end on: who waits mostly waits for what comes next.
func (w *waiters) enlist(n *waiter, offset int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ending != nil && offset >= w.limit {
		return w.ending
	}
	n.offset = offset
	before := w.list.prev
	for before != &w.list && before.offset > offset {
		before = before.prev
	}
	n.prev, n.next = before, before.next
	n.prev.next, n.next.prev = n, n
	w.least.Store(min(w.least.Load(), offset))
	return nil
}

// delist takes a waiter off the list; false if the waker has done so, whose token it then takes.
func (w *waiters) delist(n *waiter) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n.next == nil {
		<-n.ready // sent under mu, so it is there
		return false
	}
	n.unlink()
	// least may now be too low, which costs a needless signal until the waker has run.
	return true
}

func (n *waiter) unlink() {
	n.prev.next, n.next.prev = n.next, n.prev
	n.prev, n.next = nil, nil
}
