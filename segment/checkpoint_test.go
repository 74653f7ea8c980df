package segment

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// Impossible numbers under a right checksum, in a slot of the recovery-point file, are as if they were not there.
// Where no slot has others, the file is not this store's.
func TestImpossiblePoints(t *testing.T) {
	slots := func(p Point, sequence int64) []byte {
		s := slots2{p: make([]byte, 2*slotSize), sequence: sequence - 1}
		s.store(p)
		return s.p
	}
	possible := slots(Point{}, 1)
	for _, impossible := range [][]byte{
		slots(Point{}, math.MaxInt64), slots(Point{}, math.MaxInt64-1), slots(Point{Base: -5, Offset: -5}, 1),
	} {
		for _, file := range [][]byte{slices.Concat(impossible, possible), slices.Concat(possible, impossible)} {
			for _, logs := range []int{0, 1} {
				s := NewHeap()
				replace(t, s, pointFile, file)
				for range logs {
					replace(t, s, Name(0), batchOf(t, 100))
				}
				for range 2 {
					p := openPartition(t, Config{Storage: s})
					v := p.active.Publish()
					if v.Base() != 0 || v.Size != int64(100*logs) {
						t.Fatalf("Open gives %d bytes from offset %d on", v.Size, v.Base())
					}
					for range 3 {
						p.checkpoint.Advance(v)
					}
					p.close()
				}
			}
		}
		s := NewHeap()
		replace(t, s, pointFile, slices.Concat(impossible, impossible))
		if _, err := Open(Config{Storage: s}); !errors.Is(err, ErrForeign) {
			t.Errorf("Open = %v, want ErrForeign", err)
		}
	}
}
