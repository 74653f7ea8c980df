package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// A figure of which many runs have no number would be one of those that were lucky: it is open.
func TestFiguresThatManyRunsLack(t *testing.T) {
	r := ratio{"reads", "reads", at("load", "actor", results.MetricOps), at("load", "mutex", results.MetricOps)}
	for lacking, known := range map[int]bool{0: true, 2: true, 3: false, 5: false, 12: false} {
		s := &results.Sweep{}
		for block := range 12 {
			for _, strategy := range []string{"mutex", "actor"} {
				s.Runs = append(s.Runs, results.Run{
					Block: block, Cell: results.Cell{Workload: "load", Strategy: strategy},
					Metrics:    map[string]float64{results.MetricOps: 100 + float64(block%3)},
					Overloaded: strategy == "actor" && block < lacking,
				})
			}
		}
		f := r.figureOf(s, 0.95)
		if (!math.IsNaN(f.Low) && !math.IsNaN(f.High)) != known {
			t.Errorf("%d of 12 runs lack it: %s", lacking, f.ValueText())
		}
		if want := fmt.Sprintf("; %d of 12 blocks lack it", lacking); strings.Contains(f.Text, want) != (lacking > 0) {
			t.Errorf("%d of 12 runs lack it: %q", lacking, f.Text)
		}
		// What does not depend on the writers' keeping up counts in all of them.
		all := r
		all.over.overloaded = true
		if f := all.figureOf(s, 0.95); f.Blocks != 12 || math.IsNaN(f.Low) || f.Text != r.text {
			t.Errorf("with those of %d overloaded runs: %d blocks, %s, %q", lacking, f.Blocks, f.ValueText(), f.Text)
		}
	}
}

// Blocks are lacking where either side is.
func TestPairsThatAreLacking(t *testing.T) {
	r := ratio{"reads", "reads", at("load", "actor", results.MetricOps), at("load", "mutex", results.MetricOps)}
	s := &results.Sweep{}
	for block := range 12 {
		for i, strategy := range []string{"mutex", "actor"} {
			run := results.Run{Block: block, Cell: results.Cell{Workload: "load", Strategy: strategy}, Metrics: map[string]float64{results.MetricOps: 100 + float64(block%3)}}
			run.Overloaded = block/2 == i // two of each, in other blocks
			s.Runs = append(s.Runs, run)
		}
	}
	if f := r.figureOf(s, 0.95); f.Blocks != 8 || !math.IsNaN(f.Low) || !strings.HasSuffix(f.Text, "; 4 of 12 blocks lack it") {
		t.Errorf("%d blocks, %s, %q", f.Blocks, f.ValueText(), f.Text)
	}
}

// A quick run has the figures that decide, and no loads for others.
func TestFiguresThatDecide(t *testing.T) {
	left := 0
	for _, c := range all() {
		deciding := c.deciding()
		left += len(c.ratios) - len(deciding)
		for _, d := range c.Conditions {
			is := func(r ratio) bool { return r.name == d.Figure }
			if slices.ContainsFunc(c.ratios, is) != slices.ContainsFunc(deciding, is) {
				t.Errorf("%s: a condition is about %s, which is left out", c.Name, d.Figure)
			}
		}
	}
	if left == 0 {
		t.Error("all figures decide")
	}
}
