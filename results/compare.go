package results

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// ErrIncomparable is wrapped by errors of Compare and CompareBuilds about two sides that are each all right,
// and of which nothing can be said together.
var ErrIncomparable = errors.New("cannot be compared")

// ErrOneBuild is wrapped by errors of CompareBuilds about results in which there is nothing to compare with.
var ErrOneBuild = errors.New("one build only")

// UnknownMetricError is about a metric that was asked for and that is not there to compare.
type UnknownMetricError struct {
	Metric string
	Known  []string // the metrics that can be compared
	Side   string   // the only side that has it; "" if neither does
}

// Error names the metric.
func (e *UnknownMetricError) Error() string {
	if e.Side != "" {
		return fmt.Sprintf("results: %s: only %s has this metric", e.Metric, e.Side)
	}
	return fmt.Sprintf("results: %s: no such metric", e.Metric)
}

// CompareOptions are what is compared of two sides, and what counts as a regression.
type CompareOptions struct {
	// Metrics are compared of each benchmark that has them. If there are none, it is the primary metric: that of the
	// workload in a results directory or in a bench.txt of one, else sec/op, else all metrics of which it is known
	// which way is better.
	Metrics []string
	// Primaries are the primary metrics of workloads by name, for files that have such workloads and do not say.
	Primaries map[string]string
	// Threshold is the change for the worse, as a share of the old value, that is no regression yet.
	Threshold float64
	// AllowSequential counts a difference as a regression that may be drift, since the two sides were not interleaved.
	AllowSequential bool
	// RequireAll makes it a failure that the new side lacks a benchmark, or a compared metric of one.
	RequireAll bool
	// Stdin is read where a side is named "-". Without it, there is no such side.
	Stdin io.Reader
}

// Origin is where one side of a comparison comes from.
type Origin struct {
	Path        string `json:"path"`
	Description string `json:"description"` // the build, as far as it is known; "" if nothing is
}

// Sample is what the runs of one side have in one metric.
type Sample struct {
	Runs int // that the comparison rests on
	// Value is their geometric mean, or the median if one of them is 0, which has no logarithm; NaN without any.
	Value float64
}

// Change is the outcome of one comparison: of a benchmark on both sides, in one metric.
type Change struct {
	Benchmark string // workload and strategy, or the name of a benchmark in a file
	Metric    string
	Old, New  Sample
	// Interval is the ratio of new to old. Its Blocks are the pairs of runs, or, where the sides were not interleaved,
	// the runs of the side that has fewer. Ratio and ends are NaN where a value has no logarithm.
	Interval
	Verdict Verdict
	// Beyond is set where the verdict is Worse, and by more than the threshold within the whole interval.
	Beyond bool
	Reason string // why the verdict is Undecided, or what a Worse one does not rest on

	label   string // Benchmark as short as the others allow
	lacking bool   // only the old side has the metric
	// Whether more is better (1), or less (-1); 0 if it is not known.
	better int
}

// Outcome is what a comparison as a whole found.
type Outcome int

const (
	// NoRegression: the new side has all benchmarks of the old one, every comparison has a verdict, and none is known to
	// be worse by more than the threshold, nor could be worse by half unseen.
	NoRegression Outcome = iota
	// Regression: something is worse by more than the threshold, the new side gave wrong answers, or it lacks what
	// CompareOptions.RequireAll asks for.
	Regression
	// Inconclusive: no telling, a difference that may be the drift of the machine, or something that is missing.
	Inconclusive
)

// String returns the outcome in words.
func (o Outcome) String() string {
	switch o {
	case NoRegression:
		return "no regression"
	case Regression:
		return "regression"
	}
	return "inconclusive"
}

// Changes is what differs between an old and a new side.
type Changes struct {
	Old, New    Origin
	Interleaved bool // the two sides took turns, so that drift of the machine hits both alike
	Options     CompareOptions
	Level       float64  // confidence of each interval by itself; all hold together with 95 %
	Changes     []Change // in the order of the new side
	// Benchmarks that only one side has.
	OnlyOld, OnlyNew []string
	// NotCompared are benchmarks of both sides that have none of the metrics that were asked for.
	NotCompared []string
	// Unmatched says what of the new side may belong to a benchmark of the old side, and could not be compared with it.
	Unmatched []string
	// Violations are the runs of the new side that gave wrong answers.
	Violations []string
	// Failed is set where the new side's output says that its benchmarks failed: what ran is then not all.
	Failed   bool
	Warnings []string

	common string // what all names of benchmarks share, and their labels leave out
}

// Regressions returns the changes for the worse that lie beyond the threshold, interleaved or not.
func (c *Changes) Regressions() []Change { return c.with(func(d *Change) bool { return d.Beyond }) }

// Undecided returns the comparisons without a verdict.
func (c *Changes) Undecided() []Change {
	return c.with(func(d *Change) bool { return d.Verdict == Undecided })
}

func (c *Changes) with(is func(*Change) bool) []Change {
	return slices.DeleteFunc(slices.Clone(c.Changes), func(d Change) bool { return !is(&d) })
}

// Outcome is what the changes come to.
func (c *Changes) Outcome() Outcome {
	switch {
	case len(c.Violations) > 0, c.regressed(), c.Options.RequireAll && len(c.Missing()) > 0:
		return Regression
	case len(c.Regressions()) > 0, c.Failed, len(c.OnlyOld) > 0, len(c.Unmatched) > 0, len(c.Undecided()) > 0, c.blind():
		return Inconclusive
	}
	return NoRegression
}

// regressed reports whether something is worse that can't be drift.
func (c *Changes) regressed() bool {
	return len(c.Regressions()) > 0 && (c.Interleaved || c.Options.AllowSequential)
}

// Missing returns what the old side has and the new one lacks: benchmarks, and metrics that were to be compared.
func (c *Changes) Missing() []string {
	missing := slices.Clone(c.OnlyOld)
	for _, d := range c.Changes {
		if d.lacking {
			missing = append(missing, d.Benchmark+", "+d.Metric)
		}
	}
	return missing
}

// mostHidden is the change for the worse, as a share, that may hide behind "no difference found" for that to mean
// anything: a gate whose intervals allow more could never fire.
const mostHidden = 0.5

// blind reports whether the intervals allow so much that finding no difference means nothing.
func (c *Changes) blind() bool {
	share, ok := c.Hidden()
	return ok && share > mostHidden
}

// Hidden returns the largest change for the worse, as a share, that the intervals without a difference still
// contain; false if there is no such interval.
func (c *Changes) Hidden() (share float64, ok bool) {
	for _, d := range c.Changes {
		if d.Verdict == NoDifference && !math.IsNaN(d.Low) {
			share, ok = max(share, d.worst()), true
		}
	}
	return share, ok
}

// compareSides makes the comparisons of what both sides have. least is the number of comparisons that the
// confidence is divided by at least.
func compareSides(old, new *side, interleaved bool, least int, o CompareOptions) (*Changes, error) {
	c := &Changes{Old: old.origin, New: new.origin, Interleaved: interleaved, Options: o, Violations: new.violations, Failed: new.failed}
	c.Warnings = slices.Concat(old.warnings, new.warnings)
	pairs, err := c.match(old, new)
	if err != nil {
		return nil, err
	}
	if err := checkMetrics(o.Metrics, pairs, c); err != nil {
		return nil, err
	}
	metrics, comparisons, comparable := make([][]string, len(pairs)), 0, false
	for i, p := range pairs {
		metrics[i] = p.metrics(o)
		comparisons += len(metrics[i])
		for _, metric := range metrics[i] {
			comparable = comparable || p.old.has(metric) && p.new.has(metric)
			if err := new.conflicts[metric]; err != nil {
				return nil, err
			}
		}
		if len(metrics[i]) == 0 {
			c.NotCompared = append(c.NotCompared, p.new.name)
		}
	}
	if !comparable {
		return nil, fmt.Errorf("results: %s and %s %w: no benchmark has the same metric in both", old.origin.Path, new.origin.Path, ErrIncomparable)
	}
	c.Level = 1 - (1-confidence)/float64(max(least, comparisons))
	for i, p := range pairs {
		for _, metric := range metrics[i] {
			c.Changes = append(c.Changes, p.compare(metric, c))
		}
	}
	c.shorten()
	return c, nil
}
