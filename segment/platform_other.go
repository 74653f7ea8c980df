//go:build !linux

package segment

import "golang.org/x/sys/unix"

// Platforms other than Linux are for development, not for measuring.

const maxVectors = 1

func allocate(fd int, size int64) error { return writeZeros(fd, size) }

func datasync(fd int) error { return unix.Fsync(fd) }

func (l *dirLog) pwritev(group []Batch, position int64) (int64, error) {
	if err := l.Pwrite(group[0], position); err != nil {
		return 0, err
	}
	return int64(len(group[0])), nil
}
