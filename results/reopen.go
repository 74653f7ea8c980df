package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"golang.org/x/sys/unix"
)

// Reopen opens the directory of a sweep that was interrupted or killed, to go on with it, and returns what
// it holds. It cuts off a last line of runs.jsonl that a crash has torn, and takes out the lines of runs whose
// histograms can't be read, which Sweep.Warnings tells: these runs count as not done. It
// removes the leftovers of files that were being written; everything else stays. A histogram file
// without a run in runs.jsonl is overwritten when its run is done again. Whether anything is left to do
// is for the caller to see from the runs. While another process writes the same results, the error is
// ErrInUse.
func Reopen(dir string) (_ *Writer, _ *Sweep, err error) {
	path := filepath.Join(dir, runsFile)
	runs, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("results: %w", err)
	}
	w := &Writer{runs: runs, reopened: true}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if err := lock(runs); err != nil {
		return nil, nil, fmt.Errorf("results: %s: %w", dir, err)
	}
	loaded, end, err := load(dir)
	if err != nil {
		return nil, nil, err
	}
	if end.torn > 0 {
		loaded.Warnings = []string{fmt.Sprintf("%s:%d: the last line was cut short: it has been removed, its run counts as not done", path, end.torn)}
	}
	if err := mend(runs, &end); err != nil {
		return nil, nil, fmt.Errorf("results: %s: %w", path, err)
	}
	if err := w.dropUnreadable(loaded, &end); err != nil {
		return nil, nil, fmt.Errorf("results: %s: %w", path, err)
	}
	for _, name := range []string{latencyDir, chartsDir} {
		if err := w.makeDir(filepath.Join(dir, name)); err != nil {
			return nil, nil, err
		}
	}
	if err := removeLeftovers(dir); err != nil {
		return nil, nil, fmt.Errorf("results: %w", err)
	}
	w.size = end.whole
	w.sweep = *loaded
	w.sweep.Runs = slices.Clone(loaded.Runs)
	return w, loaded, nil
}

// mend leaves whole lines alone in a journal.
func mend(runs *os.File, end *journalEnd) error {
	switch {
	case end.torn > 0:
		if err := runs.Truncate(end.whole); err != nil {
			return err
		}
	case end.unterminated:
		if _, err := runs.WriteString("\n"); err != nil {
			return err
		}
		end.whole++
	default:
		return nil
	}
	return runs.Sync()
}

// dropUnreadable takes the runs whose histograms can't be read out of the sweep and its journal.
func (w *Writer) dropUnreadable(s *Sweep, end *journalEnd) error {
	var dropped []int
	for i := range s.Runs {
		if _, err := s.Histograms(&s.Runs[i]); err != nil {
			dropped = append(dropped, s.Runs[i].Index)
			s.Warnings = append(s.Warnings, fmt.Sprintf("run %d counts as not done: %v", s.Runs[i].Index, err))
		}
	}
	if len(dropped) == 0 {
		return nil
	}
	s.Runs = slices.DeleteFunc(s.Runs, func(r Run) bool { return slices.Contains(dropped, r.Index) })
	var journal bytes.Buffer
	for i := range s.Runs {
		line, err := json.Marshal(&s.Runs[i])
		if err != nil {
			return err
		}
		journal.Write(append(line, '\n'))
	}
	path := filepath.Join(s.Dir, runsFile)
	if err := ReplaceFile(path, func(out io.Writer) error { _, err := out.Write(journal.Bytes()); return err }); err != nil {
		return err
	}
	end.whole = int64(journal.Len())
	runs, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if err := lock(runs); err != nil {
		return errors.Join(err, runs.Close())
	}
	err = w.runs.Close()
	w.runs = runs
	return err
}

// leftover is the name of a file that ReplaceFile had not renamed yet.
var leftover = regexp.MustCompile(`^\.[0-9]+\.tmp$`)

// removeLeftovers removes them from a directory and those in it.
func removeLeftovers(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Type().IsRegular() && leftover.MatchString(entry.Name()) {
			return os.Remove(path)
		}
		return nil
	})
}

// lock makes the journal this process's own until it is closed. Where the file system has no such locks, as
// some parallel ones don't, there is none.
func lock(file *os.File) error {
	for {
		switch err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrInUse
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOLCK):
			return nil
		default:
			return err
		}
	}
}

// NewestInterrupted returns the directory below parent with the sweep that was begun last, of those that have
// a plan and were not finished.
func NewestInterrupted(parent string) (string, error) {
	plans, err := filepath.Glob(filepath.Join(parent, "*", planFile))
	if err != nil {
		return "", fmt.Errorf("results: %w", err)
	}
	newest := &Sweep{}
	for _, plan := range plans {
		dir := filepath.Dir(plan)
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue // the link to the newest results
		}
		s, err := Load(dir)
		if err == nil && s.Meta.Interrupted && s.Meta.Started.After(newest.Meta.Started) {
			newest = s
		}
	}
	if newest.Dir == "" {
		return "", fmt.Errorf("results: no sweep in %s was interrupted", parent)
	}
	return newest.Dir, nil
}
