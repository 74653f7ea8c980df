package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Front is the choice that one point of a workload leaves: of the strategies that were compared there, those
// that no other is known to beat. Throughput, latency and processor time pull apart; where none is among the best on all,
// none is the winner.
//
// It is a description: on the primary metric with the confidence of planned comparisons, on the others with 95 % for
// each interval by itself.
type Front struct {
	// Metrics are what is weighed: the primary metric; of a paced load the p99 of each kind of latency, of a closed
	// loop none, since its service times rank nothing; and processor time per operation.
	Metrics []string
	Members []Member // in the order of tables
	// Unweighed says what is not weighed although it was to be, because some member has no number; "" if nothing is.
	Unweighed string
	// Hidden is by how much, as a ratio, another may still be better than a member on a metric on which that is
	// among the best: the largest, by metric.
	Hidden []float64
}

// Member is one strategy of a Front.
type Member struct {
	Label  string
	Values []float64 // medians, by metric
	// DominatedBy is a strategy that is better on one metric by more than chance, and that this one is not known to beat
	// on any; "" for the strategies on the front.
	DominatedBy string
	// BestAt are the metrics on which no other member is better by more than chance, where the intervals are narrow
	// enough to tell.
	BestAt []string
}

// frontKinds are the latencies that are weighed.
var frontKinds = []string{KindEndToEnd, KindProduce, KindConsume}

// front weighs the candidates of a section; nil with fewer than two of them, or of metrics. A strategy that
// was overloaded, or gave a wrong answer, is no candidate.
func (s *index) front(section *Section) *Front {
	var candidates []*CellSummary
	for i := range section.Cells {
		c := &section.Cells[i]
		if c.Cell.Arm == "" && c.Cell.Build == "" && !isControl(c.Cell.Strategy) && c.Valid == c.Runs && c.Valid >= 2 && c.Overloaded == 0 {
			candidates = append(candidates, c)
		}
	}
	f := &Front{}
	f.findMetrics(section, candidates)
	if len(candidates) < 2 || len(f.Metrics) < 2 || s.sick != "" {
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
		hidden := 1.0
		for i, c := range candidates {
			beaten, worst := false, 1.0
			for _, o := range candidates {
				if o != c {
					lead := s.lead(o.Cell, c.Cell, metric, section.Workload.Primary)
					beaten, worst = beaten || lead.least > 1, max(worst, lead.most)
				}
			}
			if !beaten && worst <= tooWide {
				f.Members[i].BestAt = append(f.Members[i].BestAt, metric)
				hidden = max(hidden, worst)
			}
		}
		f.Hidden = append(f.Hidden, hidden)
	}
	beats := func(a, b int, metric string) bool {
		return s.lead(candidates[a].Cell, candidates[b].Cell, metric, section.Workload.Primary).least > 1
	}
	f.findDominated(func(a, b int) bool {
		ahead := func(metric string) bool { return beats(a, b, metric) }
		behind := func(metric string) bool { return beats(b, a, metric) }
		return slices.ContainsFunc(f.Metrics, ahead) && !slices.ContainsFunc(f.Metrics, behind)
	})
	return f
}

// findMetrics finds what is weighed.
func (f *Front) findMetrics(section *Section, candidates []*CellSummary) {
	add := func(metric string) {
		var lacking []string
		for _, c := range candidates {
			if median, ok := c.Median(metric); !ok || !(median > 0) {
				lacking = append(lacking, quoted(c.Cell.Label()))
			}
		}
		switch {
		case len(lacking) == 0:
			f.Metrics = append(f.Metrics, metric)
		case len(lacking) < len(candidates):
			f.Unweighed += fmt.Sprintf("; %s is not weighed, since %s %s none", MetricLabel(metric), enumerate(lacking), has(len(lacking)))
		}
	}
	add(section.Workload.Primary)
	for _, kind := range frontKinds {
		if metric := LatencyMetric(kind, "p99"); section.Point.Paced(kind) && metric != section.Workload.Primary {
			add(metric)
		}
	}
	if section.Workload.Primary != MetricCPU {
		add(MetricCPU)
	}
}

func has(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

func better(metric string, a, b float64) bool {
	if LowerIsBetter(metric) {
		return a < b
	}
	return a > b
}

// lead is by how much a cell is ahead of another, as a ratio that is above 1 where it is: at least and at most.
type lead struct{ least, most float64 }

// lead returns that of a cell over another on a metric. On the primary metric it has the confidence of planned
// comparisons, so that it never says what these do not.
func (s *index) lead(cell, other Cell, metric, primary string) lead {
	level := confidence
	if metric == primary {
		level = s.level
	}
	i, _ := s.ratio(cell, other, metric, level)
	switch {
	case !isFinite(i.Low) || !isFinite(i.High):
		return lead{0, math.Inf(1)}
	case LowerIsBetter(metric):
		return lead{1 / i.High, 1 / i.Low}
	}
	return lead{i.Low, i.High}
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
	text := ""
	switch {
	case len(winners) == len(f.Members):
		text = "nothing tells the strategies apart on " + weighed + f.hiddenWords()
	case len(winners) == 1:
		text = "nothing is known to be given up with " + winners[0] + ": it is among the best on " + weighed + f.hiddenWords()
	case len(winners) > 1:
		text = "nothing is known to be given up with " + alternatives(winners) + ": each is among the best on " + weighed + f.hiddenWords()
	default:
		var best []string
		for i, metric := range f.Metrics {
			best = append(best, f.metricWords(f.Metrics[i:i+1], point)[0]+" "+f.bestAt(metric))
		}
		text = "no single winner: the best on " + strings.Join(best, ", on ")
		switch len(compromises) {
		case 0:
		case 1:
			text += "; " + compromises[0] + " is a compromise that none is known to beat"
		default:
			text += "; " + enumerate(compromises) + " are compromises that none is known to beat"
		}
	}
	return text + f.Unweighed
}

// hiddenWords say how much better another may be.
func (f *Front) hiddenWords() string {
	most := slices.Max(f.Hidden)
	if !(most > 1) {
		return ""
	}
	return fmt.Sprintf(" (another that is better by less than %s could hide)", FormatRatio(most))
}

// bestAt names those that are best on a metric: "is `a` or `b`".
func (f *Front) bestAt(metric string) string {
	var names []string
	for _, m := range f.Members {
		if slices.Contains(m.BestAt, metric) {
			names = append(names, quoted(m.Label))
		}
	}
	if len(names) == 0 || len(names) == len(f.Members) {
		return "is not known"
	}
	return "is " + alternatives(names)
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
	t := Table{Title: FrontTitle + " (best: none is known to be better)", Detail: true}
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
