package plots

import (
	"math"
	"slices"

	"tailrace/results"
)

// How far beyond the fitted levels a curve goes at least, and how far above everything that was measured at most.
const (
	extrapolatedBy = 1.5
	mostAbove      = 1.5
)

// fit adds the curve of a scaling law, up to end or further.
func (l *trendLine) fit(law *results.Fit, f *figure, end, highest float64) {
	if len(law.Levels) == 0 {
		return
	}
	first, last := slices.Min(law.Levels), slices.Max(law.Levels)
	if !f.x.accepts(first) || !f.x.accepts(last) || !(first > 0) {
		return
	}
	l.fitted = curveOf(law, first, last, f, math.Inf(1))
	l.extrapolated = curveOf(law, last, max(end, extrapolatedBy*last), f, mostAbove*highest)
}

// curveOf samples a scaling law at equal ratios up to where it leaves the axes or is above most, which the axes
// cover.
func curveOf(law *results.Fit, from, to float64, f *figure, most float64) []point {
	const samples = 32
	var curve []point
	for i := range samples + 1 {
		x := from * math.Pow(to/from, float64(i)/samples)
		y := law.At(x)
		if !f.x.accepts(x) || !f.y.accepts(y) || y > most {
			break
		}
		f.x.cover(x)
		f.y.cover(y)
		curve = append(curve, point{x, y})
	}
	if len(curve) < 2 {
		return nil
	}
	return curve
}
