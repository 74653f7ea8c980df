package plots

import (
	"fmt"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"math"
	"slices"
	"strings"

	"tailrace/results"
)

// samplesBeyond is how many latencies of a run must lie beyond a quantile for it to be drawn.
const samplesBeyond = 10

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
	leftOut     []string // sentences about what isn't drawn
}

// latencyCurve is one strategy: the median across runs at each tick that every run supports, and the
// distribution of all runs together.
type latencyCurve struct {
	label   string
	style   Style
	seconds []float64 // by tick, shorter than the ticks
	merged  *results.Histogram
	runs    int
}

// latenciesOf reads the histograms of a panel's runs, each once, and returns what there is to draw by
// kind; a kind without samples is absent. Runs of an overloaded open loop have no bounded latency and
// are left out.
func latenciesOf(s *results.Sweep, p *panel) ([]latency, error) {
	all := make([]latency, len(chartedKinds))
	for i, k := range chartedKinds {
		all[i] = latency{kind: k.kind, words: k.words, ticks: results.PercentileTicks()}
	}
	for i := range p.series {
		m := &p.series[i]
		collected := make([]curveBuilder, len(all))
		overloaded := 0
		for _, run := range m.runs {
			if run.Overloaded {
				overloaded++
				continue
			}
			histograms, err := s.Histograms(run)
			if err != nil {
				return nil, fmt.Errorf("plots: run %d: %w", run.Index, err)
			}
			for i := range all {
				collected[i].add(histograms[all[i].kind], all[i].ticks)
			}
		}
		for i := range all {
			if collected[i].runs > 0 {
				all[i].curves = append(all[i].curves, collected[i].curve(m))
			}
			if overloaded > 0 {
				all[i].leftOut = append(all[i].leftOut, fmt.Sprintf(
					"%s could not keep the rate in %d of %d runs: those have no bounded latency and are left out.",
					m.label, overloaded, m.Valid))
			}
		}
	}
	var present []latency
	for _, l := range all {
		if len(l.curves) > 0 {
			present = append(present, l)
		}
	}
	return present, nil
}

// curveBuilder gathers the runs of one strategy.
type curveBuilder struct {
	runs   int
	byTick [][]float64
	merged *results.Histogram
}

func (b *curveBuilder) add(h *results.Histogram, ticks []float64) {
	if h == nil || h.Count() == 0 {
		return
	}
	if b.merged == nil {
		b.merged, b.byTick = results.NewHistogram(), make([][]float64, len(ticks))
	}
	b.runs++
	b.merged.Merge(h)
	for i, v := range h.Percentiles(ticks) {
		const rounding = 1e-9 // 1 − 0.999 is a little less than 0.001
		if float64(h.Count())*(1-ticks[i]/100) >= samplesBeyond-rounding {
			b.byTick[i] = append(b.byTick[i], v)
		}
	}
}

func (b *curveBuilder) curve(m *series) latencyCurve {
	c := latencyCurve{label: m.label, style: m.style, merged: b.merged, runs: b.runs}
	for _, values := range b.byTick {
		if len(values) < b.runs {
			break
		}
		c.seconds = append(c.seconds, median(values))
	}
	return c
}

// median sorts values, at least one, and returns their median.
func median(values []float64) float64 {
	slices.Sort(values)
	half := len(values) / 2
	if len(values)%2 == 1 {
		return values[half]
	}
	return (values[half-1] + values[half]) / 2
}

// clock says in a few words what a kind of latency is measured from.
func clock(p *panel, kind string) string {
	switch {
	case kind == results.KindEndToEnd && p.openLoop():
		return "from the intended time of sending"
	case kind == results.KindEndToEnd:
		return "from the start of the append"
	case paced(p, kind):
		return "from the intended time"
	}
	return "service time"
}

// paced reports whether operations of a kind have an intended time.
func paced(p *panel, kind string) bool {
	return kind == results.KindProduce && p.point.ProduceRate > 0 || kind == results.KindConsume && p.point.ConsumeRate > 0
}

// measuredFrom is the sentence without which a percentile misleads.
func measuredFrom(p *panel, kind string) string {
	switch {
	case kind == results.KindEndToEnd && p.openLoop():
		return "End to end: from the intended time of sending to the return of the read that delivered the record."
	case kind == results.KindEndToEnd:
		return "End to end, in a closed loop: from the start of the append to the return of the read that delivered the record. The load slows with what it measures, so this ranks nothing."
	case paced(p, kind):
		return "Open loop: measured from the intended time of each operation, so that waiting behind a slow one counts."
	}
	return "Closed loop: service time. A stall counts once, however long it lasts, so this ranks nothing."
}

// percentileChart draws latency by percentile on the axis of HdrHistogram's plots, on which every
// further nine is as far from the last.
func percentileChart(p *panel, l *latency) (Chart, error) {
	f := &figure{title: p.title(l.words + " by percentile"), width: figureWidth, height: figureHeight}
	f.x = scale{log: true}
	f.y = scale{log: true, format: results.FormatDuration}
	f.xTitle, f.yTitle = "percentile", "latency, less is better"
	var alt []string
	drawn := 0
	for i := range l.curves {
		c := &l.curves[i]
		var points []point
		for t, seconds := range c.seconds {
			if x := 1 / (1 - l.ticks[t]/100); f.x.accepts(x) && f.y.cover(seconds) {
				f.x.cover(x)
				points = append(points, point{x, seconds})
			}
		}
		if len(points) == 0 {
			continue
		}
		drawn++
		last := points[len(points)-1]
		alt = append(alt, fmt.Sprintf("%s %s at %s", c.label, results.FormatDuration(last.y), percentLabel(last.x)))
		f.legend = append(f.legend, legendEntry{c.label, c.style})
		f.plotters = append(f.plotters, curvePlotter(c.style, points, everyNine(points)))
	}
	if drawn == 0 {
		f.message = tooFew
	}
	f.x.marks = percentileTicks(f.x.max)
	caption := []string{measuredFrom(p, l.kind), fmt.Sprintf(
		"Each line is the median across runs, and ends where a run has fewer than %d samples beyond.", samplesBeyond)}
	return Chart{
		Name:     p.name(fileName(l.kind) + "-latency"),
		Workload: p.workload.Name,
		Point:    p.point,
		Kind:     KindLatency,
		Caption:  strings.Join(append(append(caption, l.leftOut...), p.leftOut()...), " "),
		Alt:      "Ends of the lines: " + strings.Join(alt, ", ") + ".",
	}.finish(f)
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
// carry few and at the same places.
func everyNine(points []point) []point {
	var marks []point
	for _, at := range []float64{2, 10, 100, 1e3, 1e4, 1e5} {
		if at > points[len(points)-1].x*1.1 {
			break
		}
		nearest := points[0]
		for _, p := range points {
			if math.Abs(math.Log(p.x/at)) < math.Abs(math.Log(nearest.x/at)) {
				nearest = p
			}
		}
		marks = append(marks, nearest)
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
