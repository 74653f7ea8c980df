package results_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// simulation describes sweeps with a known answer: one workload, log-normal noise in each run, and a
// drift that hits all runs of a block alike.
type simulation struct {
	ratios       map[string]float64 // true ratio to mutex by label
	metric       string
	blocks       int
	drift, noise float64 // standard deviations of logarithms
}

func (sim simulation) sweep(random *rand.Rand) *results.Sweep {
	s := &results.Sweep{Meta: results.Meta{
		Blocks: sim.blocks, Baseline: "mutex",
		Workloads: []results.Workload{{Name: "mix", Primary: sim.metric}},
	}}
	labels := []string{"mutex"}
	for _, label := range []string{"rwmutex", "atomics", "actor", "raw", "A/A"} {
		if _, ok := sim.ratios[label]; !ok {
			continue
		}
		labels = append(labels, label)
		if label != "raw" && label != "A/A" {
			s.Meta.Planned = append(s.Meta.Planned,
				results.Comparison{Workload: "mix", Strategy: label, Baseline: "mutex", Metric: sim.metric})
		}
	}
	for block := range sim.blocks {
		drift := sim.drift * random.NormFloat64()
		for _, label := range labels {
			ratio := 1.0
			cell := results.Cell{Workload: "mix", Strategy: label}
			if label != "mutex" {
				ratio = sim.ratios[label]
			}
			if label == "A/A" {
				cell.Strategy, cell.Arm = "mutex", "A/A"
			}
			s.Runs = append(s.Runs, results.Run{
				Index: len(s.Runs), Block: block, Cell: cell,
				Metrics: map[string]float64{sim.metric: 500e3 * ratio * math.Exp(drift+sim.noise*random.NormFloat64())},
			})
		}
	}
	return s
}

func covers(i results.Interval, truth float64) bool { return i.Low <= truth && truth <= i.High }

func TestIntervalsCoverTheTruth(t *testing.T) {
	long(t)
	const sweeps = 1000
	random := rand.New(rand.NewPCG(20261102, 1))
	one := simulation{ratios: map[string]float64{"actor": 1.7, "A/A": 1}, metric: results.MetricOps, blocks: 6, drift: 0.4, noise: 0.08}
	covered, healthy := 0, 0
	for range sweeps {
		s := one.sweep(random)
		if e := s.Effects()[0]; covers(e.Interval, 1.7) {
			covered++
		}
		if s.Health()[0].Healthy {
			healthy++
		}
	}
	for name, n := range map[string]int{"effect": covered, "A/A arm": healthy} {
		if n < 930 || n > 970 {
			t.Errorf("%s: the 95 %% interval holds the truth in %d of %d sweeps", name, n, sweeps)
		}
	}

	// Of several comparisons, all hold at once at least as often. (Less often than with independent
	// errors do they fail, since they share a baseline.)
	three := simulation{ratios: map[string]float64{"rwmutex": 1.1, "atomics": 2, "actor": 0.6}, metric: results.MetricOps, blocks: 6, drift: 0.4, noise: 0.08}
	together := 0
	for range sweeps {
		all := true
		for _, e := range three.sweep(random).Effects() {
			all = all && covers(e.Interval, three.ratios[e.Strategy])
		}
		if all {
			together++
		}
	}
	if together < 940 {
		t.Errorf("three comparisons hold together in %d of %d sweeps", together, sweeps)
	}
}

func TestIntervalByHand(t *testing.T) {
	// Ratios 2, 2·e^0.1 and 2·e^−0.1: mean log 2, standard deviation 0.1, and t(0.975, 2) is 4.302653.
	s := simulation{ratios: map[string]float64{"actor": 1}, metric: results.MetricOps, blocks: 3}.sweep(rand.New(rand.NewPCG(1, 1)))
	for i, factor := range []float64{2, 2 * math.Exp(0.1), 2 * math.Exp(-0.1)} {
		s.Runs[2*i+1].Metrics[results.MetricOps] = 500e3 * factor
	}
	e := s.Effects()[0]
	half := 4.302653 * 0.1 / math.Sqrt(3)
	for name, c := range map[string][2]float64{
		"ratio": {e.Ratio, 2}, "low": {e.Low, 2 * math.Exp(-half)}, "high": {e.High, 2 * math.Exp(half)}, "level": {e.Level, 0.95},
	} {
		if math.Abs(c[0]/c[1]-1) > 1e-6 {
			t.Errorf("%s %v, want %v", name, c[0], c[1])
		}
	}
	if e.Blocks != 3 || e.Verdict != results.Better || e.Reason != "" {
		t.Errorf("%d blocks, %s, %q", e.Blocks, e.Verdict, e.Reason)
	}
	// With a second comparison each interval is at 97.5 %: t(0.9875, 2) is 6.205347.
	s.Meta.Planned = append(s.Meta.Planned, s.Meta.Planned[0])
	if e := s.Effects()[0]; math.Abs(e.Level-0.975) > 1e-12 || math.Abs(e.High/(2*math.Exp(6.205347*0.1/math.Sqrt(3)))-1) > 1e-6 {
		t.Errorf("of two comparisons: level %v, high %v", e.Level, e.High)
	}
}

func TestVerdicts(t *testing.T) {
	p99 := results.LatencyMetric(results.KindEndToEnd, "p99")
	sweep := func(metric string, ratio float64, blocks int) *results.Sweep {
		return simulation{ratios: map[string]float64{"actor": ratio, "A/A": 1}, metric: metric, blocks: blocks, drift: 0.3, noise: 0.01}.
			sweep(rand.New(rand.NewPCG(5, 5)))
	}
	edit := func(s *results.Sweep, strategy string, change func(block int, run *results.Run)) *results.Sweep {
		for i := range s.Runs {
			if run := &s.Runs[i]; run.Cell.Label() == strategy {
				change(run.Block, run)
			}
		}
		return s
	}
	set := func(metric string, values ...float64) func(int, *results.Run) {
		return func(block int, run *results.Run) {
			if block < len(values) {
				run.Metrics[metric] = values[block]
			}
		}
	}
	fail := func(block int, run *results.Run) {
		if block == 1 {
			run.Verification.Error = "offset 17 follows offset 15"
		}
	}
	overload := func(block int, run *results.Run) {
		if block == 1 {
			run.Overloaded = true
			delete(run.Metrics, p99)
		}
	}
	for name, c := range map[string]struct {
		sweep   *results.Sweep
		verdict results.Verdict
		reason  string
		blocks  int
	}{
		"more operations":  {sweep(results.MetricOps, 1.5, 6), results.Better, "", 6},
		"fewer operations": {sweep(results.MetricOps, 0.7, 6), results.Worse, "", 6},
		"more latency":     {sweep(p99, 1.5, 6), results.Worse, "", 6},
		"less latency":     {sweep(p99, 0.7, 6), results.Better, "", 6},
		"the same":         {sweep(results.MetricOps, 1, 6), results.NoDifference, "", 6},
		"one block":        {sweep(results.MetricOps, 1.5, 1), results.Undecided, "fewer than two blocks", 1},
		"a failed run":     {edit(sweep(results.MetricOps, 1.5, 6), "actor", fail), results.Undecided, "`actor` failed verification: offset 17", 0},
		"a failed base":    {edit(sweep(results.MetricOps, 1.5, 6), "mutex", fail), results.Undecided, "`mutex` failed verification", 0},
		"a failed A/A":     {edit(sweep(results.MetricOps, 1.5, 6), "A/A", fail), results.Undecided, "`mutex` failed verification", 0},
		"an overload":      {edit(sweep(p99, 1.5, 6), "actor", overload), results.Undecided, "`actor` was overloaded in 1 of 6 runs", 0},
		"an ill A/A arm": {edit(sweep(results.MetricOps, 1.5, 3), "A/A", set(results.MetricOps, 9e6, 9.1e6, 9.2e6)),
			results.Undecided, "the A/A arm of mix", 3},
		"no positive numbers": {edit(sweep(results.MetricOps, 1.5, 6), "actor", set(results.MetricOps, 0, math.NaN(), math.Inf(1), -1)),
			results.Better, "4 blocks left out", 2},
		"too few positive": {edit(sweep(results.MetricOps, 1.5, 2), "mutex", set(results.MetricOps, math.Inf(-1))),
			results.Undecided, "fewer than two blocks (1 blocks left out", 1},
	} {
		e := c.sweep.Effects()[0]
		if e.Verdict != c.verdict || !strings.Contains(e.Reason, c.reason) || c.reason == "" && e.Reason != "" || e.Blocks != c.blocks {
			t.Errorf("%s: %s, %q, %d blocks; want %s, %q, %d", name, e.Verdict, e.Reason, e.Blocks, c.verdict, c.reason, c.blocks)
		}
		if e.Verdict == results.Undecided && strings.Contains(c.sweep.Answers()[0].Text, "×") && !strings.Contains(e.Reason, "A/A") {
			t.Errorf("%s: an answer with a number: %s", name, c.sweep.Answers()[0].Text)
		}
	}
}

func TestEffectsAtSeveralPoints(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	low := simulation{ratios: map[string]float64{"actor": 0.5}, metric: results.MetricOps, blocks: 6, noise: 0.01}.sweep(random)
	high := simulation{ratios: map[string]float64{"actor": 2}, metric: results.MetricOps, blocks: 6, noise: 0.01}.sweep(random)
	both := &results.Sweep{Meta: low.Meta}
	for producers, s := range map[int]*results.Sweep{1: low, 16: high} {
		for _, run := range s.Runs {
			run.Cell.Producers = producers
			both.Runs = append(both.Runs, run)
		}
	}
	effects := both.Effects()
	if len(effects) != 2 || effects[0].Point.Producers != 1 || effects[0].Verdict != results.Worse ||
		effects[1].Point.Producers != 16 || effects[1].Verdict != results.Better || effects[0].Level != 0.975 {
		t.Errorf("effects %+v", effects)
	}
	answers := both.Answers()
	const want = "mix, along producers: `actor` against `mutex`: worse at 1: 0.50× (0.49–0.51), better at 16: 2.00× (1.96–2.04), in this sweep."
	if len(answers) != 1 || answers[0].Text != want || len(answers[0].Effects) != 2 {
		t.Errorf("answers %+v, want one, %q, with both effects", answers, want)
	}
}

func TestAnswers(t *testing.T) {
	for metric, want := range map[string]string{
		results.MetricOps:        "mix: `atomics` completes 2.00× (2.00–2.00) and `rwmutex` 1.50× (1.50–1.50) the operations of `mutex`; `actor` completes 0.50× (0.50–0.50) the operations of `mutex`, in this sweep.",
		results.MetricConsumeOps: "mix: `atomics` completes 2.00× (2.00–2.00) and `rwmutex` 1.50× (1.50–1.50) the reads of `mutex`; `actor` completes 0.50× (0.50–0.50) the reads of `mutex`, in this sweep.",
		results.LatencyMetric(results.KindEndToEnd, "p999"): "mix: `actor`'s end-to-end p99.9 is 0.50× (0.50–0.50) that of `mutex`; `atomics`'s end-to-end p99.9 is 2.00× (2.00–2.00) and `rwmutex`'s 1.50× (1.50–1.50) that of `mutex`, in this sweep.",
		results.MetricCPU:          "mix: `actor`'s CPU/op is 0.50× (0.50–0.50) that of `mutex`; `atomics`'s CPU/op is 2.00× (2.00–2.00) and `rwmutex`'s 1.50× (1.50–1.50) that of `mutex`, in this sweep.",
		results.MetricProduceBytes: "mix: `atomics` reaches 2.00× (2.00–2.00) and `rwmutex` 1.50× (1.50–1.50) the produce B/s of `mutex`; `actor` reaches 0.50× (0.50–0.50) the produce B/s of `mutex`, in this sweep.",
	} {
		s := simulation{ratios: map[string]float64{"rwmutex": 1.5, "atomics": 2, "actor": 0.5}, metric: metric, blocks: 6, drift: 0.2}.
			sweep(rand.New(rand.NewPCG(7, 7)))
		answers := s.Answers()
		if len(answers) != 1 || len(answers[0].Effects) != 3 || answers[0].Text != want {
			t.Errorf("%s: %+v", metric, answers)
		}
	}
	unplanned := simulation{ratios: map[string]float64{"raw": 2}, metric: results.MetricOps, blocks: 2}.sweep(rand.New(rand.NewPCG(7, 7)))
	if got := unplanned.Answers()[0].Text; got != "mix: no comparison was planned." {
		t.Error(got)
	}
}

func TestCells(t *testing.T) {
	s := invented(t)
	cells := s.Cells()
	var order []string
	for _, c := range cells {
		order = append(order, c.Cell.Workload+" "+c.Cell.Label())
	}
	if want := []string{"mix mutex", "mix rwmutex", "mix atomics", "mix raw", "mix A/A", "tail mutex", "tail rwmutex", "tail actor"}; !slices.Equal(order, want) {
		t.Errorf("order %v", order)
	}
	atomics, overloaded := cells[2], cells[6]
	median, _ := atomics.Median(results.MetricOps)
	low, _ := atomics.Min(results.MetricOps)
	high, _ := atomics.Max(results.MetricOps)
	share, _ := atomics.OfRaw()
	if median != 1030e3 || low != 1000e3 || high != 1085e3 || math.Abs(share-1030.0/1120) > 1e-12 {
		t.Errorf("median %v, min %v, max %v, of raw %v", median, low, high, share)
	}
	if atomics.Runs != 3 || atomics.Valid != 3 || overloaded.Overloaded != 3 {
		t.Errorf("%d runs, %d valid; %d overloaded", atomics.Runs, atomics.Valid, overloaded.Overloaded)
	}
	if _, ok := overloaded.Median("e2e-p99-sec"); ok {
		t.Error("an overloaded cell has a latency")
	}
	if _, ok := cells[3].OfRaw(); ok {
		t.Error("raw has a share of itself")
	}
	s.Runs[atomicsIn(s, 0)].Verification.Error = "wrong"
	s.Runs[atomicsIn(s, 1)].Metrics[results.MetricOps] = math.NaN()
	c := s.Cells()[2]
	if values := c.Values(results.MetricOps); c.Valid != 2 || !slices.Equal(values, []float64{1085e3}) {
		t.Errorf("%d valid, values %v", c.Valid, values)
	}
}

// atomicsIn is the index of the run of atomics in a block.
func atomicsIn(s *results.Sweep, block int) int {
	return slices.IndexFunc(s.Runs, func(r results.Run) bool { return r.Cell.Strategy == "atomics" && r.Block == block })
}

// A latency that some runs do not carry decides nothing, whatever the other runs say: those are the ones
// in which the load was on time.
func TestMissingLatencyDecidesNothing(t *testing.T) {
	metric := results.LatencyMetric(results.KindEndToEnd, "p90")
	s := &results.Sweep{Meta: results.Meta{
		Baseline:  "mutex",
		Workloads: []results.Workload{{Name: "tail", Primary: metric}},
		Planned:   []results.Comparison{{Workload: "tail", Strategy: "actor", Baseline: "mutex", Metric: metric}},
	}}
	for block := range 6 {
		for strategy, latency := range map[string]float64{"mutex": 1e-3, "actor": 2e-3 + float64(block)*1e-6} {
			run := results.Run{Block: block, Cell: results.Cell{Workload: "tail", Strategy: strategy}, Metrics: map[string]float64{metric: latency}}
			if strategy == "actor" && block >= 4 {
				run.Metrics = map[string]float64{results.MetricOps: 1}
			}
			s.Runs = append(s.Runs, run)
		}
	}
	e := s.Effects()[0]
	if want := "2 of 6 runs of `actor` carry no e2e p90"; e.Verdict != results.Undecided || !strings.HasPrefix(e.Reason, want) {
		t.Errorf("verdict %q because %q, want undecided because %q", e.Verdict, e.Reason, want)
	}
	for i := range s.Runs {
		if len(s.Runs[i].Metrics) > 0 {
			s.Runs[i].Metrics[metric] = 1e-3 * float64(1+s.Runs[i].Block%2)
		}
	}
	if e := s.Effects()[0]; e.Verdict == results.Undecided {
		t.Errorf("all runs carry it, and the verdict is undecided because %q", e.Reason)
	}
}

// The confidence is divided by what was planned, also where less was run.
func TestPlannedVerdictsCount(t *testing.T) {
	s := &results.Sweep{Meta: results.Meta{Verdicts: 10, Planned: []results.Comparison{{Workload: "mix", Strategy: "actor", Baseline: "mutex", Metric: results.MetricOps}}}}
	for block := range 3 {
		for _, strategy := range []string{"mutex", "actor"} {
			s.Runs = append(s.Runs, results.Run{Block: block, Cell: results.Cell{Workload: "mix", Strategy: strategy}, Metrics: map[string]float64{results.MetricOps: 1 + float64(block)}})
		}
	}
	if got, want := s.Effects()[0].Level, 1-0.05/10; math.Abs(got-want) > 1e-12 {
		t.Errorf("level %v, want %v", got, want)
	}
}
