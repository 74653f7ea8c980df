package plots

import (
	"cmp"
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tailrace/results"
)

// effectRow is one line of the effect chart: a comparison, or the heading of a workload's comparisons
// if style is nil.
type effectRow struct {
	label string
	text  string // at the right
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
	if s.Meta.Against != nil {
		f.xTitle = "ratio to the same strategy of " + s.Meta.Against.Label
	}

	rows := effectRows(s)
	var alt []string
	drawn, cut := 0, false
	for _, row := range rows {
		f.rows = append(f.rows, row.label)
		if row.style != nil && f.x.cover(row.ratio.Ratio) {
			drawn++
			low, high := row.ends()
			cut = cut || low > row.ratio.Low || high < row.ratio.High
			f.x.cover(low)
			f.x.cover(high)
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
	caption := "Geometric mean of the ratios to the baseline in the same block, with its interval: 95 % over all planned comparisons together, " +
		"95 % by itself for A/A, which is the baseline under a second label and has to contain 1. The arrow of the heading points to the side of 1 that is better."
	if cut {
		caption += " An interval with an arrow goes on beyond the chart."
	}
	return Chart{Name: "effects", Kind: KindEffects, Caption: caption, Alt: strings.Join(alt, "; ") + "."}.finish(f)
}

// effectRows lists the rows by workload and point, in the order of the planned comparisons.
func effectRows(s *results.Sweep) []effectRow {
	var rows []effectRow
	for _, p := range panels(s) {
		if len(p.series) == 0 || len(p.Effects)+len(p.Health) == 0 {
			continue
		}
		metric := p.Workload.Primary
		if len(p.Effects) > 0 {
			metric = p.Effects[len(p.Effects)-1].Metric
		}
		rows = append(rows, effectRow{label: p.Workload.Name + ":", text: headingText(&p, metric)})
		for _, e := range p.Effects {
			text := e.Text()
			if e.Verdict == results.Better || e.Verdict == results.Worse {
				text += " " + e.Verdict.String()
			}
			rows = append(rows, newEffectRow(e.Strategy, e.Interval, text))
		}
		for _, h := range p.Health {
			rows = append(rows, newEffectRow("A/A", h.Interval, h.Text()))
		}
	}
	return rows
}

func newEffectRow(label string, ratio results.Interval, text string) effectRow {
	style := StyleOf(label)
	return effectRow{label, text, &style, ratio}
}

// ends are where the line of the interval ends: it holds the ratio even where the bounds are cut.
func (r *effectRow) ends() (low, high float64) {
	low, high = r.ratio.Shown()
	return min(low, r.ratio.Ratio), max(high, r.ratio.Ratio)
}

func headingText(p *panel, metric string) string {
	side := "→"
	if results.LowerIsBetter(metric) {
		side = "←"
	}
	text := fmt.Sprintf("%s %s", results.MetricLabel(metric), side)
	if p.Where != "" {
		return p.Where + ": " + text
	}
	return text + " better"
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
	if low, high := r.ends(); axis.accepts(low) && axis.accepts(high) {
		line := draw.LineStyle{Color: r.style.Color, Width: 2}
		c.StrokeLine2(line, toX(low), y, toX(high), y)
		drawEnd(c, line, toX(low), y, -1, low > r.ratio.Low)
		drawEnd(c, line, toX(high), y, 1, high < r.ratio.High)
	}
	c.DrawGlyphNoClip(r.style.glyph(5), vg.Point{X: toX(r.ratio.Ratio), Y: y})
}

// drawEnd ends an interval at x: with a bar, or with an arrow that points outwards (1 is to the right)
// if it goes on beyond.
func drawEnd(c draw.Canvas, line draw.LineStyle, x, y, outwards vg.Length, beyond bool) {
	if !beyond {
		c.StrokeLine2(line, x, y-4, x, y+4)
		return
	}
	c.StrokeLines(line, []vg.Point{{X: x - 5*outwards, Y: y + 4}, {X: x, Y: y}, {X: x - 5*outwards, Y: y - 4}})
}
