package results

import "slices"

// fillTables makes the tables of a section with cells.
func (s *Section) fillTables(sweep *index) {
	s.Tables = append(s.Tables, s.primaryTable(&sweep.Meta))
	for _, kind := range []string{KindProduce, KindConsume, KindEndToEnd} {
		if t, ok := s.roleTable(kind); ok {
			s.Tables = append(s.Tables, t)
		}
	}
	for _, further := range []func() (Table, bool){s.stepsTable, s.frontTable, s.pacingTable, s.harnessTable, func() (Table, bool) { return sweep.hostTable(s) }} {
		if t, ok := further(); ok {
			s.Tables = append(s.Tables, t)
		}
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
		if bound, ok := c.Bound(metric); ok {
			return boundSign + " " + FormatMetric(metric, bound)
		}
		return absent
	})
}

// boundSign stands before what a latency is at most.
const boundSign = "≤"

// has reports whether any cell has a median of a metric.
func (s *Section) has(metric string) bool {
	return slices.ContainsFunc(s.Cells, func(c CellSummary) bool {
		_, known := c.Median(metric)
		_, bounded := c.Bound(metric)
		return known || bounded
	})
}

// primaryTable is the planned comparison and what it costs.
func (s *Section) primaryTable(meta *Meta) Table {
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
	base := meta.Baseline
	if meta.Against != nil {
		base = meta.Against.Label
	}
	versus := s.column("vs "+base, func(c *CellSummary) string { return s.comparisonText(c.Cell, meta) })
	versus.Left = true
	t.Columns = append(t.Columns, versus, s.cpuColumn())
	return t
}

// comparisonText is what a cell's comparison with the baseline found.
func (s *Section) comparisonText(c Cell, meta *Meta) string {
	if c.Arm != "" {
		for _, h := range s.Health {
			return h.Text()
		}
	}
	if s.isBaseline(c, meta) {
		return "baseline"
	}
	for _, e := range s.Effects {
		if cell, _ := e.sides(); cell == c {
			return e.Text()
		}
	}
	return ""
}

func (s *Section) isBaseline(c Cell, meta *Meta) bool {
	if meta.Against == nil && c == cellAt(s.Point, meta.Baseline, "") {
		return true
	}
	return slices.ContainsFunc(s.Effects, func(e Effect) bool { _, baseline := e.sides(); return baseline == c })
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
