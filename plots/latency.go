package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tailrace/results"
)

// chartedKinds are the kinds of latency that get charts, with the words of their titles. The -service
// kinds and the lateness explain these and stay in the histograms.
var chartedKinds = []struct{ kind, words string }{
	{results.KindProduce, "produce latency"},
	{results.KindConsume, "consume latency"},
	{results.KindEndToEnd, "end-to-end latency"},
}

// latency is what a panel's charts of one kind of latency show.
type latency struct {
	kind, words string
	ticks       []float64 // percentiles
	curves      []latencyCurve
}

// latencyCurve is one strategy: the median across runs at each tick, and the distribution of all runs
// together.
type latencyCurve struct {
	label   string
	style   Style
	seconds []float64 // by tick; NaN where a run does not carry it
	merged  *results.Histogram
}

// latenciesOf reads the histograms of a panel's runs, each once, and returns what there is to draw by
// kind; a kind without samples is absent. A strategy that was overloaded in any run has no bounded latency
// and is left out. A run that can't be read is left out with a warning.
func latenciesOf(s *results.Sweep, p *panel) (found []latency, warnings []string) {
	all := make([]latency, len(chartedKinds))
	for i, k := range chartedKinds {
		all[i] = latency{kind: k.kind, words: k.words, ticks: results.PercentileTicks()}
	}
	for i := range p.series {
		m := &p.series[i]
		if m.Overloaded > 0 {
			continue
		}
		collected := make([]curveBuilder, len(all))
		for _, run := range m.runs {
			histograms, err := s.Histograms(run)
			if err != nil {
				warnings = append(warnings, fmt.Sprintf("the charts are without the latencies of run %d: %v", run.Index, err))
				continue
			}
			for i := range all {
				var lateness *results.Histogram
				if p.Point.Paced(all[i].kind) {
					lateness = histograms[results.LatenessOf(all[i].kind)]
				}
				collected[i].add(histograms[all[i].kind], lateness, all[i].ticks)
			}
		}
		for i := range all {
			if collected[i].runs > 0 {
				all[i].curves = append(all[i].curves, collected[i].curve(m))
			}
		}
	}
	return slices.DeleteFunc(all, func(l latency) bool { return len(l.curves) == 0 }), warnings
}

// curveBuilder gathers the runs of one strategy.
type curveBuilder struct {
	runs   int
	byTick [][]float64
	merged *results.Histogram
}

// add takes the latencies of a run, with the lateness of the load or nil where it is not paced.
func (b *curveBuilder) add(h, lateness *results.Histogram, ticks []float64) {
	if h == nil || h.Count() == 0 {
		return
	}
	if b.merged == nil {
		b.merged, b.byTick = results.NewHistogram(), make([][]float64, len(ticks))
	}
	b.runs++
	b.merged.Merge(h)
	for i, v := range h.Percentiles(ticks) {
		if h.Carries(ticks[i]/100, lateness) {
			b.byTick[i] = append(b.byTick[i], v)
		}
	}
}

func (b *curveBuilder) curve(m *series) latencyCurve {
	c := latencyCurve{label: m.label, style: m.style, merged: b.merged}
	for _, values := range b.byTick {
		median := math.NaN()
		if len(values) == b.runs {
			slices.Sort(values)
			median = results.Median(values)
		}
		c.seconds = append(c.seconds, median)
	}
	return c
}

// measuredFrom is the sentence without which a percentile misleads.
func measuredFrom(p *panel, kind string) string {
	switch {
	case kind == results.KindEndToEnd && p.Point.Paced(kind):
		return "End to end: from the intended time of sending to the return of the read that delivered the record."
	case kind == results.KindEndToEnd:
		return "End to end, in a closed loop: from the start of the append to the return of the read that delivered the record. The load slows with what it measures, so this ranks nothing."
	case p.Point.Paced(kind):
		return "Open loop: measured from the intended time of each operation, so that waiting behind a slow one counts."
	}
	return "Closed loop: service time. A stall counts once, however long it lasts, so this ranks nothing."
}

// leastReach is how far the axis of a percentile chart goes at least, as 1/(1-q), so that lines that all end early
// don't look as if they went all the way.
const leastReach = 100

// percentileChart draws latency by percentile on the axis of HdrHistogram's plots, on which every
// further nine is as far from the last.
func percentileChart(p *panel, l *latency) (Chart, error) {
	f := &figure{title: p.title(l.words + " by percentile"), width: figureWidth, height: figureHeight}
	f.x = scale{log: true}
	f.x.cover(1)
	f.y = scale{log: true, format: results.FormatDuration}
	f.xTitle, f.yTitle = "percentile", "latency, less is better"
	var alt []string
	for i := range l.curves {
		c := &l.curves[i]
		var last point
		for _, points := range c.segments(l.ticks, f) {
			last = points[len(points)-1]
			f.plotters = append(f.plotters, curvePlotter(c.style, points, everyNine(points)))
		}
		if last != (point{}) {
			alt = append(alt, fmt.Sprintf("%s %s at %s", c.label, results.FormatDuration(last.y), percentLabel(last.x)))
			f.legend = append(f.legend, legendEntry{name: c.label, style: c.style})
		}
	}
	if len(f.legend) == 0 {
		f.message = tooFew
		if p.Point.Paced(l.kind) {
			f.message = tooLate
		}
	}
	reached := f.x.max
	f.x.cover(leastReach)
	f.x.marks = percentileTicks(f.x.max)
	caption := []string{measuredFrom(p, l.kind), fmt.Sprintf(
		"Each line is the median across runs, and ends where a run has fewer than %d samples beyond.", results.SamplesBeyond)}
	if p.Point.Paced(l.kind) {
		caption = append(caption, fmt.Sprintf(
			"It is cut where in a run the load itself was late by more than %s of the latency at that percentile.",
			results.FormatPercent(results.LatenessShare)))
	}
	if reached < leastReach && len(f.legend) > 0 {
		caption = append(caption, fmt.Sprintf("No line reaches %s.", percentLabel(leastReach)))
	}
	return Chart{
		Name:     p.name(fileName(l.kind) + "-latency"),
		Workload: p.Workload.Name,
		Point:    p.Point,
		noImage:  p.noImages,
		Kind:     KindLatency,
		Caption:  strings.Join(append(caption, p.notes()...), " "),
		Alt:      "Ends of the lines: " + strings.Join(alt, ", ") + ".",
	}.finish(f)
}

// segments returns the points of a curve between which no tick is missing, and lets the axes of f cover
// them.
func (c *latencyCurve) segments(ticks []float64, f *figure) [][]point {
	var segments [][]point
	open := false
	for i, seconds := range c.seconds {
		x := 1 / (1 - ticks[i]/100)
		if !f.x.accepts(x) || !f.y.cover(seconds) {
			open = false
			continue
		}
		f.x.cover(x)
		if !open {
			segments, open = append(segments, nil), true
		}
		last := &segments[len(segments)-1]
		*last = append(*last, point{x, seconds})
	}
	return segments
}

// percentileTicks labels 0 %, 50 % and every further nine up to x = 1/(1-q).
func percentileTicks(max float64) []plot.Tick {
	ticks := []plot.Tick{{Value: 1, Label: percentLabel(1)}, {Value: 2, Label: percentLabel(2)}}
	for x := 10.0; x <= max*1.001; x *= 10 {
		ticks = append(ticks, plot.Tick{Value: x, Label: percentLabel(x)})
	}
	return ticks
}

// percentLabel is the percentile at x = 1/(1-q): "99.9 %".
func percentLabel(x float64) string {
	decimals := int(math.Max(0, math.Ceil(math.Log10(x)-2.001)))
	return fmt.Sprintf("%.*f %%", decimals, 100*(1-1/x))
}

type point struct{ x, y float64 }

// everyNine picks the points for markers: those nearest to 50 %, 90 %, 99 % and so on, so that curves
// carry few and at the same places. A line that ends before all of these has one at its end.
func everyNine(points []point) []point {
	var marks []point
	for _, at := range []float64{2, 10, 100, 1e3, 1e4, 1e5} {
		if at < points[0].x/1.1 || at > points[len(points)-1].x*1.1 {
			continue
		}
		nearest := points[0]
		for _, p := range points {
			if math.Abs(math.Log(p.x/at)) < math.Abs(math.Log(nearest.x/at)) {
				nearest = p
			}
		}
		marks = append(marks, nearest)
	}
	if len(marks) == 0 {
		marks = points[len(points)-1:]
	}
	return marks
}

// curvePlotter draws a line through points, and markers on some of them.
func curvePlotter(style Style, points, marks []point) plot.Plotter {
	return plotterFunc(func(c draw.Canvas, toX, toY func(float64) vg.Length) {
		at := func(p point) vg.Point { return vg.Point{X: toX(p.x), Y: toY(p.y)} }
		line := make([]vg.Point, len(points))
		for i, p := range points {
			line[i] = at(p)
		}
		c.StrokeLines(style.line(1.8), line)
		if len(points) == 1 {
			marks = points
		}
		for _, p := range marks {
			c.DrawGlyphNoClip(style.glyph(4), at(p))
		}
	})
}
