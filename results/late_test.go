package results_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tailrace/results"
)

// lateSweep is one of mutex and actor, whose p90 is 0.8 of the mutex's, in which some runs of the actor are late: by
// chance, or because they are slow anyway. A late run has only a bound, longer by some lateness.
func lateSweep(random *rand.Rand, late func(slow float64) bool) *results.Sweep {
	metric := results.LatencyMetric(results.KindEndToEnd, "p90")
	s := &results.Sweep{Meta: results.Meta{
		Baseline:  "mutex",
		Workloads: []results.Workload{{Name: "tail", Primary: metric}},
		Planned:   []results.Comparison{{Workload: "tail", Strategy: "actor", Baseline: "mutex", Metric: metric}},
	}}
	for block := range 12 {
		drift := 0.3 * random.NormFloat64()
		for _, strategy := range []string{"mutex", "actor"} {
			slow := random.NormFloat64()
			latency := 1e-5 * math.Exp(drift+0.1*slow)
			run := results.Run{Index: len(s.Runs), Block: block, Cell: results.Cell{Workload: "tail", Strategy: strategy, Producers: 1, ProduceRate: 1e4}}
			if strategy == "actor" {
				latency *= 0.8
			}
			if strategy == "actor" && late(slow) {
				run.Bounds = map[string]float64{metric: latency * (1.1 + 0.5*random.Float64())}
				run.Metrics = map[string]float64{results.MetricOps: 1e4}
			} else {
				run.Metrics = map[string]float64{metric: latency}
			}
			s.Runs = append(s.Runs, run)
		}
	}
	return s
}

// A few late runs leave a verdict, and an interval that holds the truth as often as it says, also where it is the
// slow runs that are late.
func TestLateRuns(t *testing.T) {
	long(t)
	const sweeps = 1000
	for name, late := range map[string]func(random *rand.Rand) func(float64) bool{
		"by chance": func(random *rand.Rand) func(float64) bool {
			return func(float64) bool { return random.IntN(12) == 0 }
		},
		"the slow ones": func(*rand.Rand) func(float64) bool { return func(slow float64) bool { return slow > 1.4 } },
	} {
		random := rand.New(rand.NewPCG(11, 11))
		covered, decided := 0, 0
		for range sweeps {
			e := lateSweep(random, late(random)).Effects()[0]
			if e.Verdict == results.Undecided {
				continue // more than a quarter was late
			}
			decided++
			if covers(e.Interval, 0.8) {
				covered++
			}
			if e.Verdict == results.Worse {
				t.Errorf("%s: worse, %s", name, e.Interval.Text())
			}
		}
		if share := float64(covered) / float64(decided); decided < sweeps*9/10 || share < 0.94 {
			t.Errorf("%s: %d of %d sweeps decided, and the interval holds the truth in %.3f of these", name, decided, sweeps, share)
		}
	}
}

func TestTooManyLateRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 12))
	e := lateSweep(random, func(slow float64) bool { return slow > -0.5 }).Effects()[0]
	if e.Verdict != results.Undecided || !strings.Contains(e.Reason, "carry no e2e p90") || !math.IsNaN(e.Ratio) {
		t.Errorf("%s, %s, because %q", e.Verdict, e.Interval.Text(), e.Reason)
	}
	e = lateSweep(random, func(slow float64) bool { return slow > 1.4 }).Effects()[0]
	if want := "the load itself was late in "; !strings.HasPrefix(e.Reason, want) || e.Verdict == results.Undecided {
		t.Errorf("%s, because %q, want one that begins %q", e.Verdict, e.Reason, want)
	}
}
