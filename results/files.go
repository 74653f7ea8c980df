package results

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tailrace/inorder"
)

// CheckUnused returns ErrExists for a directory that has any file of a sweep in it. One that does not exist
// has none; nor has one in which a sweep was killed before its first run had ended.
func CheckUnused(dir string) error {
	made := []string{benchFile, summaryFile, csvFile, "report.html"}
	names := append([]string{metaFile, runsFile, planFile}, made...)
	if info, err := os.Lstat(filepath.Join(dir, runsFile)); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		names = made
	}
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("results: %s: %w (%s)", dir, ErrExists, name)
		}
	}
	for _, name := range []string{latencyDir, chartsDir, ombDir} {
		if entries, err := os.ReadDir(filepath.Join(dir, name)); err == nil && len(entries) > 0 {
			return fmt.Errorf("results: %s: %w (%s/%s)", dir, ErrExists, name, entries[0].Name())
		}
	}
	return nil
}

// CheckPlace returns the error of CheckUnused, and ErrForeign for a directory that has files, but none of results.
func CheckPlace(dir string) error {
	return cmp.Or(CheckUnused(dir), CheckForeign(dir, metaFile, runsFile, planFile, benchFile, summaryFile, csvFile, "report.html",
		latencyDir, chartsDir, ombDir, claimsFile, claimsMarkdown))
}

// CheckForeign returns ErrForeign for a directory that has files, none of which has a name that one of some patterns
// matches (see filepath.Match).
func CheckForeign(dir string, ours ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // there is none, or making a file in it will fail
	}
	foreign := ""
	for _, entry := range entries {
		switch name := entry.Name(); {
		case slices.ContainsFunc(ours, func(pattern string) bool { matches, _ := filepath.Match(pattern, name); return matches }):
			return nil
		case slices.Contains([]string{"lost+found", ".gitignore", ".gitkeep"}, name): // as good as empty
		default:
			foreign = cmp.Or(foreign, name)
		}
	}
	if foreign != "" {
		return fmt.Errorf("results: %s: %w (%s)", dir, ErrForeign, foreign)
	}
	return nil
}

// WriteFiles writes everything into the sweep's directory that is made from meta.json, runs.jsonl and the
// latency logs: bench.txt, summary.md, summary.csv, omb/ and latency/*.hgrm (see the package comment). Files of the
// last two that an earlier call wrote, and this one does not, are removed. What can't be read of a latency log
// is told in s.Warnings, and its run is left out of these two. What an earlier call left behind that was ended while it
// wrote is removed.
func (s *Sweep) WriteFiles() error {
	if err := s.removeLeftovers(); err != nil {
		return err
	}
	if !s.stripped { // first: what these warn of belongs in the summary
		if err := cmp.Or(s.writeDistributions(), s.writeTestResults()); err != nil {
			return err
		}
	}
	return cmp.Or(
		s.replace(benchFile, s.WriteBench),
		s.replace(summaryFile, s.WriteSummary),
		s.replace(csvFile, s.WriteCSV),
	)
}

// replace is ReplaceFile for a file of the sweep.
func (s *Sweep) replace(name string, write func(io.Writer) error) error {
	if err := ReplaceFile(filepath.Join(s.Dir, name), write); err != nil {
		return fmt.Errorf("results: write %s: %w", name, err)
	}
	return nil
}

// Warner returns a function that adds a warning to s.Warnings, unless that is there already. It is for many of them:
// the warnings that were there before are looked at once.
func (s *Sweep) Warner() func(text string) {
	known := make(map[string]bool)
	for _, text := range s.Warnings {
		known[text] = true
	}
	return func(text string) {
		if !known[text] {
			s.Warnings, known[text] = append(s.Warnings, text), true
		}
	}
}

// fileSet is all files of one kind in a folder of the sweep. Each is complete whenever it is there, and none is
// durable: they are many, and can be made again.
type fileSet struct {
	sweep   *Sweep
	folder  string
	ours    *regexp.Regexp // the names that such files have: others may lie beside them
	written map[string]bool
}

func (s *Sweep) fileSet(folder string, ours *regexp.Regexp) *fileSet {
	return &fileSet{s, folder, ours, make(map[string]bool)}
}

// made is some files of a set, ready to be written, and what is missing in them.
type made struct {
	files   []madeFile
	warning string // "" if nothing is missing
	err     error
}

type madeFile struct {
	name    string
	content []byte
}

// add makes a file.
func (m *made) add(name string, write func(io.Writer) error) error {
	var content bytes.Buffer
	err := write(&content)
	m.files = append(m.files, madeFile{name, content.Bytes()})
	return err
}

// replaceAll writes the files that n jobs make, several of which are at work at once, and removes those that an earlier
// report wrote and this one did not.
func (f *fileSet) replaceAll(n int, job func(i int) made) error {
	warn := f.sweep.Warner()
	for _, m := range inorder.Each(n, job) {
		if m.warning != "" {
			warn(m.warning)
		}
		if m.err != nil {
			return m.err
		}
		for _, file := range m.files {
			if err := f.replace(file); err != nil {
				return err
			}
		}
	}
	return f.removeOthers()
}

// replace writes one of the files.
func (f *fileSet) replace(file madeFile) error {
	dir := filepath.Join(f.sweep.Dir, f.folder)
	if len(f.written) == 0 {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("results: %w", err)
		}
	}
	f.written[file.name] = true
	err := ReplaceMadeFile(filepath.Join(dir, file.name), func(w io.Writer) error {
		_, err := w.Write(file.content)
		return err
	})
	if err != nil {
		return fmt.Errorf("results: write %s/%s: %w", f.folder, file.name, err)
	}
	return nil
}

// removeOthers removes the files that an earlier report wrote and this one did not.
func (f *fileSet) removeOthers() error {
	dir := filepath.Join(f.sweep.Dir, f.folder)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("results: %w", err)
	}
	for _, entry := range entries {
		if !f.ours.MatchString(entry.Name()) || f.written[entry.Name()] || !entry.Type().IsRegular() {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("results: %w", err)
		}
	}
	return nil
}

// safeName replaces all characters that are not safe in a file name in every shell.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-':
			return r
		}
		return '_'
	}, name)
}

// ReplaceFile writes a file under another name and renames it, so that it is complete whenever it is
// there. It is durable when ReplaceFile returns.
func ReplaceFile(path string, write func(io.Writer) error) error {
	return replaceFile(path, write, true)
}

// ReplaceMadeFile is ReplaceFile for one of many files that can be made again: it does not wait for the disk, so that
// after a loss of power an older file may be there.
func ReplaceMadeFile(path string, write func(io.Writer) error) error {
	return replaceFile(path, write, false)
}

func replaceFile(path string, write func(io.Writer) error, durable bool) error {
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return err
	}
	file, err := createTemporary(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails once it is renamed
	_, err = file.Write(content.Bytes())
	if err == nil && durable {
		err = file.Sync()
	}
	if err = cmp.Or(err, file.Close()); err != nil {
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = &fs.PathError{Op: failed.Op, Path: path, Err: failed.Err} // the name that means something
		}
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil || !durable {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// createTemporary makes a file with a name of its own, that removeLeftovers knows. Unlike those of os.CreateTemp, who may
// read it is as the umask says.
func createTemporary(dir string) (*os.File, error) {
	for {
		name := filepath.Join(dir, fmt.Sprintf(".%d.tmp", rand.Uint64()))
		if file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
