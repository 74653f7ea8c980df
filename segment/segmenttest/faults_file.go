package segmenttest

import (
	"errors"

	"tailrace/segment"
)

// faultyLog is a log of a Faults.
type faultyLog struct {
	faults *Faults
	log    segment.LogFile
	name   string
}

// Pread implements segment.LogFile.
func (l *faultyLog) Pread(p []byte, position int64) (int, error) {
	if fault := l.faults.call(Pread, l.name); fault.err != nil {
		return 0, fault.err
	}
	return l.log.Pread(p, position)
}

// Pwrite implements segment.LogFile.
func (l *faultyLog) Pwrite(p []byte, position int64) error {
	fault := l.faults.call(Pwrite, l.name)
	switch {
	case fault.short:
		return errors.Join(fault.err, l.log.Pwrite(p[:len(p)/2], position))
	case fault.err != nil:
		return fault.err
	}
	return l.log.Pwrite(p, position)
}

// PwriteBatches implements segment.LogFile.
func (l *faultyLog) PwriteBatches(batches []segment.Batch, position int64) error {
	fault := l.faults.call(PwriteBatches, l.name)
	switch {
	case fault.short:
		return errors.Join(fault.err, l.half(batches, position))
	case fault.err != nil:
		return fault.err
	}
	return l.log.PwriteBatches(batches, position)
}

// half writes the first half of all bytes.
func (l *faultyLog) half(batches []segment.Batch, position int64) error {
	left := 0
	for _, b := range batches {
		left += len(b)
	}
	left /= 2
	for _, b := range batches {
		n := min(left, len(b))
		if n == 0 {
			break
		}
		if err := l.log.Pwrite(b[:n], position); err != nil {
			return err
		}
		left -= n
		position += int64(n)
	}
	return nil
}

// Sync implements segment.LogFile.
func (l *faultyLog) Sync() error { return l.faults.do(Sync, l.name, l.log.Sync) }

// Size implements segment.LogFile.
func (l *faultyLog) Size() (size int64, err error) {
	err = l.faults.do(LogSize, l.name, func() error { size, err = l.log.Size(); return err })
	return size, err
}

// Truncate implements segment.LogFile.
func (l *faultyLog) Truncate(size int64) error {
	return l.faults.do(LogTruncate, l.name, func() error { return l.log.Truncate(size) })
}

// Close implements segment.LogFile.
func (l *faultyLog) Close() error { return l.faults.release(LogClose, l.name, l.log.Close) }

// faultyMapping is a mapping of a Faults.
type faultyMapping struct {
	faults  *Faults
	mapping segment.Mapping
	name    string
}

// Bytes implements segment.Mapping.
func (m *faultyMapping) Bytes() []byte { return m.mapping.Bytes() }

// Sync implements segment.Mapping.
func (m *faultyMapping) Sync() error { return m.faults.do(MapSync, m.name, m.mapping.Sync) }

// Close implements segment.Mapping.
func (m *faultyMapping) Close() error { return m.faults.release(MapClose, m.name, m.mapping.Close) }
