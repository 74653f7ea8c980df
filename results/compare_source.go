package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// standardInput is how a side is named that is read from there.
const standardInput = "-"

// source is a file, a pipe or a directory that was given.
type source struct {
	path  string
	info  fs.FileInfo // nil of a standard input that is no file
	stdin io.Reader   // nil of all but standard input
	sweep *Sweep      // nil for a file
	text  []byte      // of a file, when it was read
}

// largestFile bounds what a file takes while it is read, which is up to twenty times its size. It has room for a
// million lines of go test.
const largestFile = 64 << 20

func openSource(path string, stdin io.Reader) (*source, error) {
	s := &source{path: path}
	if path == standardInput && stdin != nil {
		s.path, s.stdin = "standard input", stdin
		if file, ok := stdin.(*os.File); ok {
			var err error
			if s.info, err = file.Stat(); err != nil {
				return nil, fmt.Errorf("results: standard input: %w", err)
			}
			if s.info.IsDir() {
				return nil, errors.New("results: standard input is a directory: give its name instead")
			}
		}
		return s, nil
	}
	var err error
	if s.info, err = os.Stat(path); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	switch mode := s.info.Mode(); {
	case mode.IsDir():
		s.sweep, err = Load(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("results: %s is not the directory of a sweep: %w", path, err)
		}
		if err == nil && len(s.sweep.Runs) == 0 {
			err = fmt.Errorf("results: %s has no runs", path)
		}
		return s, err
	case mode.IsRegular() && s.info.Size() > largestFile:
		return nil, s.tooLarge()
	case !mode.IsRegular() && mode&(fs.ModeNamedPipe|fs.ModeCharDevice) == 0:
		return nil, fmt.Errorf("results: %s is neither a file, a pipe nor a directory", path)
	}
	return s, nil
}

func (s *source) tooLarge() error {
	return fmt.Errorf("results: %s is larger than %s, and no larger file of benchmarks is read", s.path, FormatBytes(largestFile))
}

// read returns what is in a file or comes from a pipe. Of a pipe it waits for the end.
func (s *source) read() ([]byte, error) {
	from := s.stdin
	if from == nil {
		file, err := os.Open(s.path)
		if err != nil {
			return nil, fmt.Errorf("results: %w", err)
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, largestFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("results: %w", err)
	case len(text) == 0:
		return nil, fmt.Errorf("results: %s is empty", s.path)
	case len(text) > largestFile:
		return nil, s.tooLarge()
	}
	return text, nil
}

// sameAs reports whether two sources are one, or one is the bench.txt of the other.
func (s *source) sameAs(other *source) bool {
	return slices.ContainsFunc(s.files(), func(a fs.FileInfo) bool {
		return slices.ContainsFunc(other.files(), func(b fs.FileInfo) bool { return os.SameFile(a, b) })
	})
}

func (s *source) files() []fs.FileInfo {
	var files []fs.FileInfo
	if s.info != nil {
		files = append(files, s.info)
	}
	if bench, err := os.Stat(filepath.Join(s.path, benchFile)); s.sweep != nil && err == nil {
		files = append(files, bench)
	}
	return files
}

// benchSide is what a file has, or the file that a sweep would make.
func (s *source) benchSide() (*benchSide, error) {
	if s.sweep == nil {
		var err error
		if s.text, err = s.read(); err != nil {
			return nil, err
		}
		return readBench(s.text, s.path)
	}
	var text bytes.Buffer
	if err := s.sweep.WriteBench(&text); err != nil {
		return nil, err
	}
	x, err := readBench(text.Bytes(), s.path)
	if err != nil {
		return nil, err
	}
	index := s.sweep.index()
	whole := index.side("", index.keys)
	x.origin, x.violations = whole.origin, whole.violations
	x.warnings = append(x.warnings, whole.warnings...)
	x.sick = index.sick
	return x, nil
}
