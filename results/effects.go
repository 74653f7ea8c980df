package results

import (
	"cmp"
	"fmt"
	"slices"
)

// confidence is that of a sweep's planned comparisons together, and of one A/A arm.
const confidence = 0.95

// Verdict is what a comparison found.
type Verdict int

const (
	// Undecided: there is no telling; Effect.Reason says why.
	Undecided Verdict = iota
	// NoDifference: the interval contains 1. The two may differ by less than the sweep can see.
	NoDifference
	// Better: the interval excludes 1 on the good side of the metric.
	Better
	// Worse: the interval excludes 1 on the bad side of the metric.
	Worse
)

// String returns the verdict in words.
func (v Verdict) String() string {
	switch v {
	case NoDifference:
		return "no difference found"
	case Better:
		return "better"
	case Worse:
		return "worse"
	}
	return "undecided"
}

// Effect is the outcome of one planned comparison: of two strategies, or of one strategy of two builds.
type Effect struct {
	Comparison
	// Point is the cell compared, without strategy, arm and build: a workload that was run at several
	// concurrencies has an effect at each.
	Point Cell
	Interval
	Verdict Verdict
	// Reason says why the verdict is Undecided, or what was left out of a decided one; else "".
	Reason string
}

// The signs after a ratio without a decided difference.
const (
	undecidedSign    = "?"
	noDifferenceSign = "~"
)

// Text is the ratio with its interval and, where it shows no difference, the sign that says why: "~" for
// NoDifference and "?" for Undecided.
func (e Effect) Text() string {
	switch e.Verdict {
	case Undecided:
		return e.Interval.Text() + " " + undecidedSign
	case NoDifference:
		return e.Interval.Text() + " " + noDifferenceSign
	}
	return e.Interval.Text()
}

// Effects returns the outcome of the planned comparisons, in their order.
//
// An effect is the geometric mean, over the blocks, of the ratio between the run of the strategy and
// the run of the baseline in the same block, since drift from block to block hits both alike. Its
// interval is Student's t on the logarithms of the ratios. The intervals hold together with 95 %
// confidence (Bonferroni: each at 1 − 0.05/m, m the number of effects), for this sweep.
//
// Undecided are: everything, if an A/A arm differs from its baseline; comparisons with a side of which
// a run failed verification, or was overloaded and so has no latency, which have no ratio either; and those with
// fewer than two blocks.
func (s *Sweep) Effects() []Effect { return s.index().effects() }

func (s *index) effects() []Effect {
	var effects []Effect
	for _, planned := range s.Meta.Planned {
		points := s.points(planned.Workload)
		if len(points) == 0 {
			points = []Cell{{Workload: planned.Workload}}
		}
		for _, point := range points {
			effects = append(effects, Effect{Comparison: planned, Point: point})
		}
	}
	for i := range effects {
		s.decide(&effects[i])
	}
	return effects
}

// plannedLevel is the confidence of the interval of one planned comparison, so that all hold together.
func (s *index) plannedLevel() float64 {
	comparisons := 0
	for _, planned := range s.Meta.Planned {
		comparisons += max(1, len(s.points(planned.Workload)))
	}
	return 1 - (1-confidence)/float64(max(1, s.Meta.Verdicts, comparisons))
}

// planned reports whether a comparison of two strategies of this build, in either direction, is a planned one.
func (s *Sweep) planned(a, b Cell, metric string) bool {
	return slices.ContainsFunc(s.Meta.Planned, func(c Comparison) bool {
		return c.Workload == a.Workload && c.Metric == metric && c.BaselineBuild == "" &&
			(c.Strategy == a.Strategy && c.Baseline == b.Strategy || c.Strategy == b.Strategy && c.Baseline == a.Strategy)
	})
}

// decide fills in the ratio and the verdict of an effect.
func (s *index) decide(e *Effect) {
	cell, baseline := e.sides()
	interval, distrust, note := s.compare(cell, baseline, e.Metric, s.level)
	e.Interval, e.Reason = interval, cmp.Or(s.sick, distrust)
	switch {
	case e.Reason != "":
	case !e.Excludes1():
		e.Verdict, e.Reason = NoDifference, note
	case (e.Ratio < 1) == LowerIsBetter(e.Metric):
		e.Verdict, e.Reason = Better, note
	default:
		e.Verdict, e.Reason = Worse, note
	}
}

// compare returns the ratio of two cells, why it counts for nothing, and what is special about one that counts.
// What counts for nothing because runs are missing has no ratio either: one over the runs that are left would
// be remembered all the same.
func (s *index) compare(cell, baseline Cell, metric string, level float64) (i Interval, distrust, note string) {
	if late, note, ok := s.compareLate(cell, baseline, metric, level); ok {
		return late, "", note
	}
	if distrust := cmp.Or(s.distrust(cell, metric), s.distrust(baseline, metric)); distrust != "" {
		return logInterval(nil, level), distrust, ""
	}
	i, skipped := s.ratio(cell, baseline, metric, level)
	if i.Blocks < 2 {
		return i, "fewer than two blocks" + parenthesis(skipped), ""
	}
	return i, "", skipped
}

// sides are the cells that are compared.
func (e *Effect) sides() (cell, baseline Cell) {
	return cellAt(e.Point, e.Strategy, ""), cellAt(e.Point, e.Baseline, e.BaselineBuild)
}

func parenthesis(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// distrust says why the numbers of a cell count for nothing; "" if they do count.
func (s *index) distrust(cell Cell, metric string) string {
	return cmp.Or(s.failing(cell, metric), s.lacking(cell, metric))
}

// failing says that a cell gave a wrong answer or was overloaded. Both arms of the baseline are the same code, so a
// wrong answer in one discredits the other.
func (s *index) failing(cell Cell, metric string) string {
	overloaded, runs := 0, 0
	code := cell
	code.Arm = ""
	for _, run := range s.arms[code] {
		if !run.Valid() {
			return fmt.Sprintf("a run of `%s` failed verification: %s", cell.Label(), run.Verification.Error)
		}
		if run.Cell.Arm == "" {
			runs++
			if _, ok := run.Metrics[metric]; !ok && run.Overloaded {
				overloaded++
			}
		}
	}
	if overloaded > 0 {
		return fmt.Sprintf("`%s` was overloaded in %d of %d runs: there its latency grows without bound; a lower rate, or --find-max-rate, tells what it sustains", cell.Label(), overloaded, runs)
	}
	return ""
}
