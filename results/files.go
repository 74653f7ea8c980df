package results

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// CheckUnused returns ErrExists for a directory that has any file of a sweep in it. One that does not exist
// has none; nor has one in which a sweep was killed before its first run had ended.
func CheckUnused(dir string) error {
	names := []string{metaFile, runsFile, planFile, benchFile, summaryFile, "report.html"}
	if info, err := os.Lstat(filepath.Join(dir, runsFile)); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		names = []string{benchFile, summaryFile, "report.html"}
	}
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("results: %s: %w (%s)", dir, ErrExists, name)
		}
	}
	for _, name := range []string{latencyDir, chartsDir} {
		if entries, err := os.ReadDir(filepath.Join(dir, name)); err == nil && len(entries) > 0 {
			return fmt.Errorf("results: %s: %w (%s/%s)", dir, ErrExists, name, entries[0].Name())
		}
	}
	return nil
}

// WriteFiles writes bench.txt and summary.md into the sweep's directory.
func (s *Sweep) WriteFiles() error {
	return cmp.Or(s.replace(benchFile, s.WriteBench), s.replace(summaryFile, s.WriteSummary))
}

// replace is ReplaceFile for a file of the sweep.
func (s *Sweep) replace(name string, write func(io.Writer) error) error {
	if err := ReplaceFile(filepath.Join(s.Dir, name), write); err != nil {
		return fmt.Errorf("results: write %s: %w", name, err)
	}
	return nil
}

// ReplaceFile writes a file under another name and renames it, so that it is complete whenever it is
// there. It is durable when ReplaceFile returns.
func ReplaceFile(path string, write func(io.Writer) error) error {
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails once it is renamed
	if _, err = file.Write(content.Bytes()); err == nil {
		err = errors.Join(file.Chmod(0o644), file.Sync())
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
