package harness

import (
	"time"

	"golang.org/x/sys/unix"
)

// nanosleep sleeps for at most d. The timer slack belongs to the thread that happens to run the
// goroutine, so it is set each time; the default of 50 µs would be most of a short pause.
func nanosleep(d time.Duration) {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	request := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &request, nil) // cut short by a signal, it is called again
}
