package plots

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"
	"testing"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"

	"tailrace/results"
)

// writing is a text of a chart, with the box around its letters in points.
type writing struct {
	text string
	size float64
	box  vg.Rectangle
}

// writings returns the texts of an SVG document that this package drew.
func writings(t *testing.T, svg []byte) []writing {
	t.Helper()
	var all []writing
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	var current *writing
	var x, y float64
	bold := false
	for {
		token, err := decoder.Token()
		if err != nil {
			return all
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local != "text" {
				continue
			}
			current = &writing{}
			for _, a := range token.Attr {
				switch a.Name.Local {
				case "x":
					x = number(t, a.Value)
				case "y":
					y = -number(t, a.Value)
				case "style":
					bold = strings.Contains(a.Value, "font-weight:bold")
					_, size, _ := strings.Cut(a.Value, "font-size:")
					size, _, _ = strings.Cut(size, "px")
					current.size = number(t, size)
				}
			}
		case xml.CharData:
			if current != nil {
				current.text += string(token)
			}
		case xml.EndElement:
			if current == nil {
				continue
			}
			style := textStyle(vg.Length(current.size))
			if bold {
				style.Font.Weight = stdfont.WeightBold
			}
			const ascent, descent = 0.73, 0.21 // of the letters themselves
			current.box = vg.Rectangle{
				Min: vg.Point{X: vg.Length(x), Y: vg.Length(y - descent*current.size)},
				Max: vg.Point{X: vg.Length(x) + style.Width(current.text), Y: vg.Length(y + ascent*current.size)},
			}
			all = append(all, *current)
			current = nil
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkLegible fails the test if a text of a chart is smaller than six pixels at half size, lies over another or
// reaches out of the chart.
func checkLegible(t *testing.T, c Chart) {
	t.Helper()
	const smallest = 12
	texts := writings(t, c.SVG)
	if len(texts) < 2 {
		t.Errorf("%s: %d texts", c.Name, len(texts))
	}
	for i, a := range texts {
		if a.size < smallest {
			t.Errorf("%s: %q is %g points high", c.Name, a.text, a.size)
		}
		if a.box.Min.X < 0 || a.box.Max.X > figureWidth || a.box.Min.Y < 0 {
			t.Errorf("%s: %q reaches out of the chart: %.4v", c.Name, a.text, a.box)
		}
		for _, b := range texts[:i] {
			if overlap([]vg.Rectangle{a.box}, []vg.Rectangle{b.box}) {
				t.Errorf("%s: %q and %q lie over one another", c.Name, a.text, b.text)
			}
		}
	}
}

// Labels keep apart on axes of any range.
func TestLabelsAreApart(t *testing.T) {
	long(t)
	t.Parallel()
	metric := results.LatencyMetric(results.KindProduce, "p99")
	for _, low := range []float64{1e-9, 3.3e-6, 0.2} {
		for _, ratio := range []float64{1, 1.0001, 1.1, 9, 1e5, 1e9} {
			p := fixturePanel(2, func(r *results.Run) {
				addSeries(r)
				for i, q := range r.Series.Quantiles[metric] {
					if q != nil {
						*q = low * (1 + (ratio-1)*float64(i)/10)
					}
				}
				r.Metrics[metric] = low * (1 + (ratio-1)*float64(r.Index)/20)
			})
			checkLegible(t, within(t, func() (Chart, error) { return some(latencyOverTime(p, results.KindProduce)) }))
			checkLegible(t, within(t, func() (Chart, error) { return metricChart(p, metric) }))
		}
	}
}

// The axis of a trend is ticked at tested values, whichever these are.
func TestTestedValuesAreApart(t *testing.T) {
	t.Parallel()
	for _, values := range [][]float64{
		{1, 2}, {1, 1.5, 1000, 1001}, {0, 1, 2, 99, 100}, {100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111}, {512, 1024, 4096, 1 << 20, 1<<20 + 1},
	} {
		tr := fixtureTrend()
		tr.Key, tr.Values, tr.Crossovers = "record-size", values, nil
		line := tr.Lines[0]
		line.Fit, line.Levels = nil, nil
		for _, v := range values {
			line.Levels = append(line.Levels, results.Level{Value: v, Values: []float64{v + 1}, Median: v + 1})
		}
		tr.Lines = []results.Line{line}
		c := within(t, func() (Chart, error) { return trendChart(tr, 0) })
		checkLegible(t, c)
		var shown []string
		for _, w := range writings(t, c.SVG) {
			shown = append(shown, w.text)
		}
		for _, v := range []float64{values[0], values[len(values)-1]} {
			if label := lastZeros.ReplaceAllString(tr.Format(v), "$1$2"); !slices.Contains(shown, label) {
				t.Errorf("%v: %s is not on the axis: %q", values, label, shown)
			}
		}
	}
}

// Without colour, two strategies have different markers, and lines that differ in their dashes or are apart in grey.
func TestLinesDifferInGrey(t *testing.T) {
	grey := func(s Style) int { return int(color.GrayModel.Convert(s.Color).(color.Gray).Y) }
	for i, a := range known {
		for _, b := range known[:i] {
			if fmt.Sprint(a.style.Marker) == fmt.Sprint(b.style.Marker) {
				t.Errorf("%s and %s have one marker", a.name, b.name)
			}
			apart := grey(a.style) - grey(b.style)
			if slices.Equal(a.style.Dashes, b.style.Dashes) && -10 < apart && apart < 10 {
				t.Errorf("the lines of %s and %s have one dash pattern and are %d of 255 greys apart", a.name, b.name, apart)
			}
		}
	}
}
