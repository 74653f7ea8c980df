package segment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Dir is a Storage of files in one directory.
//
// The directory is the one that was opened, and locked, under the path: its descriptor decides. It can be
// renamed, another can take its name, and the process can change its own directory meanwhile. The path is
// only what errors name.
//
// Files are raw descriptors: os.File.ReadAt counts references on a word that all readers of the
// file share (internal/poll), a hidden lock inside a read that is meant to have none.
type Dir struct {
	path     string
	fd       int // of the directory, which carries the lock and is synced; −1 after Close
	readOnly bool
	atMost   int // bytes that one system call on a log transfers; 0 sets no limit
}

// ShortCalls has each system call on a log that is opened from now on read or write n bytes at most, as a system
// may at any time: it is for tests of what asks for the rest. 0 sets no limit. It must not overlap another call.
func (d *Dir) ShortCalls(n int) { d.atMost = n }

// OpenDir returns the storage of a directory, which it makes if it is missing. Until Close it is locked
// against another OpenDir, by this process or by others: that gives ErrLocked.
func OpenDir(path string) (*Dir, error) {
	if err := makeDir(path); err != nil {
		return nil, fmt.Errorf("segment: %w", cause(err, unix.AT_FDCWD, 0))
	}
	d, err := openDir(path)
	if err != nil {
		return nil, err
	}
	err = retry(func() error { return unix.Flock(d.fd, unix.LOCK_EX|unix.LOCK_NB) })
	if err == unix.EWOULDBLOCK {
		err = fmt.Errorf("%w: %s", ErrLocked, path)
	} else if err != nil {
		err = failed("lock", path, err)
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

// ReadOnly returns a storage of the same directory, under whatever path it is now, for looking only. It stays open
// when d is closed.
func (d *Dir) ReadOnly() (*Dir, error) {
	fd, err := openAt(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, failed("open", d.path, d.cause(err))
	}
	return &Dir{path: d.path, fd: fd, readOnly: true}, nil
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
	if err == nil {
		err = errors.Join(d.Sync(), d.Close())
	}
	if err != nil {
		return errors.Join(err, os.Remove(path)) // the next call would take it for durable
	}
	return nil
}

func openDir(path string) (*Dir, error) {
	fd, err := openAt(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, failed("open", path, cause(err, unix.AT_FDCWD, 0))
	}
	return &Dir{path: path, fd: fd}, nil
}

// OpenLog implements Storage.
func (d *Dir) OpenLog(name string, create bool) (LogFile, error) {
	fd, err := d.open(name, create)
	if err != nil {
		return nil, err
	}
	return &dirLog{fd: fd, path: d.at(name), atMost: d.atMost}, nil
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
			return nil, failed("allocate", d.at(name), cause(err, fd, size))
		}
	}
	p, err := unix.Mmap(fd, 0, int(size), protection, unix.MAP_SHARED)
	if err != nil {
		return nil, failed("map", d.at(name), cause(err, fd, size))
	}
	return &dirMapping{p: p, path: d.at(name)}, nil
}

// Create implements Storage.
func (d *Dir) Create(name string) error {
	fd, err := d.openWith(name, d.access()|unix.O_CREAT|unix.O_TRUNC)
	if err != nil {
		return err
	}
	if err := unix.Close(fd); err != nil {
		return failed("close", d.at(name), err)
	}
	return nil
}

// Truncate implements Storage.
func (d *Dir) Truncate(name string, size int64) error {
	fd, err := d.open(name, false)
	if err != nil {
		return err
	}
	if err := retry(func() error { return unix.Ftruncate(fd, size) }); err != nil {
		err = failed("truncate", d.at(name), cause(err, fd, size))
		return errors.Join(err, unix.Close(fd))
	}
	if err := unix.Close(fd); err != nil {
		return failed("close", d.at(name), err)
	}
	return nil
}

// Rename implements Storage.
func (d *Dir) Rename(from, to string) error {
	if err := retry(func() error { return unix.Renameat(d.fd, from, d.fd, to) }); err != nil {
		return failed("rename", d.at(from), d.cause(err))
	}
	return nil
}

// Remove implements Storage.
func (d *Dir) Remove(name string) error {
	if err := retry(func() error { return unix.Unlinkat(d.fd, name, 0) }); err != nil {
		return failed("remove", d.at(name), d.cause(err))
	}
	return nil
}

// Size implements Storage.
func (d *Dir) Size(name string) (int64, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstatat(d.fd, name, &st, 0) }); err != nil {
		return 0, failed("stat", d.at(name), d.cause(err))
	}
	return st.Size, nil
}

// List implements Storage.
func (d *Dir) List() ([]string, error) {
	// A descriptor of its own, since reading moves it.
	fd, err := openAt(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, failed("list", d.path, d.cause(err))
	}
	f := os.NewFile(uintptr(fd), d.path)
	entries, err := f.ReadDir(-1)
	if removed := d.exists(); removed != nil {
		err = removed
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, failed("list", d.path, err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// SyncDir implements Storage.
func (d *Dir) SyncDir() error {
	err := retry(func() error { return unix.Fsync(d.fd) })
	if err == nil {
		err = d.exists() // syncing a directory that has been removed succeeds
	}
	if err != nil {
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

// at is what errors call a file: its path when the directory was opened.
func (d *Dir) at(name string) string { return filepath.Join(d.path, name) }

func (d *Dir) access() int {
	if d.readOnly {
		return unix.O_RDONLY
	}
	return unix.O_RDWR
}

func (d *Dir) open(name string, create bool) (fd int, err error) {
	flags := d.access()
	if create {
		flags |= unix.O_CREAT | unix.O_EXCL
	}
	return d.openWith(name, flags)
}

func (d *Dir) openWith(name string, flags int) (fd int, err error) {
	if d.readOnly && flags != unix.O_RDONLY {
		return -1, failed("create", d.at(name), unix.EROFS)
	}
	if fd, err = openAt(d.fd, name, flags); err != nil {
		return -1, failed("open", d.at(name), d.cause(err))
	}
	return fd, nil
}

// cause is the error of a call that names a file in the directory, with its cause.
func (d *Dir) cause(err error) error {
	if err == unix.ENOENT {
		if removed := d.exists(); removed != nil {
			return removed
		}
	}
	return cause(err, d.fd, 0)
}

// exists gives errRemoved if the directory has no name any more.
func (d *Dir) exists() error {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(d.fd, &st) }); err != nil {
		return err
	}
	if st.Nlink == 0 {
		return errRemoved
	}
	return nil
}

var errRemoved = errors.New("the directory has been removed")

func openAt(dir int, name string, flags int) (fd int, err error) {
	err = retry(func() error {
		fd, err = unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0o644)
		return err
	})
	return fd, err
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
