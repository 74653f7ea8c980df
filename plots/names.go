package plots

import (
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// nameGap is how far a name stands from the middle of its data point, if nothing is in the way.
const nameGap = 10

// drawName writes a name beside a data point where it lies over none of the boxes that are taken, with a line to
// the point if it had to go further away. It returns what it took; nothing if there was no room for the name.
func drawName(c draw.Canvas, style text.Style, at vg.Point, name string, taken []vg.Rectangle) []vg.Rectangle {
	extents := style.FontExtents()
	width, height := style.Width(name), extents.Ascent+extents.Descent
	for _, away := range []vg.Length{nameGap, 18, 28, 40} {
		for _, side := range []vg.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}, {X: 1, Y: 1}, {X: -1, Y: 1}, {X: 1, Y: -1}, {X: -1, Y: -1}} {
			from := vg.Point{X: at.X + side.X*(nameGap-1), Y: at.Y + side.Y*(nameGap-1)}
			to := vg.Point{X: at.X + side.X*away, Y: at.Y + side.Y*away}
			low := vg.Point{X: to.X + (side.X-1)*width/2, Y: to.Y + (side.Y-1)*height/2}
			boxes := []vg.Rectangle{{Min: low, Max: vg.Point{X: low.X + width, Y: low.Y + height}}}
			if away > nameGap {
				boxes = append(boxes, vg.Rectangle{
					Min: vg.Point{X: min(from.X, to.X), Y: min(from.Y, to.Y)},
					Max: vg.Point{X: max(from.X, to.X) + 0.1, Y: max(from.Y, to.Y) + 0.1},
				})
			}
			if !inside(boxes[0], c.Rectangle) || overlap(boxes, taken) {
				continue
			}
			if away > nameGap {
				c.StrokeLine2(draw.LineStyle{Color: fadedInk, Width: 0.6}, from.X, from.Y, to.X, to.Y)
			}
			c.FillText(style, vg.Point{X: low.X, Y: low.Y + extents.Descent}, name)
			return boxes
		}
	}
	return nil
}

// around is the square around a point.
func around(at vg.Point, radius vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: at.X - radius, Y: at.Y - radius}, Max: vg.Point{X: at.X + radius, Y: at.Y + radius}}
}

func inside(box, area vg.Rectangle) bool {
	return box.Min.X >= area.Min.X && box.Max.X <= area.Max.X && box.Min.Y >= area.Min.Y && box.Max.Y <= area.Max.Y
}

// overlap reports whether any of some boxes lies over any of others.
func overlap(some, others []vg.Rectangle) bool {
	for _, a := range some {
		for _, b := range others {
			if a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y {
				return true
			}
		}
	}
	return false
}
