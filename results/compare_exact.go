package results

import (
	"fmt"
	"math"
	"slices"
)

// decideExactly gives the verdict on values that are exact: one of each side is enough, and any difference is one. If
// a side has several values in spite of that, the interval reaches from the least ratio to the largest.
func (d *Change) decideExactly(old, new []float64, c *Changes) {
	for _, side := range []struct {
		path   string
		values []float64
	}{{c.Old.Path, old}, {c.New.Path, new}} {
		if lowest, highest := slices.Min(side.values), slices.Max(side.values); lowest != highest {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %s is to be exact, and has values from %v to %v in %s",
				d.Benchmark, d.Metric, lowest, highest, side.path))
		}
	}
	d.Low, d.High = ratioOf(slices.Min(new), slices.Max(old)), ratioOf(slices.Max(new), slices.Min(old))
	if d.Low == d.High {
		d.Ratio = d.Low
	}
	d.decide(c.Options.Threshold)
	if math.IsInf(d.Low, 0) {
		d.Ratio, d.Low, d.High = math.NaN(), math.NaN(), math.NaN()
	}
}

// ratioOf is new/old, and 1 of equal values, 0 included.
func ratioOf(new, old float64) float64 {
	if new == old {
		return 1
	}
	return new / old
}
