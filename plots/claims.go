package plots

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tailrace/results"
)

// noFigure is what the chart of a claim says where there is nothing to draw.
const noFigure = "nothing was measured"

// outcomeStyles tell met, not met and open apart, in greyscale too.
var outcomeStyles = map[string]Style{
	"met":     {Color: rgb(0x0e8f69), Marker: Marker{Polygon: disc}},
	"not met": {Color: rgb(0xb00020), Marker: Marker{Polygon: fourStar}},
	"open":    {Color: rgb(0x5a5a5a), Marker: Marker{diamond, true}},
}

// ClaimChart draws the rule of a claim: a row for each condition, with the figure that it is about as a multiple of its
// bound, so that figures of any unit stand on one axis and the bound of all is the line at 1. A figure that no
// logarithmic axis holds is told in words alone.
func ClaimChart(c *results.Claim) (Chart, error) {
	var rows []forestRow
	var alt []string
	measured := false
	for i := range c.Conditions {
		d := &c.Conditions[i]
		f := c.Figure(d.Figure)
		rows = append(rows, claimRow(d, f))
		measured = measured || f != nil && !math.IsNaN(f.Value)
		alt = append(alt, fmt.Sprintf("%s, %s: %s, %s", plain(d.Text), d.BoundText(f), figureText(f), d.OutcomeText()))
	}
	f, _, cut := newForest(c.Name+": "+string(c.Verdict), 36, 205, rows)
	f.x.format = results.FormatRatio
	f.xTitle = "times the bound"
	f.rowRoom = 165
	f.plotters = append([]plot.Plotter{metSides(c.Conditions)}, f.plotters...)
	if !measured {
		f.message = noFigure
	}
	caption := plain(c.Sentence) + " Each figure with its interval, as a multiple of the bound in its rule. Shaded is the side on which the condition is met; " +
		"a disc is met, a star is not, and a hollow diamond is open."
	if cut {
		caption += " " + goesOn
	}
	return Chart{Name: "claim-" + fileName(c.Name), Kind: KindClaim, Caption: caption, Alt: strings.Join(alt, "; ") + "."}.finish(f)
}

// claimRow is a condition and its figure, which may be nil.
func claimRow(d *results.Condition, f *results.Figure) forestRow {
	style, known := outcomeStyles[d.Outcome]
	if !known {
		style = outcomeStyles["open"]
	}
	name := d.Figure
	if d.Premise {
		name += " (premise)"
	}
	row := forestRow{label: name + "\n" + d.BoundText(f) + ": " + d.OutcomeText(), text: figureText(f), style: &style}
	if f == nil {
		return row
	}
	bound := boundOf(d)
	row.ratio = results.Interval{Blocks: f.Blocks, Ratio: f.Value / bound, Low: f.Low / bound, High: f.High / bound}
	return row
}

// figureText is the value of a figure, which may be nil.
func figureText(f *results.Figure) string {
	if f == nil || math.IsNaN(f.Value) {
		return "not measured"
	}
	return f.ValueText()
}

func boundOf(d *results.Condition) float64 {
	switch {
	case d.AtLeast != nil:
		return *d.AtLeast
	case d.AtMost != nil:
		return *d.AtMost
	}
	return 0
}

// metSides shades in each row the side of the bound on which its condition is met.
func metSides(conditions []results.Condition) plot.Plotter {
	return plotterFunc(func(c draw.Canvas, toX, toY func(float64) vg.Length) {
		half := (toY(0) - toY(-1)) / 2
		for i := range conditions {
			left, right, y := c.Min.X, toX(1), toY(-float64(i))
			if conditions[i].AtLeast != nil {
				left, right = toX(1), c.Max.X
			}
			fillBox(c, bandColor, vg.Rectangle{Min: vg.Point{X: left, Y: y - 0.8*half}, Max: vg.Point{X: right, Y: y + 0.8*half}})
		}
	})
}
