package harness

import (
	"runtime"
	"time"
)

// clock tells the nanoseconds since a run's epoch. time.Since reads the monotonic clock alone, for
// half the price of time.Now.
type clock struct{ epoch time.Time }

func newClock() clock { return clock{epoch: time.Now()} }

func (c clock) now() int64 { return int64(time.Since(c.epoch)) }

// wall is the milliseconds since the Unix epoch at a time of the clock.
func (c clock) wall(now int64) int64 {
	return c.epoch.Add(time.Duration(now)).UnixMilli()
}

// spinBefore is how long before its time a pause ends in busy waiting: about what the kernel takes to
// wake a thread with a timer slack of a nanosecond.
const spinBefore = 15 * time.Microsecond

// until pauses the goroutine until the clock reads at. It sleeps in the kernel and spins through the
// last microseconds: time.Sleep would oversleep by about a millisecond. The goroutine is not locked
// to its thread, since a locked one makes a hand-over through a channel many times dearer and leaves
// a mutex as it is, which would decide between the models.
func (c clock) until(at int64) {
	for {
		left := at - c.now()
		if left <= 0 {
			return
		}
		if left <= int64(spinBefore) {
			continue
		}
		// A goroutine that sleeps in the kernel keeps its processor until the scheduler's monitor takes
		// it away, after 20 µs to 10 ms. Whoever the last call has made ready waits in that
		// processor's queue, so they go first: without this the end-to-end latency of a paced load was
		// the monitor's (median 14 to 260 µs), with it it is the model's (5.5 to 10 µs).
		runtime.Gosched()
		if left = at - c.now(); left > int64(spinBefore) {
			nanosleep(time.Duration(left) - spinBefore)
		}
	}
}
