package segmenttest

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"tailrace/segment"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// tempDir is in memory where the system has such a place.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "segmenttest-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// must fails the test at once for any error.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func createLog(t testing.TB, s segment.Storage, name string) segment.LogFile {
	t.Helper()
	l, err := s.OpenLog(name, true)
	must(t, err)
	return l
}

func createIndex(t testing.TB, s segment.Storage, name string, size int64) segment.Mapping {
	t.Helper()
	m, err := s.MapIndex(name, size, true)
	must(t, err)
	return m
}

// check compares all files of a disk.
func check(t testing.TB, d *Disk, want map[string]string) {
	t.Helper()
	got := d.Files()
	for name := range got {
		if w, ok := want[name]; !ok || w != string(got[name]) {
			t.Errorf("%s holds %q, want %q (exists: %v)", name, got[name], w, ok)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the files are %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// outcomes takes many images and counts how often a file holds what; a missing file counts as "missing".
func outcomes(d *Disk, name string, images int) map[string]int {
	counts := map[string]int{}
	for seed := range images {
		p, err := d.Crash(newRand(uint64(seed))).ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			p = []byte("missing")
		}
		counts[string(p)]++
	}
	return counts
}

// only checks that outcomes are among those allowed, and that each of them occurs.
func only(t testing.TB, counts map[string]int, allowed ...string) {
	t.Helper()
	for got, n := range counts {
		if !slices.Contains(allowed, got) {
			t.Errorf("%d images hold %.80q", n, got)
		}
	}
	for _, want := range allowed {
		if counts[want] == 0 {
			t.Errorf("no image holds %.80q", want)
		}
	}
}

func filled(n int, b byte) []byte { return bytes.Repeat([]byte{b}, n) }
