package claims

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

func TestMapped(t *testing.T) {
	b := tinyBench(t)
	want := []string{
		"mapped-1k", "mapped-64k", "mapped-1k-seconds", "pread-1k-seconds", "mapped-64k-seconds", "pread-64k-seconds",
		"remap", "remap-written", "remap-seconds", "pwrite-seconds", "fault-seconds", "page-seconds",
	}
	figures, err := mapped(b)
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, withoutMoves(t, figures), want, "cold-1k", "cold-advised-1k", "cold-mapped-seconds", "cold-advised-seconds", "cold-pread-seconds")

	b.disk = ""
	if figures, err = mapped(b); err != nil {
		t.Fatal(err)
	}
	checkFigures(t, withoutMoves(t, figures), want, "cold-1k")
}

// withoutMoves wants the part of the growths that moved a mapping, which may be none, and gives the other figures.
func withoutMoves(t *testing.T, figures []results.Figure) []results.Figure {
	t.Helper()
	if f := figureNamed(t, figures, "remap-moved"); f.Value < 0 || f.Value > 1 {
		t.Errorf("%s is %v", f.Name, f.Value)
	}
	return slices.DeleteFunc(figures, func(f results.Figure) bool { return f.Name == "remap-moved" })
}

func TestMappedReadsGiveTheirBytes(t *testing.T) {
	const size = 4 << 20
	f := patternedFile(t, tinyBench(t), size)
	mapped, err := mapFile(f, size, unix.PROT_READ)
	if err != nil {
		t.Fatal(err)
	}
	checkRead(t, byCopy(mapped), size)
	if err := unix.Munmap(mapped); err != nil {
		t.Error(err)
	}
}
