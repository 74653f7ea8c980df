package results

import (
	"slices"
	"strings"
)

// Front is the choice that one point of a workload leaves: of the strategies that were compared there, those
// that no other beats on everything. Throughput, latency and processor time pull apart; where more than one
// is left, none is the winner.
type Front struct {
	// Metrics are what is weighed: throughput, unless rates fix it; the p99 of each kind of latency that
	// all members carry, which is service time in a closed loop, and where a load is paced the primary metric, if it
	// is another latency; and processor time per operation.
	Metrics []string
	Members []Member // in the order of tables
}

// Member is one strategy of a Front.
type Member struct {
	Label  string
	Values []float64 // medians, by metric
	// DominatedBy is a strategy that is not worse on any metric, and better on one, each by more than chance
	// (95 % by itself); "" for the strategies on the front.
	DominatedBy string
	// BestAt are the metrics on which no other member is better by more than chance.
	BestAt []string
}

// frontKinds are the latencies that are weighed.
var frontKinds = []string{KindEndToEnd, KindProduce, KindConsume}

// front weighs the candidates of a section; nil with fewer than two of them, or of metrics. A strategy that
// was overloaded, or gave a wrong answer, is no candidate.
func (s *Sweep) front(section *Section) *Front {
	var candidates []*CellSummary
	for i := range section.Cells {
		c := &section.Cells[i]
		if c.Cell.Arm == "" && c.Cell.Build == "" && !isControl(c.Cell.Strategy) && c.Valid == c.Runs && c.Valid >= 2 && c.Overloaded == 0 {
			candidates = append(candidates, c)
		}
	}
	f := &Front{Metrics: frontMetrics(section, candidates)}
	if len(candidates) < 2 || len(f.Metrics) < 2 || s.sickness() != "" {
		return nil
	}
	for _, c := range candidates {
		m := Member{Label: c.Cell.Label()}
		for _, metric := range f.Metrics {
			median, _ := c.Median(metric)
			m.Values = append(m.Values, median)
		}
		f.Members = append(f.Members, m)
	}
	for _, metric := range f.Metrics {
		for i, c := range candidates {
			beats := func(o *CellSummary) bool { return s.beats(o.Cell, c.Cell, metric) }
			if !slices.ContainsFunc(candidates, beats) {
				f.Members[i].BestAt = append(f.Members[i].BestAt, metric)
			}
		}
	}
	f.findDominated(func(a, b int) bool { return s.dominates(candidates[a].Cell, candidates[b].Cell, f.Metrics) })
	return f
}

// frontMetrics are what all candidates have and what the load leaves open.
func frontMetrics(section *Section, candidates []*CellSummary) []string {
	var metrics []string
	add := func(metric string) {
		lacks := func(c *CellSummary) bool {
			median, ok := c.Median(metric)
			return !ok || !(median > 0)
		}
		if !slices.ContainsFunc(candidates, lacks) {
			metrics = append(metrics, metric)
		}
	}
	primary, paced := section.Workload.Primary, section.Point.paced()
	_, _, isLatency := latencyParts(primary)
	switch {
	case paced && isLatency, !paced && !LowerIsBetter(primary):
		add(primary)
	case !paced:
		add(MetricOps)
	}
	for _, kind := range frontKinds {
		metric := LatencyMetric(kind, "p99")
		if metric != primary && (!paced || section.Point.Paced(kind)) {
			add(metric)
		}
	}
	add(MetricCPU)
	return metrics
}

// paced reports whether any role has a rate.
func (c Cell) paced() bool { return c.ProduceRate > 0 || c.ConsumeRate > 0 || c.Rate > 0 }

func better(metric string, a, b float64) bool {
	if LowerIsBetter(metric) {
		return a < b
	}
	return a > b
}

// beats reports whether a cell is better than another on a metric by more than chance.
func (s *Sweep) beats(cell, other Cell, metric string) bool {
	interval, _ := s.ratio(cell, other, metric, confidence)
	return interval.sign(metric) > 0
}

// dominates reports whether a cell beats another on some metric, and is beaten on none.
func (s *Sweep) dominates(cell, other Cell, metrics []string) bool {
	ahead := false
	for _, metric := range metrics {
		if s.beats(other, cell, metric) {
			return false
		}
		ahead = ahead || s.beats(cell, other, metric)
	}
	return ahead
}

// findDominated fills in DominatedBy. What is better by more than chance is not transitive: three strategies may
// beat each other in a circle. So only who is dominated by a member of the front, or by one that is dominated
// in turn, is off it.
func (f *Front) findDominated(dominates func(a, b int) bool) {
	beaten := make([][]int, len(f.Members)) // by each
	open := make([]int, 0, len(f.Members))
	for b := range f.Members {
		free := true
		for a := range f.Members {
			if a != b && dominates(a, b) {
				beaten[a] = append(beaten[a], b)
				free = false
			}
		}
		if free {
			open = append(open, b)
		}
	}
	for len(open) > 0 {
		a := open[0]
		open = open[1:]
		for _, b := range beaten[a] {
			if f.Members[b].DominatedBy == "" {
				f.Members[b].DominatedBy = f.Members[a].Label
				open = append(open, b)
			}
		}
	}
}

// Text says in a sentence without its end what choice is left.
func (f *Front) Text(point Cell) string {
	weighed := enumerate(f.metricWords(f.Metrics, point))
	var winners, compromises []string
	for _, m := range f.Members {
		switch {
		case len(m.BestAt) == len(f.Metrics):
			winners = append(winners, quoted(m.Label))
		case len(m.BestAt) == 0 && m.DominatedBy == "":
			compromises = append(compromises, quoted(m.Label))
		}
	}
	switch {
	case len(winners) == len(f.Members):
		return "nothing tells the strategies apart on " + weighed
	case len(winners) == 1:
		return "nothing is given up with " + winners[0] + ": it is among the best on " + weighed
	case len(winners) > 1:
		return "nothing is given up with " + alternatives(winners) + ": each is among the best on " + weighed
	}
	var best []string
	for i, metric := range f.Metrics {
		best = append(best, f.metricWords(f.Metrics[i:i+1], point)[0]+" "+f.bestAt(metric))
	}
	text := "no single winner: the best on " + strings.Join(best, ", on ")
	switch len(compromises) {
	case 0:
	case 1:
		text += "; " + compromises[0] + " is a compromise that none beats on everything"
	default:
		text += "; " + enumerate(compromises) + " are compromises that none beats on everything"
	}
	return text
}

// bestAt names those that are best on a metric: "is `a` or `b`".
func (f *Front) bestAt(metric string) string {
	var names []string
	for _, m := range f.Members {
		if slices.Contains(m.BestAt, metric) {
			names = append(names, quoted(m.Label))
		}
	}
	if len(names) == len(f.Members) {
		return "is not known"
	}
	return "is " + alternatives(names)
}

// alternatives joins with commas and a last "or".
func alternatives(parts []string) string {
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " or " + parts[last]
}

// metricWords names metrics in a sentence: what is a service time is called so.
func (f *Front) metricWords(metrics []string, point Cell) []string {
	words := make([]string, len(metrics))
	for i, metric := range metrics {
		words[i] = MetricLabel(metric)
		kind, _, isLatency := latencyParts(metric)
		switch {
		case metric == MetricOps || strings.HasSuffix(metric, "-op/s"):
			words[i] = "throughput"
		case isLatency && kind != KindEndToEnd && !point.Paced(kind):
			words[i] += " (service time)"
		}
	}
	return words
}

// FrontTitle begins the title of the table of Section.Front.
const FrontTitle = "what is given up"

// frontTable shows what is weighed, and who is on the front; false if there is none.
func (s *Section) frontTable() (Table, bool) {
	f := s.Front
	if f == nil {
		return Table{}, false
	}
	t := Table{Title: FrontTitle + " (best: none is better by more than chance)", Detail: true}
	columns := make([]Column, len(f.Metrics)+1)
	for i, head := range f.metricWords(f.Metrics, s.Point) {
		columns[i].Head = head
	}
	columns[len(f.Metrics)] = Column{Head: "beaten all in all by", Left: true}
	for _, m := range f.Members {
		t.Labels = append(t.Labels, m.Label)
		for i, metric := range f.Metrics {
			text := FormatMetric(metric, m.Values[i])
			if slices.Contains(m.BestAt, metric) {
				text += " (best)"
			}
			columns[i].Cells = append(columns[i].Cells, text)
		}
		by := m.DominatedBy
		if by == "" {
			by = "none"
		}
		columns[len(f.Metrics)].Cells = append(columns[len(f.Metrics)].Cells, by)
	}
	t.Columns = columns
	return t, true
}
