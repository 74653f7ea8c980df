package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// dataPrefix begins the name of a directory with the data of a sweep's runs.
const dataPrefix = "tailrace-data-"

// fileName is a label as part of the name of a file.
func fileName(label string) string {
	return strings.NewReplacer("/", "", "@", "-").Replace(label)
}

// dir is a data directory in a place; "" on the heap. It is made by the run.
func (s *sweep) dir(place Place, name string) (string, error) {
	if place.Kind == StorageHeap {
		return "", nil
	}
	root, ok := s.roots[place.Parent]
	if !ok {
		removeAbandoned(place.Parent)
		root = s.plan.root(place)
		if err := s.makeRoot(root); err != nil {
			return "", fmt.Errorf("harness: data directory: %w", err)
		}
		s.roots[place.Parent] = root
	}
	return filepath.Join(root, name), nil
}

// lockFile is locked, in the directory of a sweep's data, as long as the sweep goes on: one that nobody holds
// was abandoned. There is none where the data is to be kept.
const lockFile = ".lock"

// makeRoot makes the directory of the sweep's data and locks it, again if another sweep took it for abandoned
// before it was locked.
func (s *sweep) makeRoot(root string) (err error) {
	const tries = 5
	for range tries {
		if err = os.Mkdir(root, 0o777); err != nil && !(s.plan.resumed && errors.Is(err, fs.ErrExist)) {
			return err
		}
		if s.plan.Options.KeepData {
			return nil
		}
		var lock *os.File
		if lock, err = os.OpenFile(filepath.Join(root, lockFile), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
			continue
		}
		if err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil || errors.Is(err, errors.ErrUnsupported) {
			s.locks = append(s.locks, lock)
			return nil
		}
		_ = lock.Close()
	}
	return err
}

// root is the directory of a sweep's data in a place. The name is the plan's, so that whoever resumes the
// sweep finds what was left.
func (p *Plan) root(place Place) string { return filepath.Join(place.Parent, dataPrefix+p.id) }

// removeLeft removes the data that an interrupted sweep has left.
func (s *sweep) removeLeft() error {
	for _, c := range s.plan.all() {
		if c.Place.Kind == StorageHeap {
			continue
		}
		if err := s.removeData(s.plan.root(c.Place)); err != nil {
			return fmt.Errorf("harness: data of an interrupted sweep: %w", err)
		}
	}
	return nil
}

// removeData removes the data in a directory but for that of runs which are done and whose data is to be kept.
func (s *sweep) removeData(root string) error {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	kept := 0
	for _, entry := range entries {
		var index int
		if _, scanErr := fmt.Sscanf(entry.Name(), "%06d-", &index); s.plan.Options.KeepData && scanErr == nil && s.journal[index] != nil {
			kept++
			continue
		}
		err = errors.Join(err, os.RemoveAll(filepath.Join(root, entry.Name())))
	}
	if kept == 0 {
		err = errors.Join(err, os.Remove(root))
	}
	return err
}

// removeAbandoned removes the data of sweeps that were killed together with the processes of their runs, which
// would have removed it. A sweep that is resumed makes what it needs again.
func removeAbandoned(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, dataPrefix+"*"))
	for _, root := range left {
		if os.Remove(root) == nil { // it was empty
			continue
		}
		lock, err := os.Open(filepath.Join(root, lockFile))
		if err != nil { // its data is to be kept, or belongs to another user
			continue
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(root)
		}
		_ = lock.Close()
	}
}

// clean removes all data, unless that of a finished sweep is to be kept.
func (s *sweep) clean(finished bool) error {
	var errs []error
	for _, lock := range s.locks {
		defer lock.Close() // after its directory is gone
	}
	for _, root := range s.roots {
		if s.plan.Options.KeepData && finished {
			s.plan.Meta.Warnings = append(s.plan.Meta.Warnings, "segment files of the last block are kept in "+root)
			continue
		}
		errs = append(errs, os.RemoveAll(root))
	}
	return errors.Join(errs...)
}
