package plots

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tailrace/results"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func TestQuantilesWithFewSamplesAreNotDrawn(t *testing.T) {
	t.Parallel()
	ticks := []float64{0, 50, 90, 99, 99.9, 100}
	filled := func(n int) *results.Histogram {
		h := results.NewHistogram()
		for i := range n {
			h.Record(int64(i + 1))
		}
		return h
	}
	tests := []struct {
		runs []int // samples of each
		want int   // ticks drawn
	}{
		{[]int{9}, 0}, {[]int{10}, 1}, {[]int{20}, 2}, {[]int{1000}, 4}, {[]int{10000}, 5}, {[]int{10000, 10000, 150}, 3},
	}
	for _, test := range tests {
		var b curveBuilder
		for _, n := range test.runs {
			b.add(filled(n), nil, ticks)
		}
		c := b.curve(&series{})
		drawn := slices.DeleteFunc(c.seconds, math.IsNaN)
		if len(drawn) != test.want {
			t.Errorf("runs of %v samples: %d of the ticks %v drawn, want %d", test.runs, len(drawn), ticks, test.want)
		}
	}
}

func TestQuantilesOfALateLoadAreNotDrawn(t *testing.T) {
	t.Parallel()
	s := fixture(t, func(_ *results.Meta, run *results.Run) {
		if run != nil {
			run.Cell.ProduceRate = 10000
		}
	})
	p := panels(s)[0]
	latencies, warnings := latenciesOf(s, &p)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	caption := func(l *latency) string {
		c, err := percentileChart(&p, l)
		if err != nil {
			t.Fatal(err)
		}
		return c.Caption
	}
	const rule = "the load itself was late by more than 10 % of the latency"
	for _, l := range latencies {
		if paced := l.kind == results.KindProduce; strings.Contains(caption(&l), rule) != paced {
			t.Errorf("%s: caption %q, paced: %v", l.kind, caption(&l), paced)
		}
	}

	// A load that is late by 200 ns up to its p75 and by 2 µs beyond, and latencies of 1 µs, from the p25 on of 10 µs, and
	// from the p90 on of 100 µs.
	latency, lateness := results.NewHistogram(), results.NewHistogram()
	for rank := range 1000 {
		value, late := int64(1000), int64(200)
		switch {
		case rank >= 900:
			value = 100_000
		case rank >= 250:
			value = 10_000
		}
		if rank >= 750 {
			late = 2000
		}
		latency.Record(value)
		lateness.Record(late)
	}
	l := latencies[0]
	l.ticks = []float64{0, 10, 30, 50, 70, 80, 85, 95, 98, 99.5}
	var b curveBuilder
	b.add(latency, lateness, l.ticks)
	c := b.curve(&series{label: "mutex", style: StyleOf("mutex")})
	var drawn []float64
	for i, seconds := range c.seconds {
		if !math.IsNaN(seconds) {
			drawn = append(drawn, l.ticks[i])
		}
	}
	if want := []float64{30, 50, 70, 95, 98}; !slices.Equal(drawn, want) {
		t.Errorf("ticks %v drawn, want %v", drawn, want)
	}
	f := &figure{x: scale{log: true}, y: scale{log: true}}
	if segments := c.segments(l.ticks, f); len(segments) != 2 || len(segments[0]) != 3 || len(segments[1]) != 2 {
		t.Errorf("segments %v, want three points and two", segments)
	}
	l.curves = []latencyCurve{{label: "mutex", style: StyleOf("mutex"), seconds: []float64{math.NaN()}, merged: latency}}
	chart := within(t, func() (Chart, error) { return percentileChart(&p, &l) })
	checkChart(t, chart)
	if !bytes.Contains(chart.SVG, []byte(tooLate)) {
		t.Errorf("a chart without a percentile does not say %q", tooLate)
	}
}

func TestOverloadedStrategiesHaveNoCurve(t *testing.T) {
	t.Parallel()
	s := fixture(t, func(_ *results.Meta, run *results.Run) {
		if run != nil && run.Cell.Strategy == "rwmutex" && run.Block == 1 {
			run.Overloaded = true
		}
	})
	p := panels(s)[0]
	latencies, warnings := latenciesOf(s, &p)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	if len(latencies) == 0 {
		t.Fatal("nothing is drawn")
	}
	for _, l := range latencies {
		for _, c := range l.curves {
			if c.label == "rwmutex" {
				t.Errorf("%s: rwmutex is drawn", l.kind)
			}
		}
		c, err := percentileChart(&p, &l)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(c.Caption, "rwmutex: latency unbounded, overloaded in 1 of 6 runs.") {
			t.Errorf("%s: the caption does not say so: %q", l.kind, c.Caption)
		}
	}
}

func TestSeveralConcurrenciesGetAChartEach(t *testing.T) {
	t.Parallel()
	s := inMemory(2, func(run *results.Run) {
		if run.Block%2 == 1 {
			run.Cell.Workers = 4
		}
	})
	charts, err := Charts(s)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range charts {
		names = append(names, c.Name)
	}
	if got, want := strings.Join(names, " "), "mix-workers-4-throughput mix-workers-8-throughput mix-by-workers effects"; got != want {
		t.Errorf("charts %q, want %q", got, want)
	}
}

func TestChartsOfSeveralGoroutines(t *testing.T) {
	t.Parallel()
	s := fixture(t, nil)
	var drawn [2][]Chart
	var group sync.WaitGroup
	for i := range drawn {
		group.Go(func() {
			charts, err := Charts(s)
			if err != nil {
				t.Error(err)
			}
			drawn[i] = charts
		})
	}
	group.Wait()
	for i := range drawn[0] {
		if !bytes.Equal(drawn[0][i].SVG, drawn[1][i].SVG) {
			t.Errorf("%s: two goroutines drew different charts", drawn[0][i].Name)
		}
	}
}

func TestChartNamesAreDistinct(t *testing.T) {
	t.Parallel()
	s := inMemory(2, func(run *results.Run) {
		run.Cell.Workload = []string{"a b", "a/b", "A-B"}[run.Block%3]
	})
	charts, err := Charts(s)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, c := range charts {
		if names[c.Name] {
			t.Errorf("two charts are named %q", c.Name)
		}
		names[c.Name] = true
	}
}

func TestWriteCharts(t *testing.T) {
	t.Parallel()
	s := fixture(t, func(_ *results.Meta, run *results.Run) {
		if run != nil {
			addSeries(run)
		}
	})
	dir := filepath.Join(t.TempDir(), "charts")
	charts, err := WriteCharts(s, dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Charts(s)
	if err != nil {
		t.Fatal(err)
	}
	want := "mix-throughput mix-front mix-throughput-time mix-produce-latency mix-produce-histogram mix-produce-p99-time " +
		"mix-consume-latency mix-consume-histogram mix-consume-p99-time effects"
	var names []string
	for i, c := range charts {
		names = append(names, c.Name)
		if len(c.PNG) > 0 {
			t.Errorf("%s: its image is kept in memory", c.Name)
		}
		if !bytes.Equal(c.SVG, again[i].SVG) {
			t.Errorf("%s: two renderings differ", c.Name)
		}
		charts[i].PNG = again[i].PNG
		checkChart(t, charts[i])
		for extension, content := range map[string][]byte{".svg": c.SVG, ".png": again[i].PNG} {
			file, err := os.ReadFile(filepath.Join(dir, c.Name+extension))
			if err != nil || !bytes.Equal(file, content) {
				t.Errorf("%s%s: the file differs from the chart (%v)", c.Name, extension, err)
			}
		}
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("charts %q, want %q", got, want)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2*len(charts) {
		t.Errorf("%d files in the directory, want %d (%v)", len(entries), 2*len(charts), err)
	}
	for _, c := range charts {
		checkLegible(t, c)
		golden(t, c)
	}
}

// A run whose latencies can't be read is left out of the charts, and its sweep tells.
func TestDamagedHistogramIsAWarning(t *testing.T) {
	t.Parallel()
	s := fixture(t, nil)
	if err := os.WriteFile(filepath.Join(s.Dir, s.Runs[0].Latency), []byte("nonsense\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteCharts(s, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) != 1 || !strings.HasPrefix(s.Warnings[0], "the charts are without the latencies of run 0: ") {
		t.Errorf("warnings %q, want one that names the run", s.Warnings)
	}
}

func TestWriteChartsWhereNothingCanBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteCharts(inMemory(1, nil), file); err == nil || !strings.HasPrefix(err.Error(), "plots: ") {
		t.Errorf("error %v, want one of plots", err)
	}
}

// effectCharts draws the effects of a sweep.
func effectCharts(s *results.Sweep) ([]Chart, error) {
	var list chartList
	for _, g := range effectGroups(s, panels(s)) {
		if err := list.add(effectChart(s, &g)); err != nil {
			return nil, err
		}
	}
	return list.charts, nil
}

// onlyEffectChart draws the effects of a sweep that has few.
func onlyEffectChart(t *testing.T, s *results.Sweep) Chart {
	t.Helper()
	return within(t, func() (Chart, error) {
		charts, err := effectCharts(s)
		if len(charts) != 1 {
			t.Errorf("%d effect charts, want 1", len(charts))
			return Chart{}, err
		}
		return charts[0], err
	})
}

func TestWideIntervalsAreCut(t *testing.T) {
	t.Parallel()
	const words = "An interval with an arrow goes on beyond the chart."
	draw := func(spread float64) Chart {
		s := inMemory(len(fixtureSpeeds), func(run *results.Run) {
			if run.Cell.Strategy == "actor" && run.Block == 0 {
				run.Metrics[results.MetricOps] *= spread
			}
		})
		s.Runs = slices.DeleteFunc(s.Runs, func(r results.Run) bool { return r.Block >= 2 })
		return onlyEffectChart(t, s)
	}
	narrow, wide := draw(1), draw(1e3)
	checkChart(t, wide)
	checkChart(t, draw(1e9)) // the ratio itself is beyond
	if strings.Contains(narrow.Caption, words) || !strings.Contains(wide.Caption, words) {
		t.Errorf("captions %q and %q", narrow.Caption, wide.Caption)
	}
	if !strings.Contains(wide.Alt, "(<0.01–>100)") {
		t.Errorf("alt %q", wide.Alt)
	}
	for _, beyond := range []string{">0.001×<", ">10000×<", ">1000×<"} {
		if bytes.Contains(wide.SVG, []byte(beyond)) {
			t.Errorf("the axis goes on to %s", beyond)
		}
	}
}
