package plots

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image/color"
	"strings"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes in points. Text of 12 points on a figure 600 wide can still be read at half size.
const (
	figureWidth  = 600
	figureHeight = 340
	margin       = 10
	labelRoom    = 50 // about what the labels of a y axis take
	titleSize    = 14
	textSize     = 12
	pixelsPerIn  = 144 // of a PNG: two pixels a point
)

var (
	ink      = rgb(0x222222)
	fadedInk = rgb(0x5a5a5a)
	gridInk  = rgb(0xe3e3e3)
)

// What a chart says when nothing can be drawn.
const (
	noRuns  = "no valid runs"
	noValue = "no valid run carries this number"
	noRatio = "no two runs can be compared"
	tooFew  = "too few samples for any percentile"
	tooLate = "no percentile: too few samples, or the load itself too late"
)

// figure is a chart before it is rendered: axes, what is drawn between them, and a legend beside.
type figure struct {
	title          string
	width, height  vg.Length
	x, y           scale
	xTitle, yTitle string
	rows           []string  // names of the rows when y counts rows, from 0 at the top downwards
	rowRoom        vg.Length // width for these names; 0 is a third of the figure
	rightRoom      vg.Length // beside the axes, for what a plotter writes there
	topRoom        vg.Length // above them
	plotters       []plot.Plotter
	legend         []legendEntry
	message        string // drawn in place of everything but the title
}

// legendEntry is one line of a legend: a strategy, or whatever sample draws from left to right around the
// height y.
type legendEntry struct {
	name   string
	style  Style
	sample func(c draw.Canvas, left, right, y vg.Length)
}

// plotterFunc draws data between the axes: toX and toY turn data into positions on the canvas.
type plotterFunc func(c draw.Canvas, toX, toY func(float64) vg.Length)

// Plot implements plot.Plotter.
func (f plotterFunc) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	f(c, toX, toY)
}

// rowTicks marks the middle of each row of a figure with its name, which may have several lines.
func rowTicks(names []string, width vg.Length) plot.ConstantTicks {
	ticks := make(plot.ConstantTicks, len(names))
	for i, name := range names {
		lines := strings.Split(name, "\n")
		for j := range lines {
			lines[j] = shorten(lines[j], textStyle(textSize), width)
		}
		ticks[i] = plot.Tick{Value: -float64(i), Label: strings.Join(lines, "\n")}
	}
	return ticks
}

// renderSVG draws the figure as an SVG document.
func (f *figure) renderSVG(alt string) ([]byte, error) {
	vector := vgsvg.NewWith(vgsvg.UseWH(f.width, f.height))
	paper := draw.New(vector)
	paper.SetColor(color.White)
	paper.Fill(paper.Rectangle.Path())
	f.draw(paper)
	var raw bytes.Buffer
	if _, err := vector.WriteTo(&raw); err != nil {
		return nil, fmt.Errorf("plots: svg of %q: %w", f.title, err)
	}
	svg, err := tidySVG(raw.String(), f.width, f.height, alt)
	if err != nil {
		return nil, fmt.Errorf("plots: svg of %q: %w", f.title, err)
	}
	return svg, nil
}

// renderPNG draws the figure as an image.
func (f *figure) renderPNG() ([]byte, error) {
	raster := vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(pixelsPerIn)) // is white already
	f.draw(draw.New(raster))
	png, err := encodePNG(raster.Image())
	if err != nil {
		return nil, fmt.Errorf("plots: png of %q: %w", f.title, err)
	}
	return png, nil
}

// tidySVG replaces the root element by one that scales, carries a text alternative and names fonts
// that are present without a download: Arial has the widths of Liberation Sans, with which the
// figure was laid out.
func tidySVG(raw string, width, height vg.Length, alt string) ([]byte, error) {
	root := strings.Index(raw, "<svg")
	if root < 0 {
		return nil, fmt.Errorf("no svg element")
	}
	end := strings.IndexByte(raw[root:], '>')
	if end < 0 {
		return nil, fmt.Errorf("unterminated svg element")
	}
	body := strings.NewReplacer(
		"font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;", "",
		"font-family:Liberation Sans;font-variant:normal;", "",
		"font-style:normal;", "",
		"\n\tstyle=", " style=",
		";stroke-opacity:1", "",
	).Replace(raw[root+end+1:])
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f"`,
		width*4/3, height*4/3, width, height)
	fmt.Fprintf(&out, ` font-family="'Liberation Sans',Arial,Helvetica,sans-serif" role="img" aria-label="%s">`,
		html.EscapeString(alt))
	out.WriteString(body)
	return []byte(out.String()), nil
}

// draw draws the figure on white paper.
func (f *figure) draw(c draw.Canvas) {
	c = draw.Crop(c, margin, -margin, margin, -margin)

	title := textStyle(titleSize)
	title.Font.Weight = stdfont.WeightBold
	title.YAlign = draw.YTop
	c.FillText(title, vg.Point{X: c.Min.X, Y: c.Max.Y}, shorten(f.title, title, c.Max.X-c.Min.X))
	c = draw.Crop(c, 0, 0, 0, -(titleSize + 12))

	if f.message != "" {
		words := textStyle(titleSize)
		words.Color = fadedInk
		words.XAlign, words.YAlign = draw.XCenter, draw.YCenter
		c.FillText(words, c.Center(), f.message)
		return
	}
	c = f.drawLegend(c)
	// Plot would turn the y axis's title and make room for it in the wrong place on a logarithmic
	// axis, so both titles are drawn here.
	style := textStyle(textSize)
	style.Color = fadedInk
	if f.yTitle != "" {
		c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y - textSize}, f.yTitle)
		c = draw.Crop(c, 0, 0, 0, -(textSize + 8))
	}
	style.XAlign = draw.XRight
	c.FillText(style, vg.Point{X: c.Max.X - f.rightRoom, Y: c.Min.Y + 2}, f.xTitle)
	c = draw.Crop(c, 0, -f.rightRoom, textSize+8, -f.topRoom)
	f.axes(c.Max.X - c.Min.X).Draw(c)
}

// axes is the plot with everything but title and legend.
func (f *figure) axes(width vg.Length) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	f.x.apply(&p.X, max(3, int(width/62)))
	if f.x.marks != nil {
		p.X.Tick.Marker = thinLabels(&p.X, width-labelRoom)
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Tick.Label.Font = textFont(textSize)
		axis.Tick.Label.Color = ink
		axis.Tick.Length = 5
		axis.Tick.LineStyle.Color = fadedInk
		axis.LineStyle.Color = fadedInk
		axis.Padding = 2
	}
	if f.rows != nil {
		p.Y.Min, p.Y.Max = -float64(len(f.rows)-1)-0.5, 0.5
		p.Y.Tick.Marker = rowTicks(f.rows, cmp.Or(f.rowRoom, width/3))
		p.Y.Tick.Length, p.Y.LineStyle.Width = 0, 0
	} else {
		f.y.apply(&p.Y, 7)
	}
	p.Add(grid{rows: f.rows != nil})
	p.Add(f.plotters...)
	return p
}

// grid draws a faint line at every labelled tick of each axis that measures something.
type grid struct{ rows bool }

// Plot implements plot.Plotter.
func (g grid) Plot(c draw.Canvas, p *plot.Plot) {
	line := draw.LineStyle{Color: gridInk, Width: 0.7}
	toX, toY := p.Transforms(&c)
	for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if x := toX(tick.Value); !tick.IsMinor() && c.ContainsX(x) {
			c.StrokeLine2(line, x, c.Min.Y, x, c.Max.Y)
		}
	}
	if g.rows {
		return
	}
	for _, tick := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if y := toY(tick.Value); !tick.IsMinor() && c.ContainsY(y) {
			c.StrokeLine2(line, c.Min.X, y, c.Max.X, y)
		}
	}
}

// drawLegend draws the legend at the right, one line a strategy, and returns what is left of the
// canvas. There it can never lie over data.
func (f *figure) drawLegend(c draw.Canvas) draw.Canvas {
	if len(f.legend) == 0 {
		return c
	}
	const sample, gap = 34, 6
	style := textStyle(textSize)
	var names []string
	var widest vg.Length
	for _, e := range f.legend {
		name := shorten(e.name, style, (c.Max.X-c.Min.X)/4)
		names = append(names, name)
		widest = max(widest, style.Width(name))
	}
	left := c.Max.X - widest - sample - gap
	step := min(18, (c.Max.Y-c.Min.Y)/vg.Length(len(names)))
	for i, e := range f.legend {
		y := c.Max.Y - step*(vg.Length(i)+0.5)
		if e.sample != nil {
			e.sample(c, left, left+sample, y)
		} else {
			c.StrokeLine2(e.style.line(2), left, y, left+sample, y)
			c.DrawGlyphNoClip(e.style.glyph(4), vg.Point{X: left + sample/2, Y: y})
		}
		fillTextBeside(c, style, left+sample+gap, y, names[i])
	}
	return draw.Crop(c, 0, -(widest + sample + gap + 14), 0, 0)
}

func textFont(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func textStyle(size vg.Length) text.Style {
	return text.Style{Color: ink, Font: textFont(size), Handler: plot.DefaultTextHandler}
}

// fillTextBeside writes s to the right of x, its lower-case letters centred on y.
func fillTextBeside(c draw.Canvas, style text.Style, x, y vg.Length, s string) {
	style.YAlign = draw.YCenter
	c.FillText(style, vg.Point{X: x, Y: y + style.FontExtents().Descent}, s)
}

// changeOf is "from → to", both names shortened alike where they don't fit into width.
func changeOf(from, to string, style text.Style, width vg.Length) string {
	const arrow = " → "
	if whole := from + arrow + to; style.Width(whole) <= width {
		return whole
	}
	half := (width - style.Width(arrow)) / 2
	switch {
	case style.Width(from) < half:
		half = width - style.Width(arrow) - style.Width(from)
	case style.Width(to) < half:
		half = width - style.Width(arrow) - style.Width(to)
	}
	return shorten(from, style, half) + arrow + shorten(to, style, half)
}

// shorten cuts s, with an ellipsis, to what fits into width.
func shorten(s string, style text.Style, width vg.Length) string {
	s = strings.Join(strings.Fields(s), " ")
	if style.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 1 && style.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}
