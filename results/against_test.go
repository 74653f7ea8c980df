package results_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// builds is a sweep of two builds: actor and mutex of this one and the other, whose actor has 0.8 of the
// speed; raw of this one; and the A/A arm.
func builds(metric string) *results.Sweep {
	random := rand.New(rand.NewPCG(8, 8))
	s := &results.Sweep{Meta: results.Meta{
		Blocks: 6, Baseline: "mutex",
		Workloads: []results.Workload{{Name: "mix", Primary: metric, Description: "closed loop"}},
		Against:   &results.Build{Label: "old", Version: "0.9", Commit: "abc", Go: "go1.26.8", Binary: "./tailrace-old"},
	}}
	for _, strategy := range []string{"mutex", "actor"} {
		s.Meta.Planned = append(s.Meta.Planned, results.Comparison{
			Workload: "mix", Strategy: strategy, Baseline: strategy, BaselineBuild: "old", Metric: metric,
		})
	}
	for block := range 6 {
		drift := 0.3 * random.NormFloat64()
		for _, c := range []struct {
			cell  results.Cell
			speed float64
		}{
			{results.Cell{Strategy: "actor", Build: "old"}, 1.6}, {results.Cell{Strategy: "mutex", Build: "old"}, 1},
			{results.Cell{Strategy: "raw"}, 4}, {results.Cell{Strategy: "actor"}, 2}, {results.Cell{Strategy: "mutex", Arm: "A/A"}, 1},
			{results.Cell{Strategy: "mutex"}, 1}, {results.Cell{Strategy: "raw", Build: "old"}, 8},
		} {
			c.cell.Workload, c.cell.Storage = "mix", "tmpfs"
			s.Runs = append(s.Runs, results.Run{
				Index: len(s.Runs), Block: block, Cell: c.cell, Window: 0.4,
				Metrics: map[string]float64{metric: 1e5 * c.speed * math.Exp(drift+0.01*random.NormFloat64())},
			})
		}
	}
	return s
}

func TestTwoBuilds(t *testing.T) {
	s := builds(results.MetricOps)
	var order []string
	for _, c := range s.Cells() {
		order = append(order, c.Cell.Label())
		if share, ok := c.OfRaw(); ok && c.Cell.Strategy == "actor" {
			if want := map[string]float64{"": 0.5, "old": 0.2}[c.Cell.Build]; math.Abs(share-want) > 0.02 {
				t.Errorf("%s reaches %v of raw, want %v of that of its own build", c.Cell.Label(), share, want)
			}
		}
	}
	if want := []string{"mutex", "mutex@old", "actor", "actor@old", "raw", "raw@old", "A/A"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	effects := s.Effects()
	if len(effects) != 2 || effects[0].Verdict != results.NoDifference || effects[1].Verdict != results.Better || math.Abs(effects[1].Ratio-1.25) > 0.02 {
		t.Errorf("effects %+v", effects)
	}
	if answers := s.Answers(); len(answers) != 1 || !strings.HasPrefix(answers[0].Text,
		"mix: no difference found between `mutex` of this build and `mutex` of old (one of less than 1.0") ||
		!strings.Contains(answers[0].Text, "; `actor` of this build completes 1.2") ||
		!strings.Contains(answers[0].Text, ") the operations of `actor` of old, in this sweep.") {
		t.Errorf("answers %+v", answers)
	}
	table := s.Sections()[0].Tables[0]
	at := slices.IndexFunc(table.Columns, func(c results.Column) bool { return c.Head == "vs old" })
	if at < 0 {
		t.Fatalf("columns %+v", table.Columns)
	}
	for i, want := range []string{"1.0", "baseline", "1.2", "baseline", "", ""} {
		if got := table.Columns[at].Cells[i]; !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s is %q, want %q", table.Labels[i], got, want)
		}
	}
	for format, text := range rendered(t, s) {
		if !strings.Contains(text, "actor@old") {
			t.Errorf("%s:\n%s", format, text)
		}
	}
}

func TestLatencyOfTwoBuilds(t *testing.T) {
	metric := results.LatencyMetric(results.KindEndToEnd, "p99")
	s := builds(metric)
	for i := range s.Runs {
		s.Runs[i].Metrics[metric] = 1 / s.Runs[i].Metrics[metric]
	}
	if text := s.Answers()[0].Text; !strings.Contains(text, "`actor`'s end-to-end p99 of this build is 0.80× (") || !strings.Contains(text, ") that of `actor` of old") {
		t.Error(text)
	}
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Cell.Label() == "actor@old" {
			run.Verification.Error = "wrong"
		}
	}
	if e := s.Effects(); e[1].Verdict != results.Undecided || e[1].Reason != "a run of `actor@old` failed verification: wrong" || e[0].Reason != "" {
		t.Errorf("effects %+v", e)
	}
}

func TestBenchNamesTheBuild(t *testing.T) {
	text := bench(t, builds(results.MetricOps))
	for _, want := range []string{"/strategy=actor/build=this/", "/strategy=actor/build=old/", "/strategy=aa/build=this/"} {
		if strings.Count(text, want) != 6 {
			t.Errorf("%d lines with %s, want 6:\n%s", strings.Count(text, want), want, text)
		}
	}
	if s := invented(t); strings.Contains(bench(t, s), "build=") {
		t.Error("a build is named where there is one")
	}
}
