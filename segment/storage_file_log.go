package segment

import (
	"io"
	"slices"

	"golang.org/x/sys/unix"
)

// dirLog is an open log file.
type dirLog struct {
	fd      int
	path    string       // when its directory was opened
	atMost  int          // as that of its Dir
	vectors []unix.Iovec // scratch of PwriteBatches
}

// Pread implements LogFile.
func (l *dirLog) Pread(p []byte, position int64) (int, error) {
	for n := 0; ; {
		got, err := unix.Pread(l.fd, l.short(p[n:]), position+int64(n))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return n, failed("read", l.path, err)
		case got == 0 || n+got == len(p):
			return n + got, nil
		default:
			n += got
		}
	}
}

// Pwrite implements LogFile.
func (l *dirLog) Pwrite(p []byte, position int64) error {
	for len(p) > 0 {
		n, err := unix.Pwrite(l.fd, l.short(p), position)
		switch {
		case err == unix.EINTR:
		case err == nil && n == 0:
			return failed("write", l.path, io.ErrShortWrite)
		case err != nil:
			return l.unwritten(position+int64(len(p)), err)
		default:
			p, position = p[n:], position+int64(n)
		}
	}
	return nil
}

// PwriteBatches implements LogFile.
func (l *dirLog) PwriteBatches(batches []Batch, position int64) error {
	for len(batches) > 1 {
		group := l.shortGroup(batches[:min(len(batches), maxVectors)])
		n, err := l.pwritev(group, position)
		if err == unix.EINTR {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return l.unwritten(position+int64(len(group[0])), err)
		}
		position += n
		for len(batches) > 0 && n >= int64(len(batches[0])) {
			n -= int64(len(batches[0]))
			batches = batches[1:]
		}
		if n > 0 {
			if err := l.Pwrite(batches[0][n:], position); err != nil {
				return err
			}
			position += int64(len(batches[0])) - n
			batches = batches[1:]
		}
	}
	if len(batches) == 1 {
		return l.Pwrite(batches[0], position)
	}
	return nil
}

// unwritten is the error of a write that was to end at a position.
func (l *dirLog) unwritten(end int64, err error) error {
	return failed("write", l.path, cause(err, l.fd, end))
}

// short is what one call transfers of p.
func (l *dirLog) short(p []byte) []byte {
	if l.atMost > 0 && len(p) > l.atMost {
		return p[:l.atMost]
	}
	return p
}

// shortGroup is what one call writes of a group.
func (l *dirLog) shortGroup(group []Batch) []Batch {
	if l.atMost == 0 {
		return group
	}
	left := l.atMost
	for i, b := range group {
		if len(b) >= left {
			return append(slices.Clone(group[:i]), b[:left])
		}
		left -= len(b)
	}
	return group
}

// Sync implements LogFile.
func (l *dirLog) Sync() error {
	if err := retry(func() error { return datasync(l.fd) }); err != nil {
		return failed("sync", l.path, cause(err, l.fd, 0))
	}
	return nil
}

// Size implements LogFile.
func (l *dirLog) Size() (int64, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(l.fd, &st) }); err != nil {
		return 0, failed("stat", l.path, err)
	}
	return st.Size, nil
}

// Truncate implements LogFile.
func (l *dirLog) Truncate(size int64) error {
	if err := retry(func() error { return unix.Ftruncate(l.fd, size) }); err != nil {
		return failed("truncate", l.path, err)
	}
	return nil
}

// Close implements LogFile.
func (l *dirLog) Close() error {
	if err := unix.Close(l.fd); err != nil {
		return failed("close", l.path, err)
	}
	return nil
}

type dirMapping struct {
	p    []byte
	path string
}

// Bytes implements Mapping.
func (m *dirMapping) Bytes() []byte { return m.p }

// Sync implements Mapping.
func (m *dirMapping) Sync() error {
	if err := retry(func() error { return unix.Msync(m.p, unix.MS_SYNC) }); err != nil {
		return failed("sync", m.path, err)
	}
	return nil
}

// Close implements Mapping.
func (m *dirMapping) Close() error {
	if err := unix.Munmap(m.p); err != nil {
		return failed("unmap", m.path, err)
	}
	return nil
}
