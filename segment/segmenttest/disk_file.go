package segmenttest

import (
	"io/fs"
	"slices"

	"tailrace/segment"
)

// diskLog is an open log of a Disk.
type diskLog struct {
	disk   *Disk
	file   *file
	name   string
	closed bool
}

// mutate is Disk.mutate for a log that must be open.
func (l *diskLog) mutate(op Op, call func(sequence uint64) error) error {
	return l.disk.mutate(op, l.name, func() error {
		if l.closed {
			return fs.ErrClosed
		}
		return call(l.disk.sequence)
	})
}

// Pread implements segment.LogFile.
func (l *diskLog) Pread(p []byte, position int64) (int, error) {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	switch {
	case l.closed:
		return 0, failed(Pread, l.name, fs.ErrClosed)
	case position < 0:
		return 0, failed(Pread, l.name, fs.ErrInvalid)
	case position >= int64(len(l.file.data)):
		return 0, nil
	}
	return copy(p, l.file.data[position:]), nil
}

// Pwrite implements segment.LogFile.
func (l *diskLog) Pwrite(p []byte, position int64) error {
	return l.mutate(Pwrite, func(sequence uint64) error { return l.file.write(p, position, sequence) })
}

// PwriteBatches implements segment.LogFile. For a crash it is one write.
func (l *diskLog) PwriteBatches(batches []segment.Batch, position int64) error {
	return l.mutate(PwriteBatches, func(sequence uint64) error {
		return l.file.write(slices.Concat(batches...), position, sequence)
	})
}

// Sync implements segment.LogFile.
func (l *diskLog) Sync() error {
	return l.mutate(Sync, func(sequence uint64) error {
		l.file.sync(sequence)
		return nil
	})
}

// Size implements segment.LogFile.
func (l *diskLog) Size() (int64, error) {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	if l.closed {
		return 0, failed(LogSize, l.name, fs.ErrClosed)
	}
	return int64(len(l.file.data)), nil
}

// Truncate implements segment.LogFile.
func (l *diskLog) Truncate(size int64) error {
	return l.mutate(LogTruncate, func(sequence uint64) error { return l.file.truncate(size, sequence) })
}

// Close implements segment.LogFile.
func (l *diskLog) Close() error {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	if l.closed {
		return failed(LogClose, l.name, fs.ErrClosed)
	}
	l.closed = true
	l.disk.logs--
	return nil
}

// diskMapping is a mapped file of a Disk.
type diskMapping struct {
	disk   *Disk
	file   *file
	name   string
	bytes  []byte
	closed bool
}

// Bytes implements segment.Mapping.
func (m *diskMapping) Bytes() []byte { return m.bytes }

// Sync implements segment.Mapping. It reads the memory: for the race detector, that races with stores
// that happen at the same time.
func (m *diskMapping) Sync() error {
	return m.disk.mutate(MapSync, m.name, func() error {
		if m.closed {
			return fs.ErrClosed
		}
		m.file.sync(m.disk.sequence)
		return nil
	})
}

// Close implements segment.Mapping.
func (m *diskMapping) Close() error {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	if m.closed {
		return failed(MapClose, m.name, fs.ErrClosed)
	}
	m.closed = true
	m.disk.mappings--
	m.file.unmapped(m.disk.sequence)
	return nil
}
