package plots

import (
	"hash/fnv"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Style is how a strategy looks in every chart. Marker and dash pattern together tell any two known
// strategies apart without their colours, in greyscale print for instance.
type Style struct {
	Color  color.NRGBA
	Marker Marker
	Dashes []vg.Length // lengths of strokes and gaps; empty is a solid line
}

// Marker is the outline of a data point: a polygon within the unit circle, filled or hollow.
type Marker struct {
	Polygon [][2]float64
	Hollow  bool
}

// The dash patterns, in points.
var (
	solid      []vg.Length
	dashed     = []vg.Length{7, 3}
	dotted     = []vg.Length{1.5, 2.5}
	dashDotted = []vg.Length{7, 2.5, 1.5, 2.5}
	longDashed = []vg.Length{13, 4}
)

// The marker shapes.
var (
	disc      = regularPolygon(16, 0, 0.9)
	square    = regularPolygon(4, math.Pi/4, 1.1)
	diamond   = regularPolygon(4, 0, 1.15)
	triangle  = regularPolygon(3, math.Pi/2, 1.15)
	nabla     = regularPolygon(3, -math.Pi/2, 1.15)
	hexagon   = regularPolygon(6, 0, 1.05)
	star      = starPolygon(5, 1.25, 0.5)
	fourStar  = starPolygon(4, 1.3, 0.4)
	bar       = [][2]float64{{-0.3, -1.1}, {0.3, -1.1}, {0.3, 1.1}, {-0.3, 1.1}}
	flatBar   = [][2]float64{{-1.1, -0.3}, {1.1, -0.3}, {1.1, 0.3}, {-1.1, 0.3}}
	allShapes = [][][2]float64{disc, square, diamond, triangle, nabla, hexagon, star, fourStar, bar, flatBar}
)

// known lists the styles of the strategies that there are, core models first. The colours of the four core
// models follow Okabe and Ito's palette (https://jfly.uni-koeln.de/color/), shifted so that their
// greys are apart too.
var known = []struct {
	name  string
	style Style
}{
	{"mutex", Style{rgb(0x00457a), Marker{Polygon: disc}, solid}},
	{"rwmutex", Style{rgb(0xe69f00), Marker{Polygon: square}, dashed}},
	{"atomics", Style{rgb(0x0e8f69), Marker{Polygon: triangle}, longDashed}},
	{"actor", Style{rgb(0xe0561b), Marker{Polygon: diamond}, dashDotted}},
	{"mutex-brief", Style{rgb(0x56b4e9), Marker{disc, true}, longDashed}},
	{"rwmutex-brief", Style{rgb(0x8c6d00), Marker{square, true}, dashDotted}},
	{"mutex-rcu", Style{rgb(0xcc79a7), Marker{Polygon: nabla}, solid}},
	{"mutex-group", Style{rgb(0x0072b2), Marker{nabla, true}, dashDotted}},
	{"actor-plain", Style{rgb(0x8b2e00), Marker{diamond, true}, solid}},
	{"actor-mailbox", Style{rgb(0x7a4fb3), Marker{Polygon: star}, dashed}},
	{"rbmutex", Style{rgb(0x5c7a00), Marker{Polygon: hexagon}, dotted}},
	{"raw", Style{rgb(0x6e6e6e), Marker{Polygon: fourStar}, dotted}},
	{"null", Style{rgb(0xa8a8a8), Marker{hexagon, true}, dashDotted}},
	{"busted", Style{rgb(0xb00020), Marker{star, true}, dotted}},
	{"A/A", Style{rgb(0x1a1a1a), Marker{triangle, true}, dotted}},
}

// StyleOf returns the style of the strategy with a name or table label ("A/A" included). A name that
// is not known gets a style that depends on the name alone. The same strategy of another build
// ("mutex@old") has its colour and shape, filled where that is hollow and hollow where it is filled.
func StyleOf(name string) Style {
	if strategy, _, other := strings.Cut(name, "@"); other {
		style := StyleOf(strategy)
		style.Marker.Hollow = !style.Marker.Hollow
		if slices.Equal(style.Dashes, dotted) {
			style.Dashes = dashed
		} else {
			style.Dashes = dotted
		}
		return style
	}
	for _, k := range known {
		if k.name == name {
			return k.style
		}
	}
	hash := fnv.New32a()
	hash.Write([]byte(name))
	n := int(hash.Sum32() >> 1)
	dashes := [][]vg.Length{solid, dashed, dotted, dashDotted, longDashed}
	return Style{
		Color:  known[n%len(known)].style.Color,
		Marker: Marker{allShapes[n/16%len(allShapes)], n/256%2 == 0},
		Dashes: dashes[n/1024%len(dashes)],
	}
}

// line is the style of a curve, width in points.
func (s Style) line(width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: s.Color, Width: width, Dashes: slices.Clone(s.Dashes)}
}

// glyph is the style of a data point.
func (s Style) glyph(radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.Color, Radius: radius, Shape: s.Marker}
}

// DrawGlyph implements draw.GlyphDrawer.
func (m Marker) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	var path vg.Path
	for i, v := range m.Polygon {
		p := vg.Point{X: at.X + style.Radius*vg.Length(v[0]), Y: at.Y + style.Radius*vg.Length(v[1])}
		if i == 0 {
			path.Move(p)
		} else {
			path.Line(p)
		}
	}
	path.Close()
	if m.Hollow {
		c.SetColor(color.White)
		c.Fill(path)
	} else {
		c.SetColor(style.Color)
		c.Fill(path)
	}
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: 1})
	c.Stroke(path)
}

func regularPolygon(corners int, start, radius float64) [][2]float64 {
	points := make([][2]float64, corners)
	for i := range points {
		sin, cos := math.Sincos(start + 2*math.Pi*float64(i)/float64(corners))
		points[i] = [2]float64{radius * cos, radius * sin}
	}
	return points
}

func starPolygon(tips int, outer, inner float64) [][2]float64 {
	points := regularPolygon(2*tips, math.Pi/2, 1)
	for i := range points {
		radius := outer
		if i%2 == 1 {
			radius = inner
		}
		points[i][0] *= radius
		points[i][1] *= radius
	}
	return points
}

// pale is a colour for what stands behind something else.
func pale(c color.NRGBA) color.NRGBA {
	c.A = 130
	return c
}

// faded is a colour for what counts for less: half way to white, and opaque.
func faded(c color.NRGBA) color.NRGBA {
	lighter := func(v uint8) uint8 { return uint8((int(v) + 255) / 2) }
	return color.NRGBA{R: lighter(c.R), G: lighter(c.G), B: lighter(c.B), A: c.A}
}

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}
