package strategies

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
)

// waiters are the calls that wait for the high watermark. Waiting is not what the models differ in,
// so all use this: a list with its nodes in the handles, and one goroutine that wakes them. An append
// pays one load and at most one signal that does not block, however many wait: woken by the append
// itself, 1,000 waiters would cost it milliseconds.
type waiters struct {
	// highWatermark reads the model's; it may take the model's lock, and is never called under mu.
	highWatermark func() int64

	// least is the smallest offset that is waited for, MaxInt64 if none. A waiter lowers it before it
	// looks at the high watermark for the last time, an append raises the high watermark before it
	// looks at least: one of the two sees the other.
	least  atomic.Int64
	signal chan struct{} // of capacity 1: a pending signal covers all that was published before it is taken
	stop   chan struct{}
	done   chan struct{}

	closed atomic.Bool

	mu     sync.Mutex
	list   waiter // sentinel of a ring
	ending error  // why nobody may wait any more; nil while they may
}

// waiter is a handle's node in the list.
type waiter struct {
	offset     int64
	prev, next *waiter // nil when not in the list
	// ready gets one token when the waker takes the node off the list.
	ready chan struct{}
}

func newWaiter() waiter { return waiter{ready: make(chan struct{}, 1)} }

func newWaiters(highWatermark func() int64) *waiters {
	w := &waiters{
		highWatermark: highWatermark,
		signal:        make(chan struct{}, 1),
		stop:          make(chan struct{}),
		done:          make(chan struct{}),
	}
	w.least.Store(math.MaxInt64)
	w.list.prev, w.list.next = &w.list, &w.list
	go w.run()
	return w
}

// published is called after the high watermark has been raised, and before the append returns.
func (w *waiters) published(highWatermark int64) {
	if highWatermark > w.least.Load() {
		w.wake()
	}
}

// wait implements Handle.Wait.
func (w *waiters) wait(ctx context.Context, n *waiter, offset int64) error {
	for {
		if w.closed.Load() {
			return ErrClosed
		}
		if offset < w.highWatermark() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.enlist(n, offset); err != nil {
			if err != ErrClosed && offset < w.highWatermark() {
				return nil // it got there before the partition failed
			}
			return err
		}
		if offset < w.highWatermark() {
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

// fail ends all waiting with an error, now and from now on, once the high watermark can't rise.
func (w *waiters) fail(err error) {
	w.mu.Lock()
	if w.ending == nil {
		w.ending = err
	}
	w.mu.Unlock()
	w.wake()
}

// close ends all waiting with ErrClosed and stops the waker. It is called once.
func (w *waiters) close() {
	w.closed.Store(true)
	w.mu.Lock()
	w.ending = ErrClosed
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
			w.release(w.highWatermark())
		case <-w.stop:
			w.release(math.MaxInt64)
			return
		}
	}
}

// release takes the waiters below the high watermark off the list, or all when waiting has ended.
func (w *waiters) release(highWatermark int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	least := int64(math.MaxInt64)
	for n := w.list.next; n != &w.list; {
		next := n.next
		if n.offset < highWatermark || w.ending != nil {
			n.unlink()
			n.ready <- struct{}{}
		} else {
			least = min(least, n.offset)
		}
		n = next
	}
	w.least.Store(least)
}

func (w *waiters) enlist(n *waiter, offset int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ending != nil {
		return w.ending
	}
	n.offset = offset
	n.prev, n.next = w.list.prev, &w.list
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
