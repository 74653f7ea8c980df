package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// compare compares one metric of a benchmark on both sides.
func (p matched) compare(metric string, c *Changes) Change {
	old, new := p.usable(metric, c.Interleaved)
	d := Change{
		Benchmark: p.new.name, Metric: metric, Old: sample(old), New: sample(new), better: p.new.better(metric),
		Interval: ratioInterval(old, new, c.Interleaved, c.Level),
		Reason:   cmp.Or(p.new.distrust(metric), p.old.distrust(metric)),
	}
	d.lacking = d.Reason == "" && len(p.old.values[metric]) > 0 && len(p.new.values[metric]) == 0
	missing := p.missing(metric, c)
	switch {
	case d.Reason != "":
	case missing != "" && min(len(old), len(new)) == 0:
		d.Reason = missing
	case p.new.exact(metric):
		d.decideExactly(old, new, c)
	case min(len(old), len(new)) < 2:
		d.Reason = fewRuns(len(old), len(new), c.Interleaved)
	case !d.hasSpread():
		d.decideByOrder(old, new, c)
	default:
		d.decide(c.Options.Threshold)
	}
	if missing != "" && d.Verdict != Undecided {
		d.Reason = missing
		if !d.Beyond { // what is missing may be worse, and can't undo a regression
			d.Verdict = Undecided
		}
	}
	return d
}

// missing says what the comparison of a metric does not rest on, though it should; "" if that is nothing.
func (p matched) missing(metric string, c *Changes) string {
	if gap := cmp.Or(p.new.incomplete(metric, c.New.Path), p.old.incomplete(metric, c.Old.Path)); gap != "" || !c.Interleaved {
		return gap
	}
	if alone := unpaired(p.old, p.new, metric) + unpaired(p.new, p.old, metric); alone > 0 {
		return fmt.Sprintf("%s: only one side has it", counted(alone, "block", "blocks"))
	}
	return ""
}

// unpaired counts the blocks in which a benchmark has a value, and the other has none.
func unpaired(b, other *benchmark, metric string) int {
	blocks := make(map[int]bool)
	for _, o := range other.values[metric] {
		blocks[o.block] = true
	}
	alone := 0
	for _, o := range b.values[metric] {
		if !blocks[o.block] {
			alone++
		}
	}
	return alone
}

// hasSpread reports whether there is an interval of any width, beyond what rounding makes of none.
func (i Interval) hasSpread() bool { return i.High/i.Low > 1+1e-12 }

// usable returns the values of both sides: those of the blocks in which both have one, in the same order, if
// the sides were interleaved, else all.
func (p matched) usable(metric string, interleaved bool) (old, new []float64) {
	if !interleaved {
		for _, o := range p.old.values[metric] {
			old = append(old, o.value)
		}
		for _, o := range p.new.values[metric] {
			new = append(new, o.value)
		}
		// Sums of the same values in another order are not quite the same.
		slices.Sort(old)
		slices.Sort(new)
		return old, new
	}
	byBlock := make(map[int]float64)
	for _, o := range p.old.values[metric] {
		byBlock[o.block] = o.value
	}
	for _, o := range p.new.values[metric] {
		if other, ok := byBlock[o.block]; ok {
			old, new = append(old, other), append(new, o.value)
		}
	}
	return old, new
}

func fewRuns(old, new int, interleaved bool) string {
	if interleaved {
		return "fewer than two blocks"
	}
	return fmt.Sprintf("an interval needs two runs on each side, there are %d old and %d new", old, new)
}

func sample(values []float64) Sample {
	s := Sample{Runs: len(values), Value: math.NaN()}
	if logs, ok := logarithms(values); ok && len(values) > 0 {
		s.Value = math.Exp(stat.Mean(logs, nil))
	} else if len(values) > 0 {
		s.Value = Median(slices.Sorted(slices.Values(values)))
	}
	return s
}

// logarithms returns those of all values; false if one has none.
func logarithms(values []float64) (logs []float64, ok bool) {
	for _, v := range values {
		if !(v > 0) {
			return nil, false
		}
		logs = append(logs, math.Log(v))
	}
	return logs, true
}

// ratioInterval is the ratio of new to old with its interval on the logarithms: Student's t on the pairs of
// interleaved sides, else Welch's. It is NaN if a value has no logarithm.
func ratioInterval(old, new []float64, paired bool, level float64) Interval {
	oldLogs, oldOK := logarithms(old)
	newLogs, newOK := logarithms(new)
	if !oldOK || !newOK {
		unknown := math.NaN()
		return Interval{Blocks: min(len(old), len(new)), Ratio: unknown, Low: unknown, High: unknown, Level: level}
	}
	if !paired {
		return welchInterval(oldLogs, newLogs, level)
	}
	for i := range newLogs {
		newLogs[i] -= oldLogs[i]
	}
	return logInterval(newLogs, level)
}

// welchInterval returns the ratio of geometric means, given logarithms, with Welch's t interval: it does not
// assume that both sides vary alike. The degrees of freedom are those of Welch and Satterthwaite (B. L. Welch,
// Biometrika 34, 1947).
func welchInterval(old, new []float64, level float64) Interval {
	r := Interval{Blocks: min(len(old), len(new)), Ratio: math.NaN(), Low: math.NaN(), High: math.NaN(), Level: level}
	if r.Blocks == 0 {
		return r
	}
	difference := stat.Mean(new, nil) - stat.Mean(old, nil)
	r.Ratio = math.Exp(difference)
	if r.Blocks < 2 {
		return r
	}
	n, m := float64(len(old)), float64(len(new))
	a, b := stat.Variance(old, nil)/n, stat.Variance(new, nil)/m // of the means
	half := 0.0
	if a+b > 0 {
		freedom := (a + b) * (a + b) / (a*a/(n-1) + b*b/(m-1))
		half = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(1-(1-level)/2) * math.Sqrt(a+b)
	}
	r.Low, r.High = math.Exp(difference-half), math.Exp(difference+half)
	return r
}

// decide gives the verdict that the interval allows.
func (d *Change) decide(threshold float64) {
	switch {
	case !d.Excludes1():
		d.Verdict = NoDifference
	case d.better == 0:
		d.Reason = d.unknownDirection()
	case (d.Low > 1) == (d.better > 0):
		d.Verdict = Better
	default:
		d.Verdict = Worse
		nearest := d.Low
		if d.better > 0 {
			nearest = d.High
		}
		d.Beyond = d.isBeyond(nearest, threshold)
	}
}

// decideByOrder gives the verdict where there is no interval, since a value is 0, or none of any width, since
// nothing varies: a difference is one between every value of the one side and those of the other that it is compared
// with, and as sure as such an order is improbable among so many equal runs.
func (d *Change) decideByOrder(old, new []float64, c *Changes) {
	var ratios []float64 // of 0 and 0 there is none
	equal := true
	for i, v := range new {
		others := old
		if c.Interleaved {
			others = old[i : i+1]
		}
		for _, o := range others {
			ratios = append(ratios, v/o)
			equal = equal && v == o
		}
	}
	lowest, highest := slices.Min(ratios), slices.Max(ratios) // NaN if one of them is
	switch {
	case equal:
		d.Verdict, d.Ratio, d.Low, d.High = NoDifference, 1, 1, 1
	case !(lowest > 1) && !(highest < 1):
		d.Reason = "some values are 0, so that there is no ratio, and not all of one side lie on one side of the other's"
	case orderProbability(len(old), len(new), c.Interleaved) >= 1-c.Level:
		d.Reason = "no spread to judge the difference by, and without it there are too few runs"
	case d.better == 0:
		d.Reason = d.unknownDirection()
	case (lowest > 1) == (d.better > 0):
		d.Verdict = Better
	case d.better > 0:
		d.Verdict, d.Beyond = Worse, d.isBeyond(highest, c.Options.Threshold)
	default:
		d.Verdict, d.Beyond = Worse, d.isBeyond(lowest, c.Options.Threshold)
	}
}

// orderProbability is how probable it is that all values of one side lie below those of the other, or above, if
// both sides are the same: every order of the runs is as likely as every other, or, where they are paired by blocks,
// either order in each block.
func orderProbability(old, new int, paired bool) float64 {
	if paired {
		return 2 * math.Exp2(-float64(new))
	}
	return 2 * math.Exp(-combin.LogGeneralizedBinomial(float64(old+new), float64(old)))
}

// isBeyond reports whether a ratio is one for the worse by more than a threshold.
func (d *Change) isBeyond(ratio, threshold float64) bool {
	if d.better > 0 {
		return ratio < 1-threshold
	}
	return ratio > 1+threshold
}

// worst is the largest change for the worse in the interval, as a share.
func (d *Change) worst() float64 {
	switch {
	case d.better > 0:
		return max(0, 1-d.Low)
	case d.better < 0:
		return max(0, d.High-1)
	}
	return max(0, 1-d.Low, d.High-1)
}

func (d *Change) unknownDirection() string {
	return fmt.Sprintf("it changed, but nothing says whether less of it is better; a line \"Unit %s better=lower\" in the file does, or better=higher", d.Metric)
}
