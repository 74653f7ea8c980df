package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tailrace/results"
)

// logFrom is the ratio of the largest to the smallest value from which on the axis of a trend is logarithmic.
const logFrom = 4

// trendChart draws the primary metric of a workload along an axis, with the fitted scaling laws and the
// brackets in which the ranking changes. It marks a number of processors, if that is not 0.
func trendChart(t *results.Trend, processors int) (Chart, error) {
	f := &figure{title: trendTitle(t), width: figureWidth, height: figureHeight}
	f.x = scale{log: isLogarithmic(t.Values), format: t.Format, inset: true}
	f.y = scale{format: func(v float64) string { return results.FormatMetric(t.Metric, v) }}
	f.xTitle, f.yTitle = t.Label(), results.MetricLabel(t.Metric)+", more is better"
	if results.LowerIsBetter(t.Metric) {
		f.y.log = true // latencies spread over decades
		f.yTitle = results.MetricLabel(t.Metric) + ", less is better"
	} else {
		f.y.cover(0)
	}
	for _, v := range t.Values {
		if f.x.cover(v) {
			f.x.marks = append(f.x.marks, plot.Tick{Value: v, Label: t.Format(v)})
		}
	}

	lines, caption := trendLines(t, f)
	crossovers := newBrackets(t, f)
	f.plotters = append(f.plotters, crossovers.bands())
	if f.x.any && processors > 0 && float64(processors) >= f.x.min && float64(processors) <= f.x.max {
		f.plotters = append(f.plotters, plotterFunc(func(c draw.Canvas, toX, _ func(float64) vg.Length) {
			c.StrokeLine2(processorLine, toX(float64(processors)), c.Min.Y, toX(float64(processors)), c.Max.Y)
		}))
		caption = append(caption, fmt.Sprintf("The upright line marks the number of processors, %d.", processors))
	} else {
		processors = 0
	}
	var alt []string
	for i := range lines {
		f.plotters = append(f.plotters, lines[i].plotter(i, len(lines)))
		f.legend = append(f.legend, legendEntry{name: lines[i].label, style: lines[i].style})
		alt = append(alt, lines[i].words(t))
	}
	if len(lines) == 0 {
		f.message = noValue
	}
	f.plotters = append(f.plotters, crossovers.names())
	f.legend = append(f.legend, trendSigns(lines, processors, len(crossovers.shown) > 0)...)
	f.height = max(f.height, vg.Length(80+18*len(f.legend))) + f.topRoom
	return Chart{
		Name:     trendName(t),
		Workload: t.Workload,
		Kind:     KindTrend,
		Caption:  strings.Join(slices.Concat(caption, crossovers.captions()), " "),
		Alt:      strings.Join(alt, "; ") + ".",
	}.finish(f)
}

func trendTitle(t *results.Trend) string {
	name := t.Workload
	if t.Where != "" {
		name += " (" + t.Where + ")"
	}
	return fmt.Sprintf("%s: %s by %s", name, results.MetricLabel(t.Metric), t.Label())
}

func trendName(t *results.Trend) string {
	name := fileName(t.Workload) + "-by-" + fileName(t.Key)
	if t.Where != "" {
		name += "-" + fileName(t.Where)
	}
	return name
}

func isLogarithmic(values []float64) bool {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if !(v > 0) {
			return false
		}
		low, high = min(low, v), max(high, v)
	}
	return high >= logFrom*low
}

// processorsAt is the number of processors that an axis can be marked with: what its clients share where it is
// one of concurrency, what the machine has where it is their number, 0 otherwise.
func processorsAt(a *results.Axis, e *results.Environment) int {
	machine := cmp.Or(e.Affinity, e.CPUs)
	switch a.Key {
	case "gomaxprocs":
		return machine
	case "workers", "producers", "consumers":
		if len(a.Points) > 0 && a.Points[0].GOMAXPROCS > 0 && (machine <= 0 || a.Points[0].GOMAXPROCS < machine) {
			return a.Points[0].GOMAXPROCS
		}
		return machine
	}
	return 0
}

// trendLine is one strategy of a trend, as far as the axes can show it.
type trendLine struct {
	label  string
	style  Style
	levels []trendLevel
	// fitted is the curve of the scaling law between the levels that it was fitted to, and extrapolated what it
	// says beyond; nil where there is none.
	fitted, extrapolated []point
}

type trendLevel struct {
	point     // the median
	low, high float64
}

// trendLines prepares the lines of a trend, lets the axes cover them, and says in sentences what is drawn.
func trendLines(t *results.Trend, f *figure) (lines []trendLine, caption []string) {
	caption = []string{"Each point is the median of the valid runs; its bar goes from the smallest to the largest of them."}
	unfitted := make(map[string][]string)
	var reasons []string
	highest := math.Inf(-1)
	for i := range t.Lines {
		of := &t.Lines[i]
		if of.Label == "null" {
			caption = append(caption, withoutNull)
			continue
		}
		line := trendLine{label: of.Label, style: StyleOf(of.Label)}
		for _, level := range of.Levels {
			if f.x.accepts(level.Value) && f.y.cover(level.Median) {
				f.x.cover(level.Value)
				line.levels = append(line.levels, newTrendLevel(&level, &f.y))
				highest = max(highest, level.Median)
			}
		}
		if len(line.levels) == 0 {
			caption = append(caption, fmt.Sprintf("%s has no %s to show.", of.Label, results.MetricLabel(t.Metric)))
			continue
		}
		if of.Fit == nil && of.Unfitted != "" {
			if unfitted[of.Unfitted] == nil {
				reasons = append(reasons, of.Unfitted)
			}
			unfitted[of.Unfitted] = append(unfitted[of.Unfitted], of.Label)
		}
		lines = append(lines, line)
	}
	end := f.x.max
	for i := range t.Lines {
		at := slices.IndexFunc(lines, func(l trendLine) bool { return l.label == t.Lines[i].Label })
		if at >= 0 && t.Lines[i].Fit != nil {
			lines[at].fit(t.Lines[i].Fit, f, end, highest)
		}
	}
	if slices.ContainsFunc(lines, func(l trendLine) bool { return l.fitted != nil }) {
		caption = append(caption, "Curves are the Universal Scalability Law, fitted to the points that they pass; thin and dashed beyond those they are extrapolated, not measured.")
	}
	if t.Unfitted != "" {
		return lines, append(caption, "No scaling law is fitted: "+plain(t.Unfitted)+".")
	}
	for _, reason := range reasons {
		caption = append(caption, fmt.Sprintf("Not fitted: %s: %s.", strings.Join(unfitted[reason], ", "), plain(reason)))
	}
	return lines, caption
}

func newTrendLevel(of *results.Level, y *scale) trendLevel {
	level := trendLevel{point{of.Value, of.Median}, of.Median, of.Median}
	for _, v := range of.Values {
		if y.cover(v) {
			level.low, level.high = min(level.low, v), max(level.high, v)
		}
	}
	return level
}

// words says where a line begins and ends.
func (l *trendLine) words(t *results.Trend) string {
	say := func(level trendLevel) string {
		return fmt.Sprintf("%s at %s %s", results.FormatMetric(t.Metric, level.y), t.Label(), t.Format(level.x))
	}
	words := l.label + " " + say(l.levels[0])
	if n := len(l.levels); n > 1 {
		words += ", " + say(l.levels[n-1])
	}
	return words
}

// The lines of a trend that are no strategy's.
var (
	processorLine = draw.LineStyle{Color: fadedInk, Width: 1.2, Dashes: []vg.Length{2, 2}}
	bandColor     = color.NRGBA{R: 0xd8, G: 0xc8, B: 0x90, A: 95} // lets the grid through, and bands over each other
)

func extrapolation(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: 0.9, Dashes: []vg.Length{4, 3}}
}

// plotter draws the line, the number i of n. Bars at one value stand beside each other.
func (l *trendLine) plotter(i, n int) plot.Plotter {
	return plotterFunc(func(c draw.Canvas, toX, toY func(float64) vg.Length) {
		aside := min(3, 10/vg.Length(n)) * (vg.Length(i) - vg.Length(n-1)/2)
		at := func(p point) vg.Point { return vg.Point{X: toX(p.x), Y: toY(p.y)} }
		stroke := func(style draw.LineStyle, points []point) {
			var line []vg.Point
			for _, p := range points {
				line = append(line, at(p))
			}
			if len(line) > 1 {
				c.StrokeLines(style, line)
			}
		}
		stroke(l.style.line(1.8), l.fitted)
		stroke(extrapolation(l.style.Color), l.extrapolated)
		var measured []point
		for _, level := range l.levels {
			if n := len(l.fitted); n == 0 || level.x >= l.fitted[n-1].x {
				measured = append(measured, level.point)
			}
		}
		stroke(l.style.line(1.8), measured)
		for _, level := range l.levels {
			x := toX(level.x) + aside
			c.StrokeLine2(draw.LineStyle{Color: l.style.Color, Width: 1.2}, x, toY(level.low), x, toY(level.high))
			c.DrawGlyphNoClip(l.style.glyph(4), vg.Point{X: x, Y: toY(level.y)})
		}
	})
}

// trendSigns explains, in the legend, what is drawn beside the strategies.
func trendSigns(lines []trendLine, processors int, crossovers bool) []legendEntry {
	var entries []legendEntry
	if slices.ContainsFunc(lines, func(l trendLine) bool { return l.extrapolated != nil }) {
		entries = append(entries, legendEntry{name: "extrapolated", sample: func(c draw.Canvas, left, right, y vg.Length) {
			c.StrokeLine2(extrapolation(ink), left, y, right, y)
		}})
	}
	if processors > 0 {
		name := fmt.Sprintf("%d processors", processors)
		if processors == 1 {
			name = "1 processor"
		}
		entries = append(entries, legendEntry{name: name, sample: func(c draw.Canvas, left, right, y vg.Length) {
			c.StrokeLine2(processorLine, (left+right)/2, y-7, (left+right)/2, y+7)
		}})
	}
	if crossovers {
		entries = append(entries, legendEntry{name: "ranking changes", sample: func(c draw.Canvas, left, right, y vg.Length) {
			fillBox(c, bandColor, vg.Rectangle{Min: vg.Point{X: left + 6, Y: y - 7}, Max: vg.Point{X: right - 6, Y: y + 7}})
		}})
	}
	return entries
}

func fillBox(c draw.Canvas, colour color.Color, box vg.Rectangle) {
	c.SetColor(colour)
	c.Fill(box.Path())
}
