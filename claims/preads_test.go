package claims

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"
)

func TestPreads(t *testing.T) {
	figures, err := preads(tinyBench(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pread-1", "pread-2", "pread-4"}
	for _, way := range []string{"pread", "seek", "descriptors"} {
		want = append(want, way+"-2-over-own", way+"-4-over-own")
	}
	for _, way := range []string{"pread", "seek", "descriptors", "own"} {
		want = append(want, way+"-1-seconds", way+"-2-seconds", way+"-4-seconds", way+"-2-over-1", way+"-4-over-1")
	}
	checkFigures(t, figures, want)
}

func TestReadsGiveTheirBytes(t *testing.T) {
	const size = 4 << 20
	f := patternedFile(t, tinyBench(t), size)
	checkRead(t, byPread(f), size)
	checkRead(t, bySeek(f), size)
	part, whole := make([]byte, 1<<10), make([]byte, 1<<10)
	if err := errors.Join(from(1<<20, byPread(f))(part, 3<<10), byPread(f)(whole, 1<<20+3<<10)); err != nil || !bytes.Equal(part, whole) {
		t.Errorf("a part of a file is read elsewhere, %v", err)
	}
}

// Each of two readers has its own way to read.
func TestReadersHaveTheirOwnFiles(t *testing.T) {
	var first, second atomic.Int64
	count := func(n *atomic.Int64) readAt { return func([]byte, int64) error { n.Add(1); return nil } }
	if err := tinyBench(t).randomReads(1<<20, 1<<10, 2, count(&first), count(&second))(10); err != nil || first.Load() != 5 || second.Load() != 5 {
		t.Errorf("%d and %d reads, %v", first.Load(), second.Load(), err)
	}
}

// The readers share the operations, all of them, and read whole pieces of the log, each its own bytes.
func TestRandomReads(t *testing.T) {
	b := tinyBench(t)
	f := patternedFile(t, b, logBytes)
	for _, readers := range []int{1, 2, 4} {
		positions := make(chan int64, 1000)
		read := bySeek(f)
		loop := b.randomReads(logBytes, 1<<10, readers, func(p []byte, position int64) error {
			err := read(p, position)
			want := make([]byte, len(p))
			if pattern(want, position); string(want) != string(p) {
				t.Errorf("%d readers: other bytes at %d", readers, position)
			}
			positions <- position
			return err
		})
		if err := loop(cap(positions) - 1); err != nil || len(positions) != cap(positions)-1 {
			t.Errorf("%d readers: %d reads, %v", readers, len(positions), err)
		}
	}
}
