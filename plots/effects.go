package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tailrace/results"
)

// effectRow is one line of the effect chart: a comparison, or the heading of a workload's comparisons
// if style is nil.
type effectRow struct {
	label string
	text  string // at the right of a comparison; within the chart for a heading
	style *Style
	ratio results.Interval
}

// effectChart draws the ratio of each planned comparison to its baseline, with its interval, and the
// A/A arms.
func effectChart(s *results.Sweep) (Chart, error) {
	f := &figure{title: "effects: ratio to the baseline", width: figureWidth, rightRoom: 190}
	f.x = scale{log: true, format: results.FormatRatio}
	f.x.cover(1)
	f.xTitle = "ratio to " + cmp.Or(s.Meta.Baseline, "the baseline")

	rows := effectRows(s)
	var alt []string
	drawn := 0
	for _, row := range rows {
		f.rows = append(f.rows, row.label)
		if row.style != nil && f.x.cover(row.ratio.Ratio) {
			drawn++
			f.x.cover(row.ratio.Low)
			f.x.cover(row.ratio.High)
			alt = append(alt, row.label+" "+row.text)
		}
	}
	f.height = vg.Length(90 + 24*max(3, len(rows)))
	if drawn == 0 {
		f.message = noRuns
		if len(s.Meta.Planned) == 0 {
			f.message = "no comparison was planned"
		}
	}
	f.plotters = append(f.plotters, plotterFunc(func(c draw.Canvas, toX, toY func(float64) vg.Length) {
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1.2}, toX(1), c.Min.Y, toX(1), c.Max.Y)
		for i := range rows {
			rows[i].draw(c, &f.x, toX, toY(-float64(i)))
		}
	}))
	return Chart{
		Name: "effects",
		Kind: KindEffects,
		Caption: "Geometric mean of the ratios to the baseline in the same block, with its interval: 95 % over all planned comparisons together, " +
			"95 % by itself for A/A, which is the baseline under a second label and has to contain 1. The heading says on which side of 1 better is.",
		Alt: strings.Join(alt, "; ") + ".",
	}.finish(f)
}

// effectRows lists the rows by workload and point, in the order of the planned comparisons.
func effectRows(s *results.Sweep) []effectRow {
	effects, health := s.Effects(), s.Health()
	var rows []effectRow
	for _, p := range panels(s) {
		var group []effectRow
		metric := p.workload.Primary
		for _, e := range effects {
			if e.Point == p.point && p.point.Workload != "" {
				metric = e.Metric
				group = append(group, newEffectRow(e.Strategy, e.Interval, verdictWords(e)))
			}
		}
		for _, h := range health {
			if h.Point == p.point {
				group = append(group, newEffectRow("A/A", h.Interval, healthWords(h)))
			}
		}
		if len(group) > 0 {
			heading := effectRow{label: p.workload.Name + ":", text: headingText(&p, metric)}
			rows = append(rows, slices.Concat([]effectRow{heading}, group)...)
		}
	}
	return rows
}

func newEffectRow(label string, ratio results.Interval, words string) effectRow {
	style := StyleOf(label)
	return effectRow{
		label: label,
		text:  intervalText(ratio) + " " + words,
		style: &style,
		ratio: ratio,
	}
}

// intervalText is a ratio with its interval, which fewer than two blocks don't give.
func intervalText(i results.Interval) string {
	if i.Blocks < 2 {
		return results.FormatRatio(i.Ratio)
	}
	return results.FormatInterval(i.Ratio, i.Low, i.High)
}

func verdictWords(e results.Effect) string {
	if e.Verdict == results.NoDifference {
		return "~"
	}
	return e.Verdict.String()
}

func healthWords(h results.Health) string {
	if h.Healthy {
		return "healthy"
	}
	return "NOT HEALTHY"
}

func headingText(p *panel, metric string) string {
	side := "right is better"
	if results.LowerIsBetter(metric) {
		side = "left is better"
	}
	text := fmt.Sprintf("%s, %s", results.MetricLabel(metric), side)
	if p.where != "" {
		text = p.where + ": " + text
	}
	return text
}

// draw draws the row around the height y.
func (r *effectRow) draw(c draw.Canvas, axis *scale, toX func(float64) vg.Length, y vg.Length) {
	words := textStyle(textSize)
	if r.style == nil {
		words.Color = fadedInk
		fillTextBeside(c, words, c.Max.X+10, y, shorten(r.text, words, 185))
		c.StrokeLine2(draw.LineStyle{Color: gridInk, Width: 0.7}, c.Min.X, y+12, c.Max.X, y+12)
		return
	}
	fillTextBeside(c, words, c.Max.X+10, y, shorten(r.text, words, 185))
	if !axis.accepts(r.ratio.Ratio) {
		return
	}
	if axis.accepts(r.ratio.Low) && axis.accepts(r.ratio.High) {
		line := draw.LineStyle{Color: r.style.Color, Width: 2}
		low, high := toX(r.ratio.Low), toX(r.ratio.High)
		c.StrokeLine2(line, low, y, high, y)
		c.StrokeLine2(line, low, y-4, low, y+4)
		c.StrokeLine2(line, high, y-4, high, y+4)
	}
	c.DrawGlyphNoClip(r.style.glyph(5), vg.Point{X: toX(r.ratio.Ratio), Y: y})
}
