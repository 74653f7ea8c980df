package plots

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"math"
	"strings"
	"testing"
	"time"

	"tailrace/results"
)

// within fails the test if draw doesn't return: a bad bound can make a plot loop for ever, which no
// other check would notice.
func within(t *testing.T, draw func() (Chart, error)) Chart {
	t.Helper()
	type outcome struct {
		chart Chart
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		chart, err := draw()
		done <- outcome{chart, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			t.Fatal(o.err)
		}
		return o.chart
	case <-time.After(30 * time.Second):
		t.Fatal("drawing hangs")
		return Chart{}
	}
}

// checkChart fails the test unless both renderings are complete, finite documents.
func checkChart(t *testing.T, c Chart) {
	t.Helper()
	checkXML(t, c.SVG)
	for _, bad := range []string{"NaN", "Inf", `id="`} {
		if bytes.Contains(c.SVG, []byte(bad)) {
			t.Errorf("%s.svg contains %s", c.Name, bad)
		}
	}
	img, err := png.Decode(bytes.NewReader(c.PNG))
	if err != nil {
		t.Fatalf("%s.png: %v", c.Name, err)
	}
	if want := figureWidth * pixelsPerIn / 72; img.Bounds().Dx() != want {
		t.Errorf("%s.png is %d pixels wide, want %d", c.Name, img.Bounds().Dx(), want)
	}
	if c.Title == "" || c.Alt == "" || c.Caption == "" || c.Name == "" {
		t.Errorf("incomplete chart: name %q, title %q, alt %q, caption %q", c.Name, c.Title, c.Alt, c.Caption)
	}
}

func checkXML(t *testing.T, document []byte) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(document))
	for {
		if _, err := decoder.Token(); err != nil {
			if err.Error() != "EOF" {
				t.Fatalf("not well-formed: %v", err)
			}
			return
		}
	}
}

// badValues are what a metric of the runs may turn out to be, and the words that a chart of nothing
// else must show.
var badValues = []struct {
	name    string
	value   func(run *results.Run) (v float64, present bool)
	message bool // on a linear axis; a logarithmic one is stricter
	logOnly bool // message on the logarithmic axis
}{
	{"NaN", func(*results.Run) (float64, bool) { return math.NaN(), true }, true, true},
	{"+Inf", func(*results.Run) (float64, bool) { return math.Inf(1), true }, true, true},
	{"-Inf", func(*results.Run) (float64, bool) { return math.Inf(-1), true }, true, true},
	{"absent", func(*results.Run) (float64, bool) { return 0, false }, true, true},
	{"huge", func(*results.Run) (float64, bool) { return math.MaxFloat64, true }, true, true},
	{"zero", func(*results.Run) (float64, bool) { return 0, true }, false, true},
	{"denormal", func(*results.Run) (float64, bool) { return math.SmallestNonzeroFloat64, true }, false, true},
	{"negative", func(*results.Run) (float64, bool) { return -3, true }, false, true},
	{"all equal", func(*results.Run) (float64, bool) { return 0.5, true }, false, false},
	{"single", func(r *results.Run) (float64, bool) { return 4e-5, r.Index == 0 }, false, false},
	{"one NaN", func(r *results.Run) (float64, bool) {
		if r.Index == 3 {
			return math.NaN(), true
		}
		return 1e-4 * float64(r.Index+1), true
	}, false, false},
	{"180 decades", func(r *results.Run) (float64, bool) { return math.Pow(10, float64(180*(r.Index%2)-90)), true }, false, false},
}

func TestMetricChartsOfBadValues(t *testing.T) {
	long(t)
	t.Parallel()
	latency := results.LatencyMetric(results.KindEndToEnd, "p99")
	for _, bad := range badValues {
		for _, metric := range []string{results.MetricOps, latency} {
			t.Run(bad.name+"/"+metric, func(t *testing.T) {
				s := inMemory(len(fixtureSpeeds), func(run *results.Run) {
					delete(run.Metrics, metric)
					if v, ok := bad.value(run); ok {
						run.Metrics[metric] = v
					}
				})
				p := panels(s)[0]
				c := within(t, func() (Chart, error) { return metricChart(&p, metric) })
				checkChart(t, c)
				want := bad.message
				if metric == latency {
					want = bad.logOnly
				}
				if got := bytes.Contains(c.SVG, []byte(noValue)); got != want {
					t.Errorf("says %q: %v, want %v", noValue, got, want)
				}
			})
		}
	}
}

func TestEffectChartOfBadValues(t *testing.T) {
	long(t)
	t.Parallel()
	for _, bad := range badValues {
		t.Run(bad.name, func(t *testing.T) {
			s := inMemory(len(fixtureSpeeds), func(run *results.Run) {
				delete(run.Metrics, results.MetricOps)
				if v, ok := bad.value(run); ok {
					run.Metrics[results.MetricOps] = v
				}
			})
			checkChart(t, onlyEffectChart(t, s))
		})
	}
}

func TestLatencyChartsOfBadValues(t *testing.T) {
	long(t)
	t.Parallel()
	filled := func(values ...int64) *results.Histogram {
		h := results.NewHistogram()
		for _, v := range values {
			h.Record(v)
		}
		return h
	}
	many := func(value func(i int) int64) *results.Histogram {
		h := results.NewHistogram()
		for i := range 1000 {
			h.Record(value(i))
		}
		return h
	}
	seconds := func(n int, v float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = v
		}
		return values
	}
	tests := []struct {
		name              string
		curve             []float64
		merged            *results.Histogram
		message, noCurves bool
	}{
		{name: "no curves", noCurves: true, message: true},
		{name: "no quantile", merged: filled(5), message: true},
		{name: "NaN", curve: seconds(5, math.NaN()), merged: filled(5), message: true},
		{name: "infinite", curve: seconds(5, math.Inf(1)), merged: filled(math.MaxInt64), message: true},
		{name: "zero", curve: seconds(5, 0), merged: filled(0), message: true},
		{name: "negative", curve: seconds(5, -1), merged: filled(-7), message: true},
		{name: "single point", curve: seconds(1, 1e-6), merged: filled(1000)},
		{name: "all equal", curve: seconds(20, 1e-6), merged: many(func(int) int64 { return 1000 })},
		{name: "over the range", curve: seconds(20, 100), merged: many(func(int) int64 { return 100e9 })},
		{name: "whole range", curve: append(seconds(10, 1e-9), seconds(10, 60)...), merged: many(func(i int) int64 { return 1 + int64(i%2)*59e9 })},
		{name: "all percentiles", curve: seconds(len(results.PercentileTicks()), 1e-3), merged: many(func(i int) int64 { return int64(i) })},
	}
	p := panels(inMemory(1, nil))[0]
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := latency{kind: results.KindProduce, words: "produce latency", ticks: results.PercentileTicks()}
			if !test.noCurves {
				l.curves = []latencyCurve{{label: "mutex", style: StyleOf("mutex"), seconds: test.curve, merged: test.merged}}
			}
			c := within(t, func() (Chart, error) { return percentileChart(&p, &l) })
			checkChart(t, c)
			if got := bytes.Contains(c.SVG, []byte(tooFew)); got != test.message {
				t.Errorf("says %q: %v, want %v", tooFew, got, test.message)
			}
			c = within(t, func() (Chart, error) { return histogramChart(&p, &l) })
			checkChart(t, c)
			if got := bytes.Contains(c.SVG, []byte(noRuns)); got != test.noCurves {
				t.Errorf("says %q: %v, want %v", noRuns, got, test.noCurves)
			}
		})
	}
}

func TestChartsOfEmptySweeps(t *testing.T) {
	t.Parallel()
	tests := map[string]*results.Sweep{
		"zero":    {},
		"no runs": {Meta: fixtureMeta()},
		"no valid runs": inMemory(4, func(run *results.Run) {
			run.Verification.Error = "offset 3 has other bytes"
		}),
		"one run": {Meta: fixtureMeta(), Runs: inMemory(1, nil).Runs[:1]},
	}
	for name, s := range tests {
		t.Run(name, func(t *testing.T) {
			charts, err := Charts(s)
			if err != nil {
				t.Fatal(err)
			}
			if len(charts) == 0 {
				t.Fatal("no chart, not even an empty one")
			}
			for _, c := range charts {
				checkChart(t, c)
				if said := bytes.Contains(c.SVG, []byte(noRuns)); !said && name != "one run" && name != "zero" {
					t.Errorf("%s does not say %q", c.Name, noRuns)
				}
			}
		})
	}
}

func TestManyStrategiesWithLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a strategy with a very long name ", 10) + "<&>\"'"
	s := inMemory(12, func(run *results.Run) {
		if run.Cell.Strategy == "invented-11" {
			run.Cell.Strategy = long
		}
	})
	s.Meta.Workloads[0].Name = "../" + long
	for i := range s.Runs {
		s.Runs[i].Cell.Workload = s.Meta.Workloads[0].Name
	}
	p := panels(s)[0]
	if len(p.series) != 12 {
		t.Fatalf("%d strategies, want 12", len(p.series))
	}
	l := latency{kind: results.KindProduce, words: "produce latency", ticks: results.PercentileTicks()}
	for i := range p.series {
		m := &p.series[i]
		_, histograms := fixtureRun(i, 0, m.label, "", 1+float64(i)/4)
		var b curveBuilder
		b.add(histograms[results.KindProduce], nil, l.ticks)
		l.curves = append(l.curves, b.curve(m))
	}
	for _, draw := range []func() (Chart, error){
		func() (Chart, error) { return throughputChart(&p) },
		func() (Chart, error) { return percentileChart(&p, &l) },
		func() (Chart, error) { return histogramChart(&p, &l) },
	} {
		c := within(t, draw)
		checkChart(t, c)
		if strings.ContainsAny(c.Name, "/\\ <>") || len(c.Name) > 150 {
			t.Errorf("unsafe file name %q", c.Name)
		}
		if !bytes.Contains(c.SVG, []byte("…")) {
			t.Errorf("%s: the long name is not cut", c.Name)
		}
	}
}
