package segment

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxVectors is IOV_MAX, the most pieces that one pwritev takes.
const maxVectors = 1024

// allocate gives a file size bytes of disk space. A sparse file would do until the disk is full: a
// store into its mapping is then SIGBUS. Where the filesystem can't allocate, zeros are written.
func allocate(fd int, size int64) error {
	err := unix.Fallocate(fd, 0, 0, size)
	if err == unix.EOPNOTSUPP {
		return writeZeros(fd, size)
	}
	return err
}

func datasync(fd int) error { return unix.Fdatasync(fd) }

// pwritev writes a group with one call. unix.Pwritev builds its vector on the heap beyond eight
// pieces; this one keeps it.
func (l *dirLog) pwritev(group []Batch, position int64) (int64, error) {
	l.vectors = l.vectors[:0]
	for _, b := range group {
		v := unix.Iovec{Base: &b[0]}
		v.SetLen(len(b))
		l.vectors = append(l.vectors, v)
	}
	// The kernel takes the position in two words, of which 64-bit machines use the low one.
	n, _, errno := unix.Syscall6(unix.SYS_PWRITEV, uintptr(l.fd),
		uintptr(unsafe.Pointer(&l.vectors[0])), uintptr(len(l.vectors)), uintptr(position), 0, 0)
	clear(l.vectors) // keeps no caller's batch alive
	if errno != 0 {
		return 0, errno
	}
	return int64(n), nil
}
