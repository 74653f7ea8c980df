package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tailrace/results"
)

// throughputMetric is the rate that a panel's throughput chart shows: the primary metric if that is
// a rate, all operations otherwise.
func throughputMetric(p *panel) string {
	if results.LowerIsBetter(p.Workload.Primary) {
		return results.MetricOps
	}
	return p.Workload.Primary
}

// throughputChart draws the throughput of each run and strategy of a panel.
func throughputChart(p *panel) (Chart, error) {
	metric := throughputMetric(p)
	return drawMetric(p, metric, "throughput", fmt.Sprintf("throughput (%s)", results.MetricLabel(metric)))
}

// metricChart draws any metric of each run and strategy of a panel.
func metricChart(p *panel, metric string) (Chart, error) {
	return drawMetric(p, metric, fileName(strings.TrimSuffix(metric, "-sec")), results.MetricLabel(metric))
}

// withoutNull is what a caption says of the strategy null, beside whose numbers all others would be one.
const withoutNull = "null, which does no I/O, is left out."

// metricRow is one strategy of a metric chart.
type metricRow struct {
	style  Style
	values []float64 // of the runs that the axis can show, in the order of execution
	median float64   // NaN if the axis can't show it
}

// newMetricRow takes what an axis can show of a strategy's values; false if that is nothing.
func newMetricRow(m *series, metric string, axis *scale) (metricRow, bool) {
	row := metricRow{style: m.style, median: math.NaN()}
	for _, run := range m.runs {
		if v, ok := run.Metrics[metric]; ok && axis.cover(v) {
			row.values = append(row.values, v)
		}
	}
	if median, ok := m.Median(metric); ok && axis.cover(median) {
		row.median = median
	}
	return row, len(row.values) > 0
}

// medianRoom is the width, in points, for the medians beside a metric chart.
const medianRoom = 64

func drawMetric(p *panel, metric, what, title string) (Chart, error) {
	f := &figure{title: p.title(title), width: figureWidth, rightRoom: medianRoom}
	format := func(v float64) string { return results.FormatMetric(metric, v) }
	f.x.format = format
	f.xTitle = results.MetricLabel(metric) + ", more is better"
	if results.LowerIsBetter(metric) {
		f.x.log = true // latencies spread over decades
		f.xTitle = results.MetricLabel(metric) + ", less is better"
	} else {
		f.x.cover(0)
	}

	var rows []metricRow
	var medians []string
	caption := []string{"Small marks: every valid run, in the order of execution from top to bottom. Line: smallest to largest. Large mark and number: the median."}
	var without []string
	for i := range p.series {
		m := &p.series[i]
		if m.label == "null" {
			caption = append(caption, withoutNull)
			continue
		}
		row, ok := newMetricRow(m, metric, &f.x)
		if !ok {
			if m.Valid > 0 {
				without = append(without, m.label)
			}
			continue
		}
		rows = append(rows, row)
		f.rows = append(f.rows, m.label)
		medians = append(medians, m.label+" "+format(row.median))
	}
	if len(without) > 0 && len(rows) > 0 {
		caption = append(caption, fmt.Sprintf("No %s to show: %s.", results.MetricLabel(metric), strings.Join(without, ", ")))
	}
	f.height = vg.Length(90 + 30*max(3, len(rows)))
	if len(rows) == 0 {
		f.message = noRuns
		if slices.ContainsFunc(p.series, func(m series) bool { return m.Valid > 0 }) {
			f.message = noValue
		}
	}
	f.plotters = append(f.plotters, plotterFunc(func(c draw.Canvas, toX, toY func(float64) vg.Length) {
		for i := range rows {
			rows[i].draw(c, toX, toY(-float64(i)), format)
		}
	}))
	return Chart{
		Name:     p.name(what),
		Workload: p.Workload.Name,
		Point:    p.Point,
		noImage:  p.noImages,
		Kind:     KindMetric,
		Caption:  strings.Join(append(caption, p.notes()...), " "),
		Alt:      "Medians: " + strings.Join(medians, ", ") + ".",
	}.finish(f)
}

// draw draws the row around the height y.
func (r *metricRow) draw(c draw.Canvas, toX func(float64) vg.Length, y vg.Length, format func(float64) string) {
	const half = 9 // height of the cloud of runs above and below the row's middle
	c.StrokeLine2(draw.LineStyle{Color: r.style.Color, Width: 1.5}, toX(slices.Min(r.values)), y, toX(slices.Max(r.values)), y)
	small := r.style.glyph(2)
	small.Color = pale(r.style.Color)
	small.Shape = Marker{Polygon: disc}
	for i, v := range r.values {
		offset := vg.Length(0)
		if n := len(r.values); n > 1 {
			offset = half - 2*half*vg.Length(i)/vg.Length(n-1)
		}
		c.DrawGlyphNoClip(small, vg.Point{X: toX(v), Y: y + offset})
	}
	if !math.IsNaN(r.median) {
		c.DrawGlyphNoClip(r.style.glyph(6), vg.Point{X: toX(r.median), Y: y})
	}
	words := textStyle(textSize)
	fillTextBeside(c, words, c.Max.X+10, y, shorten(format(r.median), words, medianRoom-10))
}
