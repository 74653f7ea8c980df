package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
		removeEmpty(place.Parent)
		root = s.plan.root(place)
		if err := os.Mkdir(root, 0o700); err != nil && !(s.plan.resumed && errors.Is(err, fs.ErrExist)) {
			return "", fmt.Errorf("harness: data directory: %w", err)
		}
		s.roots[place.Parent] = root
	}
	return filepath.Join(root, name), nil
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

// removeEmpty removes the empty data directories that sweeps have left which were killed between two
// runs. One that goes on makes its own again.
func removeEmpty(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, dataPrefix+"*"))
	for _, root := range left {
		_ = os.Remove(root)
	}
}

// clean removes all data, unless that of a finished sweep is to be kept.
func (s *sweep) clean(finished bool) error {
	var errs []error
	for _, root := range s.roots {
		if s.plan.Options.KeepData && finished {
			s.plan.Meta.Warnings = append(s.plan.Meta.Warnings, "segment files of the last block are kept in "+root)
			continue
		}
		errs = append(errs, os.RemoveAll(root))
	}
	return errors.Join(errs...)
}
