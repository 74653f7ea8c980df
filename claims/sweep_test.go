package claims

import (
	"math"
	"strings"
	"testing"

	"tailrace/results"
)

// A figure of which many runs have no number would be one of those that were lucky: it is open.
func TestFiguresThatManyRunsLack(t *testing.T) {
	r := ratio{"reads", "reads", at("load", "actor", results.MetricOps), at("load", "mutex", results.MetricOps)}
	for lacking, known := range map[int]bool{0: true, 3: true, 5: false, 12: false} {
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
		if strings.Contains(f.Text, "of 12 runs of actor in load lack it") == known {
			t.Errorf("%d of 12 runs lack it: %q", lacking, f.Text)
		}
	}
}
