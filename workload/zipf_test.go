package workload

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// exactZipf are the probabilities of the first ranks, and of all others together.
func exactZipf(n int64, skew float64, ranks int) []float64 {
	p := make([]float64, ranks+1)
	sum := 0.0
	for k := n; k >= 1; k-- { // the small ones first, for their sum to be exact
		weight := math.Pow(float64(k), -skew)
		sum += weight
		p[min(int(k-1), ranks)] += weight
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// Draws pass a chi-square test against the exact probabilities, at about one in ten thousand.
func TestZipfHasItsProbabilities(t *testing.T) {
	const draws = 200_000
	for _, n := range []int64{1, 2, 3, 10, 1000, 100_000} {
		for _, skew := range []float64{0, 0.2, 0.5, 0.99, 1 - 1e-12, 1, 1 + 1e-9, 1.01, 1.5, 2, 5, 20} {
			t.Run(fmt.Sprintf("%d of skew %v", n, skew), func(t *testing.T) {
				want := exactZipf(n, skew, 200)
				counts := make([]float64, len(want))
				z, d := NewZipf(n, skew), NewDraw(11, int(n))
				for range draws {
					rank := z.Rank(d)
					if rank < 0 || rank >= n {
						t.Fatalf("rank %d", rank)
					}
					counts[min(rank, 200)]++
				}
				chi, freedom, rest, restWant := 0.0, -1.0, 0.0, 0.0
				for i, p := range want {
					if p*draws < 10 { // too few to be nearly normal: together
						rest, restWant = rest+counts[i], restWant+p*draws
						continue
					}
					chi += square(counts[i]-p*draws) / (p * draws)
					freedom++
				}
				if restWant >= 10 {
					chi += square(rest-restWant) / restWant
					freedom++
				} else if rest > 40 {
					t.Errorf("%v draws of %v that were rare", rest, restWant)
				}
				if bound := freedom + 4*math.Sqrt(2*max(freedom, 0)) + 8; chi > bound {
					t.Errorf("chi-square %.1f of %v degrees of freedom, more than %.1f", chi, freedom, bound)
				}
			})
		}
	}
}

func square(x float64) float64 { return x * x }

// Over a range that no table holds, the share of the first ranks is what the integral says.
func TestZipfOfManyRanks(t *testing.T) {
	const n, draws = 1_000_000_000, 100_000
	z, d := NewZipf(n, 0.99), NewDraw(1, 1)
	below := 0
	for range draws {
		if z.Rank(d) < n/1000 {
			below++
		}
	}
	// The Euler-Maclaurin formula for the sum of 1/k^s from 1 to m, to its second term; the constant is the
	// value of the zeta function at 0.99.
	sum := func(m float64) float64 { return (math.Pow(m, 0.01))/0.01 - 99.4235134 + math.Pow(m, -0.99)/2 }
	within(t, "first thousandth", below, int(draws*sum(n/1000)/sum(n)))
}

func TestZipfOfAnything(t *testing.T) {
	for _, n := range []int64{math.MinInt64, -1, 0, 1, 2, 1e9, math.MaxInt64} {
		for _, skew := range []float64{math.NaN(), math.Inf(-1), -1, 0, 1e-300, 0.5, 1, 3, 1000, 1e18, math.MaxFloat64, math.Inf(1)} {
			z, d := NewZipf(n, skew), NewDraw(1, 0)
			for range 100 {
				if rank := z.Rank(d); rank < 0 || rank >= max(n, 1) {
					t.Fatalf("%d of %v: rank %d", n, skew, rank)
				} else if skew >= 1000 && rank != 0 {
					t.Fatalf("%d of %v: rank %d, though all but the first are impossible", n, skew, rank)
				}
			}
		}
	}
}

func TestZipfIsDeterministicAndDoesNotAllocate(t *testing.T) {
	z := NewZipf(1000, 0.99)
	sequence := func() []int64 {
		d := NewDraw(1, 1)
		var ranks []int64
		for range 100 {
			ranks = append(ranks, z.Rank(d))
		}
		return ranks
	}
	if !slices.Equal(sequence(), sequence()) {
		t.Error("equal draws gave other ranks")
	}
	d := NewDraw(1, 1)
	var sum int64
	if allocs := testing.AllocsPerRun(1000, func() { sum += z.Rank(d) }); allocs != 0 || sum == 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkZipf(b *testing.B) {
	for _, skew := range []float64{0, 0.99, 2} {
		b.Run(fmt.Sprint(skew), func(b *testing.B) {
			z, d := NewZipf(1_000_000_000, skew), NewDraw(1, 1)
			for b.Loop() {
				z.Rank(d)
			}
		})
	}
}
