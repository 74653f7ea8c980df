package plots

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"tailrace/results"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func TestQuantilesWithFewSamplesAreNotDrawn(t *testing.T) {
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
			b.add(filled(n), ticks)
		}
		if got := len(b.curve(&series{}).seconds); got != test.want {
			t.Errorf("runs of %v samples: %d of the ticks %v drawn, want %d", test.runs, got, ticks, test.want)
		}
	}
}

func TestOverloadedRunsHaveNoCurve(t *testing.T) {
	s := fixture(t, func(_ *results.Meta, run *results.Run) {
		if run != nil && run.Cell.Strategy == "rwmutex" {
			run.Overloaded = true
		}
	})
	latencies, err := latenciesOf(s, &panels(s)[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range latencies {
		for _, c := range l.curves {
			if c.label == "rwmutex" {
				t.Errorf("%s: rwmutex is drawn", l.kind)
			}
		}
		if text := strings.Join(l.leftOut, " "); !strings.Contains(text, "rwmutex could not keep the rate in 6 of 6 runs") {
			t.Errorf("%s: the caption does not say so: %q", l.kind, text)
		}
	}
}

func TestSeveralConcurrenciesGetAChartEach(t *testing.T) {
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
	if got, want := strings.Join(names, " "), "mix-workers-4-throughput mix-workers-8-throughput effects"; got != want {
		t.Errorf("charts %q, want %q", got, want)
	}
}

func TestChartsOfSeveralGoroutines(t *testing.T) {
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
	s := fixture(t, nil)
	dir := filepath.Join(t.TempDir(), "charts")
	charts, err := WriteCharts(s, dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Charts(s)
	if err != nil {
		t.Fatal(err)
	}
	want := "mix-throughput mix-produce-latency mix-produce-histogram mix-consume-latency mix-consume-histogram effects"
	var names []string
	for i, c := range charts {
		names = append(names, c.Name)
		checkChart(t, c)
		if !bytes.Equal(c.SVG, again[i].SVG) || !bytes.Equal(c.PNG, again[i].PNG) {
			t.Errorf("%s: two renderings differ", c.Name)
		}
		for extension, content := range map[string][]byte{".svg": c.SVG, ".png": c.PNG} {
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
		golden(t, c)
	}
}

// golden compares a chart with its golden file. Fused multiply-add rounds differently elsewhere.
func golden(t *testing.T, c Chart) {
	t.Helper()
	path := filepath.Join("testdata", c.Name+".svg")
	if *update {
		if err := os.WriteFile(path, c.SVG, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOARCH != "amd64" {
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(c.SVG, want) {
		t.Errorf("%s differs from %s; look at it, then run the test with -update", c.Name, path)
	}
}

func TestDamagedHistogramIsAnError(t *testing.T) {
	s := fixture(t, nil)
	if err := os.WriteFile(filepath.Join(s.Dir, s.Runs[0].Latency), []byte("nonsense\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteCharts(s, t.TempDir()); err == nil || !strings.HasPrefix(err.Error(), "plots: run 0: ") {
		t.Errorf("error %v, want one that names the run", err)
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
