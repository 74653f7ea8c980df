package plots

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// seriesRun is a run with operations in intervals of a second.
func seriesRun(window float64, produce, consume []int64) *results.Run {
	return &results.Run{Window: window, Series: &results.Series{
		Interval: 1, Operations: map[string][]int64{results.KindProduce: produce, results.KindConsume: consume},
	}}
}

func operationsOf(run *results.Run, s stretch) float64 {
	sum := 0.0
	for _, operations := range run.Series.Operations {
		for i := s.first; i < min(s.end, len(operations)); i++ {
			sum += float64(operations[i])
		}
	}
	return sum / s.length
}

func TestPointsOverTime(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		name  string
		runs  []*results.Run
		group int
		want  [][]point
	}{
		{"both kinds", []*results.Run{seriesRun(2, []int64{1, 2}, []int64{10, 20})}, 1, [][]point{{{0.5, 11}, {1.5, 22}}}},
		{"a short last interval", []*results.Run{seriesRun(2.5, []int64{8, 8, 4}, nil)}, 1, [][]point{{{0.5, 8}, {1.5, 8}, {2.25, 8}}}},
		{"a last interval too short", []*results.Run{seriesRun(2.01, []int64{8, 6, 4}, nil)}, 1, [][]point{{{0.5, 8}, {1.5, 6}}}},
		{"beyond the window", []*results.Run{seriesRun(2, []int64{8, 6, 4, 2}, nil)}, 1, [][]point{{{0.5, 8}, {1.5, 6}}}},
		{"no window", []*results.Run{seriesRun(nan, []int64{8, 6}, nil)}, 1, [][]point{{{0.5, 8}, {1.5, 6}}}},
		{"one interval", []*results.Run{seriesRun(1, []int64{8}, nil)}, 1, nil},
		{"no interval", []*results.Run{seriesRun(1, nil, nil)}, 1, nil},
		{"no run", nil, 1, nil},
		{"kinds of other lengths", []*results.Run{seriesRun(3, []int64{1}, []int64{10, 20, 30})}, 1, [][]point{{{0.5, 11}, {1.5, 20}, {2.5, 30}}}},
		{"zeros", []*results.Run{seriesRun(2, []int64{0, 0}, nil)}, 1, [][]point{{{0.5, 0}, {1.5, 0}}}},
		{"groups", []*results.Run{seriesRun(4.5, []int64{1, 3, 5, 7, 4}, nil)}, 2, [][]point{{{1, 2}, {3, 6}, {4.25, 8}}}},
		{"the median of runs", []*results.Run{
			seriesRun(2, []int64{1, 9}, nil), seriesRun(2, []int64{2, 8}, nil), seriesRun(2, []int64{60, 70}, nil),
		}, 1, [][]point{{{0.5, 2}, {1.5, 9}}}},
		{"runs of other lengths", []*results.Run{
			seriesRun(1, []int64{1}, nil), seriesRun(3, []int64{3, 8, 9}, nil),
		}, 1, [][]point{{{0.5, 2}, {1.5, 8}, {2.5, 9}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := segmentsOf(test.runs, test.group, operationsOf, &figure{})
			if !slices.EqualFunc(got, test.want, slices.Equal[[]point]) {
				t.Errorf("segments %v, want %v", got, test.want)
			}
		})
	}
}

func TestGapsOverTime(t *testing.T) {
	value := func(values ...float64) func(*results.Run, stretch) float64 {
		return func(_ *results.Run, s stretch) float64 { return values[s.first] }
	}
	run := seriesRun(6, make([]int64, 6), nil)
	nan, inf := math.NaN(), math.Inf(1)
	got := segmentsOf([]*results.Run{run, run}, 1, value(nan, 1, 2, inf, 3, 0), &figure{y: scale{log: true}})
	if want := [][]point{{{1.5, 1}, {2.5, 2}}, {{4.5, 3}}}; !slices.EqualFunc(got, want, slices.Equal[[]point]) {
		t.Errorf("segments %v, want %v", got, want)
	}
	first := true
	one := func(_ *results.Run, s stretch) float64 { // the first run to be asked has no value in the second interval
		if s.first == 1 && first {
			first = false
			return nan
		}
		return 5
	}
	got = segmentsOf([]*results.Run{run, run}, 1, one, &figure{})
	if len(got) != 2 || len(got[0]) != 1 || len(got[1]) != 4 {
		t.Errorf("segments %v, want a gap at the second interval, which one run of two does not carry", got)
	}
}

func TestChartsOverTimeNeedASeries(t *testing.T) {
	p := fixturePanel(2, nil)
	if c, err := throughputOverTime(p); c != nil || err != nil {
		t.Errorf("a chart of no series: %v, %v", c, err)
	}
	p = fixturePanel(2, addSeries)
	if c, err := latencyOverTime(p, results.KindEndToEnd); c != nil || err != nil {
		t.Errorf("a chart of a kind that no run has: %v, %v", c, err)
	}
	for i := range p.series {
		p.series[i].Overloaded = 1
	}
	if c, err := latencyOverTime(p, results.KindProduce); c != nil || err != nil {
		t.Errorf("a latency of overloaded strategies: %v, %v", c, err)
	}
	c := within(t, func() (Chart, error) { return some(throughputOverTime(p)) })
	checkChart(t, c)
	if c.Kind != KindTime || c.Workload != "mix" || c.Point != p.Point {
		t.Errorf("the chart is %s of %q", c.Kind, c.Workload)
	}
}

func TestThroughputOverTimeOfOneRole(t *testing.T) {
	kinds := map[string]string{
		results.MetricOps: "produce consume", results.MetricProduceRecords: "produce", results.MetricConsumeOps: "consume",
		results.MetricConsumeBytes: "consume",
	}
	for metric, want := range kinds {
		if got, _ := operationKinds(metric); strings.Join(got, " ") != want {
			t.Errorf("%s counts %v, want %s", metric, got, want)
		}
	}
	p := fixturePanel(1, addSeries)
	p.Workload.Primary = results.MetricProduceOps
	c := within(t, func() (Chart, error) { return some(throughputOverTime(p)) })
	if want := "mix: produce op/s over time"; c.Title != want {
		t.Errorf("title %q, want %q", c.Title, want)
	}
	if want := "mutex from 0 to 51.2k"; !strings.Contains(c.Alt, want) {
		t.Errorf("alt %q, want %q in it", c.Alt, want)
	}
}

func TestLongRunsAreDecimated(t *testing.T) {
	const length = 5000
	p := fixturePanel(2, func(r *results.Run) {
		operations, p99 := make([]int64, length), make([]*float64, length)
		for i := range operations {
			operations[i] = int64(10 + i%2)
			v := 1e-3 * float64(1+i%7)
			p99[i] = &v
		}
		r.Window, r.Series = length, &results.Series{
			Interval: 1, Operations: map[string][]int64{results.KindProduce: operations},
			Quantiles: map[string][]*float64{"produce-p99-sec": p99},
		}
	})
	group := intervalsPerPoint(p)
	if points := length / group * len(p.series); points > mostPoints || points < mostPoints/2 {
		t.Errorf("%d intervals a point: %d points", group, points)
	}
	for _, draw := range []func() (*Chart, error){
		func() (*Chart, error) { return throughputOverTime(p) },
		func() (*Chart, error) { return latencyOverTime(p, results.KindProduce) },
	} {
		c := within(t, func() (Chart, error) { return some(draw()) })
		checkChart(t, c)
		if !strings.Contains(c.Caption, "for 9 intervals") {
			t.Errorf("the caption does not say how many intervals a point stands for: %q", c.Caption)
		}
	}
}

func TestOtherIntervalsAreLeftOut(t *testing.T) {
	p := fixturePanel(1, func(r *results.Run) {
		addSeries(r)
		if r.Index >= 4 {
			r.Series.Interval = 0.2
		}
		if r.Index == 3 {
			r.Series.Interval = math.Inf(1)
		}
	})
	c := within(t, func() (Chart, error) { return some(throughputOverTime(p)) })
	if want := "2 runs of mutex have intervals of another length"; !strings.Contains(c.Caption, want) {
		t.Errorf("caption %q, want %q in it", c.Caption, want)
	}
}

func TestChartsOverTimeOfBadValues(t *testing.T) {
	long(t)
	t.Parallel()
	for _, bad := range badValues {
		t.Run(bad.name, func(t *testing.T) {
			p := fixturePanel(3, func(r *results.Run) {
				addSeries(r)
				for i := range r.Series.Quantiles["produce-p99-sec"] {
					r.Series.Quantiles["produce-p99-sec"][i] = nil
					if v, ok := bad.value(r); ok {
						r.Series.Quantiles["produce-p99-sec"][i] = &v
						r.Series.Operations[results.KindProduce][i] = int64(v)
					}
				}
			})
			c, err := latencyOverTime(p, results.KindProduce)
			nothing := bad.logOnly || bad.name == "single" // which one run of six has
			if err != nil || (c == nil) != nothing {
				t.Errorf("chart %v, want none: %v (%v)", c != nil, nothing, err)
			}
			if c != nil {
				checkChart(t, *c)
			}
			if c, err := throughputOverTime(p); err != nil {
				t.Error(err)
			} else if c != nil {
				checkChart(t, *c)
			}
		})
	}
}
