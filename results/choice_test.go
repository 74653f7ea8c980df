package results_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// choices is a sweep of strategies whose throughput, p99 and processor time are given, with noise of 1 %.
func choices(cell results.Cell, given map[string][3]float64, ideas ...results.Idea) *results.Sweep {
	random := rand.New(rand.NewPCG(9, 9))
	cell.Workload, cell.Storage = "mix", "tmpfs"
	s := &results.Sweep{Meta: results.Meta{Blocks: 8, Baseline: "mutex", Ideas: ideas,
		Workloads: []results.Workload{{Name: "mix", Primary: results.MetricOps, Description: "closed loop"}}}}
	metrics := []string{results.MetricOps, results.LatencyMetric(results.KindProduce, "p99"), results.MetricCPU}
	for block := range 8 {
		drift := 0.3 * random.NormFloat64()
		for _, strategy := range []string{"mutex", "rwmutex", "atomics", "actor", "mutex-rcu", "raw"} {
			values, ok := given[strategy]
			if !ok {
				continue
			}
			cell.Strategy = strategy
			run := results.Run{Index: len(s.Runs), Block: block, Cell: cell, Metrics: map[string]float64{}}
			for i, metric := range metrics {
				if values[i] > 0 {
					run.Metrics[metric] = values[i] * math.Exp(drift+0.01*random.NormFloat64())
				}
			}
			s.Runs = append(s.Runs, run)
		}
	}
	return s
}

func TestFront(t *testing.T) {
	closed, paced := results.Cell{Workers: 8}, results.Cell{Producers: 2, ProduceRate: 1000}
	for name, c := range map[string]struct {
		cell      results.Cell
		given     map[string][3]float64
		text      string
		dominated map[string]string
	}{
		"one is best": {closed, map[string][3]float64{"mutex": {1e5, 2e-3, 4e-6}, "actor": {2e5, 1e-3, 2e-6}},
			"nothing is known to be given up with `actor`: it is among the best on throughput and CPU/op", map[string]string{"mutex": "actor"}},
		"a trade": {closed, map[string][3]float64{"mutex": {1e5, 1e-3, 2e-6}, "actor": {2e5, 2e-3, 4e-6}},
			"no single winner: the best on throughput is `actor`, on CPU/op is `mutex`", nil},
		"a compromise": {closed, map[string][3]float64{"mutex": {1e5, 1e-3, 2e-6}, "actor": {2e5, 2e-3, 4e-6}, "atomics": {1.5e5, 1.5e-3, 3e-6}},
			"on CPU/op is `mutex`; `atomics` is a compromise that none is known to beat", nil},
		"two are best": {closed, map[string][3]float64{"mutex": {1e5, 2e-3, 4e-6}, "actor": {2e5, 1e-3, 2e-6}, "atomics": {2e5, 1e-3, 2e-6}},
			"nothing is known to be given up with `actor` or `atomics`: each is among the best on throughput and CPU/op (another that is better by less than 1.0", map[string]string{"mutex": "*"}},
		"none differs": {closed, map[string][3]float64{"mutex": {1e5, 1e-3, 2e-6}, "actor": {1e5, 1e-3, 2e-6}},
			"nothing tells the strategies apart on throughput and CPU/op (another", nil},
		"the limit is no candidate": {closed, map[string][3]float64{"mutex": {1e5, 2e-3, 4e-6}, "actor": {2e5, 1e-3, 2e-6}, "raw": {9e5, 1e-6, 1e-9}},
			"nothing is known to be given up with `actor`", map[string]string{"mutex": "actor"}},
		"service times rank nothing": {closed, map[string][3]float64{"mutex": {1e5, 1e-6, 4e-6}, "actor": {2e5, 1, 2e-6}},
			"nothing is known to be given up with `actor`", map[string]string{"mutex": "actor"}},
		"a paced load": {paced, map[string][3]float64{"mutex": {1e3, 2e-3, 2e-6}, "actor": {1e3, 1e-3, 4e-6}},
			"no single winner: the best on throughput is not known, on produce p99 is `actor`, on CPU/op is `mutex`", nil},
		"a p99 is missing": {paced, map[string][3]float64{"mutex": {1e3, 0, 2e-6}, "actor": {1e3, 1e-3, 4e-6}},
			"; produce p99 is not weighed, since `mutex` has none", map[string]string{"actor": "mutex"}},
	} {
		front := choices(c.cell, c.given).Sections()[0].Front
		if front == nil {
			t.Errorf("%s: no front", name)
			continue
		}
		if text := front.Text(c.cell); !strings.Contains(text, c.text) {
			t.Errorf("%s: %s\nwant %s", name, text, c.text)
		}
		for _, m := range front.Members {
			if want := c.dominated[m.Label]; m.DominatedBy != want && !(want == "*" && m.DominatedBy != "") {
				t.Errorf("%s: %s is dominated by %q, want %q", name, m.Label, m.DominatedBy, want)
			}
		}
	}
}

func TestNoFront(t *testing.T) {
	given := map[string][3]float64{"mutex": {1e5, 2e-3, 4e-6}, "actor": {2e5, 1e-3, 2e-6}}
	cell := results.Cell{Workers: 8}
	failed, overloaded, alone := choices(cell, given), choices(cell, given), choices(cell, map[string][3]float64{"actor": {2e5, 1e-3, 2e-6}, "raw": {9e5, 1e-6, 1e-9}})
	for i := range failed.Runs {
		if failed.Runs[i].Cell.Strategy == "actor" {
			failed.Runs[i].Verification.Error = "offset 17"
			overloaded.Runs[i].Overloaded = true
		}
	}
	for name, s := range map[string]*results.Sweep{"failed": failed, "overloaded": overloaded, "alone": alone} {
		if front := s.Sections()[0].Front; front != nil {
			t.Errorf("%s: %+v", name, front)
		}
	}
}

// Of strategies that differ by nothing but noise, the front must not lose all, whatever the noise.
func TestFrontIsNeverEmpty(t *testing.T) {
	random := rand.New(rand.NewPCG(10, 10))
	for range 200 {
		s := choices(results.Cell{Workers: 8}, map[string][3]float64{"mutex": {1, 1, 1}, "rwmutex": {1, 1, 1}, "atomics": {1, 1, 1}, "actor": {1, 1, 1}, "mutex-rcu": {1, 1, 1}})
		for i := range s.Runs {
			for metric := range s.Runs[i].Metrics {
				s.Runs[i].Metrics[metric] *= math.Exp(0.05 * random.NormFloat64())
			}
		}
		front := s.Sections()[0].Front
		if !slices.ContainsFunc(front.Members, func(m results.Member) bool { return m.DominatedBy == "" }) {
			t.Fatalf("all are dominated: %+v", front.Members)
		}
	}
}

func TestSteps(t *testing.T) {
	ideas := []results.Idea{{"snapshot reads", "mutex", "mutex-rcu"}, {"channel and group commit", "mutex-rcu", "actor"}, {"group commit", "actor-plain", "actor"}}
	s := choices(results.Cell{Workers: 8}, map[string][3]float64{"mutex": {1e5, 1e-3, 4e-6}, "mutex-rcu": {2e5, 1e-3, 2e-6}, "actor": {2e5, 1e-3, 3e-6}}, ideas...)
	s.Meta.Planned = []results.Comparison{{Workload: "mix", Strategy: "actor", Baseline: "mutex", Metric: results.MetricOps}}
	steps := s.Sections()[0].Steps
	if len(steps) != 2 {
		t.Fatalf("steps %+v, want those of which both sides ran", steps)
	}
	if e := steps[0]; !covers(e.Interval, 2) || !covers(e.CPU, 0.5) || e.Blocks != 8 || math.Abs(e.Level-0.975) > 1e-9 || !e.Excludes1() {
		t.Errorf("snapshot reads bought %+v", e)
	}
	if e := steps[1]; !covers(e.Interval, 1) || !covers(e.CPU, 1.5) || !strings.HasSuffix(e.Text(), "~") {
		t.Errorf("the channel bought %+v", e)
	}
	const want = "; no gain of `actor` shows from channel and group commit over `mutex-rcu` (1."
	if text := s.Answers()[0].Text; !strings.Contains(text, want) || !strings.Contains(text, "), which was not planned to be compared.") {
		t.Errorf("the answer is %s", text)
	}
	for i := range s.Runs {
		if s.Runs[i].Cell.Strategy == "mutex" {
			s.Runs[i].Verification.Error = "offset 17"
		}
	}
	if step := s.Sections()[0].Steps[0]; !strings.Contains(step.Reason, "failed verification") || !strings.HasSuffix(step.Text(), "?") {
		t.Errorf("a step from wrong answers: %+v, %s", step, step.Text())
	}
}
