package claims

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// figureWith invents a figure with an outcome by a condition: its interval lies on the right side of the bound, on the
// other, or on both.
func figureWith(d *results.Condition, outcome string) results.Figure {
	bound, above := 0.0, false // above says that what lies above the bound meets the condition
	if d.AtLeast != nil {
		bound, above = *d.AtLeast, true
	} else {
		bound = *d.AtMost
	}
	width := math.Max(math.Abs(bound)/10, 0.1)
	f := results.Figure{Name: d.Figure, Unit: "×", Blocks: 6}
	switch {
	case outcome == open:
		f.Low, f.High = bound-width, bound+width
	case (outcome == met) == above:
		f.Low, f.High = bound+width, bound+3*width
	default:
		f.Low, f.High = bound-3*width, bound-width
	}
	f.Value = (f.Low + f.High) / 2
	return f
}

// judged is a claim of the rules with figures that have these outcomes: of premises, and of the other conditions in
// turn, the last of them for all that follow.
func judged(c *claim, premises string, outcomes ...string) results.Claim {
	of := c.Claim
	of.Conditions = slices.Clone(of.Conditions)
	n := 0
	for i := range of.Conditions {
		outcome := premises
		if d := &of.Conditions[i]; !d.Premise {
			outcome = outcomes[min(n, len(outcomes)-1)]
			n++
		}
		of.Figures = append(of.Figures, figureWith(&of.Conditions[i], outcome))
	}
	judge(&of)
	return of
}

// conditionsOf are the conditions that are no premises.
func conditionsOf(c *claim) []results.Condition {
	return slices.DeleteFunc(slices.Clone(c.Conditions), func(d results.Condition) bool { return d.Premise })
}

func eachRule(t *testing.T, test func(t *testing.T, c *claim)) {
	for _, c := range all() {
		t.Run(c.Name, func(t *testing.T) {
			if c.Verdict == results.NotMeasured {
				if len(c.Conditions) > 0 || c.Reason == "" {
					t.Fatalf("it can't be measured, has %d conditions and the reason %q", len(c.Conditions), c.Reason)
				}
				return
			}
			test(t, &c)
		})
	}
}

// Every claim can come out every way.
func TestEveryRuleCanGiveEveryVerdict(t *testing.T) {
	eachRule(t, func(t *testing.T, c *claim) {
		tests := []struct {
			outcomes []string
			want     results.ClaimVerdict
			finding  string
		}{
			{[]string{met}, results.Holds, ""},
			{[]string{notMet}, results.DoesNotHold, "not so: "},
			{[]string{open}, results.NotSettled, "open: "},
		}
		if len(conditionsOf(c)) > 1 {
			tests = append(tests, []struct {
				outcomes []string
				want     results.ClaimVerdict
				finding  string
			}{
				{[]string{met, notMet}, results.HoldsInPart, "; not so: "},
				{[]string{notMet, met}, results.HoldsInPart, "; not so: "},
				{[]string{met, open}, results.NotSettled, "; open: "},
				{[]string{notMet, open}, results.NotSettled, "; open: "},
			}...)
		}
		if len(conditionsOf(c)) > 2 {
			tests = append(tests, struct {
				outcomes []string
				want     results.ClaimVerdict
				finding  string
			}{[]string{met, notMet, open}, results.HoldsInPart, "; open: "})
		}
		for _, test := range tests {
			got := judged(c, met, test.outcomes...)
			if got.Verdict != test.want || !strings.Contains(got.Finding, test.finding) || got.Reason != "" {
				t.Errorf("%q: %q, finding %q, reason %q, want %q and %q", test.outcomes, got.Verdict, got.Finding, got.Reason, test.want, test.finding)
			}
			if test.want == results.Holds && (strings.Contains(got.Finding, "not so") || strings.Contains(got.Finding, "open: ")) {
				t.Errorf("it holds, and the finding is %q", got.Finding)
			}
			for _, d := range conditionsOf(c) {
				if !strings.Contains(got.Finding, d.Text) {
					t.Errorf("%q: the finding %q is without %q", test.outcomes, got.Finding, d.Text)
				}
			}
		}
	})
}

// On its bound a figure without spread meets a condition.
func TestBoundsBelongToTheirConditions(t *testing.T) {
	eachRule(t, func(t *testing.T, c *claim) {
		for _, d := range c.Conditions {
			bound := d.AtLeast
			if bound == nil {
				bound = d.AtMost
			}
			if (d.AtLeast == nil) == (d.AtMost == nil) || math.IsNaN(*bound) || math.IsInf(*bound, 0) {
				t.Fatalf("%s: bounds %v and %v", d.Figure, d.AtLeast, d.AtMost)
			}
			if got := outcome(&d, &results.Figure{Value: *bound, Low: *bound, High: *bound}); got != met {
				t.Errorf("%s on its bound is %s", d.Figure, got)
			}
		}
	})
}

func TestFailingPremisesSettleNothing(t *testing.T) {
	some := false
	eachRule(t, func(t *testing.T, c *claim) {
		if len(conditionsOf(c)) == len(c.Conditions) {
			return
		}
		some = true
		for _, premises := range []string{notMet, open} {
			for _, others := range []string{met, notMet, open} {
				got := judged(c, premises, others)
				want := map[string]string{notMet: "this machine does not show it, not so: ", open: "this run does not tell whether the machine can show it, open: "}[premises]
				if got.Verdict != results.NotSettled || !strings.HasPrefix(got.Reason, want) {
					t.Errorf("premises %s, others %s: %q because %q", premises, others, got.Verdict, got.Reason)
				}
			}
		}
	})
	if !some {
		t.Error("no claim has a premise")
	}
}

func TestFiguresThatAreMissingSettleNothing(t *testing.T) {
	nan := math.NaN()
	eachRule(t, func(t *testing.T, c *claim) {
		for name, edit := range map[string]func(of *results.Claim){
			"no figures": func(of *results.Claim) { of.Figures = nil },
			"no numbers": func(of *results.Claim) {
				for i := range of.Figures {
					of.Figures[i].Value, of.Figures[i].Low, of.Figures[i].High = nan, nan, nan
				}
			},
			"no intervals": func(of *results.Claim) {
				for i := range of.Figures {
					of.Figures[i].Low, of.Figures[i].High = nan, nan
				}
			},
		} {
			of := judged(c, met, met)
			of.Verdict, of.Finding = "", ""
			edit(&of)
			judge(&of)
			if of.Verdict != results.NotSettled || of.Finding == "" && of.Reason == "" {
				t.Errorf("%s: %q, finding %q, reason %q", name, of.Verdict, of.Finding, of.Reason)
			}
		}
		// One that is missing leaves open what the others don't decide.
		of := judged(c, met, met)
		of.Figures = of.Figures[:len(of.Figures)-1]
		if judge(&of); of.Verdict != results.NotSettled || !strings.Contains(of.Finding, "(not measured)") {
			t.Errorf("without the last figure: %q, finding %q", of.Verdict, of.Finding)
		}
	})
}

func TestExperimentsThatFailedSettleNothing(t *testing.T) {
	eachRule(t, func(t *testing.T, c *claim) {
		of := judged(c, met, met)
		of.Reason = "no space left on the device"
		if judge(&of); of.Verdict != results.NotSettled || of.Reason != "no space left on the device" {
			t.Errorf("%q because %q", of.Verdict, of.Reason)
		}
	})
}

func TestWhatCannotBeMeasuredStays(t *testing.T) {
	found := 0
	for _, c := range all() {
		if c.Verdict != results.NotMeasured {
			continue
		}
		found++
		reason := c.Reason
		if judge(&c.Claim); c.Verdict != results.NotMeasured || c.Reason != reason {
			t.Errorf("%s: %q because %q", c.Name, c.Verdict, c.Reason)
		}
		if c.measure != nil || len(c.ratios) > 0 {
			t.Errorf("%s is measured all the same", c.Name)
		}
	}
	if found != 1 {
		t.Errorf("%d claims can't be measured, want one", found)
	}
}

// measuredFigures are the figures that experiments beside the sweep promise to the rules, beside those that inform
// alone.
var measuredFigures = map[string][]string{
	"mutex-kernel":        {"processors", "mutex-futex"},
	"rwmutex-starves":     {"atomics-called", "rwmutex-called", "rwmutex-called-over-mutex"},
	"atomics-overhead":    {"processors", "atomics-futex", "atomics-waited"},
	"atomics-not-one":     {"atomics-waits", "atomics-lines"},
	"atomics-publication": {"ordered-violations", "unordered-violations"},
	"actor-publish":       {"actor-10000", "actor-bytes", "plain-10000"},
	"actor-handles":       {"handle-seconds", "handle-bytes", "handles-rate"},
	"actor-complex":       {"actor-lines", "actor-declarations"},
	"pread":               {"own-2-over-1", "pread-2-over-1", "pread-4-over-1", "pread-2-over-own", "pread-4-over-own"},
	"index":               {"index-hot", "index-cold", "index-seconds"},
	"mapped-log":          {"mapped-1k", "mapped-64k", "remap", "pressure-advised-1k", "pressure-others"},
	"copying":             {"copy-4k", "copy-64k", "copy-1m"},
}

func TestEveryConditionHasAFigure(t *testing.T) {
	names := make(map[string]bool)
	for _, c := range all() {
		if c.Name == "" || names[c.Name] {
			t.Errorf("claim %q is there twice", c.Name)
		}
		names[c.Name] = true
		if c.Model == "" || !strings.HasSuffix(c.Sentence, ".") || c.Experiment == "" {
			t.Errorf("%s: model %q, sentence %q, experiment %q", c.Name, c.Model, c.Sentence, c.Experiment)
		}
		given := make(map[string]bool)
		promised := measuredFigures[c.Name]
		if (c.measure != nil) != (len(promised) > 0) {
			t.Errorf("%s: an experiment beside the sweep: %v, figures of one: %q", c.Name, c.measure != nil, promised)
		}
		for _, r := range c.ratios {
			if given[r.name] || slices.Contains(promised, r.name) {
				t.Errorf("%s: two figures are called %s", c.Name, r.name)
			}
			if r.text == "" {
				t.Errorf("%s: %s has no text", c.Name, r.name)
			}
			given[r.name] = true
		}
		used := make(map[string]bool)
		for _, d := range c.Conditions {
			if !given[d.Figure] && !slices.Contains(promised, d.Figure) {
				t.Errorf("%s: nothing gives %s", c.Name, d.Figure)
			}
			if d.Text == "" || used[d.Figure] {
				t.Errorf("%s: a second condition on %s, or one without a text", c.Name, d.Figure)
			}
			used[d.Figure] = true
		}
		for _, name := range promised {
			if !used[name] {
				t.Errorf("%s: no condition is about %s", c.Name, name)
			}
		}
	}
}

// The loads of the sweep have the strategies that figures are taken of.
func TestEveryRatioHasItsRuns(t *testing.T) {
	for _, c := range all() {
		sweep := needed([]claim{c})
		for _, r := range c.ratios {
			for _, p := range []place{r.over, r.under} {
				if p.load == "" {
					continue
				}
				found := false
				for _, w := range sweep {
					// raw runs as a limit wherever it is one, without being listed.
					found = found || w.Name == p.load && (p.strategy == "raw" || slices.Contains(w.Strategies, p.strategy))
				}
				if !found {
					t.Errorf("%s: %s needs %s under %s, which no load has", c.Name, r.name, p.strategy, p.load)
				}
			}
		}
	}
}
