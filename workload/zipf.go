package workload

import "math"

// Zipf draws ranks from [0, n), rank k in proportion to 1/(k+1)^skew: rank 0 is the most frequent, and a
// skew of 0 makes all equally likely. It is immutable; any number of goroutines may use it, each with
// a Draw of its own.
//
// The method is rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates
// from monotone discrete distributions", 1996): x is drawn by inversion from the continuous density
// x^−skew, rounded to a whole number, and accepted if it lies in the part of that number's unit interval
// that has the number's probability as its area. It is exact for every skew from 0 on, where
// math/rand's Zipf needs more than 1; takes constant time, more than nine draws in ten being accepted at
// once; and needs no table of n entries. Ranks here are from 0, in the paper and below from 1.
type Zipf struct {
	n     float64
	skew  float64
	first float64 // area(1.5) − 1, where the part of rank 1 begins
	last  float64 // area(n + 0.5)
	sure  float64 // a draw no further than this below its rounded value is accepted at once
}

// NewZipf returns the distribution over n ranks; at least one. A skew below 0, or none, counts as 0.
func NewZipf(n int64, skew float64) *Zipf {
	if !(skew >= 0) {
		skew = 0
	}
	z := &Zipf{n: float64(max(n, 1)), skew: min(skew, math.MaxFloat32)}
	z.first = z.area(1.5) - 1
	z.last = z.area(z.n + 0.5)
	z.sure = 2 - z.inverse(z.area(2.5)-z.height(2))
	return z
}

// Rank draws a rank.
func (z *Zipf) Rank(d *Draw) int64 {
	for {
		u := z.last + d.rng.Float64()*(z.first-z.last)
		x := z.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), z.n)
		if k-x <= z.sure || u >= z.area(k+0.5)-z.height(k) {
			// n may have been rounded up to what an int64 cannot hold.
			return min(int64(k-1), math.MaxInt64-1)
		}
	}
}

// height is x^−skew.
func (z *Zipf) height(x float64) float64 { return math.Exp(-z.skew * math.Log(x)) }

// area is the integral of height from 1 to x: (x^(1−skew) − 1) / (1−skew), whose limit at skew 1 is log x.
// Written with expm1 it stays exact near that limit.
func (z *Zipf) area(x float64) float64 {
	log := math.Log(x)
	return log * expm1Ratio((1-z.skew)*log)
}

// inverse is the x whose area it is given.
func (z *Zipf) inverse(area float64) float64 {
	// Rounding may lead below the −1 that stands for an infinite x.
	return math.Exp(area * log1pRatio(max((1-z.skew)*area, -1)))
}

// expm1Ratio is (e^x − 1) / x, continued to 0.
func expm1Ratio(x float64) float64 {
	if math.Abs(x) > 1e-8 {
		return math.Expm1(x) / x
	}
	return 1 + x/2
}

// log1pRatio is log(1 + x) / x, continued to 0.
func log1pRatio(x float64) float64 {
	if math.Abs(x) > 1e-8 {
		return math.Log1p(x) / x
	}
	return 1 - x/2
}
