package results

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
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

// Interval is a geometric mean of ratios between runs of one block, with its confidence interval. Ratio
// is NaN without any pair of runs, Low and High with fewer than two.
type Interval struct {
	Blocks int // pairs of runs that it rests on
	Ratio  float64
	Low    float64
	High   float64
	Level  float64 // confidence of the interval [Low, High] by itself
}

// Text is the ratio with its interval, as FormatInterval writes it; without one from fewer than two blocks.
func (i Interval) Text() string {
	if i.Blocks < 2 {
		return FormatRatio(i.Ratio)
	}
	return FormatInterval(i.Ratio, i.Low, i.High)
}

// Bounds of intervals beyond these say no more than that nothing is known on that side.
const (
	lowestShown  = 0.01
	highestShown = 100
)

// Shown returns the ends of the interval as they are to be shown: no lower than 0.01 and no higher than
// 100, unless the whole interval lies there.
func (i Interval) Shown() (low, high float64) {
	low, high = i.Low, i.High
	if i.Low < lowestShown && !(i.High < lowestShown) {
		low = lowestShown
	}
	if i.High > highestShown && !(i.Low > highestShown) {
		high = highestShown
	}
	return low, high
}

// Excludes1 reports whether the interval is known and does not contain 1.
func (i Interval) Excludes1() bool { return i.Low > 1 || i.High < 1 }

// Effect is the outcome of one planned comparison.
type Effect struct {
	Comparison
	// Point is the cell compared, without strategy and arm: a workload that was run at several
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

// Health is the outcome of an A/A arm: the baseline against itself.
type Health struct {
	Workload string
	Point    Cell // as in Effect
	Metric   string
	Interval
	// Healthy: the interval contains 1, so that the sweep did not see a difference where there is none.
	Healthy bool
	Reason  string // why it is not healthy
}

// Text is the ratio with its interval and whether it is healthy.
func (h Health) Text() string {
	switch {
	case h.Healthy:
		return h.Interval.Text() + " healthy"
	case h.Excludes1():
		return h.Interval.Text() + " NOT HEALTHY"
	default:
		return h.Interval.Text() + " " + undecidedSign
	}
}

// Effects returns the outcome of the planned comparisons, in their order.
//
// An effect is the geometric mean, over the blocks, of the ratio between the run of the strategy and
// the run of the baseline in the same block, since drift from block to block hits both alike. Its
// interval is Student's t on the logarithms of the ratios. The intervals hold together with 95 %
// confidence (Bonferroni: each at 1 − 0.05/m, m the number of effects), for this sweep.
//
// Undecided are: everything, if an A/A arm differs from its baseline; comparisons with a side of which
// a run failed verification, or was overloaded and so has no latency; and those with fewer than two
// blocks.
func (s *Sweep) Effects() []Effect {
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
	sick := s.sickness()
	level := 1 - (1-confidence)/float64(max(1, s.Meta.Verdicts, len(effects)))
	for i := range effects {
		s.decide(&effects[i], level, sick)
	}
	return effects
}

// decide fills in the ratio and the verdict of an effect.
func (s *Sweep) decide(e *Effect, level float64, sick string) {
	var skipped string
	e.Interval, skipped = s.ratio(cellAt(e.Point, e.Strategy, ""), cellAt(e.Point, e.Baseline, ""), e.Metric, level)
	e.Reason = sick
	for _, strategy := range []string{e.Strategy, e.Baseline} {
		if e.Reason == "" {
			e.Reason = s.distrust(e.Point, strategy, e.Metric)
		}
	}
	switch {
	case e.Reason != "":
	case e.Blocks < 2:
		e.Reason = "fewer than two blocks" + parenthesis(skipped)
	case !e.Excludes1():
		e.Verdict, e.Reason = NoDifference, skipped
	case (e.Ratio < 1) == LowerIsBetter(e.Metric):
		e.Verdict, e.Reason = Better, skipped
	default:
		e.Verdict, e.Reason = Worse, skipped
	}
}

func parenthesis(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// distrust says why the numbers of a strategy at a point count for nothing; "" if they do count. Both
// arms of the baseline are the same code, so a wrong answer in one discredits the other.
func (s *Sweep) distrust(point Cell, strategy, metric string) string {
	overloaded, runs := 0, 0
	for i := range s.Runs {
		run := &s.Runs[i]
		if run.Cell.Strategy != strategy || run.Cell.Point() != point {
			continue
		}
		if !run.Valid() {
			return fmt.Sprintf("a run of `%s` failed verification: %s", strategy, run.Verification.Error)
		}
		if run.Cell.Arm == "" {
			runs++
			if _, ok := run.Metrics[metric]; !ok && run.Overloaded {
				overloaded++
			}
		}
	}
	if overloaded > 0 {
		return fmt.Sprintf("`%s` was overloaded in %d of %d runs, its latency is unbounded", strategy, overloaded, runs)
	}
	return s.lacking(cellAt(point, strategy, ""), metric)
}

// lacking says in how many of a cell's runs a latency is missing. A comparison of the others would be
// one of the blocks in which the load was on time.
func (s *Sweep) lacking(cell Cell, metric string) string {
	if _, _, isLatency := latencyParts(metric); !isLatency {
		return ""
	}
	missing, runs := 0, 0
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Cell == cell && run.Valid() {
			runs++
			if _, ok := run.Metrics[metric]; !ok {
				missing++
			}
		}
	}
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d runs of `%s` carry no %s: too few samples beyond it, or the load itself was late",
		missing, runs, cell.Label(), MetricLabel(metric))
}

// sickness says which A/A arm differs; "" if none does.
func (s *Sweep) sickness() string {
	for _, h := range s.Health() {
		if h.Excludes1() {
			return h.Reason
		}
	}
	return ""
}

// Health returns the outcome of the A/A arms, on the primary metric of their workloads, in the order of
// Meta.Workloads. Each interval is 95 % by itself: not corrected for the number of comparisons, because
// here a false alarm is cheaper than a fault overlooked. About one healthy arm in twenty alarms.
func (s *Sweep) Health() []Health {
	var found []Health
	for _, name := range s.workloadNames() {
		metric := s.primary(name)
		for _, arm := range s.cellsOf(name) {
			if arm.Arm == "" {
				continue
			}
			h := Health{Workload: name, Point: arm.Point(), Metric: metric}
			var skipped string
			h.Interval, skipped = s.ratio(arm, cellAt(h.Point, arm.Strategy, ""), metric, confidence)
			switch distrust := cmp.Or(s.distrust(h.Point, arm.Strategy, metric), s.lacking(arm, metric)); {
			case distrust != "":
				h.Reason = distrust
			case h.Blocks < 2:
				h.Reason = "fewer than two blocks" + parenthesis(skipped)
			case h.Excludes1():
				h.Reason = fmt.Sprintf("the A/A arm of %s%s, `%s` under a second name, differs from the first: %s",
					name, parenthesis(pointLabel(h.Point, s.points(name))), arm.Strategy, FormatInterval(h.Ratio, h.Low, h.High))
			default:
				h.Healthy = true
			}
			found = append(found, h)
		}
	}
	return found
}

// ratio pairs the valid runs of two cells by block. It also says, in words, what it had to leave out.
func (s *Sweep) ratio(cell, baseline Cell, metric string, level float64) (i Interval, skipped string) {
	logs, unusable := s.logRatios(cell, baseline, metric)
	if unusable > 0 {
		skipped = fmt.Sprintf("%d blocks left out, their %s is no positive number", unusable, MetricLabel(metric))
	}
	return logInterval(logs, level), skipped
}

// logRatios returns the logarithms of the ratios of two cells in the blocks in which both have a
// metric, and the number of blocks in which a value is no positive number.
func (s *Sweep) logRatios(cell, baseline Cell, metric string) (logs []float64, unusable int) {
	base := make(map[int]float64)
	for i := range s.Runs {
		run := &s.Runs[i]
		if value, ok := run.Metrics[metric]; ok && run.Cell == baseline && run.Valid() {
			base[run.Block] = value
		}
	}
	for i := range s.Runs {
		run := &s.Runs[i]
		value, ok := run.Metrics[metric]
		other, paired := base[run.Block]
		if !ok || !paired || run.Cell != cell || !run.Valid() {
			continue
		}
		if !(value > 0 && other > 0) || !isFinite(value) || !isFinite(other) {
			unusable++
			continue
		}
		logs = append(logs, math.Log(value)-math.Log(other))
	}
	return logs, unusable
}

// logInterval returns the geometric mean of ratios, given their logarithms, with Student's t interval.
func logInterval(logs []float64, level float64) Interval {
	r := Interval{Blocks: len(logs), Ratio: math.NaN(), Low: math.NaN(), High: math.NaN(), Level: level}
	if len(logs) == 0 {
		return r
	}
	mean := stat.Mean(logs, nil)
	r.Ratio = math.Exp(mean)
	if len(logs) < 2 {
		return r
	}
	n := float64(len(logs))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(1 - (1-level)/2)
	half := t * stat.StdDev(logs, nil) / math.Sqrt(n)
	r.Low, r.High = math.Exp(mean-half), math.Exp(mean+half)
	return r
}
