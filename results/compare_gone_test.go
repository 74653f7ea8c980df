package results_test

import (
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// What a sweep lacks that the other one has is never without consequence, in turns or not.
func TestCompareDirectoriesOfUnequalContents(t *testing.T) {
	durable := func(r results.Run) bool { return r.Cell.Workload == "durable" }
	actor := func(r results.Run) bool { return r.Cell.Workload == "mix" && r.Cell.Strategy == "actor" }
	drop := func(is func(results.Run) bool) func(*results.Sweep) {
		return func(s *results.Sweep) { s.Runs = slices.DeleteFunc(s.Runs, is) }
	}
	without := func(metric string, is func(results.Run) bool) func(*results.Sweep) {
		return func(s *results.Sweep) {
			for i := range s.Runs {
				if is(s.Runs[i]) {
					delete(s.Runs[i].Metrics, metric)
				}
			}
		}
	}
	inBlock := func(block int) func(results.Run) bool {
		return func(r results.Run) bool { return actor(r) && r.Block == block }
	}
	few := func(s *results.Sweep) {
		s.Runs = slices.DeleteFunc(s.Runs, func(r results.Run) bool {
			return r.Cell.Workload == "tail" || r.Cell.Strategy != "mutex" && r.Cell.Strategy != "actor"
		})
	}
	old, _ := alternating(1.25)
	few(old)
	dir := sweepDir(t, "old", old)
	for name, c := range map[string]struct {
		change  func(new *results.Sweep)
		metrics []string
		reason  string // of what is undecided
		missing int
	}{
		"a workload":               {drop(durable), nil, "", 2},
		"a strategy":               {drop(actor), nil, "", 1},
		"a run":                    {drop(inBlock(2)), nil, "1 block: only one side has it", 0},
		"a metric":                 {without("op/s", actor), nil, "has no op/s of it", 1},
		"a metric of a run":        {without("op/s", inBlock(2)), nil, "1 of 6 runs of ", 0},
		"one that was asked for":   {without("cpu-sec/op", actor), []string{"cpu-sec/op"}, "has no cpu-sec/op of it", 1},
		"and of a run, asked for":  {without("cpu-sec/op", inBlock(2)), []string{"cpu-sec/op"}, "1 of 6 runs of ", 0},
		"what nobody has asked of": {without("cpu-sec/op", actor), nil, "", 0},
	} {
		_, new := alternating(1.25)
		few(new)
		c.change(new)
		changed := sweepDir(t, "new", new)
		got, err := results.Compare(dir, changed, results.CompareOptions{Metrics: c.metrics})
		if err != nil {
			t.Fatal(err)
		}
		want := results.Inconclusive
		if c.reason == "" && c.missing == 0 {
			want = results.NoRegression
		}
		reasons := make([]string, len(got.Undecided()))
		for i, d := range got.Undecided() {
			reasons[i] = d.Reason
		}
		if got.Outcome() != want || len(got.Missing()) != c.missing || !strings.Contains(strings.Join(reasons, ""), c.reason) || (len(reasons) == 0) != (c.reason == "") {
			t.Errorf("%s: %s, %q, missing %q", name, got.VerdictText(), reasons, got.Missing())
		}
		got.Options.RequireAll = true
		if outcome := got.Outcome(); (outcome == results.Regression) != (c.missing > 0) {
			t.Errorf("%s: %s where all are required", name, outcome)
		}
		// What only the new side has is new.
		if c.reason != "" {
			continue
		}
		if got, err := results.Compare(changed, dir, results.CompareOptions{Metrics: c.metrics}); err != nil || len(got.Missing()) > 0 {
			t.Errorf("%s, the other way: missing %q, %v", name, got.Missing(), err)
		}
	}
}

// The same of two builds in one sweep.
func TestCompareBuildsOfUnequalContents(t *testing.T) {
	s := builds(results.MetricOps)
	s.Runs = slices.DeleteFunc(s.Runs, func(r results.Run) bool { return r.Cell.Build == "" && r.Cell.Strategy == "actor" })
	c, err := results.CompareBuilds(sweepDir(t, "gone", s), results.CompareOptions{})
	if err != nil || c.Outcome() != results.Inconclusive || !slices.Equal(c.OnlyOld, []string{"mix actor"}) {
		t.Errorf("%+v, %v", c, err)
	}
	s = builds(results.MetricOps)
	s.Runs = slices.DeleteFunc(s.Runs, func(r results.Run) bool { return r.Cell.Build == "" && r.Cell.Strategy == "actor" && r.Block > 3 })
	c, err = results.CompareBuilds(sweepDir(t, "fewer", s), results.CompareOptions{})
	if err != nil || c.Outcome() != results.Inconclusive || len(c.Undecided()) != 1 || !strings.HasSuffix(c.Undecided()[0].Reason, ": only one side has it") {
		t.Errorf("%+v, %v", c, err)
	}
}
