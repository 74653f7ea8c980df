package results_test

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// rendered is what the terminal shows and what Markdown does.
func rendered(t *testing.T, s *results.Sweep) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	for name, write := range map[string]func(io.Writer) error{"table": func(w io.Writer) error { return s.WriteTable(w, 0) }, "summary": s.WriteSummary} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		texts[name] = out.String()
	}
	return texts
}

func TestBusyNeighboursAreAWarning(t *testing.T) {
	for name, c := range map[string]struct {
		percent []float64 // of the runs, in turn
		want    string
	}{
		"idle":     {[]float64{2}, ""},
		"limit":    {[]float64{10}, ""},
		"one busy": {[]float64{90, 1, 1}, ""},
		"busy":     {[]float64{14, 14, 1}, "other processes used 14 % of the CPU time during the runs: "},
	} {
		s := invented(t)
		for i := range s.Runs {
			s.Runs[i].OtherPercent = c.percent[i%len(c.percent)]
		}
		const words = "other processes used"
		found := slices.ContainsFunc(s.Summary().Warnings, func(w string) bool { return c.want != "" && strings.HasPrefix(w, c.want) })
		if found != (c.want != "") {
			t.Errorf("%s: warnings %q", name, s.Summary().Warnings)
		}
		for format, text := range rendered(t, s) {
			if strings.Contains(text, words) != (c.want != "") {
				t.Errorf("%s, %s:\n%s", name, format, text)
			}
		}
	}
}

func TestSectionOfAWorkloadThatWasNotRun(t *testing.T) {
	s := invented(t)
	s.Runs = slices.DeleteFunc(s.Runs, func(r results.Run) bool { return r.Cell.Workload == "tail" })
	sections := s.Sections()
	if len(sections) != 2 || len(sections[0].Tables) == 0 || len(sections[1].Cells)+len(sections[1].Tables) != 0 {
		t.Fatalf("sections %+v", sections)
	}
	for format, text := range rendered(t, s) {
		if strings.Count(text, "no run of this workload has ended") != 1 {
			t.Errorf("%s does not say it once:\n%s", format, text)
		}
	}
}

// A latency of which too much is the load's own lateness, in some runs, is shown as what it is at most.
func TestBoundsAreShown(t *testing.T) {
	s := invented(t)
	metric := results.LatencyMetric(results.KindProduce, "p99")
	var cell results.Cell
	for i := range s.Runs {
		run := &s.Runs[i]
		if run.Cell.Workload != "tail" || run.Cell.Strategy != "mutex" || run.Cell.Arm != "" {
			continue
		}
		cell = run.Cell
		delete(run.Metrics, metric)
		run.Bounds = map[string]float64{metric: 7e-3}
	}
	const note = "≤ at most: more than 10 % of it is the lateness of the load itself, without which it would be less."
	for format, text := range rendered(t, s) {
		if !strings.Contains(text, "≤ 7.0 ms") || !strings.Contains(text, note) {
			t.Errorf("%s does not show the bound:\n%s", format, text)
		}
	}
	for _, c := range s.Cells() {
		if bound, ok := c.Bound(metric); ok != (c.Cell == cell) || ok && bound != 7e-3 {
			t.Errorf("%s %s is bounded by %v, %t", c.Cell.Workload, c.Cell.Label(), bound, ok)
		}
	}
	// With one run that has neither, there is no telling.
	for i := range s.Runs {
		if s.Runs[i].Cell == cell {
			s.Runs[i].Bounds = nil
			break
		}
	}
	for _, text := range rendered(t, s) {
		if strings.Contains(text, "≤") {
			t.Errorf("a bound over some runs is shown:\n%s", text)
		}
	}
}

func TestFootnoteOfWhatIsAbsent(t *testing.T) {
	const words = "– no number: fewer than 10 samples beyond it, or overload."
	s := invented(t)
	if !slices.Contains(s.Summary().Footnotes, words) {
		t.Errorf("footnotes %q", s.Summary().Footnotes)
	}
	s.Runs = slices.DeleteFunc(s.Runs, func(r results.Run) bool { return r.Cell.Workload == "tail" })
	if slices.Contains(s.Summary().Footnotes, words) {
		t.Error("a footnote on a sign that no table has")
	}
}

func TestPartlyOverloadedCellHasNoLatency(t *testing.T) {
	s := invented(t)
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Cell.Strategy == "actor" && run.Block == 1 {
			run.Overloaded = true
		}
	}
	cells := s.Cells()
	actor := cells[len(cells)-1]
	if _, ok := actor.Median("e2e-p99-sec"); ok {
		t.Error("a cell that was overloaded in a run has a latency")
	}
	for _, metric := range []string{results.MetricOps, "produce-lateness-p99-sec"} {
		if _, ok := actor.Median(metric); !ok {
			t.Errorf("a cell that was overloaded in a run has no %s", metric)
		}
	}
	if notes := actor.Notes(); !slices.Equal(notes, []string{"actor: latency unbounded, overloaded in 1 of 3 runs"}) {
		t.Errorf("notes %q", notes)
	}
}

func TestShown(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct{ low, high, wantLow, wantHigh float64 }{
		{0.9, 1.1, 0.9, 1.1}, {1e-9, 1e9, 0.01, 100}, {0, inf, 0.01, 100}, {1e-4, 1e-3, 1e-4, 1e-3}, {200, 300, 200, 300}, {0.5, 300, 0.5, 100},
	} {
		if low, high := (results.Interval{Low: c.low, High: c.high}).Shown(); low != c.wantLow || high != c.wantHigh {
			t.Errorf("%v to %v is shown as %v to %v", c.low, c.high, low, high)
		}
	}
	if low, high := (results.Interval{Low: nan, High: nan}).Shown(); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("an unknown interval is shown as %v to %v", low, high)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3}, {[]float64{1, 2, 9}, 2}, {[]float64{1, 2, 4, 9}, 3}, {[]float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64},
	} {
		if got := results.Median(c.values); got != c.want {
			t.Errorf("median of %v: %v", c.values, got)
		}
	}
	if got := results.Median(nil); !math.IsNaN(got) {
		t.Errorf("median of nothing: %v", got)
	}
}

func TestCarries(t *testing.T) {
	filled := func(n int, ns int64) *results.Histogram {
		h := results.NewHistogram()
		for range n {
			h.Record(ns)
		}
		return h
	}
	for name, c := range map[string]struct {
		h, lateness *results.Histogram
		q           float64
		want        bool
	}{
		"enough samples":  {filled(1000, 5000), nil, 0.99, true},
		"too few samples": {filled(999, 5000), nil, 0.99, false},
		"just enough":     {filled(100, 5000), nil, 0.9, true},
		"empty":           {filled(0, 0), nil, 0, false},
		"the maximum":     {filled(1000, 5000), nil, 1, false},
		"punctual load":   {filled(1000, 5000), filled(1000, 490), 0.99, true},
		"late load":       {filled(1000, 5000), filled(1000, 510), 0.5, false},
		"unknown load":    {filled(1000, 5000), filled(0, 0), 0.5, true},
	} {
		if got := c.h.Carries(c.q, c.lateness); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestPaced(t *testing.T) {
	producers, consumers := results.Cell{ProduceRate: 1}, results.Cell{ConsumeRate: 1}
	for kind, want := range map[string][2]bool{
		results.KindProduce:         {true, false},
		results.KindConsume:         {false, true},
		results.KindEndToEnd:        {true, false},
		results.KindProduceService:  {false, false},
		results.KindProduceLateness: {false, false},
	} {
		if got := [2]bool{producers.Paced(kind), consumers.Paced(kind)}; got != want {
			t.Errorf("%s: paced %v", kind, got)
		}
	}
}
