package plots

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/results/resultstest"
)

// Tables sort by the numbers of their texts: what package results formats has to be read again.
func TestPageReadsTheNumbersOfTexts(t *testing.T) {
	formats := map[string]func(float64) string{
		"rate": results.FormatRate, "duration": results.FormatDuration, "bytes": results.FormatBytes,
		"ratio": results.FormatRatio, "percent": results.FormatPercent,
		"interval":  func(v float64) string { return results.FormatInterval(v, v/2, 2*v) },
		"no effect": func(v float64) string { return results.FormatInterval(v, v/2, 2*v) + " ~" },
		"bound":     func(v float64) string { return "≤ " + results.FormatDuration(v) },
		"harness":   func(v float64) string { return results.FormatDuration(v) + "†" },
		"bytes/s":   func(v float64) string { return results.FormatMetric(results.MetricProduceBytes, v) },
		"few":       func(v float64) string { return results.FormatMetric(results.MetricAllocs, v) },
	}
	for name, format := range formats {
		for exponent := -3.0; exponent < 12; exponent += 0.37 {
			value := math.Pow(10, exponent)
			text := format(value)
			got, ok := sortValue(text)
			if unit := smallest(name); !ok || math.Abs(got-value) > 0.06*value+unit {
				t.Errorf("%s of %g: %q is read as %g, %v", name, value, text, got, ok)
			}
		}
		if text := format(math.NaN()); name != "bound" {
			if got, ok := sortValue(text); ok {
				t.Errorf("%s of no number: %q is read as %g", name, text, got)
			}
		}
	}
	for text, want := range map[string]float64{
		"baseline": 1, "180,000": 180_000, "90,000–95,000 records/s": 90_000, "0": 0, "0 ns": 0, "1e-05×": 1e-5, "0.93× (<0.01–>100) ?": 0.93,
		"1.01× (0.91–1.12) healthy": 1.01, "-3.5 %": -0.035, "−3.5 %": -0.035, "+12 %": 0.12, "<0.01": 0.01, "2.5 µs†": 2.5e-6, "512 B/s": 512,
	} {
		if got, ok := sortValue(text); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%q is read as %g, %v, want %g", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "–", "– ?", "failed: p99 was 3 ms", "mutex", "e2e p99", "3 producers", "1.2.3", "µs", "2 of 3"} {
		if got, ok := sortValue(text); ok {
			t.Errorf("%q is read as %g", text, got)
		}
	}
}

// smallest is what the last digit of a format is worth at least.
func smallest(format string) float64 {
	switch format {
	case "duration", "bound", "harness":
		return 1e-9
	case "percent", "ratio", "interval", "no effect":
		return 0.0005
	case "rate", "bytes", "bytes/s":
		return 0.05
	}
	return 0
}

func TestPageSortsNumbersAndWords(t *testing.T) {
	table := newTable("x", "x", "strategy", results.Table{Labels: []string{"a", "b"}, Columns: []results.Column{
		{Head: "p99", Cells: []string{"–", "≤ 2.0 ms"}}, {Head: "outcome", Cells: []string{"passed", "3 ms"}}, {Head: "nothing", Cells: []string{"–", ""}},
	}})
	want := [][]pageCell{
		{{Text: "–", Numeric: true}, {Text: "passed"}, {Text: "–"}},
		{{Text: "≤ 2.0 ms", Numeric: true, Sort: "0.002"}, {Text: "3 ms"}, {Text: ""}},
	}
	for i, row := range table.Rows {
		if !slices.Equal(row.Cells, want[i]) {
			t.Errorf("row %d: %+v", i, row.Cells)
		}
	}
}

// The colours of text have the contrast of WCAG 2.2, level AA (4.5), to what they stand on, in each scheme.
func TestPageContrast(t *testing.T) {
	variable := regexp.MustCompile(`--(\w+): (#[0-9a-f]+);`)
	blocks := strings.Split(pageStyle, ":root {")[1:]
	if len(blocks) != 3 {
		t.Fatalf("%d colour schemes, want light, dark and paper", len(blocks))
	}
	for i, block := range blocks {
		block, _, _ = strings.Cut(block, "}")
		colors := make(map[string]string)
		for _, match := range variable.FindAllStringSubmatch(block, -1) {
			colors[match[1]] = match[2]
		}
		for _, text := range []string{"ink", "soft", "accent", "good", "bad", "warn"} {
			for _, ground := range []string{"paper", "card", "warnpaper"} {
				if got := contrast(t, colors[text], colors[ground]); got < 4.5 {
					t.Errorf("scheme %d: %s on %s has a contrast of %.2f", i, text, ground, got)
				}
			}
		}
	}
}

// contrast is the contrast ratio of two colours (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio).
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(color string) float64 {
		digits := strings.TrimPrefix(color, "#")
		if len(digits) == 3 {
			digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
		}
		hex, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || len(digits) != 6 {
			t.Fatalf("no colour: %q", color)
		}
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v := float64(hex>>(16-8*i)&0xff) / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			sum += weight * v
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestPageOwnMix(t *testing.T) {
	for command, want := range map[string]string{
		"":             "tailrace run --workers 8 --mix produce=25",
		"tailrace run": "tailrace run --workers 8 --mix produce=25",
		"tailrace run --preset full --out /x --seed 3":                      "tailrace run --workers 8 --mix produce=25",
		"tailrace run --workers 4 --mix produce=25 --duration=1s":           "tailrace run --workers 4 --duration 1s --mix produce=50",
		"tailrace run --strategies mutex,actor --producers 2 --consumers 8": "tailrace run --strategies mutex,actor --workers 8 --mix produce=25",
		"tailrace run --strategies $(x) --blocks":                           "tailrace run --workers 8 --mix produce=25",
		"tailrace run --find-max-rate --produce-rate 10000/s --blocks 12":   "tailrace run --blocks 12 --workers 8 --mix produce=25",
	} {
		if got := ownMix(strings.Fields(command)); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

func TestPageVerdict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*results.Sweep)
		want string
	}{
		"as it should be": {func(s *results.Sweep) { s.Meta.Warnings = nil }, "healthy"},
		"warnings":        {func(*results.Sweep) {}, "with reservations"},
		"no A/A arm": {func(s *results.Sweep) {
			s.Meta.Warnings = nil
			s.Runs = slices.DeleteFunc(s.Runs, func(r results.Run) bool { return r.Cell.Arm != "" })
		}, "with reservations"},
		"interrupted":            {func(s *results.Sweep) { s.Meta.Warnings, s.Meta.Interrupted = nil, true }, "with reservations"},
		"a wrong answer":         {func(s *results.Sweep) { s.Meta.Warnings, s.Runs[2].Verification.Error = nil, "wrong" }, "with reservations"},
		"nothing run":            {func(s *results.Sweep) { s.Meta.Warnings, s.Runs = nil, nil }, "with reservations"},
		"arms differ":            {func(s *results.Sweep) { faster(s, func(c results.Cell) bool { return c.Arm != "" }) }, "not to be trusted"},
		"control was not caught": {func(s *results.Sweep) { s.Meta.Preflight = results.Preflight{ClockRead: 1e-8} }, "not to be trusted"},
	} {
		s := inMemory(len(fixtureSpeeds), nil)
		c.edit(s)
		r := newReport(s, nil)
		if r.Verdict.Text != c.want || (c.want == "healthy") != (len(r.Verdict.Reasons) == 0) {
			t.Errorf("%s: %+v, want %s", name, r.Verdict, c.want)
		}
		if seen := readable(t, writeCharts(t, s, nil)); !strings.Contains(seen, "This sweep: "+c.want) || !strings.Contains(seen, "Verdict: "+c.want) {
			t.Errorf("%s: the page does not say so", name)
		}
	}
}

func faster(s *results.Sweep, which func(results.Cell) bool) {
	for i := range s.Runs {
		if which(s.Runs[i].Cell) {
			s.Runs[i].Metrics[results.MetricOps] *= 3
		}
	}
}

// writeCharts is the page of a sweep with given charts.
func writeCharts(t *testing.T, s *results.Sweep, charts []Chart) []byte {
	t.Helper()
	page, err := os.ReadFile(writePage(t, s, charts))
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestPageHealth(t *testing.T) {
	s := inMemory(len(fixtureSpeeds), func(run *results.Run) {
		run.Cell.ProduceRate = 10000
		if p99 := results.LatencyMetric(results.KindProduce, "p99"); run.Cell.Strategy == "actor" {
			run.Bounds = map[string]float64{p99: 3e-3}
			delete(run.Metrics, p99)
		}
	})
	s.Meta.Preflight.ClockRead = 1e-6
	h := newReport(s, nil).Health
	if h.Late == nil || len(h.Late.Rows) != 1 || h.Late.Rows[0].Label != "actor" || h.Late.Rows[0].Cells[1].Text != "produce p99 3.0 ms" {
		t.Errorf("late: %+v", h.Late)
	}
	if h.Harness == nil || len(h.Harness.Rows) != len(fixtureSpeeds) {
		t.Errorf("harness: %+v", h.Harness)
	}
	if h.Arms == nil || len(h.Arms.Rows) != 1 {
		t.Errorf("A/A arms: %+v", h.Arms)
	}
	var words []string
	for _, check := range h.Checks {
		words = append(words, check.Name+" "+check.Word())
	}
	want := []string{"answers good", "negative control good", "A/A arms good", "load on time caution", "harness cost caution", "warnings caution"}
	if !slices.Equal(words, want) {
		t.Errorf("%q, want %q", words, want)
	}
}

// A workload with many points stays one that can be looked over: it has one answer, a table has all points, and
// these are closed.
func TestPageOfManyPoints(t *testing.T) {
	t.Parallel()
	s, charts := pointsSweep(t, 13)
	r := newReport(s, charts)
	const want = "mix, along workers: `rwmutex` against `mutex`: no difference found at 1–13 (one of less than "
	if len(r.Decisions) != 1 || !strings.HasPrefix(r.Decisions[0].Text, want) || len(r.Decisions[0].Trends) != 1 {
		t.Fatalf("decisions %+v, want one that begins %q", r.Decisions, want)
	}
	if !r.Workloads[0].Folded || len(r.Glance.Rows) != 13 || !r.Glance.Compact || r.Glance.Rows[12].Link != "workload-1-point-13" {
		t.Errorf("glance: %+v", r.Glance)
	}
	page := string(writeCharts(t, s, charts))
	if got := strings.Count(page, "<svg"); got != len(charts) {
		t.Errorf("%d charts in the page of %d", got, len(charts))
	}
	for _, sentence := range r.Answers {
		if text := strings.ReplaceAll(sentence.Text, "`", ""); !strings.Contains(readable(t, []byte(page)), text) {
			t.Errorf("the page does not say %q", text)
		}
	}
}

func TestPageGlance(t *testing.T) {
	s := inMemory(len(fixtureSpeeds), func(run *results.Run) {
		if run.Cell.Strategy == "actor" && run.Block == 2 {
			run.Verification.Error = "offset 3 has other bytes"
		}
	})
	glance := newReport(s, nil).Glance
	if len(glance.Rows) != 1 {
		t.Fatalf("%+v", glance)
	}
	var texts []string
	for _, cell := range glance.Rows[0].Cells {
		texts = append(texts, strings.TrimSpace(cell.Text+" "+cell.Detail)+"|"+cell.Sign+"|"+cell.Note)
	}
	effects := s.Effects()
	cells := s.Cells()
	median, _ := cells[0].Median(results.MetricOps)
	want := []string{"mutex " + results.FormatRate(median) + "||op/s", effects[0].Interval.Text() + "|▲|better", effects[1].Interval.Text() + "|▲|better", "|?|no verdict"}
	if !slices.Equal(texts, want) || glance.Rows[0].Cells[3].Sort != "" {
		t.Errorf("%q, want %q", texts, want)
	}
}

// A row has one baseline, and the comparisons of all strategies with themselves of another build have one row.
func TestPageGlanceRows(t *testing.T) {
	of := func(strategy, baseline, build string) results.Effect {
		return results.Effect{Comparison: results.Comparison{Strategy: strategy, Baseline: baseline, BaselineBuild: build}}
	}
	var rows [][]string
	for _, effects := range rowsOf([]results.Effect{of("a", "mutex", ""), of("b", "raw", ""), of("c", "c", "old"), of("d", "mutex", ""), of("e", "e", "old"), of("f", "f", "older")}) {
		var row []string
		for _, e := range effects {
			row = append(row, e.Strategy)
		}
		rows = append(rows, row)
	}
	if want := [][]string{{"a", "d"}, {"b"}, {"c", "e"}, {"f"}}; !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("rows %q, want %q", rows, want)
	}
}

// No ratio stands beside a metric that some runs do not carry.
func TestPageWithoutRatiosOfLuck(t *testing.T) {
	p99 := results.LatencyMetric(results.KindConsume, "p99")
	s := inMemory(len(fixtureSpeeds), func(run *results.Run) {
		if run.Cell.Strategy == "actor" && run.Block > 2 {
			delete(run.Metrics, p99)
		}
	})
	s.Meta.Workloads[0].Primary = p99
	for i := range s.Meta.Planned {
		s.Meta.Planned[i].Metric = p99
	}
	r := newReport(s, nil)
	table := r.Workloads[0].Points[0].Comparison[0]
	for _, row := range table.Rows {
		versus := row.Cells[slices.IndexFunc(table.Heads, func(h pageHead) bool { return strings.HasPrefix(h.Text, "vs ") })].Text
		if row.Label == "actor" && versus != "– ?" || row.Label == "atomics" && !strings.Contains(versus, "×") {
			t.Errorf("%s has %q beside %q", row.Label, versus, row.Cells[0].Text)
		}
	}
}

func TestPagePlacesTables(t *testing.T) {
	section := results.Section{Workload: results.Workload{Name: "mix"}, Where: "workers 4", Cells: make([]results.CellSummary, 1)}
	column := []results.Column{{Head: "op/s", Cells: []string{"1.0k"}}}
	for _, title := range []string{"", "produce, service time", "what is given up (best)", "what each idea bought"} {
		section.Tables = append(section.Tables, results.Table{Title: title, Labels: []string{"a"}, Columns: column})
	}
	wide := results.Table{Title: "harness", Labels: []string{"mutex", "actor"}, Detail: true}
	for i := range 12 {
		wide.Columns = append(wide.Columns, results.Column{Head: fmt.Sprint("account ", i), Cells: []string{"1", "2"}})
	}
	section.Tables = append(section.Tables, wide)
	p := newPoint(&section, nil)
	for name, tables := range map[string][]*pageTable{"planned comparison": p.Comparison, "produce, service time": p.Roles,
		"what is given up (best)": p.Front, "what each idea bought": p.Steps, "harness": p.Details} {
		if len(tables) != 1 || tables[0].Caption != name {
			t.Errorf("%s: %+v", name, tables)
		}
	}
	if p.Steps[0].Corner != "idea" || p.Roles[0].Corner != "strategy" {
		t.Errorf("rows of %q and %q", p.Steps[0].Corner, p.Roles[0].Corner)
	}
	if turned := p.Details[0]; len(turned.Heads) != 2 || len(turned.Rows) != 12 || turned.Rows[11].Cells[1].Text != "2" || turned.Sortable {
		t.Errorf("a wide table of details: %+v", turned)
	}
}

func TestPageTrends(t *testing.T) {
	trend := func(workload, key string) results.Trend {
		low, high := results.Cell{Workload: workload, Workers: 1}, results.Cell{Workload: workload, Workers: 2}
		level := func(at, value float64) results.Level {
			return results.Level{Value: at, Values: []float64{value}, Median: value}
		}
		return results.Trend{
			Axis:   results.Axis{Workload: workload, Key: key, Points: []results.Cell{low, high}, Values: []float64{1, 2}},
			Metric: results.MetricOps, Unfitted: "too few levels",
			Lines: []results.Line{{Label: "mutex", Levels: []results.Level{level(1, 1e5), level(2, 2e5)}, Unfitted: "too few levels"}},
		}
	}
	summary := &results.Summary{Trends: []results.Trend{trend("mix", "workers"), trend("mix", "gomaxprocs"), trend("tail", "producers")}}
	var charts []Chart
	for _, name := range []string{"mix-1", "mix-2", "mix-3", "tail-1"} {
		workload, _, _ := strings.Cut(name, "-")
		charts = append(charts, Chart{Title: name, Workload: workload, Kind: KindTrend})
	}
	var got []string
	for _, shown := range reportTrends(summary, charts) {
		line := shown.ID + " " + shown.Title
		for _, chart := range shown.Charts {
			line += " " + chart.Title
		}
		got = append(got, line)
	}
	want := []string{"trend-1 mix by workers mix-1", "trend-2 mix by gomaxprocs mix-2 mix-3", "trend-3 tail by producers tail-1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	summary.Answers = []results.Answer{{Workload: "mix", Text: "mix: one."}, {Workload: "tail", Text: "tail: two."}}
	if found := decisions(summary, reportTrends(summary, charts)); len(found) != 2 || len(found[0].Trends) != 2 || found[1].Trends[0].ID != "trend-3" {
		t.Errorf("what the answers lead to: %+v", found)
	}
	mix := &summary.Trends[0]
	if corner := trendCorner(mix, &results.Table{Labels: []string{"mutex"}}); corner != "strategy" {
		t.Errorf("rows that are strategies are called %q", corner)
	}
	if corner := trendCorner(mix, &results.Table{Labels: []string{"1", "2"}}); corner != "workers" {
		t.Errorf("rows that are points are called %q", corner)
	}
}

// A search makes no comparison: then there is neither a glance nor a chart of effects.
func TestPageOfASearchHasNoEmptySection(t *testing.T) {
	s := inMemory(len(fixtureSpeeds), nil)
	s.Meta.Searches = []results.Search{{Workload: "mix", Strategy: "mutex", Pass: 90e3, Fail: 95e3, Probes: []results.Probe{{Rate: 95e3}}}}
	r := newReport(s, []Chart{{Kind: KindEffects, SVG: []byte("<svg></svg>")}})
	if r.Effects != nil || r.Glance != nil {
		t.Errorf("effects %+v, glance %+v", r.Effects, r.Glance)
	}
}

// Headings follow each other without a gap, the language is named, and there is one h1.
func TestPageOutline(t *testing.T) {
	s, charts := pointsSweep(t, 2)
	last, titles := 0, 0
	elements(t, writeCharts(t, s, charts), func(name string, attributes map[string]string) {
		switch {
		case name == "html" && attributes["lang"] != "en":
			t.Error("the page does not name its language")
		case len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6':
			level := int(name[1] - '0')
			if level > last+1 {
				t.Errorf("an h%d after an h%d", level, last)
			}
			if last = level; level == 1 {
				titles++
			}
		}
	})
	if titles != 1 {
		t.Errorf("%d h1", titles)
	}
}

// The page of a sweep like the default one is small enough to mail.
func TestPageSize(t *testing.T) {
	t.Parallel()
	dir := tempDir(t) + "/sweep"
	if err := resultstest.Write(dir, 1); err != nil {
		t.Fatal(err)
	}
	s, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	page := writeReport(t, s)
	if len(page) > 5<<20 {
		t.Errorf("%d bytes", len(page))
	}
	if len(page) < 100<<10 {
		t.Errorf("%d bytes are too few for a sweep with its charts", len(page))
	}
}
