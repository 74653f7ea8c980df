package workload

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"time"
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

// Together the workers start operations 0, 1, 2, … at 0/rate, 1/rate, 2/rate, …
func TestScheduleSumsToTheRate(t *testing.T) {
	for _, c := range []struct {
		rate    float64
		workers int
	}{{10000, 2}, {3, 7}, {1e6, 16}, {0.7, 3}} {
		var all []time.Duration
		for worker := range c.workers {
			s := NewSchedule(c.rate, c.workers, worker)
			for i := range int64(1000) {
				all = append(all, s.Intended(i))
			}
		}
		slices.Sort(all)
		for j, got := range all {
			if want := exact(int64(j), c.rate); got != want {
				t.Fatalf("rate %v of %d workers: operation %d at %d ns, want %d", c.rate, c.workers, j, got, want)
			}
		}
	}
}

// After a month of operations an intended time is as exact as the first.
func TestScheduleDoesNotDrift(t *testing.T) {
	for _, rate := range []float64{3, 10000, 33333.3, 1e6} {
		s := NewSchedule(rate, 3, 2)
		for _, i := range []int64{0, 1, int64(rate * 86399 / 3), int64(rate * 30 * 86400 / 3)} {
			got, want := s.Intended(i), exact(3*i+2, rate)
			if difference := got - want; difference < -1 || difference > 1 {
				t.Errorf("rate %v, operation %d: %d ns, want %d", rate, i, got, want)
			}
		}
	}
}

// exact is j/rate seconds rounded to nanoseconds, in rational arithmetic.
func exact(j int64, rate float64) time.Duration {
	ns := new(big.Rat).Quo(new(big.Rat).SetInt64(j), new(big.Rat).SetFloat64(rate))
	ns.Mul(ns, big.NewRat(1e9, 1)).Add(ns, big.NewRat(1, 2))
	return time.Duration(new(big.Int).Div(ns.Num(), ns.Denom()).Int64())
}

func TestScheduleWithoutRateAndBeyondRange(t *testing.T) {
	for _, rate := range []float64{0, -1, math.NaN()} {
		if got := NewSchedule(rate, 2, 1).Intended(5); got != 0 {
			t.Errorf("rate %v: %v", rate, got)
		}
	}
	if got := NewSchedule(1e-300, 2, 1).Intended(5); got != math.MaxInt64 {
		t.Errorf("beyond the range: %v", got)
	}
}
