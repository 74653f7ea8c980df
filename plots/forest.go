package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tailrace/results"
)

// forestRow is one line of a forest chart: a ratio with its interval, or a heading if style is nil.
type forestRow struct {
	label string // at the left; may have two lines
	text  string // at the right
	style *Style
	ratio results.Interval
}

// newForest prepares a chart of ratios: rows of a height, and room for the ratios in words at their right, both in
// points. It also returns how many ratios are shown, and whether an interval goes on beyond the chart.
func newForest(title string, height, room vg.Length, rows []forestRow) (f *figure, drawn int, cut bool) {
	f = &figure{title: title, width: figureWidth, rightRoom: room}
	f.height = 90 + height*vg.Length(max(3, len(rows)))
	f.x = scale{log: true, format: results.FormatRatio}
	f.x.cover(1)
	for i := range rows {
		row := &rows[i]
		f.rows = append(f.rows, row.label)
		if row.style != nil && f.x.cover(row.ratio.Ratio) {
			drawn++
			low, high := row.ends()
			cut = cut || low > row.ratio.Low || high < row.ratio.High
			f.x.cover(low)
			f.x.cover(high)
		}
	}
	f.plotters = []plot.Plotter{plotterFunc(func(c draw.Canvas, toX, toY func(float64) vg.Length) {
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1.2}, toX(1), c.Min.Y, toX(1), c.Max.Y)
		for i := range rows {
			rows[i].draw(c, &f.x, toX, toY(-float64(i)), height, room)
		}
	})}
	return f, drawn, cut
}

// shown reports whether the row has a ratio that a forest chart shows.
func (r *forestRow) shown() bool {
	axis := scale{log: true}
	return r.style != nil && axis.accepts(r.ratio.Ratio)
}

// ends are where the line of the interval ends: it holds the ratio even where the bounds are cut.
func (r *forestRow) ends() (low, high float64) {
	low, high = r.ratio.Shown()
	return min(low, r.ratio.Ratio), max(high, r.ratio.Ratio)
}

// draw draws the row around the height y.
func (r *forestRow) draw(c draw.Canvas, axis *scale, toX func(float64) vg.Length, y, height, room vg.Length) {
	words := textStyle(textSize)
	if r.style == nil {
		words.Color = fadedInk
		fillTextBeside(c, words, c.Max.X+10, y, shorten(r.text, words, room-5))
		c.StrokeLine2(draw.LineStyle{Color: gridInk, Width: 0.7}, c.Min.X, y+height/2, c.Max.X, y+height/2)
		return
	}
	fillTextBeside(c, words, c.Max.X+10, y, shorten(r.text, words, room-5))
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
