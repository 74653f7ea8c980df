package plots

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"tailrace/results"
)

func TestTrendCaptions(t *testing.T) {
	c := within(t, func() (Chart, error) { return trendChart(fixtureTrend(), 8) })
	for _, want := range []string{
		"Universal Scalability Law", "extrapolated, not measured", "Not fitted: rwmutex: its throughput at one client is not known.",
		"number of processors, 8.", "mutex leads in op/s at 2 workers, actor at 4 workers", "nothing finer is known",
	} {
		if !strings.Contains(c.Caption, want) {
			t.Errorf("the caption does not say %q: %q", want, c.Caption)
		}
	}
	for _, want := range []string{">extrapolated<", ">8 processors<", ">ranking changes<", ">mutex → actor<"} {
		if !bytes.Contains(c.SVG, []byte(want)) {
			t.Errorf("the chart does not hold %s", want)
		}
	}
	if c.Name != "mix-by-workers" || c.Kind != KindTrend || c.Workload != "mix" || c.Point != (results.Cell{}) {
		t.Errorf("the chart is %s, %s of %q", c.Name, c.Kind, c.Workload)
	}
	if want := "mutex 40"; !strings.Contains(c.Alt, want) {
		t.Errorf("alt %q", c.Alt)
	}

	unfitted := fixtureTrend()
	unfitted.Unfitted = "fewer than five levels lie within the `2` processors"
	for i := range unfitted.Lines {
		unfitted.Lines[i].Fit = nil
	}
	c = within(t, func() (Chart, error) { return trendChart(unfitted, 0) })
	if want := "No scaling law is fitted: fewer than five levels lie within the 2 processors."; !strings.Contains(c.Caption, want) {
		t.Errorf("the caption does not say %q: %q", want, c.Caption)
	}
	for _, unwanted := range []string{">extrapolated<", "processors<"} {
		if bytes.Contains(c.SVG, []byte(unwanted)) {
			t.Errorf("the chart holds %s", unwanted)
		}
	}
}

// The curve is drawn through what it was fitted to, and what lies beyond apart from that.
func TestFittedCurves(t *testing.T) {
	tr := fixtureTrend()
	f := &figure{x: scale{log: true}}
	for _, v := range tr.Values {
		f.x.cover(v)
	}
	lines, _ := trendLines(tr, f)
	mutex, rwmutex := lines[0], lines[1]
	if rwmutex.fitted != nil || rwmutex.extrapolated != nil {
		t.Error("rwmutex, which has no fit, has a curve")
	}
	first, last := mutex.fitted[0], mutex.fitted[len(mutex.fitted)-1]
	if first.x != 1 || math.Abs(last.x-8) > 1e-9 || math.Abs(first.y-4e5) > 1 {
		t.Errorf("the curve goes from %v to %v, want from 1 to 8", first, last)
	}
	first, last = mutex.extrapolated[0], mutex.extrapolated[len(mutex.extrapolated)-1]
	if math.Abs(first.x-8) > 1e-9 || math.Abs(last.x-32) > 1e-9 {
		t.Errorf("extrapolated from %v to %v, want from 8 to 32", first, last)
	}

	steep := fixtureFit(1e6, 0, 0)
	tr.Lines[0].Fit = &steep
	lines, _ = trendLines(tr, &figure{})
	highest := 0.0
	for _, p := range lines[0].extrapolated {
		highest = max(highest, p.y)
	}
	if highest > 3e6 {
		t.Errorf("extrapolated up to %g, far above all that was measured", highest)
	}
}

func TestTrendAxisIsLogarithmicFromFourTimes(t *testing.T) {
	tests := []struct {
		values []float64
		want   bool
	}{
		{[]float64{1, 2, 4}, true}, {[]float64{1, 2, 3.9}, false}, {[]float64{0, 10, 100}, false}, {[]float64{-1, 8}, false},
		{[]float64{math.NaN(), 1, 8}, false}, {nil, false}, {[]float64{0, 0}, false},
	}
	for _, test := range tests {
		if got := isLogarithmic(test.values); got != test.want {
			t.Errorf("%v: %v, want %v", test.values, got, test.want)
		}
	}
}

func TestProcessorsOfAnAxis(t *testing.T) {
	axis := func(key string, gomaxprocs int) *results.Axis {
		return &results.Axis{Key: key, Points: []results.Cell{{GOMAXPROCS: gomaxprocs}, {GOMAXPROCS: gomaxprocs}}}
	}
	tests := []struct {
		axis        *results.Axis
		environment results.Environment
		want        int
	}{
		{axis("workers", 2), results.Environment{CPUs: 8}, 2},
		{axis("producers", 16), results.Environment{CPUs: 8, Affinity: 4}, 4},
		{axis("consumers", 0), results.Environment{CPUs: 8}, 8},
		{axis("workers", 4), results.Environment{}, 4},
		{axis("gomaxprocs", 1), results.Environment{CPUs: 8}, 8},
		{axis("record-size", 2), results.Environment{CPUs: 8}, 0},
		{&results.Axis{Key: "workers"}, results.Environment{}, 0},
	}
	for _, test := range tests {
		if got := processorsAt(test.axis, &test.environment); got != test.want {
			t.Errorf("%s: %d, want %d", test.axis.Key, got, test.want)
		}
	}
}

func TestTrendsOfBadValues(t *testing.T) {
	long(t)
	t.Parallel()
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -3, math.MaxFloat64, math.SmallestNonzeroFloat64, 1e90}
	edits := map[string]func(tr *results.Trend, v float64){
		"median": func(tr *results.Trend, v float64) { tr.Lines[0].Levels[1].Median = v },
		"medians": func(tr *results.Trend, v float64) {
			for i := range tr.Lines {
				for n := range tr.Lines[i].Levels {
					tr.Lines[i].Levels[n].Median = v
				}
			}
		},
		"values": func(tr *results.Trend, v float64) { tr.Lines[0].Levels[1].Values = []float64{v, v} },
		"level":  func(tr *results.Trend, v float64) { tr.Lines[0].Levels[1].Value = v },
		"axis":   func(tr *results.Trend, v float64) { tr.Values[2] = v },
		"whole axis": func(tr *results.Trend, v float64) {
			for i := range tr.Values {
				tr.Values[i] = v
			}
		},
		"fitted levels": func(tr *results.Trend, v float64) { tr.Lines[0].Fit.Levels[1] = v },
		"rate":          func(tr *results.Trend, v float64) { tr.Lines[0].Fit.Rate.Value = v },
		"contention":    func(tr *results.Trend, v float64) { tr.Lines[0].Fit.Contention.Value = v },
	}
	metrics := []string{results.MetricOps, results.LatencyMetric(results.KindProduce, "p99")}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			for i, v := range bad {
				tr := fixtureTrend()
				edit(tr, v)
				tr.Metric = metrics[i%2]
				checkChart(t, within(t, func() (Chart, error) { return trendChart(tr, 8) }))
			}
		})
	}
}

func TestTrendsOfLittle(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(tr *results.Trend){
		"no levels": func(tr *results.Trend) { tr.Lines[0].Levels, tr.Lines[0].Fit.Levels = nil, nil },
		"no lines":  func(tr *results.Trend) { tr.Lines = nil },
		"brackets":  func(tr *results.Trend) { tr.Crossovers[0].Low, tr.Crossovers[1].High = -1, 99 },
		"nothing":   func(tr *results.Trend) { *tr = results.Trend{} },
	} {
		tr := fixtureTrend()
		edit(tr)
		c := within(t, func() (Chart, error) { return trendChart(tr, 8) })
		checkChart(t, c)
		if said := bytes.Contains(c.SVG, []byte(noValue)); said != (len(tr.Lines) == 0) {
			t.Errorf("%s: says %q: %v", name, noValue, said)
		}
		if bytes.Contains(c.SVG, []byte("ranking changes")) && name == "brackets" {
			t.Errorf("%s: a crossover of points that are not there is drawn", name)
		}
	}
}

func TestTrendWithoutNull(t *testing.T) {
	tr := fixtureTrend()
	tr.Lines[1].Label = "null"
	c := within(t, func() (Chart, error) { return trendChart(tr, 8) })
	if !strings.Contains(c.Caption, withoutNull) || bytes.Contains(c.SVG, []byte(">null<")) {
		t.Errorf("caption %q", c.Caption)
	}
}
