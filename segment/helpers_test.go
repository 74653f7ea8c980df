package segment

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// record is one record as it was given to a Builder.
type record struct {
	timestamp  int64
	key, value []byte
}

// build encodes records into a batch with memory of its own.
func build(records ...record) Batch {
	var b Builder
	for _, r := range records {
		b.Add(r.timestamp, r.key, r.value)
	}
	return b.Finish()
}

// batchOf is a batch of one record without a key, of exactly size bytes.
func batchOf(t testing.TB, size int) Batch {
	t.Helper()
	for value := max(0, size-MinBatch-4); value <= size; value++ {
		if b := build(record{timestamp: 1, value: make([]byte, value)}); len(b) == size {
			return b
		}
	}
	t.Fatalf("no batch has %d bytes", size)
	return nil
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// randomBytes is null, empty, short, or now and then long.
func randomBytes(r *rand.Rand) []byte {
	n := 0
	switch r.IntN(8) {
	case 0:
		return nil
	case 1:
		return []byte{}
	case 2:
		n = r.IntN(700)
	default:
		n = r.IntN(40)
	}
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// randomTimestamp repeats itself, goes back, and is negative or extreme at times.
func randomTimestamp(r *rand.Rand) int64 {
	switch r.IntN(40) {
	case 0:
		return math.MinInt64
	case 1:
		return -r.Int64()
	case 2:
		return r.Int64N(1 << 50)
	default:
		return r.Int64N(60) - 20
	}
}

func randomRecords(r *rand.Rand) []record {
	records := make([]record, 1+r.IntN(5))
	for i := range records {
		records[i] = record{randomTimestamp(r), randomBytes(r), randomBytes(r)}
	}
	return records
}

// decode gives the records of a batch in the form in which they were built.
func decode(t testing.TB, b Batch) []record {
	t.Helper()
	var records []record
	it := b.Records()
	for it.Next() {
		if want := b.BaseOffset() + int64(len(records)); it.Record.Offset != want {
			t.Fatalf("record has offset %d, want %d", it.Record.Offset, want)
		}
		records = append(records, record{it.Record.Timestamp, it.Record.Key, it.Record.Value})
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return records
}

// equalRecords tells null from empty.
func equalRecords(a, b []record) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].timestamp != b[i].timestamp ||
			(a[i].key == nil) != (b[i].key == nil) || !bytes.Equal(a[i].key, b[i].key) ||
			(a[i].value == nil) != (b[i].value == nil) || !bytes.Equal(a[i].value, b[i].value) {
			return false
		}
	}
	return true
}

// golden reads a file of hexadecimal bytes; # begins a comment.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var digits strings.Builder
	for line := range strings.Lines(string(text)) {
		code, _, _ := strings.Cut(line, "#")
		for _, field := range strings.Fields(code) {
			digits.WriteString(field)
		}
	}
	p, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

// tempDir is in memory where the system has such a place.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "segment-test-")
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

// eachStorage runs a test on an empty storage of either kind.
func eachStorage(t *testing.T, test func(t *testing.T, s Storage)) {
	t.Helper()
	t.Run("storage=dir", func(t *testing.T) {
		s, err := OpenDir(tempDir(t))
		if err != nil {
			t.Fatal(err)
		}
		test(t, s)
	})
	t.Run("storage=heap", func(t *testing.T) { test(t, NewHeap()) })
}

// contents is a stored file, byte for byte.
func contents(t testing.TB, s Storage, name string) []byte {
	t.Helper()
	switch s := s.(type) {
	case *Dir:
		p, err := os.ReadFile(filepath.Join(s.path, name))
		if err != nil {
			t.Fatal(err)
		}
		return p
	case *Heap:
		if m, ok := s.index[name]; ok {
			return append([]byte{}, m...)
		}
		size, err := s.Size(name)
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, size)
		if n, err := s.logs[name].Pread(p, 0); err != nil || int64(n) != size {
			t.Fatalf("read %d of %d bytes of %s: %v", n, size, name, err)
		}
		return p
	}
	t.Fatalf("unknown storage %T", s)
	return nil
}

// replace makes a file consist of p.
func replace(t testing.TB, s Storage, name string, p []byte) {
	t.Helper()
	switch s := s.(type) {
	case *Dir:
		if err := os.WriteFile(filepath.Join(s.path, name), p, 0o644); err != nil {
			t.Fatal(err)
		}
	case *Heap:
		if !strings.HasSuffix(name, logSuffix) {
			s.index[name] = bytes.Clone(p)
			return
		}
		delete(s.logs, name)
		l, err := s.OpenLog(name, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Pwrite(p, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(t testing.TB, s Storage, name string) {
	t.Helper()
	switch s := s.(type) {
	case *Dir:
		if err := os.Remove(filepath.Join(s.path, name)); err != nil {
			t.Fatal(err)
		}
	case *Heap:
		delete(s.logs, name)
		delete(s.index, name)
	}
}

// snapshot is every file of a storage but the recovery point, which counts how often it was written.
func snapshot(t testing.TB, s Storage) map[string][]byte {
	t.Helper()
	names, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if name != pointFile {
			files[name] = contents(t, s, name)
		}
	}
	return files
}

// restore puts the files of one segment back.
func restore(t testing.TB, s Storage, files map[string][]byte, base int64) {
	t.Helper()
	for _, suffix := range []string{logSuffix, indexSuffix, timeSuffix} {
		replace(t, s, fileName(base, suffix), files[fileName(base, suffix)])
	}
}

// sameFiles compares two snapshots.
func sameFiles(t testing.TB, got, want map[string][]byte) {
	t.Helper()
	for name := range want {
		if p, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		} else if !bytes.Equal(p, want[name]) {
			t.Errorf("%s differs: %d bytes, want %d", name, len(p), len(want[name]))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s should not exist", name)
		}
	}
}
