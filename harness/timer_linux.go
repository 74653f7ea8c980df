package harness

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// timer is a timerfd: it becomes readable when it expires, and the runtime's poller waits for that.
type timer struct {
	fd   int
	file *os.File // of fd; asking it for the descriptor would take it from the poller
}

func newTimer() (timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return timer{}, os.NewSyscallError("timerfd_create", err)
	}
	return timer{fd: fd, file: os.NewFile(uintptr(fd), "timer")}, nil
}

// sleep parks the goroutine for about d, which is more than 0. Where the timer fails it returns at once:
// the caller looks at the clock again.
func (t timer) sleep(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if unix.TimerfdSettime(t.fd, 0, &spec, nil) == nil {
		var expirations [8]byte
		_, _ = t.file.Read(expirations[:])
	}
}

func (t timer) close() { _ = t.file.Close() }
