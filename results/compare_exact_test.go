package results_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// A unit that a file calls exact needs no runs to be sure of, and no difference of it is noise.
func TestCompareExactUnits(t *testing.T) {
	file := func(unit string, values ...float64) string {
		text := unit + "\n"
		for _, v := range values {
			text += fmt.Sprintf("BenchmarkA 1 %v size-B\n", v)
		}
		return text
	}
	const exact = "Unit size-B assume=exact better=lower"
	for name, c := range map[string]struct {
		unit      string
		old, new  []float64
		threshold float64
		verdict   results.Verdict
		outcome   results.Outcome
		warning   bool
	}{
		"the same":       {exact, []float64{1000}, []float64{1000}, 0, results.NoDifference, results.NoRegression, false},
		"one more":       {exact, []float64{1000}, []float64{1001}, 0, results.Worse, results.Regression, false},
		"one less":       {exact, []float64{1000, 1000}, []float64{999}, 0, results.Better, results.NoRegression, false},
		"in the allowed": {exact, []float64{1000}, []float64{1001}, 0.01, results.Worse, results.NoRegression, false},
		"more is better": {"Unit size-B assume=exact better=higher", []float64{1000}, []float64{999}, 0, results.Worse, results.Regression, false},
		"no direction":   {"Unit size-B assume=exact", []float64{1000}, []float64{1001}, 0, results.Undecided, results.Inconclusive, false},
		"from nothing":   {exact, []float64{0}, []float64{1}, 0.5, results.Worse, results.Regression, false},
		"to nothing":     {exact, []float64{1}, []float64{0}, 0, results.Better, results.NoRegression, false},
		"of nothing":     {exact, []float64{0}, []float64{0}, 0, results.NoDifference, results.NoRegression, false},
		"not so exact":   {exact, []float64{1000, 1000}, []float64{1000, 1001}, 0, results.NoDifference, results.NoRegression, true},
		"far from exact": {exact, []float64{1000, 1000}, []float64{1000, 3000}, 0, results.NoDifference, results.Inconclusive, true},
		"all worse":      {exact, []float64{1000, 1010}, []float64{1200, 1300}, 0.1, results.Worse, results.Regression, true},
		"both ways":      {exact + " assume=nothing", []float64{1000}, []float64{1001}, 0, results.Undecided, results.Inconclusive, false},
	} {
		got := mustCompareTexts(t, file(c.unit, c.old...), file("", c.new...), results.CompareOptions{Threshold: c.threshold, AllowSequential: true})
		warned := slices.ContainsFunc(got.Warnings, func(w string) bool { return strings.Contains(w, "is to be exact") })
		if got.Changes[0].Verdict != c.verdict || got.Outcome() != c.outcome || warned != c.warning {
			t.Errorf("%s: %s, %s, %q, %+v", name, got.Outcome(), got.VerdictText(), got.Warnings, got.Changes[0])
		}
		var text, json strings.Builder
		if err := got.WriteText(&text, 0); err != nil || strings.Contains(text.String(), "NaN") || strings.Contains(text.String(), "Inf") {
			t.Errorf("%s: %v\n%s", name, err, text.String())
		}
		if err := got.WriteJSON(&json); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
