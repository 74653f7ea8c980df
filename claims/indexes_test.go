package claims

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

func TestIndexes(t *testing.T) {
	b := tinyBench(t)
	want := []string{"index-hot", "index-seconds", "index-pread-seconds"}
	figures, err := indexes(b)
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, figures, want, "index-cold", "index-cold-seconds", "index-cold-pread-seconds")

	b.disk = ""
	if figures, err = indexes(b); err != nil {
		t.Fatal(err)
	}
	checkFigures(t, figures, want, "index-cold")
}

// Both lookups give the position of every offset.
func TestLookups(t *testing.T) {
	f, err := scratchFile(tinyBench(t).dir, indexBytes, fillIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := mapFile(f, indexBytes, unix.PROT_READ)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Munmap(mapped); err != nil {
			t.Error(err)
		}
	}()
	for offset := int64(0); offset < indexEntries*offsetsPerEntry; offset++ {
		want := offset / offsetsPerEntry * 4096
		if got, err := lookupMapped(mapped, offset); got != want || err != nil {
			t.Fatalf("offset %d: %d, %v in the mapping, not %d", offset, got, err, want)
		}
		if got, err := lookupPread(f, offset); got != want || err != nil {
			t.Fatalf("offset %d: %d, %v by pread, not %d", offset, got, err, want)
		}
	}
	if err := f.Truncate(indexBytes / 4); err != nil {
		t.Fatal(err)
	}
	if _, err := lookupPread(f, 0); err == nil {
		t.Error("an index that is cut is no error")
	}
}

// A lookup that is wrong or fails ends the experiment.
func TestWrongLookups(t *testing.T) {
	if err := lookups(1, func(int64) (int64, error) { return -1, nil })(1); err == nil {
		t.Error("a wrong position is no error")
	}
	failure := errors.New("failure")
	if err := lookups(1, func(int64) (int64, error) { return 0, failure })(1); !errors.Is(err, failure) {
		t.Errorf("failure becomes %v", err)
	}
}
