package harness

import (
	"fmt"
	"slices"
	"strings"

	"tailrace/results"
	"tailrace/strategies"
	"tailrace/workload"
)

// compared returns the strategies that a workload is run with, in the order of the list, and the one that
// the others are compared with.
func (o *Options) compared(w *workload.Workload) (names []string, baseline string, err error) {
	names = slices.Clone(o.Strategies)
	if len(names) == 0 {
		names = slices.Clone(w.Strategies)
	}
	if len(names) == 0 {
		return nil, "", usagef("workload %s: no strategies; name some with --strategies", w.Name)
	}
	for _, name := range names {
		if err := checkStrategy("--strategies", name); err != nil {
			return nil, "", err
		}
	}
	baseline = o.Baseline
	if baseline == "" {
		baseline = names[0]
	}
	slices.SortStableFunc(names, byListOrder)
	names = slices.Compact(names)
	if !slices.Contains(names, baseline) {
		if len(o.Strategies) > 0 {
			return nil, "", usagef("--baseline %s: it is not among --strategies %s", baseline, strings.Join(o.Strategies, ","))
		}
		names = slices.Insert(names, 0, baseline)
	}
	return names, baseline, nil
}

// checkPrimary refuses a metric that there is not.
func checkPrimary(metric string) error {
	names := results.MetricNames()
	if slices.Contains(names, metric) {
		return nil
	}
	return usagef("%w", &workload.FieldError{Field: "--primary", Value: metric, Problem: fmt.Sprintf(
		"no such metric, see tailrace list metrics%s", workload.Suggestion(metric, names))})
}

func isControl(name string) bool {
	s, _ := strategies.Find(name)
	return s.Kind == strategies.Control
}

// compare plans the comparisons of a workload: each strategy with the baseline or, where two builds run,
// with itself in the other one.
func (p *Plan) compare(w *workload.Workload, names []string, baseline string) {
	for _, name := range names {
		c := results.Comparison{Workload: w.Name, Strategy: name, Baseline: baseline, Metric: w.Primary}
		switch {
		case isControl(name):
			continue
		case p.Options.Against != "":
			c.Baseline, c.BaselineBuild = name, otherBuild
		case name == baseline:
			continue
		}
		p.Meta.Planned = append(p.Meta.Planned, c)
	}
}

// fitting refuses strategies for loads that they can't carry.
func fitting(w *workload.Workload, names []string) error {
	refuse := func(flag, value, name, why string) error {
		return usagef("%w", &workload.FieldError{Field: flag, Value: value, Problem: fmt.Sprintf("strategy %s %s; leave it out", name, why)})
	}
	for _, name := range names {
		switch s, _ := strategies.Find(name); {
		case s.PrivateFiles && w.Replicas > 0:
			return refuse("--replicas", fmt.Sprint(w.Replicas), name, "has no log that followers could fetch")
		case (s.PrivateFiles || s.StoresNothing) && w.Backlog > 0:
			return refuse("--backlog", workload.FormatSize(w.Backlog), name, "has no log that could be trimmed behind its consumers")
		case (s.PrivateFiles || s.StoresNothing) && w.DrainRatio > 0:
			return refuse("--drain", fmt.Sprint(w.DrainRatio), name, "has no log to drain")
		case s.PrivateFiles && w.Search:
			return refuse("--strategies", name, name, "shows its consumers nothing, and so sustains any rate")
		case s.StoresNothing && w.Replicas > 0:
			return refuse("--replicas", fmt.Sprint(w.Replicas), name, "stores nothing that followers could fetch")
		}
	}
	return nil
}

// verdicts counts the planned comparisons at all points of their workloads.
func (p *Plan) verdicts() int {
	n := 0
	for _, planned := range p.Meta.Planned {
		for _, c := range p.Cells {
			if c.Cell.Workload == planned.Workload && c.Cell.Strategy == planned.Strategy && c.Cell.Arm == "" && c.Cell.Build == "" {
				n++
			}
		}
	}
	return n
}

// ideas are the steps between strategies that are run, at a point, both with and without an idea.
func (p *Plan) ideas() []results.Idea {
	var ideas []results.Idea
	for _, idea := range strategies.Ideas {
		both := func(c PlannedCell) bool {
			other := c.Cell
			other.Strategy = idea.To
			return c.Cell.Strategy == idea.From && slices.ContainsFunc(p.Cells, func(o PlannedCell) bool { return o.Cell == other })
		}
		if slices.ContainsFunc(p.Cells, both) {
			ideas = append(ideas, results.Idea(idea))
		}
	}
	return ideas
}

// rawIsLimit reports whether the strategy raw bounds a workload: not under a sync, where others share
// its cost, nor where consumers follow what producers append, which a private log does not show.
func rawIsLimit(w *workload.Workload) bool {
	follows := w.Consumers > 0 && !readsPrefill(w.Pattern)
	return w.Sync == workload.SyncNone && !follows && !w.OpenLoop() && w.Replicas == 0 && !w.Search && w.Think == 0
}

func byListOrder(a, b string) int {
	names := strategies.Names()
	return slices.Index(names, a) - slices.Index(names, b)
}
