package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// section is what tables show of one workload at one point.
type section struct {
	name        string
	description string
	labels      column
	groups      []columnGroup
	pacing      []columnGroup // how well an open loop was paced; for readers with more room
	notes       []string
}

// sections returns the tables of the sweep: one a workload, or one a point where a workload was run at
// several concurrencies.
func (s *Sweep) sections() []section {
	cells := s.Cells()
	effects := s.Effects()
	health := s.Health()
	var sections []section
	for _, name := range s.workloadNames() {
		points := s.points(name)
		for _, point := range points {
			at := slices.Clone(cells)
			at = slices.DeleteFunc(at, func(c CellSummary) bool { return pointOf(c.Cell) != point })
			sections = append(sections, s.section(point, pointLabel(point, points), at, effects, health))
		}
	}
	return sections
}

func (s *Sweep) section(point Cell, label string, cells []CellSummary, effects []Effect, health []Health) section {
	w := s.workload(point.Workload)
	sec := section{name: w.Name, description: describe(w, point, label), notes: slices.Clone(w.Notes)}
	for i := range cells {
		sec.labels.cells = append(sec.labels.cells, cells[i].Cell.Label())
	}
	sec.groups = append(sec.groups, s.primaryGroup(cells, effects, health))
	for _, kind := range []string{KindProduce, KindConsume, KindEndToEnd} {
		if g, ok := roleGroup(kind, point, cells); ok {
			sec.groups = append(sec.groups, g)
		}
	}
	if g, ok := pacingGroup(cells); ok {
		sec.pacing = append(sec.pacing, g)
	}
	here := effectsAt(point, effects)
	for i := range cells {
		distrust := s.distrust(point, cells[i].Cell.Strategy, s.primary(w.Name))
		told := func(e Effect) bool { return e.Reason == distrust }
		if distrust == "" || !slices.ContainsFunc(here, told) {
			sec.notes = append(sec.notes, cellNotes(&cells[i])...)
		}
	}
	sec.notes = append(sec.notes, effectNotes(here)...)
	return sec
}

// describe is the description of a workload and of what is special about a point, with the kind of loop
// if it does not tell.
func describe(w Workload, point Cell, label string) string {
	var parts []string
	for _, part := range []string{w.Description, label} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if !strings.Contains(w.Description, "loop") {
		if isOpenLoop(point) {
			parts = append(parts, "open loop")
		} else {
			parts = append(parts, "closed loop")
		}
	}
	return strings.Join(parts, ", ")
}

// pointLabel names what distinguishes a point from the others of its workload; "" if it is the only one.
func pointLabel(point Cell, points []Cell) string {
	var parts []string
	for _, key := range cellKeys {
		differs := func(other Cell) bool { return key.value(other) != key.value(point) }
		if slices.ContainsFunc(points, differs) {
			parts = append(parts, key.key+" "+cmp.Or(key.value(point), "0"))
		}
	}
	return strings.Join(parts, ", ")
}

func isOpenLoop(c Cell) bool { return c.ProduceRate > 0 || c.ConsumeRate > 0 }

func effectNotes(effects []Effect) []string {
	if reason, ok := commonReason(effects); ok {
		return []string{"no verdict: " + reason}
	}
	var notes []string
	for _, e := range effects {
		if e.Reason != "" {
			notes = append(notes, fmt.Sprintf("%s: %s: %s", e.Strategy, e.Verdict, e.Reason))
		}
	}
	return notes
}

func effectsAt(point Cell, effects []Effect) []Effect {
	return slices.DeleteFunc(slices.Clone(effects), func(e Effect) bool { return e.Point != point })
}

func cellNotes(c *CellSummary) []string {
	var notes []string
	if c.Overloaded > 0 {
		notes = append(notes, fmt.Sprintf("%s: latency unbounded, overloaded in %d of %d runs", c.Cell.Label(), c.Overloaded, c.Valid))
	}
	if failed := c.Runs - c.Valid; failed > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d of %d runs failed verification and count for nothing", c.Cell.Label(), failed, c.Runs))
	}
	return notes
}

// primaryGroup is the planned comparison and what it costs.
func (s *Sweep) primaryGroup(cells []CellSummary, effects []Effect, health []Health) columnGroup {
	var g columnGroup
	if len(cells) == 0 {
		return g
	}
	primary := s.primary(cells[0].Cell.Workload)
	add := func(head string, left bool, text func(c *CellSummary) string) {
		col := column{head: head, left: left}
		for i := range cells {
			col.cells = append(col.cells, text(&cells[i]))
		}
		g.columns = append(g.columns, col)
	}
	add(MetricLabel(primary), false, func(c *CellSummary) string { return medianText(c, primary) })
	if slices.ContainsFunc(cells, func(c CellSummary) bool { _, ok := c.OfRaw(); return ok }) {
		add("of raw", false, func(c *CellSummary) string {
			if share, ok := c.OfRaw(); ok {
				return FormatPercent(share)
			}
			return ""
		})
	}
	add("vs "+s.Meta.Baseline, true, func(c *CellSummary) string {
		return s.comparisonText(c.Cell, effects, health)
	})
	add(MetricLabel(MetricCPU), false, func(c *CellSummary) string { return medianText(c, MetricCPU) })
	return g
}

// medianText is the median of a metric. The latency of a cell that was overloaded in some runs is
// unbounded: the median of the others would be that of its luck. How late the load was is known still.
func medianText(c *CellSummary, metric string) string {
	value, ok := c.Median(metric)
	kind, _, isLatency := latencyParts(metric)
	if !ok || isLatency && kind != KindLateness && c.Overloaded > 0 {
		return absent
	}
	return FormatMetric(metric, value)
}

// comparisonText is what a cell's comparison with the baseline found.
func (s *Sweep) comparisonText(c Cell, effects []Effect, health []Health) string {
	point := pointOf(c)
	if c.Arm != "" {
		for _, h := range health {
			if h.Point != point {
				continue
			}
			word := "NOT HEALTHY"
			if h.Healthy {
				word = "healthy"
			}
			return intervalText(h.Interval) + " " + word
		}
		return ""
	}
	if c.Strategy == s.Meta.Baseline {
		return "baseline"
	}
	for _, e := range effects {
		if e.Point != point || e.Strategy != c.Strategy {
			continue
		}
		switch e.Verdict {
		case Undecided:
			return intervalText(e.Interval) + " ?"
		case NoDifference:
			return intervalText(e.Interval) + " ~"
		}
		return intervalText(e.Interval)
	}
	return ""
}

func intervalText(i Interval) string {
	if i.Blocks < 2 {
		return FormatRatio(i.Ratio)
	}
	return FormatInterval(i.Ratio, i.Low, i.High)
}

// roleGroup is what one role saw; false if nobody played it.
func roleGroup(kind string, point Cell, cells []CellSummary) (columnGroup, bool) {
	var g columnGroup
	switch {
	case kind == KindEndToEnd:
		g.title = "end to end"
	case kind == KindProduce && point.ProduceRate > 0, kind == KindConsume && point.ConsumeRate > 0:
		g.title = kind + ", from the intended time"
	default:
		g.title = kind + ", service time"
	}
	var played []bool
	if kind != KindEndToEnd {
		played = append(played, g.addMedians("op/s", kind+"-op/s", cells))
	}
	for _, statistic := range []string{"p50", "p99", "p999", "max"} {
		played = append(played, g.addMedians(statisticLabel(statistic), LatencyMetric(kind, statistic), cells))
	}
	return g, slices.Contains(played, true)
}

// pacingGroup is what stands beside the latencies of an open loop; false if there was none.
func pacingGroup(cells []CellSummary) (columnGroup, bool) {
	g := columnGroup{title: "service time, and lateness of the load itself"}
	for _, kind := range []string{KindProduceService, KindConsumeService, KindLateness} {
		has := func(c CellSummary) bool { _, ok := c.Median(LatencyMetric(kind, "p50")); return ok }
		if !slices.ContainsFunc(cells, has) {
			continue
		}
		for _, statistic := range []string{"p50", "p99"} {
			metric := LatencyMetric(kind, statistic)
			g.addMedians(MetricLabel(metric), metric, cells)
		}
	}
	return g, len(g.columns) > 0
}

// addMedians adds a column of medians, and reports whether any cell has one.
func (g *columnGroup) addMedians(head, metric string, cells []CellSummary) bool {
	col := column{head: head}
	known := false
	for i := range cells {
		_, ok := cells[i].Median(metric)
		known = known || ok
		col.cells = append(col.cells, medianText(&cells[i], metric))
	}
	g.columns = append(g.columns, col)
	return known
}
