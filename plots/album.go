package plots

import "slices"

// mostInline is how many bytes of charts the page holds.
const mostInline = 4 << 20

// chapters are the kinds of charts that the page shows in one place, those that it can least do without first. Charts
// of other kinds are those of points.
var chapters = [][]ChartKind{{KindTrend}, {KindEffects}, {}}

func chapterOf(kind ChartKind) int {
	at := slices.IndexFunc(chapters, func(kinds []ChartKind) bool { return slices.Contains(kinds, kind) })
	if at < 0 {
		return len(chapters) - 1
	}
	return at
}

// album collects charts for the page. It holds no more of a chapter than the page could: once that is too large, the
// chapter's charts lose their SVG.
type album struct {
	charts []Chart
	size   [3]int // bytes, by chapter
}

func (a *album) add(chart Chart) {
	chapter := chapterOf(chart.Kind)
	before := a.size[chapter]
	a.size[chapter] += len(chart.SVG)
	a.charts = append(a.charts, chart)
	switch {
	case before > mostInline:
		a.charts[len(a.charts)-1].SVG = nil
	case a.size[chapter] > mostInline:
		a.strip(chapter)
	}
}

// fitting returns the charts, of which those that don't fit into so many bytes are without SVG. A chapter has all of
// them or none.
func (a *album) fitting(room int) []Chart {
	for chapter, size := range a.size {
		if size <= room {
			room -= size
		} else {
			a.strip(chapter)
		}
	}
	return a.charts
}

func (a *album) strip(chapter int) {
	for i := range a.charts {
		if chapterOf(a.charts[i].Kind) == chapter {
			a.charts[i].SVG = nil
		}
	}
}
