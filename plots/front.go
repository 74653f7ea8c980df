package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tailrace/results"
)

// frontMember is one strategy of a front that the axes can show.
type frontMember struct {
	label string
	note  string // what it has of the metrics that are on no axis
	style Style
	at    point
	front bool // no other beats it
}

// frontChart draws the strategies of a panel by the first two metrics that are weighed there; nil where there
// are no two.
func frontChart(p *panel) (*Chart, error) {
	if p.Front == nil || len(p.Front.Metrics) < 2 {
		return nil, nil
	}
	metrics := p.Front.Metrics
	f := &figure{width: figureWidth, height: figureHeight}
	f.title = p.title(fmt.Sprintf("%s against %s", results.MetricLabel(metrics[0]), results.MetricLabel(metrics[1])))
	f.x, f.xTitle = metricScale(metrics[0])
	f.y, f.yTitle = metricScale(metrics[1])

	members, missing := frontMembers(p.Front, f)
	var on, off []string
	for _, m := range members {
		f.legend = append(f.legend, legendEntry{name: m.label, sample: func(c draw.Canvas, left, right, y vg.Length) {
			c.DrawGlyphNoClip(m.style.glyph(5), vg.Point{X: (left + right) / 2, Y: y})
		}})
		where := fmt.Sprintf("%s at %s and %s", m.label, f.x.format(m.at.x), f.y.format(m.at.y))
		if m.front {
			on = append(on, where)
		} else {
			off = append(off, where)
		}
	}
	if len(off) > 0 {
		f.legend = append(f.legend, legendEntry{name: "pale: beaten", sample: func(draw.Canvas, vg.Length, vg.Length, vg.Length) {}})
	}
	if len(members) == 0 {
		f.message = noValue
	}
	f.plotters = []plot.Plotter{frontPlotter(members)}
	caption := []string{"Medians of the valid runs. Named are the strategies that no other beats on everything: " + metricList(metrics) +
		". Where these are several, none is the winner. The others are pale."}
	if len(metrics) > 2 {
		caption = append(caption, "Behind a name stands what is on neither axis: "+metricList(metrics[2:])+".")
	}
	for i := range p.Front.Members {
		if m := &p.Front.Members[i]; m.DominatedBy != "" {
			caption = append(caption, fmt.Sprintf("%s is beaten by %s.", m.Label, m.DominatedBy))
		}
	}
	for _, label := range missing {
		caption = append(caption, fmt.Sprintf("%s lacks one of the two and is not drawn.", label))
	}
	alt := "Not beaten: " + strings.Join(on, ", ")
	if len(off) > 0 {
		alt += ". Beaten: " + strings.Join(off, ", ")
	}
	chart, err := Chart{
		Name:     p.name("front"),
		Workload: p.Workload.Name,
		Point:    p.Point,
		noImage:  p.noImages,
		Kind:     KindFront,
		Caption:  strings.Join(append(caption, p.notes()...), " "),
		Alt:      alt + ".",
	}.finish(f)
	return &chart, err
}

// metricScale is an axis for a metric, and its title.
func metricScale(metric string) (scale, string) {
	s := scale{format: func(v float64) string { return results.FormatMetric(metric, v) }}
	if results.LowerIsBetter(metric) {
		s.log = true
		return s, results.MetricLabel(metric) + ", less is better"
	}
	s.cover(0)
	return s, results.MetricLabel(metric) + ", more is better"
}

func metricList(metrics []string) string {
	var labels []string
	for _, metric := range metrics {
		labels = append(labels, results.MetricLabel(metric))
	}
	return strings.Join(labels, ", ")
}

// frontMembers returns the members that the axes of f can show, which these cover, and the labels of others.
func frontMembers(front *results.Front, f *figure) (members []frontMember, missing []string) {
	for i := range front.Members {
		of := &front.Members[i]
		if len(of.Values) < 2 || !f.x.accepts(of.Values[0]) || !f.y.accepts(of.Values[1]) {
			missing = append(missing, of.Label)
			continue
		}
		m := frontMember{label: of.Label, style: StyleOf(of.Label), at: point{of.Values[0], of.Values[1]}, front: of.DominatedBy == ""}
		f.x.cover(m.at.x)
		f.y.cover(m.at.y)
		if !m.front {
			m.style.Color = faded(m.style.Color)
		}
		for i, metric := range front.Metrics[2:] {
			if at := i + 2; at < len(of.Values) && (&scale{}).accepts(of.Values[at]) {
				m.note += ", " + results.FormatMetric(metric, of.Values[at]) + " " + results.MetricLabel(metric)
			}
		}
		members = append(members, m)
	}
	return members, missing
}

// frontPlotter draws the members, with a line through those on the front where that is one on these two axes, and
// their names.
func frontPlotter(members []frontMember) plot.Plotter {
	return plotterFunc(func(c draw.Canvas, toX, toY func(float64) vg.Length) {
		at := func(m *frontMember) vg.Point { return vg.Point{X: toX(m.at.x), Y: toY(m.at.y)} }
		if line := frontLine(members); len(line) > 1 {
			var points []vg.Point
			for i := range line {
				points = append(points, at(&line[i]))
			}
			c.StrokeLines(draw.LineStyle{Color: fadedInk, Width: 0.8}, points)
		}
		const radius = 6
		var taken []vg.Rectangle
		for _, front := range []bool{false, true} { // those on the front lie on top
			for i := range members {
				if m := &members[i]; m.front == front {
					c.DrawGlyphNoClip(m.style.glyph(radius), at(m))
					taken = append(taken, around(at(m), radius+2))
				}
			}
		}
		for i := range members {
			if m := &members[i]; m.front {
				style := textStyle(textSize)
				name := shorten(m.label, style, 130)
				boxes := drawName(c, style, at(m), name+m.note, taken)
				if boxes == nil {
					boxes = drawName(c, style, at(m), name, taken)
				}
				taken = append(taken, boxes...)
			}
		}
	})
}

// frontLine returns the members on the front from left to right if they rise all the way, or fall; a line that went
// up and down would be of what the axes don't show.
func frontLine(members []frontMember) []frontMember {
	line := slices.DeleteFunc(slices.Clone(members), func(m frontMember) bool { return !m.front })
	slices.SortStableFunc(line, func(a, b frontMember) int { return cmp.Or(cmp.Compare(a.at.x, b.at.x), cmp.Compare(a.at.y, b.at.y)) })
	rises, falls := true, true
	for i := 1; i < len(line); i++ {
		rises = rises && line[i].at.y >= line[i-1].at.y
		falls = falls && line[i].at.y <= line[i-1].at.y
	}
	if !rises && !falls {
		return nil
	}
	return line
}
