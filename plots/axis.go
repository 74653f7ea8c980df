package plots

import (
	"math"
	"regexp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// The smallest and largest value that a logarithmic axis draws. They lie far outside anything that
// is measured, and far enough inside float64 for bounds to be widened without overflow.
const (
	minLog = 1e-100
	maxLog = 1e100
)

// scale is one axis: its kind and the bounds that it must cover. The zero value is a linear axis
// that covers nothing.
type scale struct {
	log      bool
	min, max float64
	any      bool // whether min and max hold a value
	format   func(float64) string
	marks    []plot.Tick // what is marked, instead of round values, if not nil
	inset    bool        // whether 0 is no end of the axis either
}

// accepts reports whether a value can stand on the axis.
func (s *scale) accepts(v float64) bool {
	if s.log {
		return v >= minLog && v <= maxLog // false for NaN
	}
	return math.Abs(v) <= maxLog
}

// cover widens the bounds to hold v and reports whether v can stand on the axis at all.
func (s *scale) cover(v float64) bool {
	if !s.accepts(v) {
		return false
	}
	if !s.any {
		s.min, s.max, s.any = v, v, true
	}
	s.min, s.max = math.Min(s.min, v), math.Max(s.max, v)
	return true
}

// bounds returns the ends of the axis: finite, min < max, both positive on a logarithmic axis, with
// a little room around the data.
func (s *scale) bounds() (min, max float64) {
	switch {
	case !s.any && s.log:
		return 1, 10
	case !s.any:
		return 0, 1
	case s.log:
		room := math.Max(math.Pow(s.max/s.min, 0.04), 1.08)
		return s.min / room, s.max * room
	}
	room := 0.04 * (s.max - s.min)
	if room == 0 {
		room = math.Max(math.Abs(s.max)*0.1, 1e-9)
	}
	min, max = s.min-room, s.max+room
	if s.min == 0 && !s.inset {
		min = 0 // a rate axis begins at zero exactly
	}
	return min, max
}

// apply makes a the axis that s describes, with at most about labels labels.
func (s *scale) apply(a *plot.Axis, labels int) {
	a.Min, a.Max = s.bounds()
	a.Scale = plot.LinearScale{}
	if s.log {
		a.Scale = plot.LogScale{}
	}
	ticks := s.marks
	switch {
	case ticks != nil:
	case s.log:
		ticks = logTicks(a.Min, a.Max, labels, s.format)
	default:
		ticks = linearTicks(a.Min, a.Max, labels, s.format)
	}
	a.Tick.Marker = plot.ConstantTicks(tidyLabels(ticks))
}

// widestLabel is how wide the label of a tick is at most, in points: numbers that nobody measures have no end.
const widestLabel = 80

// tidyLabels drops the zeros of "10.0 µs" and "1.50M", and the label of a tick that rounds to that of another.
func tidyLabels(ticks []plot.Tick) []plot.Tick {
	style := textStyle(textSize)
	seen := make(map[string]bool)
	for i := range ticks {
		label := shorten(lastZeros.ReplaceAllString(ticks[i].Label, "$1$2"), style, widestLabel)
		if seen[label] {
			label = ""
		}
		seen[label] = true
		ticks[i].Label = label
	}
	return ticks
}

// lastZeros matches the zeros at the end of a fraction, with its point if nothing else is in it.
var lastZeros = regexp.MustCompile(`(?:(\.\d*[1-9])|\.)0+(\D|$)`)

// linearTicks marks multiples of 1, 2 or 5 times a power of ten, at most labels of them, and fewer where
// their labels would not tell them apart.
func linearTicks(min, max float64, labels int, format func(float64) string) []plot.Tick {
	var ticks []plot.Tick
	for step := niceStep((max - min) / float64(labels)); ; step = niceStep(1.5 * step) {
		coarser := multiples(min, max, step, format)
		if len(coarser) == 0 && len(ticks) > 0 {
			return ticks
		}
		ticks = coarser
		distinct := make(map[string]bool)
		for _, tick := range ticks {
			distinct[tick.Label] = true
		}
		if len(distinct) == len(ticks) {
			return ticks
		}
	}
}

func multiples(min, max, step float64, format func(float64) string) []plot.Tick {
	var ticks []plot.Tick
	for i := math.Ceil(min / step); i*step <= max; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: format(i * step)})
	}
	return ticks
}

// niceStep is the smallest of 1, 2 and 5 times a power of ten that is at least raw.
func niceStep(raw float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw {
			return m * power
		}
	}
	return 10 * power
}

// digitSets are the choices of what a logarithmic axis labels, densest first: which digits of every
// how many decades.
var digitSets = []struct {
	digits []float64
	every  float64
}{
	{[]float64{1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}, 1},
	{[]float64{1, 1.5, 2, 3, 4, 5, 7}, 1},
	{[]float64{1, 2, 3, 5, 7}, 1},
	{[]float64{1, 2, 5}, 1},
	{[]float64{1, 3}, 1},
	{[]float64{1}, 1}, {[]float64{1}, 2}, {[]float64{1}, 3}, {[]float64{1}, 6},
	{[]float64{1}, 12}, {[]float64{1}, 24}, {[]float64{1}, 48}, {[]float64{1}, 96},
}

// logTicks labels the densest of digitSets that keeps labels at least 1/labels of the axis apart; the
// rest of 1 to 9 in each decade are marks without a label. An axis on which fewer than three
// labels would stand is marked at equal distances of the value instead.
func logTicks(min, max float64, labels int, format func(float64) string) []plot.Tick {
	var values []float64
	for _, set := range digitSets {
		values = logValues(min, max, set.digits, set.every)
		if spacing(values, math.Log(max/min)) >= 1/float64(labels) {
			break
		}
	}
	if len(values) < 3 && max/min < 20 {
		return linearTicks(min, max, labels, format)
	}
	var ticks []plot.Tick
	for _, v := range values {
		ticks = append(ticks, plot.Tick{Value: v, Label: format(v)})
	}
	const mostDecades = 12
	if max/min > math.Pow(10, mostDecades) {
		return ticks
	}
	for _, v := range logValues(min, max, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1) {
		if !slices.Contains(values, v) {
			ticks = append(ticks, plot.Tick{Value: v})
		}
	}
	return ticks
}

// logValues lists digits times every so many powers of ten between min and max.
func logValues(min, max float64, digits []float64, every float64) []float64 {
	var values []float64
	for decade := math.Floor(math.Log10(min)); decade <= math.Ceil(math.Log10(max)); decade++ {
		for _, d := range digits {
			if v := d * math.Pow(10, decade); math.Mod(decade, every) == 0 && v >= min && v <= max {
				values = append(values, v)
			}
		}
	}
	return values
}

// spacing is the smallest distance of neighbours on a logarithmic axis, as a share of its length.
func spacing(values []float64, length float64) float64 {
	least := math.Inf(1)
	for i := 1; i < len(values); i++ {
		least = math.Min(least, math.Log(values[i]/values[i-1])/length)
	}
	return least
}

// thinLabels takes the labels off ticks, given in ascending order, that would stand too near to the one before,
// or to the last.
func thinLabels(a *plot.Axis, width vg.Length) plot.ConstantTicks {
	const gap = 6
	style := textStyle(textSize)
	ticks := slices.Clone(a.Tick.Marker.Ticks(a.Min, a.Max))
	ends := func(i int) (left, right vg.Length) {
		middle, half := width*vg.Length(a.Norm(ticks[i].Value)), style.Width(ticks[i].Label)/2
		return middle - half - gap, middle + half
	}
	last := len(ticks) - 1
	for last > 0 && ticks[last].IsMinor() {
		last--
	}
	if last < 0 {
		return ticks
	}
	lastLeft, _ := ends(last)
	before := vg.Length(math.Inf(-1))
	for i := range ticks {
		left, right := ends(i)
		if left < before || i < last && right > lastLeft {
			ticks[i].Label = ""
			continue
		}
		before = right
	}
	return ticks
}
