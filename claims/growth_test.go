package claims

import (
	"bytes"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A mapping that grows shows the file's bytes, in its new part and, whether it has moved or not, in the old ones; and
// starts anew at the size of a log.
func TestGrow(t *testing.T) {
	f := patternedFile(t, tinyBench(t), logBytes)
	steps := logBytes/growthStep + 10
	calls, size := 0, 0
	want := make([]byte, growthStep)
	var seen moves
	_, err := grow(f, unix.PROT_READ, steps, func(n int) error { size = n; return nil }, func(part []byte) {
		calls++
		if pattern(want, int64(size-growthStep)); !bytes.Equal(part, want) {
			t.Errorf("other bytes before %d", size)
		}
	}, &seen)
	if err != nil || calls != steps+2 {
		t.Errorf("%d steps made %d parts, %v", steps, calls, err)
	}
	if seen.all != steps || seen.moved > seen.all {
		t.Errorf("of %d growths %+v are told", steps, seen)
	}
}

// What is written through a mapping that grows is in the file, as what pwrite appends is.
func TestBothWaysOfGrowingWrite(t *testing.T) {
	added := make([]byte, growthStep)
	pattern(added, 0)
	for name, write := range map[string]func(b *bench) []byte{
		"pwrite": func(b *bench) []byte {
			f := patternedFile(t, b, growthStep)
			if _, err := growByPwrite(f, added, logBytes/growthStep+3); err != nil {
				t.Fatal(err)
			}
			return content(t, f)
		},
		"mapping": func(b *bench) []byte {
			f := patternedFile(t, b, growthStep)
			extend := func(size int) error { return f.Truncate(int64(size)) }
			_, err := grow(f, unix.PROT_READ|unix.PROT_WRITE, 2, extend, func(part []byte) { copy(part, added) }, new(moves))
			if err != nil {
				t.Fatal(err)
			}
			return content(t, f)
		},
	} {
		if got := write(tinyBench(t)); !bytes.Equal(got, bytes.Repeat(added, 3)) {
			t.Errorf("%s: the file has %d bytes, or others", name, len(got))
		}
	}
}

func content(t *testing.T, f *os.File) []byte {
	t.Helper()
	all, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<40))
	if err != nil {
		t.Fatal(err)
	}
	return all
}
