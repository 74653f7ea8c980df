package segment

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"testing"
)

var reopenConfig = Config{Size: 3000, Interval: 64}

// closedLog leaves a closed partition of several segments behind.
func closedLog(t testing.TB, s Storage, seed uint64, n int) *partition {
	t.Helper()
	c := reopenConfig
	c.Storage = s
	p := openPartition(t, c)
	p.fill(seed, n)
	p.close()
	if len(p.sealed) < 2 {
		t.Fatalf("only %d rolls", len(p.sealed))
	}
	return p
}

// reopen opens what p has left and checks that it is all there, with equal views.
func (p *partition) reopen() *partition {
	p.t.Helper()
	q := openPartition(p.t, p.config)
	q.batches = p.batches
	views, want := q.views(), p.views()
	if len(views) != len(want) {
		p.t.Fatalf("reopened with %d segments, want %d", len(views), len(want))
	}
	for i := range views {
		got, want := views[i], want[i]
		if got.Base() != want.Base() || got.Size != want.Size || got.End != want.End || got.MaxTimestamp != want.MaxTimestamp {
			p.t.Fatalf("reopened view %d is %+v, want %+v", i, got, want)
		}
	}
	q.check()
	return q
}

func TestReopen(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := closedLog(t, s, 31, 50)
		before := snapshot(t, s)
		for range 2 {
			p = p.reopen()
			for i, b := range p.batches {
				p.read(i, b.batch.NextOffset()-1, make([]byte, 4096), &Cursor{})
			}
			p.close()
			sameFiles(t, snapshot(t, s), before)
		}
	})
}

func TestReopenEmpty(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := openPartition(t, Config{Storage: s})
		p.close()
		p = p.reopen()
		p.append(batchOf(t, MinBatch))
		p.check()
		p.close()
	})
}

// A log that was closed and opened between appends has the bytes of one that never was.
func TestReopenGoesOn(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		const n = 60
		want := NewHeap()
		c := reopenConfig
		c.Storage = want
		whole := openPartition(t, c)
		c.Storage = s
		p := openPartition(t, c)
		r := newRand(32)
		for i := range n {
			b := build(randomRecords(r)...)
			whole.append(b)
			p.append(b)
			if i%4 == 0 {
				p.close()
				p = p.reopen()
			}
		}
		whole.close()
		p.close()
		sameFiles(t, snapshot(t, s), snapshot(t, want))
	})
}

// lookUp looks something up in every segment.
func (p *partition) lookUp() {
	p.t.Helper()
	for i, b := range p.batches {
		p.read(i, b.batch.NextOffset()-1, make([]byte, 4096), &Cursor{})
	}
}

// An index file that is missing, of another length, or wrong comes back byte for byte: at once, or when
// it is used.
func TestReopenRebuildsIndexes(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := closedLog(t, s, 33, 50)
		want := snapshot(t, s)
		fill := func(x byte) func(p []byte) []byte {
			return func(p []byte) []byte { return bytes.Repeat([]byte{x}, len(p)) }
		}
		for name, damage := range map[string]func(p []byte) []byte{
			"deleted":        func([]byte) []byte { return nil },
			"empty":          func([]byte) []byte { return []byte{} },
			"an entry short": func(p []byte) []byte { return p[:len(p)-entrySize] },
			"a byte short":   func(p []byte) []byte { return p[:len(p)-1] },
			"a byte long":    func(p []byte) []byte { return append(p, 0) },
			"an entry long":  func(p []byte) []byte { return append(p, p[len(p)-entrySize:]...) },
			"preallocated":   func(p []byte) []byte { return append(p, make([]byte, 4096)...) },
			"zeros":          fill(0),
			"ones":           fill(0xff),
			"large":          fill(0x7f),
			"last one lowest": func(p []byte) []byte {
				return append(append(p[:len(p)-entrySize], 0x80, 0, 0, 0, 0, 0, 0, 0), p[len(p)-8:]...)
			},
			"last entry moved": func(p []byte) []byte { return append(p[:len(p)-entrySize], p[:entrySize]...) },
		} {
			for _, suffixes := range [][]string{{indexSuffix}, {timeSuffix}, {indexSuffix, timeSuffix}} {
				for i, v := range p.views() {
					restore(t, s, want, v.Base())
					for _, suffix := range suffixes {
						file := fileName(v.Base(), suffix)
						if damaged := damage(bytes.Clone(want[file])); damaged != nil {
							replace(t, s, file, damaged)
						} else {
							remove(t, s, file)
						}
					}
					q := p.reopen()
					q.lookUp()
					q.close()
					sameFiles(t, snapshot(t, s), want)
					if t.Failed() {
						t.Fatalf("%v of segment %d, %s", suffixes, i, name)
					}
				}
			}
		}
	})
}

// The size and the interval may change between runs; what is there stays readable, and the next
// segments obey the new ones.
func TestReopenWithOtherConfig(t *testing.T) {
	for _, c := range []Config{{Size: 1500, Interval: 64}, {Size: 9000, Interval: 64}, {Size: 3000, Interval: 100}, {Size: 200_000}} {
		t.Run(fmt.Sprintf("size=%d/interval=%d", c.Size, c.Interval), func(t *testing.T) {
			eachStorage(t, func(t *testing.T, s Storage) {
				p := closedLog(t, s, 34, 50)
				c.Storage = s
				p.config = c
				old := len(p.sealed)
				p = p.reopen()
				p.fill(35, 30)
				p.check()
				for i, v := range p.views() {
					if i > old && v.Size > c.Size {
						t.Errorf("segment %d has %d bytes, more than %d", i, v.Size, c.Size)
					}
				}
				for i, b := range p.batches {
					p.read(i, b.batch.BaseOffset(), make([]byte, 4096), &Cursor{})
				}
				p.close()
				p.reopen().close()
			})
		})
	}
}

// An active segment larger than the size that is asked for now is full.
func TestReopenWithSmallerSize(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		eachStorage(t, func(t *testing.T, s Storage) {
			p := openPartition(t, Config{Storage: s, Size: 3000, Interval: 64})
			p.append(batchOf(t, 900), batchOf(t, 900), batchOf(t, 900))
			p.close()
			before := snapshot(t, s)
			if damaged {
				remove(t, s, fileName(0, indexSuffix))
			}
			p.config.Size = 1000
			p = p.reopen()
			p.append(batchOf(t, 900), batchOf(t, 900))
			if len(p.sealed) != 2 {
				t.Errorf("%d rolls, want 2", len(p.sealed))
			}
			p.check()
			p.close()
			delete(before, cleanFile)
			for name, want := range before {
				if !bytes.Equal(contents(t, s, name), want) {
					t.Errorf("%s has changed", name)
				}
			}
		})
	}
}

// Files that are no segments are left alone.
func TestReopenIgnoresOtherFiles(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := closedLog(t, s, 36, 50)
		for _, name := range []string{"recovery-point", "00000000000000000001.log.tmp", "+0000000000000000001.log", "1.log"} {
			if err := s.Create(name); err != nil {
				t.Fatal(err)
			}
		}
		before := snapshot(t, s)
		p.reopen().close()
		sameFiles(t, snapshot(t, s), before)
	})
}

// A gap in the middle is corruption, with its place.
func TestReopenMissingSegment(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := closedLog(t, s, 37, 50)
		remove(t, s, Name(p.sealed[1].Base()))
		before := snapshot(t, s)
		_, err := Open(p.config)
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || corrupt.File != Name(p.sealed[0].Base()) || corrupt.Position != p.sealed[0].Size {
			t.Errorf("Open = %v", err)
		}
		if after := snapshot(t, s); !maps.EqualFunc(after, before, bytes.Equal) {
			t.Error("a failed Open changed files")
		}
	})
}
