package workload

import (
	"math"
	"slices"
	"testing"
	"unsafe"
)

func TestDrawIsDeterministicPerWorker(t *testing.T) {
	sequence := func(seed uint64, worker int) []int64 {
		d := NewDraw(seed, worker)
		out := make([]int64, 100)
		for i := range out {
			out[i] = d.Offset(math.MaxInt64)
		}
		return out
	}
	base := sequence(1, 0)
	if !slices.Equal(base, sequence(1, 0)) {
		t.Error("the same seed and worker drew other numbers")
	}
	for _, other := range [][]int64{sequence(1, 1), sequence(2, 0), sequence(0, 1)} {
		for i := range other {
			if other[i] == base[i] {
				t.Fatalf("draw %d is the same for another seed or worker", i)
			}
		}
	}
}

func TestDrawShares(t *testing.T) {
	const draws = 100_000
	d := NewDraw(7, 3)
	produced := 0
	var partitions, offsets [8]int
	for range draws {
		if d.Produce(10) {
			produced++
		}
		partitions[d.Partition(8)]++
		offsets[d.Offset(8)]++
	}
	within(t, "appends", produced, draws/10)
	for i := range 8 {
		within(t, "partition", partitions[i], draws/8)
		within(t, "offset", offsets[i], draws/8)
	}
	for range 1000 {
		if d.Produce(0) || !d.Produce(100) {
			t.Fatal("0 or 100 percent are not never and always")
		}
		if d.Offset(1) != 0 || d.Offset(0) != 0 || d.Offset(-5) != 0 || d.Partition(0) != 0 {
			t.Fatal("an empty range did not give 0")
		}
	}
}

// within allows five standard deviations of a count that has the given mean at most.
func within(t *testing.T, what string, got, mean int) {
	t.Helper()
	if math.Abs(float64(got-mean)) > 5*math.Sqrt(float64(mean)) {
		t.Errorf("%s: %d draws, want about %d", what, got, mean)
	}
}

func TestDrawDoesNotAllocateOrShareCacheLines(t *testing.T) {
	d := NewDraw(1, 1)
	var sum int64
	if allocs := testing.AllocsPerRun(1000, func() {
		if d.Produce(50) {
			sum += d.Offset(1000) + int64(d.Partition(10))
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	if size := unsafe.Sizeof(*d); size != 128 {
		t.Errorf("a Draw has %d bytes, want two cache lines", size)
	}
}

func TestShuffle(t *testing.T) {
	a := Shuffle(1, 0, 15)
	if !slices.Equal(a, Shuffle(1, 0, 15)) {
		t.Error("the same block came in another order")
	}
	if slices.Equal(a, Shuffle(1, 1, 15)) || slices.Equal(a, Shuffle(2, 0, 15)) {
		t.Error("another block or seed came in the same order")
	}
	slices.Sort(a)
	for i := range a {
		if a[i] != i {
			t.Fatalf("not a permutation: %v", a)
		}
	}
	if len(Shuffle(1, 0, 0)) != 0 || len(Shuffle(1, 0, -1)) != 0 {
		t.Error("nothing to shuffle gave something")
	}
}
