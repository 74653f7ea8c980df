package results_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

func exact(*rand.Rand) float64 { return 0 }

func constant(v float64) func(float64) float64 { return func(float64) float64 { return v } }

// table is a course by the values of an axis.
func table(values []float64, reached ...float64) func(float64) float64 {
	return func(x float64) float64 { return reached[slices.Index(values, x)] }
}

var octaves = []float64{1, 2, 4, 8, 16, 32}

// The logarithm of the ratio is linear in that of the place: the truth is one place between two tested ones, and a
// bracket that is found has to hold it.
func TestCrossoversAreBracketed(t *testing.T) {
	long(t)
	t.Parallel()
	const sweeps = 400
	for _, c := range []struct {
		name    string
		planned []string
		metric  string
		noise   noise
		fewest  int // sweeps in which one is found
	}{
		{"planned, little noise", []string{"actor"}, results.MetricOps, logNormal(0.02), 380},
		{"planned, much noise", []string{"actor"}, results.MetricOps, logNormal(0.2), 100},
		{"not planned", nil, results.MetricOps, logNormal(0.02), 380},
		{"latency", []string{"actor"}, results.LatencyMetric(results.KindProduce, "p99"), heavyTailed(0.02), 380},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(20261130, 1))
			found, held := 0, 0
			for range sweeps {
				truth := math.Exp2(1 + 3*random.Float64()) // 2 to 16
				trend := path{
					courses: []course{{"mutex", constant(1000)}, {"actor", func(x float64) float64 { return 1000 * math.Pow(x/truth, 0.25) }}},
					values:  octaves, place: share, planned: c.planned, metric: c.metric, blocks: 12, drift: 0.3, noise: c.noise,
				}.sweep(random).Trends()[0]
				if len(trend.Crossovers) == 0 {
					continue
				}
				found++
				x := trend.Crossovers[0]
				before := "mutex" // less than truth, actor reaches less
				if results.LowerIsBetter(c.metric) {
					before = "actor"
				}
				if len(trend.Crossovers) == 1 && x.Before == before && x.Planned == (c.planned != nil) &&
					trend.Values[x.Low] <= truth && truth <= trend.Values[x.High] {
					held++
				}
			}
			t.Logf("found in %d of %d sweeps, right in %d", found, sweeps, held)
			if found < c.fewest || 100*held < 95*found {
				t.Errorf("found in %d of %d sweeps, right in %d; want %d at least, 95 %% right", found, sweeps, held, c.fewest)
			}
		})
	}
}

func TestNoCrossoverIsInvented(t *testing.T) {
	long(t)
	t.Parallel()
	const sweeps = 1000
	for name, courses := range map[string][]course{
		"the same code":  {{"mutex", constant(1000)}, {"rwmutex", constant(1000)}, {"actor", constant(1000)}, {"raw", constant(2000)}},
		"the same order": {{"mutex", constant(1000)}, {"rwmutex", constant(1030)}, {"actor", constant(1200)}, {"raw", constant(2000)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(20261130, 2))
			invented, differences := 0, 0
			for range sweeps {
				trend := path{
					courses: courses, values: octaves, place: share, planned: []string{"actor"}, metric: results.MetricOps,
					blocks: 6, drift: 0.3, noise: logNormal(0.08),
				}.sweep(random).Trends()[0]
				if trend.Pairs != 3 {
					t.Fatalf("%d pairs of candidates, want 3", trend.Pairs)
				}
				if len(trend.Crossovers) > 0 {
					invented++
				}
				if slices.ContainsFunc(trend.Effects, func(e results.Effect) bool { return e.Excludes1() }) {
					differences++
				}
			}
			t.Logf("a crossover in %d of %d sweeps, a difference from the baseline in %d", invented, sweeps, differences)
			if invented > sweeps/20 {
				t.Errorf("a crossover in %d of %d sweeps", invented, sweeps)
			}
			if name == "the same code" && differences > sweeps*65/1000 {
				t.Errorf("a difference in %d of %d sweeps of the same code", differences, sweeps)
			}
		})
	}
}

func TestCrossoverTexts(t *testing.T) {
	values := []float64{1, 5, 10, 25, 50}
	p99 := results.LatencyMetric(results.KindEndToEnd, "p99")
	for _, c := range []struct {
		name    string
		planned bool
		metric  string
		reached []float64 // by rwmutex, of 1000 by mutex
		want    []string
	}{
		{"planned", true, results.MetricOps, []float64{1500, 1300, 1000, 800, 700}, []string{
			"`rwmutex` leads in op/s up to 5 %, `mutex` from 25 % on; at 10 % neither is known to be ahead",
			"`rwmutex` against `mutex`: better at 1 %–5 % (1.30× to 1.50×, intervals within 1.30–1.50), no difference found at 10 % (one of less than 1.00× could hide), worse at 25 %–50 % (0.70× to 0.80×, intervals within 0.70–0.80)",
		}},
		{"not planned", false, results.MetricOps, []float64{1500, 1300, 900, 800, 700}, []string{
			"`rwmutex` leads in op/s up to 5 %, `mutex` from 10 % on (not planned)",
		}},
		{"latency", true, p99, []float64{1500, 1000, 1000, 1000, 700}, []string{
			"`mutex` has the lower e2e p99 at 1 %, `rwmutex` at 50 %; from 5 % to 25 % neither is known to be ahead",
			"`rwmutex` against `mutex`: worse at 1 %: 1.50× (1.50–1.50), no difference found at 5 %–25 % (one of less than 1.00× could hide), better at 50 %: 0.70× (0.70–0.70)",
		}},
		{"there and back", true, results.MetricOps, []float64{1500, 900, 800, 800, 1200}, []string{
			"`rwmutex` leads in op/s at 1 %, `mutex` at 5 %",
			"`mutex` leads in op/s at 25 %, `rwmutex` at 50 %",
			"`rwmutex` against `mutex`: better at 1 %: 1.50× (1.50–1.50), worse at 5 %–25 % (0.80× to 0.90×, intervals within 0.80–0.90), better at 50 %: 1.20× (1.20–1.20)",
		}},
		{"an advantage that ends", true, results.MetricOps, []float64{1500, 1500, 1000, 1000, 1000}, []string{
			"no change of order found, among 1 pair of strategies",
			"`rwmutex` against `mutex`: better at 1 %–5 % (1.50×, intervals within 1.50–1.50), no difference found at 10 %–50 % (one of less than 1.00× could hide)",
		}},
	} {
		p := path{
			courses: []course{{"mutex", constant(1000)}, {"rwmutex", table(values, c.reached...)}, {"raw", table(values, 500, 500, 500, 2000, 2000)}},
			values:  values, place: share, metric: c.metric, blocks: 6, noise: exact,
		}
		if c.planned {
			p.planned = []string{"rwmutex"}
		}
		trends := p.sweep(rand.New(rand.NewPCG(1, 1))).Trends()
		if len(trends) != 1 {
			t.Fatalf("%s: %d trends", c.name, len(trends))
		}
		if notes := trends[0].Notes(); !slices.Equal(notes, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(notes, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// Nothing has an order where nothing counts.
func TestCrossoversNeedTrust(t *testing.T) {
	values := []float64{1, 2, 4}
	base := path{
		courses: []course{{"mutex", constant(1000)}, {"actor", table(values, 500, 1500, 1500)}, {"atomics", table(values, 700, 700, 700)}},
		values:  values, place: workers, planned: []string{"actor"}, metric: results.MetricOps, blocks: 6, noise: exact,
	}
	random := rand.New(rand.NewPCG(1, 1))
	sick := base.sweep(random)
	for _, run := range sick.Runs {
		if run.Cell.Strategy == "mutex" {
			run.Cell.Arm = "A/A"
			run.Metrics = map[string]float64{results.MetricOps: 1100}
			sick.Runs = append(sick.Runs, run)
		}
	}
	trend := sick.Trends()[0]
	if notes := trend.Notes(); len(trend.Crossovers) != 0 || trend.Pairs != 0 || len(notes) != 2 ||
		!strings.HasPrefix(notes[0], "no verdict: the A/A arm of mix") || notes[1] != "no scaling law fitted: the sweep is not to be trusted" {
		t.Errorf("in a sweep that is not to be trusted: %+v, %q", trend.Crossovers, notes)
	}
	if len(trend.Lines) != 3 || slices.ContainsFunc(trend.Lines, func(l results.Line) bool { return l.Label == "A/A" }) {
		t.Errorf("lines %+v", trend.Lines)
	}

	wrong := base.sweep(random)
	for i := range wrong.Runs {
		if run := &wrong.Runs[i]; run.Cell.Strategy == "actor" && run.Cell.Workers == 1 && run.Block == 3 {
			run.Verification.Error = "offset 17 follows offset 15"
		}
	}
	trend = wrong.Trends()[0]
	if len(trend.Crossovers) != 0 || trend.Pairs != 3 {
		t.Errorf("crossovers with a run that failed verification: %+v", trend.Crossovers)
	}
	if notes := trend.Notes(); notes[1] != "`actor` against `mutex`: no verdict at 1, better at 2–4 (1.50×, intervals within 1.50–1.50)" {
		t.Errorf("notes %q", notes)
	}

	whole := base.sweep(random).Trends()[0]
	if got := fmt.Sprint(whole.Crossovers); got != "[{mutex actor 0 1 true true} {atomics actor 0 1 true false}]" {
		t.Errorf("crossovers %s", got)
	}
}

func TestTrendsOfTwoBuilds(t *testing.T) {
	s := builds(results.MetricOps)
	for i, run := range s.Runs {
		s.Runs[i].Cell.Workers, run.Cell.Workers = 2, 4
		s.Runs = append(s.Runs, run)
	}
	trend := s.Trends()[0]
	if len(trend.Lines) != 3 || trend.Pairs != 1 {
		t.Errorf("%d lines, %d pairs: %+v", len(trend.Lines), trend.Pairs, trend.Lines)
	}
	if notes := trend.Notes(); len(notes) < 3 || notes[0] != "no change of order found, among 1 pair of strategies" ||
		!strings.HasPrefix(notes[1], "`mutex` of this build against `mutex` of old: no difference found at ") ||
		!strings.HasPrefix(notes[2], "`actor` of this build against `actor` of old: better at ") {
		t.Errorf("notes %q", notes)
	}
}
