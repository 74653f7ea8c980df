package workload

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"time"
	"unsafe"
)

// paced is a workload whose operations arrive so.
func paced(arrivals string, burst int) *Workload {
	w := Default()
	w.Arrivals, w.Burst = arrivals, burst
	return &w
}

// times are the first n moments of each worker, by worker.
func times(w *Workload, rate float64, workers, n int, seed uint64) [][]time.Duration {
	all := make([][]time.Duration, workers)
	for worker := range all {
		s := NewSchedule(w, rate, workers, worker, seed)
		for range n {
			all[worker] = append(all[worker], s.Next())
		}
	}
	return all
}

// Together the workers start operations 0, 1, 2, … at 0/rate, 1/rate, 2/rate, …
func TestScheduleSumsToTheRate(t *testing.T) {
	for _, c := range []struct {
		rate    float64
		workers int
	}{{10000, 2}, {3, 7}, {1e6, 16}, {0.7, 3}, {1e7, 4}, {1, 1}} {
		all := slices.Concat(times(paced(ArrivalsConstant, 1), c.rate, c.workers, 1000, 1)...)
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
		s := NewSchedule(paced(ArrivalsConstant, 1), rate, 3, 2, 1)
		for _, i := range []int64{0, 1, int64(rate * 86399 / 3), int64(rate * 30 * 86400 / 3)} {
			s.operation = i
			got, want := s.Next(), exact(3*i+2, rate)
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

// At each moment exactly a burst of operations is due over all workers, however many those are; and constant
// bursts keep the rate.
func TestScheduleBursts(t *testing.T) {
	for _, arrivals := range []string{ArrivalsConstant, ArrivalsPoisson} {
		for _, c := range []struct{ workers, burst int }{{1, 50}, {8, 50}, {50, 8}, {7, 7}, {3, 2}, {1, 2}} {
			const rate = 1000.0
			each := 50 * c.burst // operations of a worker: whole groups over all of them
			due := make(map[time.Duration]int)
			for _, moments := range times(paced(arrivals, c.burst), rate, c.workers, each, 3) {
				for _, at := range moments {
					due[at]++
				}
			}
			moments := make([]time.Duration, 0, len(due))
			for at, n := range due {
				if n != c.burst {
					t.Errorf("%s, %+v: %d operations at %v", arrivals, c, n, at)
				}
				moments = append(moments, at)
			}
			slices.Sort(moments)
			if len(moments) != 50*c.workers {
				t.Errorf("%s, %+v: %d moments", arrivals, c, len(moments))
			}
			for g, at := range moments {
				if want := exact(int64(g*c.burst), rate); arrivals == ArrivalsConstant && at != want {
					t.Fatalf("%+v: group %d at %v, want %v", c, g, at, want)
				}
			}
		}
	}
}

// Poisson arrivals of all workers together have gaps that are exponentially distributed with the mean that
// the rate says: the greatest distance of distribution functions stays below the bound of the
// Kolmogorov-Smirnov test at one in a thousand.
func TestSchedulePoissonGaps(t *testing.T) {
	for _, c := range []struct {
		rate           float64
		workers, burst int
	}{{1000, 1, 1}, {1000, 8, 1}, {1e7, 4, 1}, {1, 3, 1}, {1000, 1, 10}, {1000, 8, 10}, {1000, 10, 3}} {
		const each = 20_000
		all := times(paced(ArrivalsPoisson, c.burst), c.rate, c.workers, each, 5)
		end := time.Duration(math.MaxInt64) // all workers have operations up to here
		for _, moments := range all {
			end = min(end, moments[each-1])
		}
		moments := slices.Concat(all...)
		slices.Sort(moments)
		if c.burst > 1 {
			moments = slices.Compact(moments)
		}
		moments = moments[:slices.Index(moments, end)]
		mean := float64(c.burst) / c.rate
		gaps := make([]float64, len(moments))
		before := time.Duration(0)
		for i, at := range moments {
			gaps[i], before = (at-before).Seconds()/mean, at
		}
		slices.Sort(gaps)
		n, distance, sum := float64(len(gaps)), 0.0, 0.0
		for i, gap := range gaps {
			below := 1 - math.Exp(-gap)
			distance = max(distance, math.Abs(below-float64(i)/n), math.Abs(below-float64(i+1)/n))
			sum += gap
		}
		// Nanoseconds are coarse against a mean of 100: they add half of one of them.
		if bound := 1.95/math.Sqrt(n) + 0.5e-9/mean; distance > bound {
			t.Errorf("%+v: %v from the exponential distribution, more than %v", c, distance, bound)
		}
		if got := sum / n; math.Abs(got-1) > 4/math.Sqrt(n) {
			t.Errorf("%+v: mean gap is %v of what the rate says", c, got)
		}
	}
}

func TestScheduleIsDeterministicAndNeverDecreases(t *testing.T) {
	for _, w := range []*Workload{paced(ArrivalsConstant, 1), paced(ArrivalsConstant, 5), paced(ArrivalsPoisson, 1), paced(ArrivalsPoisson, 5)} {
		a, b := times(w, 12345, 3, 1000, 9), times(w, 12345, 3, 1000, 9)
		for worker, moments := range a {
			if !slices.Equal(moments, b[worker]) {
				t.Errorf("%s, burst %d: equal seeds made other moments", w.Arrivals, w.Burst)
			}
			if !slices.IsSorted(moments) {
				t.Errorf("%s, burst %d: worker %d goes back", w.Arrivals, w.Burst, worker)
			}
		}
		if other := times(w, 12345, 3, 1000, 10); w.Arrivals == ArrivalsPoisson && slices.Equal(a[0], other[0]) {
			t.Errorf("burst %d: another seed made the same moments", w.Burst)
		}
	}
	each := times(paced(ArrivalsPoisson, 1), 1000, 2, 100, 1)
	if slices.Equal(each[0], each[1]) {
		t.Error("two workers have the same arrivals")
	}
}

func TestScheduleWithoutRateAndBeyondRange(t *testing.T) {
	for _, arrivals := range []string{ArrivalsConstant, ArrivalsPoisson} {
		for _, rate := range []float64{0, -1, math.NaN()} {
			s := NewSchedule(paced(arrivals, 1), rate, 2, 1, 1)
			if first, second := s.Next(), s.Next(); first != 0 || second != 0 {
				t.Errorf("%s, rate %v: %v, %v", arrivals, rate, first, second)
			}
		}
		for _, rate := range []float64{1e-300, 1e-12} {
			s := NewSchedule(paced(arrivals, 1), rate, 2, 1, 1)
			if first, second := s.Next(), s.Next(); first != math.MaxInt64 || second != math.MaxInt64 {
				t.Errorf("%s, rate %v: %v, %v", arrivals, rate, first, second)
			}
		}
	}
	if at := NewSchedule(&Workload{}, 10, 0, 0, 1).Next(); at != 0 {
		t.Errorf("no workers and no burst: %v", at)
	}
}

func TestScheduleDoesNotAllocateOrShareCacheLines(t *testing.T) {
	for _, w := range []*Workload{paced(ArrivalsConstant, 3), paced(ArrivalsPoisson, 1), paced(ArrivalsPoisson, 3)} {
		s := NewSchedule(w, 1e6, 8, 3, 1)
		var last time.Duration
		if allocs := testing.AllocsPerRun(1000, func() { last = s.Next() }); allocs != 0 || last == 0 {
			t.Errorf("%s: %v allocations", w.Arrivals, allocs)
		}
	}
	if size := unsafe.Sizeof(Schedule{}); size != 128 {
		t.Errorf("a Schedule has %d bytes, want two cache lines", size)
	}
}
