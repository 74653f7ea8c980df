package results

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

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

// ratio pairs the valid runs of two cells by block. It also says, in words, what it had to leave out.
func (s *index) ratio(cell, baseline Cell, metric string, level float64) (i Interval, skipped string) {
	logs, unusable := s.logRatios(cell, baseline, ofMetric(metric))
	if unusable > 0 {
		skipped = fmt.Sprintf("%d blocks left out, their %s is no positive number", unusable, MetricLabel(metric))
	}
	return logInterval(logs, level), skipped
}

// ofMetric takes a metric of a run.
func ofMetric(metric string) func(*Run) (float64, bool) {
	return ofMap(func(r *Run) map[string]float64 { return r.Metrics }, metric)
}

// logRatios returns the logarithms of the ratios of two cells in the blocks in which both have a
// value, and the number of blocks in which one is no positive number.
func (s *index) logRatios(cell, baseline Cell, value func(*Run) (float64, bool)) (logs []float64, unusable int) {
	pairs, unusable := s.pairs(cell, baseline, value)
	for _, pair := range pairs {
		logs = append(logs, pair.log)
	}
	return logs, unusable
}

// pair is the ratio of two runs of one block, which were executed in one session.
type pair struct {
	log     float64 // of the ratio
	session session
}

func (s *index) pairs(cell, baseline Cell, value func(*Run) (float64, bool)) (pairs []pair, unusable int) {
	base := make(map[int]float64)
	for _, run := range s.runs[baseline] {
		if v, ok := value(run); ok && run.Valid() {
			base[run.Block] = v
		}
	}
	for _, run := range s.runs[cell] {
		v, ok := value(run)
		other, paired := base[run.Block]
		if !ok || !paired || !run.Valid() {
			continue
		}
		if !(v > 0 && other > 0) || !isFinite(v) || !isFinite(other) {
			unusable++
			continue
		}
		pairs = append(pairs, pair{math.Log(v) - math.Log(other), run.session()})
	}
	return pairs, unusable
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
