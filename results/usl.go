package results

import (
	"math"
	"slices"
)

// law is a Universal Scalability Law, see Fit.
type law struct{ rate, contention, coherency float64 }

func (l law) fit(n []float64) *Fit {
	exactly := func(v float64) Coefficient { return Coefficient{v, v, v} }
	f := &Fit{Rate: exactly(l.rate), Contention: exactly(l.contention), Coherency: exactly(l.coherency), Peak: math.Inf(1), Levels: n}
	if l.coherency > 0 {
		f.Peak = math.Sqrt((1 - l.contention) / l.coherency)
	}
	return f
}

// At is the throughput of n clients by the law; 0 for what is no number of clients, and where it is out of range.
func (f *Fit) At(n float64) float64 {
	cost := 1 + f.Contention.Value*(n-1) + f.Coherency.Value*n*(n-1)
	x := f.Rate.Value * n / cost
	if !(n > 0) || !(cost > 0) || !isFinite(x) {
		return 0
	}
	return x
}

const (
	rounds   = 20   // in which the weights are computed anew, at most; they settle after three or four
	settled  = 1e-9 // relative change of the fit
	rounding = 1e-9 // share of one client's time below which a term comes of rounding
)

// fitLaw fits the law to throughputs x at n clients. Solved for N/X it is linear,
//
//	N/X = a + b(N−1) + cN(N−1),  γ = 1/a, α = b/a, β = c/a,
//
// and least squares of the relative errors are least squares with the weights 1/(N/X)²: N/X of the data at
// first, then of the fit before. The bounds are those of the law: a > 0, 0 ≤ b ≤ a, c ≥ 0. It is false for fewer
// than three throughputs, and for those that are not positive or differ beyond all measure.
func fitLaw(n, x []float64) (law, bool) {
	if len(n) < 3 {
		return law{}, false
	}
	largest := 0.0
	for i := range x {
		if !(x[i] > 0) || math.IsInf(x[i], 1) || !(n[i] >= 1) || math.IsInf(n[i], 1) {
			return law{}, false
		}
		largest = max(largest, x[i])
	}
	times := make([]float64, len(n)) // N/X, in times of the largest throughput
	fitted := make([]float64, len(n))
	for i := range n {
		times[i] = n[i] / (x[i] / largest)
		fitted[i] = times[i]
	}
	var p [3]float64
	for change, round := 1.0, 0; change > settled && round < rounds; round++ {
		var ok bool
		if p, ok = leastSquares(n, times, fitted); !ok {
			return law{}, false
		}
		change = 0
		for i := range n {
			now := timeOf(p, n[i])
			change = max(change, math.Abs(now/fitted[i]-1))
			fitted[i] = now
		}
	}
	for i := 1; i < len(p); i++ {
		if p[i]*math.Pow(slices.Max(n), float64(i)) < rounding*p[0] {
			p[i] = 0
		}
	}
	l := law{largest / p[0], min(1, p[1]/p[0]), p[2] / p[0]}
	return l, l.rate > 0 && isFinite(l.rate) && isFinite(l.coherency)
}

// faces are those of the cone of (a, b, c) that the bounds leave, by the rays that each lies between: the law
// without a bound that holds; b or c, or both, at 0; and b = a, where all work is done one after the other.
var faces = [][][3]float64{
	{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	{{1, 0, 0}, {0, 1, 0}},
	{{1, 0, 0}, {0, 0, 1}},
	{{1, 0, 0}},
	{{1, 1, 0}, {0, 0, 1}},
	{{1, 1, 0}},
}

// equations are the normal equations of a least squares with three unknowns.
type equations struct {
	gram  [3][3]float64
	right [3]float64
}

func (e *equations) add(row [3]float64, target float64) {
	for i := range row {
		for j := range row {
			e.gram[i][j] += row[i] * row[j]
		}
		e.right[i] += row[i] * target
	}
}

// leastSquares minimises the sum of squares of (times − fit)/scale within the bounds. The problem is convex: if
// the solution without bounds keeps to them, it is the one, else the best of those on faces that do.
func leastSquares(n, times, scale []float64) (best [3]float64, ok bool) {
	var e equations
	for i := range n {
		e.add([3]float64{1 / scale[i], (n[i] - 1) / scale[i], n[i] * (n[i] - 1) / scale[i]}, times[i]/scale[i])
	}
	least := math.Inf(1)
	for at, rays := range faces {
		p, solved := e.solve(rays)
		if !solved || !(p[0] > 0 && p[1] >= 0 && p[1] <= p[0] && p[2] >= 0) {
			continue
		}
		if at == 0 {
			return p, true
		}
		sum := 0.0
		for i := range n {
			miss := (times[i] - timeOf(p, n[i])) / scale[i]
			sum += miss * miss
		}
		if sum < least {
			least, best, ok = sum, p, true
		}
	}
	return best, ok
}

// timeOf is N/X by the law with the parameters (a, b, c).
func timeOf(p [3]float64, n float64) float64 { return p[0] + p[1]*(n-1) + p[2]*n*(n-1) }

// solve solves the equations for combinations of some rays, whatever their signs: scaled to a diagonal of ones,
// by Cholesky's factors. It is false if the levels do not tell the rays apart.
func (e *equations) solve(rays [][3]float64) (solution [3]float64, ok bool) {
	const singular = 1e-12
	k := len(rays)
	var m [3][3]float64 // the gram matrix of the rays, then its lower factor
	var v, scale [3]float64
	for i, x := range rays {
		for r := range x {
			v[i] += x[r] * e.right[r]
		}
		for j, y := range rays[:i+1] {
			for r := range x {
				for c := range y {
					m[i][j] += x[r] * e.gram[r][c] * y[c]
				}
			}
		}
		scale[i] = math.Sqrt(m[i][i])
		v[i] /= scale[i]
		for j := range i + 1 {
			m[i][j] /= scale[i] * scale[j]
		}
	}
	for i := range k {
		for j := range i + 1 {
			for l := range j {
				m[i][j] -= m[i][l] * m[j][l]
			}
			if j < i {
				m[i][j] /= m[j][j]
				v[i] -= m[i][j] * v[j]
			}
		}
		if !(m[i][i] > singular) {
			return solution, false
		}
		m[i][i] = math.Sqrt(m[i][i])
		v[i] /= m[i][i]
	}
	for i := k - 1; i >= 0; i-- {
		for l := i + 1; l < k; l++ {
			v[i] -= m[l][i] * v[l]
		}
		v[i] /= m[i][i]
		for r := range solution {
			solution[r] += v[i] / scale[i] * rays[i][r]
		}
	}
	return solution, true
}
