package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Section is what was found of one workload at one point: part of a Summary.
type Section struct {
	// Workload has its primary metric filled in where Meta names none.
	Workload Workload
	Point    Cell // see Cell.Point
	// Where names what distinguishes the point from the others of its workload ("workers 4"); "" if it is
	// the only one.
	Where       string
	Description string

	Cells   []CellSummary // in the order of Sweep.Cells; empty if the workload was not run
	Effects []Effect
	Health  []Health
	Tables  []Table // the planned comparison, then one a role; rows are cells
	Notes   []string
}

// Table is one table of texts: a cell for each row in each column.
type Table struct {
	Title   string
	Labels  []string // of the rows
	Columns []Column
	// Detail is set on a table for readers with more room than a terminal has.
	Detail bool
}

// Column is one column of a table: a heading and a cell for each row.
type Column struct {
	Head  string
	Cells []string
	Left  bool // aligned to the left, as words are
}

// Sections returns what was found of each workload, at each point where one was run at several
// concurrencies, in the order of Cells. A workload that was not run has a section without cells.
func (s *Sweep) Sections() []Section {
	cells, effects, health := s.Cells(), s.Effects(), s.Health()
	var sections []Section
	for _, name := range s.workloadNames() {
		w := s.workload(name)
		w.Primary = s.primary(name)
		points := s.points(name)
		for _, point := range points {
			section := Section{Workload: w, Point: point, Where: pointLabel(point, points), Effects: effectsAt(point, effects)}
			section.Description = describe(w, point, section.Where)
			for _, c := range cells {
				if c.Cell.Point() == point {
					section.Cells = append(section.Cells, c)
				}
			}
			for _, h := range health {
				if h.Point == point {
					section.Health = append(section.Health, h)
				}
			}
			section.fillTables(s.Meta.Baseline)
			section.Notes = slices.Concat(w.Notes, s.cellNotes(&section), effectNotes(section.Effects))
			sections = append(sections, section)
		}
		if len(points) == 0 {
			sections = append(sections, Section{
				Workload: w, Point: Cell{Workload: name}, Description: w.Description,
				Notes: append(slices.Clone(w.Notes), "no run of this workload has ended"),
			})
		}
	}
	return sections
}

// describe is the description of a workload at a point: its own if there is one, with the number of
// processors, else that of the workload and what is special about the point. It names the kind of loop.
func describe(w Workload, point Cell, where string) string {
	description := w.Description
	for _, p := range w.Points {
		if p.Cell == point.anywhere() {
			description = p.Description
			_, processors, several := strings.Cut(where, gomaxprocsKey+" ")
			if where = ""; several {
				where = gomaxprocsKey + " " + processors
			}
		}
	}
	var parts []string
	for _, part := range []string{description, where} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if !strings.Contains(description, "loop") {
		if point.ProduceRate > 0 || point.ConsumeRate > 0 {
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

// cellNotes are the notes on the cells of a section, but for what its effects tell.
func (s *Sweep) cellNotes(section *Section) []string {
	var notes []string
	for i := range section.Cells {
		c := &section.Cells[i]
		distrust := s.distrust(section.Point, c.Cell.Strategy, section.Workload.Primary)
		told := func(e Effect) bool { return e.Reason == distrust }
		if distrust == "" || !slices.ContainsFunc(section.Effects, told) {
			notes = append(notes, c.Notes()...)
		}
	}
	return notes
}

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

// fillTables makes the tables of a section with cells.
func (s *Section) fillTables(baseline string) {
	s.Tables = append(s.Tables, s.primaryTable(baseline))
	for _, kind := range []string{KindProduce, KindConsume, KindEndToEnd} {
		if t, ok := s.roleTable(kind); ok {
			s.Tables = append(s.Tables, t)
		}
	}
	if t, ok := s.pacingTable(); ok {
		s.Tables = append(s.Tables, t)
	}
}

func (s *Section) table(title string) Table {
	t := Table{Title: title}
	for i := range s.Cells {
		t.Labels = append(t.Labels, s.Cells[i].Cell.Label())
	}
	return t
}

func (s *Section) column(head string, text func(c *CellSummary) string) Column {
	column := Column{Head: head}
	for i := range s.Cells {
		column.Cells = append(column.Cells, text(&s.Cells[i]))
	}
	return column
}

// medians is a column of the medians of a metric.
func (s *Section) medians(head, metric string) Column {
	return s.column(head, func(c *CellSummary) string {
		if median, ok := c.Median(metric); ok {
			return FormatMetric(metric, median)
		}
		return absent
	})
}

// has reports whether any cell has a median of a metric.
func (s *Section) has(metric string) bool {
	return slices.ContainsFunc(s.Cells, func(c CellSummary) bool { _, ok := c.Median(metric); return ok })
}

// primaryTable is the planned comparison and what it costs.
func (s *Section) primaryTable(baseline string) Table {
	t := s.table("")
	primary := s.Workload.Primary
	t.Columns = append(t.Columns, s.medians(MetricLabel(primary), primary))
	if slices.ContainsFunc(s.Cells, func(c CellSummary) bool { _, ok := c.OfRaw(); return ok }) {
		t.Columns = append(t.Columns, s.column("of raw", func(c *CellSummary) string {
			if share, ok := c.OfRaw(); ok {
				return FormatPercent(share)
			}
			return ""
		}))
	}
	versus := s.column("vs "+baseline, func(c *CellSummary) string { return s.comparisonText(c.Cell, baseline) })
	versus.Left = true
	t.Columns = append(t.Columns, versus, s.medians(MetricLabel(MetricCPU), MetricCPU))
	return t
}

// comparisonText is what a cell's comparison with the baseline found.
func (s *Section) comparisonText(c Cell, baseline string) string {
	switch {
	case c.Arm != "":
		for _, h := range s.Health {
			return h.Text()
		}
	case c.Strategy == baseline:
		return "baseline"
	}
	for _, e := range s.Effects {
		if c.Arm == "" && e.Strategy == c.Strategy {
			return e.Text()
		}
	}
	return ""
}

// roleTable is what one role saw; false if nobody played it.
func (s *Section) roleTable(kind string) (Table, bool) {
	title := kind + ", service time"
	switch {
	case kind == KindEndToEnd:
		title = "end to end"
	case s.Point.Paced(kind):
		title = kind + ", from the intended time"
	}
	t := s.table(title)
	played := false
	if kind != KindEndToEnd {
		rate := kind + "-op/s"
		played = s.has(rate)
		t.Columns = append(t.Columns, s.medians("op/s", rate))
	}
	for _, statistic := range []string{"p50", "p99", "p999"} {
		metric := LatencyMetric(kind, statistic)
		played = played || s.has(metric)
		t.Columns = append(t.Columns, s.medians(statisticLabel(statistic), metric))
	}
	t.Columns = append(t.Columns, s.column("max", func(c *CellSummary) string {
		metric := LatencyMetric(kind, "max")
		if _, ok := c.Median(metric); !ok {
			return absent
		}
		largest, _ := c.Max(metric)
		return FormatMetric(metric, largest)
	}))
	return t, played
}

// pacingTable is what stands beside the latencies of an open loop; false if there was none.
func (s *Section) pacingTable() (Table, bool) {
	t := s.table("service time, and lateness of the load itself")
	t.Detail = true
	for _, kind := range []string{KindProduceService, KindConsumeService, KindProduceLateness, KindConsumeLateness} {
		if !s.has(LatencyMetric(kind, "p50")) {
			continue
		}
		for _, statistic := range []string{"p50", "p99"} {
			metric := LatencyMetric(kind, statistic)
			t.Columns = append(t.Columns, s.medians(MetricLabel(metric), metric))
		}
	}
	return t, len(t.Columns) > 0
}
