package harness

import (
	"sync/atomic"
	"time"
)

// closeMargin is how far ahead of now a window is closed early. Whoever does not see it by then counts
// an operation too many.
const closeMargin = int64(3 * time.Millisecond)

// closeEarly closes the window a little after now, and sets why.
func (r *run) closeEarly(now int64, why *atomic.Bool) {
	for {
		at := r.closing.Load()
		if at <= now+closeMargin {
			return
		}
		if r.closing.CompareAndSwap(at, now+closeMargin) {
			why.Store(true)
			return
		}
	}
}

// allow hands out what the run may write, over its prefill. Near the end the window closes; what is in
// reserve then keeps the load up until it has.
func (r *run) allow() {
	budget := r.spec.Workload.Budget()
	r.unwritten.Store(budget.All)
	r.reserve, r.lease = budget.Reserve, budget.Piece
}

// more lets a worker write another piece; false if there is none.
func (r *run) more(w *worker) bool {
	left := r.unwritten.Add(-r.lease)
	if left < r.reserve {
		r.closeEarly(r.clock.now(), &r.early)
	}
	if left < 0 {
		return false
	}
	w.allowed += r.lease
	return true
}

// drained notes that a reader has drained its part of a backlog. The last one closes the window.
func (r *run) drained(now int64) {
	if r.draining.Add(-1) == 0 && r.inWindow(now) {
		r.drainedAt.Store(now)
		var asPlanned atomic.Bool
		r.closeEarly(r.clock.now(), &asPlanned) // since then an answer was checked
	}
}
