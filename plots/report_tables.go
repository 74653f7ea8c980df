package plots

import (
	"fmt"
	"slices"
	"strings"

	"tailrace/results"
)

// reportSection is one workload at one point. The rows of its tables are strategies.
type reportSection struct {
	Description        string
	Labels             []string
	Primary            reportGroup
	Roles              []reportGroup
	Metrics, Latencies []reportChart
	Notes              []string
}

// reportGroup is a table: columns under one caption.
type reportGroup struct {
	Title   string
	Columns []reportColumn
}

type reportColumn struct {
	Head  string
	Cells []string
	Left  bool // words, not numbers
}

// newSection fills in everything but the charts.
func newSection(s *results.Sweep, p *panel, effects []results.Effect, health []results.Health) reportSection {
	section := reportSection{
		Description: description(p),
		Primary:     primaryTable(s, p, effects, health),
		Notes:       append(slices.Clone(p.workload.Notes), p.leftOut()...),
	}
	for i := range p.series {
		m := &p.series[i]
		section.Labels = append(section.Labels, m.label)
		if m.Overloaded > 0 {
			section.Notes = append(section.Notes, fmt.Sprintf("%s could not keep the rate in %d of %d runs: its latency is unbounded.",
				m.label, m.Overloaded, m.Valid))
		}
	}
	for _, e := range effects {
		if e.Point == p.point && e.Reason != "" {
			section.Notes = append(section.Notes, fmt.Sprintf("%s: %s, %s.", e.Strategy, e.Verdict, e.Reason))
		}
	}
	for _, k := range chartedKinds {
		if table, ok := latencyTable(p, k.kind, k.words); ok {
			section.Roles = append(section.Roles, table)
		}
	}
	if table, ok := pacingTable(p); ok {
		section.Roles = append(section.Roles, table)
	}
	return section
}

func description(p *panel) string {
	text := p.workload.Description
	for _, more := range []string{p.where, p.workload.Storage} {
		if more != "" {
			text += ", " + more
		}
	}
	return text + "."
}

func column(p *panel, head string, text func(m *series) string) reportColumn {
	c := reportColumn{Head: head}
	for i := range p.series {
		c.Cells = append(c.Cells, text(&p.series[i]))
	}
	return c
}

// medians is a column of a metric's medians. The latency of an overloaded strategy has none.
func medians(p *panel, head, metric string, latency bool) reportColumn {
	return column(p, head, func(m *series) string {
		v, ok := m.Median(metric)
		if !ok || latency && m.Overloaded > 0 {
			return "–"
		}
		return results.FormatMetric(metric, v)
	})
}

// primaryTable is the planned comparison and what each strategy costs.
func primaryTable(s *results.Sweep, p *panel, effects []results.Effect, health []results.Health) reportGroup {
	primary := p.workload.Primary
	g := reportGroup{Title: "planned comparison: " + results.MetricLabel(primary)}
	g.Columns = append(g.Columns, medians(p, results.MetricLabel(primary), primary, results.LowerIsBetter(primary)))
	if slices.ContainsFunc(p.series, func(m series) bool { _, ok := m.OfRaw(); return ok }) {
		g.Columns = append(g.Columns, column(p, "of raw", func(m *series) string {
			if share, ok := m.OfRaw(); ok {
				return results.FormatPercent(share)
			}
			return ""
		}))
	}
	versus := column(p, "vs "+s.Meta.Baseline, func(m *series) string { return comparison(s, p, m, effects, health) })
	versus.Left = true
	g.Columns = append(g.Columns, versus, medians(p, results.MetricLabel(results.MetricCPU), results.MetricCPU, false))
	return g
}

// comparison is what the comparison of a strategy with the baseline found, as in the effect chart.
func comparison(s *results.Sweep, p *panel, m *series, effects []results.Effect, health []results.Health) string {
	if m.Cell.Arm != "" {
		for _, h := range health {
			if h.Point == p.point {
				return newEffectRow(m.label, h.Interval, healthWords(h)).text
			}
		}
		return ""
	}
	if m.Cell.Strategy == s.Meta.Baseline {
		return "baseline"
	}
	for _, e := range effects {
		if e.Point == p.point && e.Strategy == m.Cell.Strategy {
			return newEffectRow(m.label, e.Interval, verdictWords(e)).text
		}
	}
	return ""
}

// latencyTable is what one kind of operation saw; false if no run has it.
func latencyTable(p *panel, kind, title string) (reportGroup, bool) {
	g := reportGroup{Title: title + ", " + clock(p, kind)}
	if rate := kind + "-op/s"; has(p, rate) {
		g.Columns = append(g.Columns, medians(p, "op/s", rate, false))
	}
	found := false
	for _, statistic := range []string{"p50", "p99", "p999", "max"} {
		metric := results.LatencyMetric(kind, statistic)
		head := strings.TrimPrefix(results.MetricLabel(metric), kind+" ")
		g.Columns = append(g.Columns, medians(p, head, metric, true))
		found = found || has(p, metric)
	}
	return g, found
}

// pacingTable is what an open loop's latencies are to be read beside; false if there was none.
func pacingTable(p *panel) (reportGroup, bool) {
	g := reportGroup{Title: "service time, and lateness of the load itself"}
	for _, kind := range []string{results.KindProduceService, results.KindConsumeService, results.KindLateness} {
		for _, statistic := range []string{"p50", "p99"} {
			if metric := results.LatencyMetric(kind, statistic); has(p, metric) {
				g.Columns = append(g.Columns, medians(p, results.MetricLabel(metric), metric, kind != results.KindLateness))
			}
		}
	}
	return g, len(g.Columns) > 0
}

// has reports whether any strategy has a metric.
func has(p *panel, metric string) bool {
	return slices.ContainsFunc(p.series, func(m series) bool { _, ok := m.Median(metric); return ok })
}
