package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

const (
	fewestLevels = 5   // within the processors, for three coefficients
	fewestBlocks = 6   // for a bootstrap: of 4, its intervals hold 84 to 88 % in place of 95
	mostMissed   = 0.2 // share of a median by which a law may miss it
	resamples    = 400
)

// clientKeys are those of the axes that count clients or processors.
var clientKeys = []string{"producers", "consumers", "workers", gomaxprocsKey}

// fitLines fits the scaling law to each line that allows it.
func (s *index) fitLines(t *Trend) {
	reason := t.unfittable()
	if s.sick != "" {
		reason = "the sweep is not to be trusted"
	}
	var levels []int
	if reason == "" {
		levels, reason = s.levelsWithin(t)
	}
	for i := range t.Lines {
		line := &t.Lines[i]
		if line.Unfitted = reason; reason == "" {
			line.Fit, line.Unfitted = s.fitLine(t, line.Label, levels)
		}
	}
	if fitted := func(l Line) bool { return l.Fit != nil }; !slices.ContainsFunc(t.Lines, fitted) {
		t.Unfitted = strings.Join(t.unfitted(), "; ")
	}
}

// unfittable says why the law does not describe what was measured along an axis, whatever the numbers; "" if it
// may. It describes clients that are always at work: a load that waits between operations does what it was
// asked to.
func (t *Trend) unfittable() string {
	some := func(such func(Cell) bool) bool { return slices.ContainsFunc(t.Points, such) }
	switch {
	case LowerIsBetter(t.Metric):
		return MetricLabel(t.Metric) + " is no throughput"
	case t.Key == "producers" && some(func(c Cell) bool { return c.Consumers > 0 }),
		t.Key == "consumers" && some(func(c Cell) bool { return c.Producers > 0 }):
		return "the other role runs beside them"
	case !slices.Contains(clientKeys, t.Key):
		return t.Label() + " is no number of clients or processors"
	case some(func(c Cell) bool { return c.ProduceRate > 0 || c.ConsumeRate > 0 || c.Rate > 0 }):
		return "the load is paced, its throughput is what was asked for"
	case some(func(c Cell) bool { return c.Think > 0 }):
		return "clients pause between operations"
	}
	return ""
}

// levelsWithin returns the indices of the points at which so many clients, or processors, run at once:
// goroutines beyond the processors queue. It says why those are too few.
func (s *Sweep) levelsWithin(t *Trend) (levels []int, reason string) {
	usable := s.usableProcessors()
	most := 0
	for i, point := range t.Points {
		processors, n := usable, t.Values[i]
		if given := float64(point.GOMAXPROCS); t.Key != gomaxprocsKey && given > 0 {
			processors = min(processors, given)
		}
		clients := float64(point.Producers + point.Consumers + point.Workers)
		if math.IsInf(processors, 1) {
			return nil, "the number of processors is not known"
		}
		most = int(processors)
		if n >= 1 && n <= processors && (t.Key != gomaxprocsKey || clients >= n) {
			levels = append(levels, i)
		}
	}
	if len(levels) >= fewestLevels {
		return levels, ""
	}
	within := counted(most, "processor", "processors")
	if t.Key == gomaxprocsKey {
		within += ", with a client for each"
	}
	return nil, fmt.Sprintf("%s within %s; five are needed", counted(len(levels), "level", "levels"), within)
}

// usableProcessors are those that the sweep could use on each of its machines; +Inf if nothing is known.
func (s *Sweep) usableProcessors() float64 {
	environments := []Environment{s.Meta.Environment}
	for _, part := range s.Meta.Parts {
		environments = append(environments, part.Environment)
	}
	usable := math.Inf(1)
	for _, e := range environments {
		for _, n := range []int{e.CPUs, e.Affinity} {
			if n > 0 {
				usable = min(usable, float64(n))
			}
		}
		number, _, _ := strings.Cut(e.Quota, " ") // "2.5 CPUs"
		if quota, err := strconv.ParseFloat(number, 64); err == nil && quota > 0 {
			usable = min(usable, max(1, math.Floor(quota)))
		}
	}
	return usable
}

// fitLine fits the law to the medians of a strategy at levels of an axis, or says why not.
func (s *index) fitLine(t *Trend, strategy string, levels []int) (*Fit, string) {
	var n, medians []float64
	var runs [][]float64 // by level and block
	blocks := s.workloadRun(t.Workload).blocks
	if len(blocks) < fewestBlocks {
		return nil, fmt.Sprintf("%s; the intervals of its coefficients need %d", counted(len(blocks), "block", "blocks"), fewestBlocks)
	}
	for _, i := range levels {
		cell := cellAt(t.Points[i], strategy, "")
		if len(s.runs[cell]) == 0 {
			continue
		}
		if distrust := s.distrust(cell, t.Metric); distrust != "" {
			return nil, distrust
		}
		values := byBlock(s.runs[cell], t.Metric, blocks)
		median := medianKnown(slices.Clone(values))
		if !(median > 0) {
			return nil, "no positive median at " + t.words(t.Values[i])
		}
		n, medians, runs = append(n, t.Values[i]), append(medians, median), append(runs, values)
	}
	if len(n) < fewestLevels {
		return nil, fmt.Sprintf("run at %s within the processors; five are needed", counted(len(n), "level", "levels"))
	}
	law, ok := fitLaw(n, medians)
	if !ok {
		return nil, "the medians are out of range"
	}
	f := law.fit(n)
	for i := range n {
		f.Misses = max(f.Misses, math.Abs(f.At(n[i])/medians[i]-1))
	}
	if !(f.Misses <= mostMissed) {
		return nil, "the law misses a median by " + FormatPercent(f.Misses)
	}
	f.bootstrap(runs)
	return f, ""
}

// byBlock returns the metric of the runs of a cell in each of the blocks, NaN where no valid run has it.
func byBlock(runs []*Run, metric string, blocks []int) []float64 {
	values := make([]float64, len(blocks))
	for i := range values {
		values[i] = math.NaN()
	}
	for _, run := range runs {
		at, _ := slices.BinarySearch(blocks, run.Block)
		if value, ok := run.Metrics[metric]; ok && run.Valid() && isFinite(value) {
			values[at] = value
		}
	}
	return values
}

// medianKnown is the median of the values that are numbers; it sorts all. NaN sorts first.
func medianKnown(values []float64) float64 {
	slices.Sort(values)
	for len(values) > 0 && math.IsNaN(values[0]) {
		values = values[1:]
	}
	return Median(values)
}

// bootstrap finds the intervals of the coefficients: it draws blocks with replacement, since the runs of one
// block share its drift, and fits the law to the medians of each draw. The draws are always the same, and so is
// the report.
func (f *Fit) bootstrap(runs [][]float64) {
	blocks := len(runs[0])
	random := rand.New(rand.NewPCG(1, resamples))
	var rates, contentions, coherencies []float64
	medians, values := make([]float64, len(runs)), make([]float64, blocks)
	drawn := make([]int, blocks)
	for range resamples {
		for i := range drawn {
			drawn[i] = random.IntN(blocks)
		}
		for level := range runs {
			for i, block := range drawn {
				values[i] = runs[level][block]
			}
			medians[level] = medianKnown(values)
		}
		if law, ok := fitLaw(f.Levels, medians); ok {
			rates, contentions, coherencies = append(rates, law.rate), append(contentions, law.contention), append(coherencies, law.coherency)
		}
	}
	f.Rate.enclose(rates)
	f.Contention.enclose(contentions)
	f.Coherency.enclose(coherencies)
}

// enclose sets the interval to where the middle 95 % of values lie.
func (c *Coefficient) enclose(values []float64) {
	slices.Sort(values)
	if tail := int(float64(len(values)) * (1 - confidence) / 2); len(values) > 0 {
		c.Low, c.High = min(c.Value, values[tail]), max(c.Value, values[len(values)-1-tail])
	}
}
