package results

import (
	"fmt"
	"math"
)

// mostLate is the share of a cell's runs that may lack a latency, because the load itself was late, for a comparison to
// have a verdict all the same.
const mostLate = 0.25

// compareLate compares latencies that some runs do not carry because the load itself was late, but for which they
// have a bound: what was measured, that lateness included. The interval reaches over two, one without these runs and
// one with their bounds. If they were late by chance, the first is right; if it was the strategy that kept the load
// from being on time, its latency lies below the bound, and the truth between the two. It is false where no run is
// late, too many are, or something else is wrong.
func (s *index) compareLate(cell, baseline Cell, metric string, level float64) (i Interval, note string, ok bool) {
	late := 0
	for _, c := range []Cell{cell, baseline} {
		carried := s.carried(c, metric)
		if s.failing(c, metric) != "" || carried.few > 0 || float64(carried.late) > mostLate*float64(carried.runs()) {
			return i, "", false
		}
		late += carried.late
	}
	if late == 0 || !isLatencyMetric(metric) {
		return i, "", false
	}
	without, _ := s.ratio(cell, baseline, metric, level)
	logs, _ := s.logRatios(cell, baseline, orBound(metric))
	whole := logInterval(logs, level)
	if without.Blocks < 2 || math.IsNaN(whole.Low) {
		return i, "", false
	}
	i = without
	i.Low, i.High = min(without.Low, whole.Low), max(without.High, whole.High)
	return i, fmt.Sprintf("the load itself was late in %s: the interval holds without these runs, and with what was measured in them",
		counted(late, "run", "runs")), true
}

// orBound takes the bound of a latency in the place of what a run lacks.
func orBound(metric string) func(*Run) (float64, bool) {
	return func(run *Run) (float64, bool) {
		if v, known := run.Metrics[metric]; known {
			return v, true
		}
		bound, late := run.Bounds[metric]
		return bound, late
	}
}

// carried counts the valid runs of a cell by whether they carry a metric.
type carried struct{ known, late, few int }

func (c carried) runs() int { return c.known + c.late + c.few }

func (s *index) carried(cell Cell, metric string) carried {
	var c carried
	for _, run := range s.runs[cell] {
		if !run.Valid() {
			continue
		}
		_, known := run.Metrics[metric]
		_, bounded := run.Bounds[metric]
		switch {
		case known:
			c.known++
		case bounded:
			c.late++
		default:
			c.few++
		}
	}
	return c
}

// lacking says in how many of a cell's runs a latency, or the time to drain a backlog, is missing, and why. A
// comparison of the others would be one of the blocks in which the load was on time.
func (s *index) lacking(cell Cell, metric string) string {
	isLatency := isLatencyMetric(metric)
	if !isLatency && metric != MetricDrain {
		return ""
	}
	c := s.carried(cell, metric)
	if c.few+c.late == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d runs of `%s` carry no %s", c.few+c.late, c.runs(), cell.Label(), MetricLabel(metric))
	switch {
	case !isLatency:
	case c.late == 0:
		text += ": too few samples lie beyond it, of which a longer --duration has more"
	case c.few == 0:
		text += fmt.Sprintf(": more than %s of it was the lateness of the load itself, which is less on an idle machine, with more processors, or at a lower rate",
			FormatPercent(LatenessShare))
	default:
		text += fmt.Sprintf(": too few samples lie beyond it in %d, and in %d the load itself was late", c.few, c.late)
	}
	return text
}
