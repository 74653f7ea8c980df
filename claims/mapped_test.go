package claims

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestMappedLog(t *testing.T) {
	b := tinyBench(t)
	want := []string{
		"mapped-1k", "mapped-64k", "mapped-1k-seconds", "pread-1k-seconds", "mapped-64k-seconds", "pread-64k-seconds",
		"remap", "remap-written", "remap-seconds", "pwrite-seconds", "fault-seconds", "page-seconds",
	}
	figures, err := mappedLog(b)
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, figures, want, "cold-1k", "cold-advised-1k", "cold-mapped-seconds", "cold-advised-seconds", "cold-pread-seconds")

	b.disk = ""
	if figures, err = mappedLog(b); err != nil {
		t.Fatal(err)
	}
	checkFigures(t, figures, want, "cold-1k")
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
