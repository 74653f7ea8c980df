package harness

import (
	"fmt"
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

// spinBefore is how long before its time a pause ends in busy waiting: longer than the kernel usually
// takes to wake a thread.
const spinBefore = 60 * time.Microsecond

// pauser lets one goroutine wait for moments of a clock, without holding a processor while it sleeps.
//
// time.Sleep would oversleep by about a millisecond. Sleeping in a system call is exact, but keeps the
// processor until the scheduler's monitor takes it away, after 20 µs to 10 ms, and whoever is ready
// meanwhile waits: with more sleepers than processors, end-to-end latencies were the monitor's. Locking
// the goroutine to its thread would make a hand-over through a channel many times dearer and leave a
// mutex as it is, which would decide between the models. A timer that is read like a network connection
// parks the goroutine alone.
type pauser struct {
	clock clock
	timer timer
}

func newPauser(c clock) (*pauser, error) {
	t, err := newTimer()
	if err != nil {
		return nil, fmt.Errorf("harness: timer: %w", err)
	}
	return &pauser{clock: c, timer: t}, nil
}

// until pauses until the clock reads at. Through the last microseconds it spins, and lets whoever is
// ready go first.
func (p *pauser) until(at int64) {
	for {
		left := at - p.clock.now()
		switch {
		case left <= 0:
			return
		case left > int64(spinBefore):
			p.timer.sleep(time.Duration(left) - spinBefore)
		default:
			runtime.Gosched()
		}
	}
}

func (p *pauser) close() { p.timer.close() }
