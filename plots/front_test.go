package plots

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"tailrace/results"
)

func frontPanel(front *results.Front) *panel {
	p := fixturePanel(1, nil)
	p.Front = front
	return p
}

func TestFrontCaption(t *testing.T) {
	c := within(t, func() (Chart, error) { return some(frontChart(frontPanel(fixtureFront()))) })
	for _, want := range []string{
		"op/s, consume p99, CPU/op", "Behind a name stands what is on neither axis: CPU/op.", "mutex is beaten by atomics.", "raw lacks one of the two",
	} {
		if !strings.Contains(c.Caption, want) {
			t.Errorf("the caption does not say %q: %q", want, c.Caption)
		}
	}
	if want := "Not beaten: atomics at 1.02M and 2.2 µs"; !strings.Contains(c.Alt, want) {
		t.Errorf("alt %q, want %q in it", c.Alt, want)
	}
	if !bytes.Contains(c.SVG, []byte(">atomics, 1.9 µs CPU/op<")) {
		t.Error("atomics is not named beside its point")
	}
	if c.Name != "mix-front" || c.Kind != KindFront {
		t.Errorf("the chart is %s, %s", c.Name, c.Kind)
	}
}

func TestFrontLine(t *testing.T) {
	member := func(x, y float64, front bool) frontMember { return frontMember{at: point{x, y}, front: front} }
	tests := []struct {
		name    string
		members []frontMember
		want    int // points of the line
	}{
		{"rising", []frontMember{member(3, 9, true), member(1, 2, true), member(2, 5, true)}, 3},
		{"falling", []frontMember{member(1, 9, true), member(2, 5, true), member(3, 5, true)}, 3},
		{"up and down", []frontMember{member(1, 1, true), member(2, 5, true), member(3, 2, true)}, 0},
		{"others do not count", []frontMember{member(1, 1, true), member(2, 5, false), member(3, 2, true)}, 2},
		{"none", nil, 0},
	}
	for _, test := range tests {
		if got := frontLine(test.members); len(got) != test.want {
			t.Errorf("%s: %d points, want %d", test.name, len(got), test.want)
		}
	}
}

func TestFrontsOfLittle(t *testing.T) {
	for name, front := range map[string]*results.Front{"none": nil, "one metric": {Metrics: []string{results.MetricOps}}} {
		if c, err := frontChart(frontPanel(front)); c != nil || err != nil {
			t.Errorf("%s: a chart (%v)", name, err)
		}
	}
	empty := fixtureFront()
	empty.Members = nil
	c := within(t, func() (Chart, error) { return some(frontChart(frontPanel(empty))) })
	checkChart(t, c)
	if !bytes.Contains(c.SVG, []byte(noValue)) {
		t.Errorf("an empty chart does not say %q", noValue)
	}
}

func TestFrontsOfBadValues(t *testing.T) {
	long(t)
	t.Parallel()
	for _, v := range []float64{math.NaN(), math.Inf(1), -3, math.MaxFloat64, 1e-90, 1e90} {
		for metric := range 3 {
			one, all, short := fixtureFront(), fixtureFront(), fixtureFront()
			one.Members[2].Values[metric] = v
			for i := range all.Members {
				all.Members[i].Values[metric] = v
				short.Members[i].Values = short.Members[i].Values[:metric]
			}
			for _, front := range []*results.Front{one, all, short} {
				checkChart(t, within(t, func() (Chart, error) { return some(frontChart(frontPanel(front))) }))
			}
		}
	}
}

// Names keep clear of points, of one another and of the edges, in any crowd.
func TestNamesKeepApart(t *testing.T) {
	for _, n := range []int{1, 5, 20, 200} {
		c := draw.New(vgsvg.New(400, 200))
		var taken []vg.Rectangle
		points := make([]vg.Point, n)
		for i := range points {
			points[i] = vg.Point{X: vg.Length(math.Mod(float64(i)*61.8, 400)), Y: vg.Length(math.Mod(float64(i)*27.3, 200))}
			taken = append(taken, around(points[i], 4))
		}
		named := 0
		for _, at := range points {
			boxes := drawName(c, textStyle(textSize), at, "strategy, 1.9 µs", taken)
			if len(boxes) == 0 {
				continue
			}
			named++
			if !inside(boxes[0], c.Rectangle) || overlap(boxes, taken) {
				t.Errorf("%d points: the name at %v lies at %v", n, at, boxes)
			}
			taken = append(taken, boxes...)
		}
		if n <= 20 && named < n/2 || n == 1 && named == 0 {
			t.Errorf("%d points: %d names", n, named)
		}
	}
}
