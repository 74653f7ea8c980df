package plots

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tailrace/results"
)

// The brackets above a trend: the most that are named there, and the height of one's line.
const (
	mostBrackets  = 6
	bracketHeight = 17
)

// brackets are the pairs of tested points between which the ranking of two strategies changes.
type brackets struct {
	shown []bracket
	more  int      // how many are not shown, for lack of room
	texts []string // of all
}

type bracket struct {
	low, high     float64
	before, after string
}

// newBrackets picks the crossovers of a trend that its figure can show, and makes room for their names.
func newBrackets(t *results.Trend, f *figure) *brackets {
	var b brackets
	for i := range t.Crossovers {
		of := &t.Crossovers[i]
		if of.Low < 0 || of.High < 0 || of.Low >= len(t.Values) || of.High >= len(t.Values) {
			continue
		}
		low, high := t.Values[of.Low], t.Values[of.High]
		if !f.x.accepts(low) || !f.x.accepts(high) {
			continue
		}
		b.texts = append(b.texts, plain(of.Text(&t.Axis, t.Metric)))
		if len(b.shown) == mostBrackets {
			b.more++
			continue
		}
		b.shown = append(b.shown, bracket{low, high, of.Before, of.After})
	}
	f.topRoom = bracketHeight * vg.Length(len(b.shown))
	return &b
}

// bands draws what lies between the points of each bracket in a shade.
func (b *brackets) bands() plot.Plotter {
	return plotterFunc(func(c draw.Canvas, toX, _ func(float64) vg.Length) {
		for _, one := range b.shown {
			fillBox(c, bandColor, vg.Rectangle{Min: vg.Point{X: toX(one.low), Y: c.Min.Y}, Max: vg.Point{X: toX(one.high), Y: c.Max.Y}})
		}
	})
}

// names draws, above the axes, a line for each bracket with the names of the two strategies beside it.
func (b *brackets) names() plot.Plotter {
	return plotterFunc(func(c draw.Canvas, toX, _ func(float64) vg.Length) {
		const gap = 7
		line := draw.LineStyle{Color: fadedInk, Width: 1.2}
		words := textStyle(textSize)
		for i, one := range b.shown {
			y := c.Max.Y + bracketHeight*(vg.Length(len(b.shown)-i)-0.5)
			left, right := toX(one.low), toX(one.high)
			c.StrokeLine2(line, left, y, right, y)
			c.StrokeLine2(line, left, y-4, left, y+4)
			c.StrokeLine2(line, right, y-4, right, y+4)
			before, after := left-gap-c.Min.X, c.Max.X-right-gap
			room := max(before, after)
			name := changeOf(one.before, one.after, words, room)
			if words.Width(name) <= after || after >= before {
				fillTextBeside(c, words, right+gap, y, name)
			} else {
				fillTextBeside(c, words, left-gap-words.Width(name), y, name)
			}
		}
	})
}

// captions say what the brackets mean, in sentences.
func (b *brackets) captions() []string {
	if len(b.texts) == 0 {
		return nil
	}
	said := []string{"Shaded is where the ranking of two strategies changes, the arrow from the one that leads before to the one that leads after: " +
		"somewhere between two tested points, nothing finer is known."}
	for _, text := range b.texts {
		said = append(said, text+".")
	}
	if b.more > 0 {
		said = append(said, fmt.Sprintf("%d of these are not drawn.", b.more))
	}
	return said
}
