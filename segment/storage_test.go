package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestStorageExistence(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		defer s.Close()
		const log, index = "1.log", "1.index"
		check := func(what string, err, want error, name string) {
			t.Helper()
			if !errors.Is(err, want) || err != nil && (!strings.Contains(err.Error(), name) || !strings.HasPrefix(err.Error(), "segment: ")) {
				t.Errorf("%s: %v, want %v and the name", what, err, want)
			}
		}
		_, err := s.OpenLog(log, false)
		check("open missing log", err, fs.ErrNotExist, log)
		_, err = s.MapIndex(index, 64, false)
		check("map missing index", err, fs.ErrNotExist, index)
		_, err = s.Size(log)
		check("size of missing file", err, fs.ErrNotExist, log)
		if s.Truncate(index, 0) == nil {
			t.Error("a missing file was truncated")
		}

		l, err := s.OpenLog(log, true)
		check("create log", err, nil, log)
		m, err := s.MapIndex(index, 64, true)
		check("create index", err, nil, index)
		_, err = s.OpenLog(log, true)
		check("create existing log", err, fs.ErrExist, log)
		_, err = s.MapIndex(index, 64, true)
		check("create existing index", err, fs.ErrExist, index)

		if names, err := s.List(); err != nil || !slices.Equal(names, []string{index, log}) {
			t.Errorf("List = %v, %v", names, err)
		}
		check("SyncDir", s.SyncDir(), nil, "")
		check("close log", l.Close(), nil, log)
		check("close index", m.Close(), nil, index)
	})
}

func TestStorageIndex(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		const name = "1.index"
		m, err := s.MapIndex(name, 5000, true)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(m.Bytes(), make([]byte, 5000)) {
			t.Error("a new index isn't 5000 zeros")
		}
		copy(m.Bytes(), "abcdefgh")
		if err := s.Truncate(name, 5); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, s, name); string(got) != "abcde" {
			t.Errorf("after Truncate the file holds %q", got)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		// Extended again, what was cut off is gone.
		m, err = s.MapIndex(name, 8, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Bytes(); string(got) != "abcde\x00\x00\x00" {
			t.Errorf("extended index holds %q", got)
		}
		m.Bytes()[7] = 'x'
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, s, name); string(got) != "abcde\x00\x00x" {
			t.Errorf("file holds %q", got)
		}
		if err := s.Create(name); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Size(name); n != 0 || err != nil {
			t.Errorf("after Create the size is %d, %v", n, err)
		}
	})
}

func TestStorageLog(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		l, err := s.OpenLog("1.log", true)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, 2*heapChunk+1000) // over the seams of heap chunks
		r := newRand(51)
		for at := 0; at < len(want); {
			p := want[at:min(at+1+r.IntN(70_000), len(want))]
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			if err := l.Pwrite(p, int64(at)); err != nil {
				t.Fatal(err)
			}
			at += len(p)
		}
		if n, err := l.Size(); n != int64(len(want)) || err != nil {
			t.Errorf("Size = %d, %v", n, err)
		}
		if n, err := s.Size("1.log"); n != int64(len(want)) || err != nil {
			t.Errorf("Size of the name = %d, %v", n, err)
		}
		if err := l.Sync(); err != nil {
			t.Error(err)
		}
		buf := make([]byte, 100_000)
		for range 200 {
			at := r.IntN(len(want))
			p := buf[:r.IntN(min(len(buf), len(want)-at)+1)]
			if n, err := l.Pread(p, int64(at)); n != len(p) || err != nil || !bytes.Equal(p, want[at:at+n]) {
				t.Fatalf("Pread of %d bytes at %d = %d, %v, or wrong bytes", len(p), at, n, err)
			}
		}
		// Behind the end there is nothing, or zeros.
		for _, back := range []int{0, 1, 500} {
			n, err := l.Pread(buf, int64(len(want)-back))
			if err != nil || n < back || !bytes.Equal(buf[:back], want[len(want)-back:]) || !bytes.Equal(buf[back:n], make([]byte, n-back)) {
				t.Errorf("Pread %d bytes before the end = %d, %v, or wrong bytes", back, n, err)
			}
		}
		if n, err := l.Pread(buf, 10*heapChunk); n != 0 || err != nil {
			t.Errorf("Pread far behind the end = %d, %v", n, err)
		}
		if n, err := l.Pread(nil, 0); n != 0 || err != nil {
			t.Errorf("Pread of nothing = %d, %v", n, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// One vectored write gives the bytes of as many single ones, also beyond the system's limit on pieces.
func TestPwriteBatches(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1024, 1025, 1500, 2049} {
		t.Run(fmt.Sprint("batches=", n), func(t *testing.T) {
			eachStorage(t, func(t *testing.T, s Storage) {
				r := newRand(uint64(n))
				batches := make([]Batch, n)
				for i := range batches {
					batches[i] = build(randomRecords(r)...)
				}
				open := func(name string) LogFile {
					l, err := s.OpenLog(name, true)
					if err != nil {
						t.Fatal(err)
					}
					return l
				}
				together, single := open("1.log"), open("2.log")
				const start = 777
				position := int64(start)
				for _, b := range batches {
					if err := single.Pwrite(b, position); err != nil {
						t.Fatal(err)
					}
					position += int64(len(b))
				}
				if err := together.PwriteBatches(batches, start); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(contents(t, s, "1.log"), contents(t, s, "2.log")) {
					t.Error("the files differ")
				}
				if err := errors.Join(together.Close(), single.Close()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Errors of the system carry the action and the name.
func TestDirErrors(t *testing.T) {
	s, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.OpenLog("1.log", true)
	if err != nil {
		t.Fatal(err)
	}
	b := build(record{})
	for what, err := range map[string]error{
		"read":        func() error { _, err := l.Pread(make([]byte, 1), -1); return err }(),
		"write":       l.Pwrite([]byte{1}, -1),
		"write group": l.PwriteBatches([]Batch{b, b}, -1),
	} {
		if !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), "1.log") {
			t.Errorf("%s at −1: %v", what, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// Where a file system can't allocate, space is taken by writing: what the file holds stays.
func TestWriteZeros(t *testing.T) {
	name := filepath.Join(t.TempDir(), "index")
	if err := os.WriteFile(name, []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for _, size := range []int{2, 150_000, 100} { // it never cuts
		if err := writeZeros(fd, int64(size)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if want := append([]byte("abc"), make([]byte, 150_000-3)...); err != nil || !bytes.Equal(got, want) {
		t.Errorf("file of %d bytes, %v, want abc and zeros up to %d", len(got), err, len(want))
	}
}

// A write beyond the largest segment is an error, not memory.
func TestHeapLimit(t *testing.T) {
	l, err := NewHeap().OpenLog("1.log", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Pwrite([]byte{1}, 2*MaxSize); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Pwrite = %v", err)
	}
	if n, err := l.Pread(make([]byte, 1), 2*MaxSize); n != 0 || err != nil {
		t.Errorf("Pread = %d, %v", n, err)
	}
}

func TestOpenDirUnderFile(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Create("file"); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDir(dir + "/file/below"); err == nil {
		t.Error("a directory below a file was opened")
	}
}
