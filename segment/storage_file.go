package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Dir is a Storage of files in one directory.
//
// It works on raw descriptors: os.File.ReadAt counts references on a word that all readers of the
// file share (internal/poll), a hidden lock inside a read that is meant to have none.
type Dir struct {
	path     string
	fd       int // of the directory, which carries the lock and is synced
	readOnly bool
}

// OpenDir returns the storage of a directory, which it makes if it is missing. Until Close it is locked
// against another OpenDir, by this process or by others: that gives ErrLocked.
func OpenDir(path string) (*Dir, error) {
	if err := makeDir(path); err != nil {
		return nil, fmt.Errorf("segment: %w", err)
	}
	d, err := openDir(path)
	if err != nil {
		return nil, err
	}
	err = retry(func() error { return unix.Flock(d.fd, unix.LOCK_EX|unix.LOCK_NB) })
	if err == unix.EWOULDBLOCK {
		err = fmt.Errorf("%w: %s", ErrLocked, path)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// OpenDirReadOnly returns the storage of a directory that exists, for looking only: opening a file for
// change fails. It neither takes nor respects the lock.
func OpenDirReadOnly(path string) (*Dir, error) {
	d, err := openDir(path)
	if err == nil {
		d.readOnly = true
	}
	return d, err
}

// makeDir makes a directory and those above it, and makes the names of those it has made durable: a log that is
// synced must not be lost with its directory.
func makeDir(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil // MkdirAll would refuse what is no directory; so does opening it
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	d, err := os.Open(parent)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func openDir(path string) (*Dir, error) {
	d := &Dir{path: path}
	err := retry(func() (err error) {
		d.fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, failed("open", path, err)
	}
	return d, nil
}

// OpenLog implements Storage.
func (d *Dir) OpenLog(name string, create bool) (LogFile, error) {
	fd, err := d.open(name, create)
	if err != nil {
		return nil, err
	}
	return &dirLog{fd: fd, name: name}, nil
}

// MapIndex implements Storage.
func (d *Dir) MapIndex(name string, size int64, create bool) (Mapping, error) {
	fd, err := d.open(name, create)
	if err != nil {
		return nil, err
	}
	// A mapping keeps the file by itself; an open descriptor each would exhaust the limit.
	defer unix.Close(fd)
	protection := unix.PROT_READ
	if !d.readOnly {
		protection |= unix.PROT_WRITE
		if err := retry(func() error { return allocate(fd, size) }); err != nil {
			return nil, failed("allocate", name, err)
		}
	}
	p, err := unix.Mmap(fd, 0, int(size), protection, unix.MAP_SHARED)
	if err == unix.ENOMEM {
		// The limit is vm.max_map_count, by default 65,530.
		return nil, failed("map", name, fmt.Errorf("%w: a process may have no more mappings; each segment has two", err))
	}
	if err != nil {
		return nil, failed("map", name, err)
	}
	return &dirMapping{p: p, name: name}, nil
}

// Create implements Storage.
func (d *Dir) Create(name string) error {
	f, err := os.Create(filepath.Join(d.path, name))
	if err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	return nil
}

// Truncate implements Storage.
func (d *Dir) Truncate(name string, size int64) error {
	if err := os.Truncate(filepath.Join(d.path, name), size); err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	return nil
}

// Rename implements Storage.
func (d *Dir) Rename(from, to string) error {
	if err := os.Rename(filepath.Join(d.path, from), filepath.Join(d.path, to)); err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	return nil
}

// Remove implements Storage.
func (d *Dir) Remove(name string) error {
	if err := os.Remove(filepath.Join(d.path, name)); err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	return nil
}

// Size implements Storage.
func (d *Dir) Size(name string) (int64, error) {
	info, err := os.Stat(filepath.Join(d.path, name))
	if err != nil {
		return 0, fmt.Errorf("segment: %w", err)
	}
	return info.Size(), nil
}

// List implements Storage.
func (d *Dir) List() ([]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, fmt.Errorf("segment: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// SyncDir implements Storage.
func (d *Dir) SyncDir() error {
	if err := retry(func() error { return unix.Fsync(d.fd) }); err != nil {
		return failed("sync", d.path, err)
	}
	return nil
}

// Close implements Storage.
func (d *Dir) Close() error {
	fd := d.fd
	d.fd = -1 // the number may come back as another file's
	if err := unix.Close(fd); err != nil {
		return failed("close", d.path, err)
	}
	return nil
}

func (d *Dir) open(name string, create bool) (fd int, err error) {
	flags := unix.O_RDWR | unix.O_CLOEXEC
	if d.readOnly {
		flags = unix.O_RDONLY | unix.O_CLOEXEC
	}
	if create {
		flags |= unix.O_CREAT | unix.O_EXCL
	}
	err = retry(func() error {
		fd, err = unix.Open(filepath.Join(d.path, name), flags, 0o644)
		return err
	})
	if err != nil {
		return -1, failed("open", name, err)
	}
	return fd, nil
}

// dirLog is an open log file.
type dirLog struct {
	fd      int
	name    string
	vectors []unix.Iovec // scratch of PwriteBatches
}

// Pread implements LogFile.
func (l *dirLog) Pread(p []byte, position int64) (int, error) {
	for n := 0; ; {
		got, err := unix.Pread(l.fd, p[n:], position+int64(n))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return n, failed("read", l.name, err)
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
		n, err := unix.Pwrite(l.fd, p, position)
		switch {
		case err == unix.EINTR:
		case err == nil && n == 0:
			return failed("write", l.name, io.ErrShortWrite)
		case err != nil:
			return failed("write", l.name, err)
		default:
			p, position = p[n:], position+int64(n)
		}
	}
	return nil
}

// PwriteBatches implements LogFile.
func (l *dirLog) PwriteBatches(batches []Batch, position int64) error {
	for len(batches) > 1 {
		group := batches[:min(len(batches), maxVectors)]
		n, err := l.pwritev(group, position)
		if err == unix.EINTR {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return failed("write", l.name, err)
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

// Sync implements LogFile.
func (l *dirLog) Sync() error {
	if err := retry(func() error { return datasync(l.fd) }); err != nil {
		return failed("sync", l.name, err)
	}
	return nil
}

// Size implements LogFile.
func (l *dirLog) Size() (int64, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(l.fd, &st) }); err != nil {
		return 0, failed("stat", l.name, err)
	}
	return st.Size, nil
}

// Truncate implements LogFile.
func (l *dirLog) Truncate(size int64) error {
	if err := retry(func() error { return unix.Ftruncate(l.fd, size) }); err != nil {
		return failed("truncate", l.name, err)
	}
	return nil
}

// Close implements LogFile.
func (l *dirLog) Close() error {
	if err := unix.Close(l.fd); err != nil {
		return failed("close", l.name, err)
	}
	return nil
}

type dirMapping struct {
	p    []byte
	name string
}

// Bytes implements Mapping.
func (m *dirMapping) Bytes() []byte { return m.p }

// Sync implements Mapping.
func (m *dirMapping) Sync() error {
	if err := unix.Msync(m.p, unix.MS_SYNC); err != nil {
		return failed("sync", m.name, err)
	}
	return nil
}

// Close implements Mapping.
func (m *dirMapping) Close() error {
	if err := unix.Munmap(m.p); err != nil {
		return failed("unmap", m.name, err)
	}
	return nil
}

func failed(action, name string, err error) error {
	return fmt.Errorf("segment: %s %s: %w", action, name, err)
}

// retry repeats a system call that a signal has interrupted; the Go runtime preempts goroutines
// with signals.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
