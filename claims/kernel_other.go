//go:build !linux

package claims

// newFutexCounter finds none: futex is a call of Linux.
func newFutexCounter(*bench) (*futexCounter, error) {
	return nil, reason("futex is a system call of Linux")
}
