package claims

import "testing"

func TestPreads(t *testing.T) {
	figures, err := preads(tinyBench(t))
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, figures, []string{
		"pread-1", "pread-2", "pread-4", "pread-1-seconds", "pread-2-seconds", "pread-4-seconds",
		"seek-1-seconds", "seek-2-seconds", "seek-4-seconds",
		"pread-2-over-1", "pread-4-over-1", "seek-2-over-1", "seek-4-over-1", "compute-2", "compute-4",
	})
}

func TestReadsGiveTheirBytes(t *testing.T) {
	const size = 4 << 20
	f := patternedFile(t, tinyBench(t), size)
	checkRead(t, byPread(f), size)
	checkRead(t, bySeek(f), size)
}

// The readers share the operations, all of them, and read whole pieces of the log, each its own bytes.
func TestRandomReads(t *testing.T) {
	b := tinyBench(t)
	f := patternedFile(t, b, logBytes)
	for _, readers := range []int{1, 2, 4} {
		positions := make(chan int64, 1000)
		read := bySeek(f)
		loop := b.randomReads(func(p []byte, position int64) error {
			err := read(p, position)
			want := make([]byte, len(p))
			if pattern(want, position); string(want) != string(p) {
				t.Errorf("%d readers: other bytes at %d", readers, position)
			}
			positions <- position
			return err
		}, 1<<10, readers)
		if err := loop(cap(positions) - 1); err != nil || len(positions) != cap(positions)-1 {
			t.Errorf("%d readers: %d reads, %v", readers, len(positions), err)
		}
	}
}
