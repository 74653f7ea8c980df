package results

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Compare compares an old and a new side, each a results directory or a file in Go's benchmark format. Of two
// directories, whole runs are compared, and they count as interleaved if their blocks took turns on one machine; a
// directory beside a file is compared as the bench.txt that it would have.
//
// A change is the ratio of geometric means with Student's t interval on the logarithms, paired by block where the
// sides were interleaved, else Welch's. The intervals hold together with 95 % confidence (Bonferroni). Sides that
// can't be compared give ErrIncomparable, and a metric that is not there an *UnknownMetricError.
func Compare(old, new string, o CompareOptions) (*Changes, error) {
	a, err := openSource(old)
	if err != nil {
		return nil, err
	}
	b, err := openSource(new)
	if err != nil {
		return nil, err
	}
	if a.sameAs(b) {
		return nil, fmt.Errorf("results: %s and %s are the same results", old, new)
	}
	if a.sweep != nil && b.sweep != nil {
		return compareSweeps(a.sweep, b.sweep, o)
	}
	before, err := a.benchSide()
	if err != nil {
		return nil, err
	}
	after, err := b.benchSide()
	if err == nil {
		err = sameDirections(before, after)
	}
	var c *Changes
	if err == nil {
		c, err = compareSides(&before.side, &after.side, false, 0, o)
	}
	if b.sweep != nil && (errors.Is(err, errNoBenchmarks) || errors.Is(err, errNothingInCommon)) {
		// What has only wrong answers to show has shown enough.
		if wrong := onlyWrong(&before.side, b.sweep, o); wrong != nil {
			return wrong, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// onlyWrong is the outcome where all that the new side has are wrong answers; nil if it has none.
func onlyWrong(old *side, new *Sweep, o CompareOptions) *Changes {
	x := new.index()
	whole := x.side("", x.keys)
	if len(whole.violations) == 0 {
		return nil
	}
	return &Changes{
		Old: old.origin, New: whole.origin, Options: o, Level: confidence,
		Violations: whole.violations, Warnings: slices.Concat(old.warnings, whole.warnings),
	}
}

// CompareBuilds compares the two builds of a sweep that ran with both, block by block: the build that ran the
// sweep is the new one. Errors are those of Compare.
func CompareBuilds(dir string, o CompareOptions) (*Changes, error) {
	s, err := openSource(dir)
	if err != nil {
		return nil, err
	}
	if s.sweep == nil {
		return nil, fmt.Errorf("results: %s is a file, of %w", dir, ErrOneBuild)
	}
	return compareBuilds(s.sweep, o)
}

// source is a file or a directory that was given.
type source struct {
	path  string
	info  fs.FileInfo
	sweep *Sweep // nil for a file
}

// largestFile bounds what a file takes while it is read, which is up to twenty times its size. It has room for a
// million lines of go test.
const largestFile = 64 << 20

func openSource(path string) (*source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	s := &source{path: path, info: info}
	switch {
	case info.IsDir():
		s.sweep, err = Load(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("results: %s is not the directory of a sweep: %w", path, err)
		}
		if err == nil && len(s.sweep.Runs) == 0 {
			err = fmt.Errorf("results: %s has no runs", path)
		}
		return s, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("results: %s is neither a file nor a directory", path)
	case info.Size() == 0:
		return nil, fmt.Errorf("results: %s is empty", path)
	case info.Size() > largestFile:
		return nil, fmt.Errorf("results: %s is larger than %s, and no larger file of benchmarks is read", path, FormatBytes(largestFile))
	}
	return s, nil
}

// sameAs reports whether two sources are one, or one is the bench.txt of the other.
func (s *source) sameAs(other *source) bool {
	return slices.ContainsFunc(s.files(), func(a fs.FileInfo) bool {
		return slices.ContainsFunc(other.files(), func(b fs.FileInfo) bool { return os.SameFile(a, b) })
	})
}

func (s *source) files() []fs.FileInfo {
	files := []fs.FileInfo{s.info}
	if bench, err := os.Stat(filepath.Join(s.path, benchFile)); s.sweep != nil && err == nil {
		files = append(files, bench)
	}
	return files
}

// benchSide is what a file has, or the file that a sweep would make.
func (s *source) benchSide() (*benchSide, error) {
	if s.sweep == nil {
		text, err := readRegular(s.path)
		if err != nil {
			return nil, err
		}
		return readBench(text, s.path)
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
	if index.sick != "" {
		for _, b := range x.benchmarks {
			b.distrust = func(string) string { return index.sick }
		}
	}
	return x, nil
}
