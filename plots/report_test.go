package plots

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

func writeReport(t *testing.T, s *results.Sweep) []byte {
	t.Helper()
	charts, err := Charts(s)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "new", "report.html")
	if err := WriteReport(s, charts, path); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// markup is the page without the text of its script, which is written so that it is well-formed XML too.
func markup(page []byte) *xml.Decoder {
	return xml.NewDecoder(bytes.NewReader(bytes.Replace(page, []byte(pageScript), nil, 1)))
}

// elements parses the page and calls use with each element.
func elements(t *testing.T, page []byte, use func(name string, attributes map[string]string)) {
	t.Helper()
	decoder := markup(page)
	for {
		token, err := decoder.Token()
		if err != nil {
			if err.Error() != "EOF" {
				t.Fatalf("not well-formed: %v", err)
			}
			return
		}
		if start, ok := token.(xml.StartElement); ok {
			attributes := make(map[string]string)
			for _, a := range start.Attr {
				attributes[a.Name.Local] = a.Value
			}
			use(start.Name.Local, attributes)
		}
	}
}

func TestReportLoadsNothing(t *testing.T) {
	t.Parallel()
	page := writeReport(t, fixture(t, nil))
	ids := make(map[string]bool)
	var links, labelled []string
	scripts := 0
	elements(t, page, func(name string, attributes map[string]string) {
		switch name {
		case "script":
			if scripts++; len(attributes) > 0 {
				t.Errorf("a script with %v", attributes)
			}
		case "link":
			if attributes["href"] != "data:," {
				t.Errorf("a link element with %v", attributes)
			}
			return
		case "iframe", "object", "embed", "img", "image", "base", "form":
			t.Errorf("the page has an element %s", name)
		}
		for _, loads := range []string{"src", "srcset", "data", "poster", "action", "background"} {
			if value, ok := attributes[loads]; ok {
				t.Errorf("%s has %s=%q", name, loads, value)
			}
		}
		if href, ok := attributes["href"]; ok {
			links = append(links, href)
		}
		if id, ok := attributes["id"]; ok {
			if ids[id] {
				t.Errorf("two elements have the id %q", id)
			}
			ids[id] = true
		}
		if by, ok := attributes["aria-labelledby"]; ok {
			labelled = append(labelled, "#"+by)
		}
	})
	if scripts != 1 || !bytes.Contains(page, []byte("<script>"+pageScript+"</script>")) {
		t.Errorf("%d scripts, or not the page's own", scripts)
	}
	for _, link := range append(links, labelled...) {
		if !strings.HasPrefix(link, "#") || !ids[link[1:]] {
			t.Errorf("a link to %q, which is not in the page", link)
		}
	}
	for _, bad := range []string{"http:", "https:", "url(", "@import", "@font-face"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page contains %q", bad)
		}
	}
}

func TestReportTablesAreAccessible(t *testing.T) {
	t.Parallel()
	page := writeReport(t, fixture(t, nil))
	tables, captions, charts := 0, 0, 0
	elements(t, page, func(name string, attributes map[string]string) {
		switch name {
		case "table":
			tables++
		case "caption":
			captions++
		case "th":
			if attributes["scope"] == "" {
				t.Error("a heading cell without scope")
			}
		case "svg":
			charts++
			if attributes["role"] != "img" || attributes["aria-label"] == "" {
				t.Error("a chart without a text alternative")
			}
		}
	})
	if tables == 0 || tables != captions {
		t.Errorf("%d tables, %d captions", tables, captions)
	}
	if want := 7; charts != want {
		t.Errorf("%d charts, want %d", charts, want)
	}
}

// readable is what a reader of the page sees, without the markup.
func readable(t *testing.T, page []byte) string {
	t.Helper()
	var out strings.Builder
	decoder := markup(page)
	for {
		token, err := decoder.Token()
		if err != nil {
			return out.String()
		}
		if data, ok := token.(xml.CharData); ok {
			out.Write(data)
		}
	}
}

func TestReportHoldsTheResult(t *testing.T) {
	t.Parallel()
	s := fixture(t, nil)
	seen := readable(t, writeReport(t, s))
	wants := []string{
		"tailrace run --seed 7 --dir '/a b'", "As it was typed (seed 7)", "virtual machine", "busted caught in 100 ms", "84 ns",
		"offset 17 has other bytes", "36/36 runs, all verified", "other processes 0 %", "Invented CPU", "service time", "ranks nothing", "healthy",
		"tailrace run --workers 8 --mix produce=25", "in a clone of tailrace: go tool benchstat", "tmpfs at /dev/shm",
	}
	for _, answer := range s.Answers() {
		wants = append(wants, strings.ReplaceAll(answer.Text, "`", ""))
	}
	if len(wants) < 14 {
		t.Fatal("the fixture has no answer")
	}
	for _, want := range wants {
		if !strings.Contains(seen, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	first := strings.ReplaceAll(s.Answers()[0].Text, "`", "")
	if strings.Index(seen, first) > strings.Index(seen, "planned comparison") {
		t.Error("the answer does not come first")
	}
}

func TestReportOfOpenLoop(t *testing.T) {
	t.Parallel()
	s := fixture(t, func(_ *results.Meta, run *results.Run) {
		if run != nil {
			run.Cell.ProduceRate = 10000
		}
	})
	seen := readable(t, writeReport(t, s))
	if !strings.Contains(seen, "produce, from the intended time") {
		t.Error("the produce table is not labelled")
	}
	if !strings.Contains(seen, "consume, service time") {
		t.Error("the consume table, whose role is not paced, is not labelled")
	}
}

func TestReportWarnsFirst(t *testing.T) {
	t.Parallel()
	s := inMemory(len(fixtureSpeeds), func(run *results.Run) {
		if run.Index == 4 {
			run.Verification.Error = "offset 3 has other bytes"
		}
		if run.Cell.Arm != "" {
			run.Metrics[results.MetricOps] *= 3
		}
	})
	s.Meta.Preflight = results.Preflight{}
	s.Meta.Interrupted = true
	page := writeReport(t, s)
	seen := readable(t, page)
	for _, want := range []string{
		"not to be trusted", "interrupted, 35 verified, 1 FAILED verification", "preflight: not run", "NOT HEALTHY",
		"offset 3 has other bytes", "A/A arm of mix",
	} {
		if !strings.Contains(seen, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if bytes.Index(page, []byte(`class="warning"`)) > bytes.Index(page, []byte(`id="workload-1"`)) {
		t.Error("the warnings come after the numbers")
	}
}

func TestReportOfNothing(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*results.Sweep{"zero": {}, "no runs": {Meta: fixtureMeta()}} {
		page := writeReport(t, s)
		elements(t, page, func(string, map[string]string) {})
		if !strings.Contains(readable(t, page), "there is no answer") {
			t.Errorf("%s: the page does not say that there is no answer", name)
		}
	}
}

func TestReportEscapes(t *testing.T) {
	t.Parallel()
	const evil = `<script>alert("1")</script>` + "`<b>`"
	s := inMemory(2, func(run *results.Run) {
		run.Cell.Workload = evil
		run.Verification.Skipped = evil
	})
	s.Meta.Workloads[0].Name, s.Meta.Workloads[0].Description, s.Meta.Workloads[0].Notes = evil, evil, []string{evil}
	s.Meta.Warnings, s.Meta.Command = []string{evil}, []string{"tailrace", evil}
	s.Meta.Environment.CPUModel, s.Meta.Preflight.BustedError = evil, evil
	s.Meta.Planned = []results.Comparison{{Workload: evil, Strategy: evil, Baseline: "mutex", Metric: evil}}
	scripts := 0
	elements(t, writeReport(t, s), func(name string, _ map[string]string) {
		if name == "script" {
			scripts++
		}
	})
	if scripts != 1 {
		t.Errorf("%d scripts in a page that has one", scripts)
	}
}

func TestReportSaysWhatTheOtherFormatsSay(t *testing.T) {
	t.Parallel()
	s := inMemory(len(fixtureSpeeds), func(run *results.Run) {
		run.OtherPercent = 23
		run.StealPercent = 0.3
		delete(run.Metrics, results.LatencyMetric(results.KindProduce, "p99"))
	})
	s.Meta.Workloads = append(s.Meta.Workloads, results.Workload{Name: "ingest", Description: "8 producers", Notes: []string{"a note"}})
	seen := strings.Join(strings.Fields(readable(t, writeReport(t, s))), " ")
	summary := s.Summary()
	texts := slices.Concat(summary.Warnings, summary.Verification, summary.Footnotes, summary.Reading,
		[]string{summary.Headline, summary.Preflight, summary.Begun, summary.Command, summary.Files})
	for _, section := range summary.Sections {
		texts = append(append(texts, section.Notes...), section.Description)
		for _, table := range section.Tables {
			for _, column := range table.Columns {
				texts = append(append(texts, column.Head), column.Cells...)
			}
		}
	}
	for _, fact := range summary.Environment {
		texts = append(texts, fact.Name, fact.Value)
	}
	for _, want := range append(texts, "other processes used 23 %", "steal 0.3 %", "– no number", "no run of this workload has ended") {
		if want = strings.Join(strings.Fields(strings.ReplaceAll(want, "`", "")), " "); !strings.Contains(seen, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// A workload whose highest rate was searched for has its tables and no charts: each rate that was tried
// would get some.
func TestReportOfASearch(t *testing.T) {
	t.Parallel()
	s := fixture(t, nil)
	name := s.Runs[0].Cell.Workload
	s.Meta.Searches = []results.Search{{
		Workload: name, Strategy: "mutex", Objectives: []string{"produce p99 < 2ms"}, Pass: 90e3, Fail: 95e3,
		Probes: []results.Probe{{Rate: 95e3, Reason: "produce p99 was 3.0 ms"}},
	}}
	s.Meta.Profiles = []results.Profile{{Cell: s.Runs[0].Cell, Kind: "cpu", File: "profiles/mutex.pprof"}}
	charts, err := Charts(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(charts) > 0 {
		t.Errorf("%d charts, the first %s, of nothing that can be drawn", len(charts), charts[0].Name)
	}
	seen := readable(t, writeReport(t, s))
	for _, want := range []string{"records/s under produce p99 < 2ms", "90,000", "failed: produce p99 was 3.0 ms", "sustains 90,000–95,000 records/s", "profiles/mutex.pprof"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// What the harness costs and where two builds are compared stand in the page as in the other formats.
func TestReportOfTwoBuilds(t *testing.T) {
	t.Parallel()
	s := fixture(t, func(m *results.Meta, run *results.Run) {
		m.Against = &results.Build{Label: "old"}
		if run == nil {
			for i := range m.Planned {
				m.Planned[i].Baseline, m.Planned[i].BaselineBuild = m.Planned[i].Strategy, "old"
			}
			for _, w := range m.Workloads {
				m.Costs = append(m.Costs, results.Cost{Workload: w.Name, Append: 1e-3, Read: 1e-3})
			}
			return
		}
		run.Metrics[results.MetricCPU] = 2e-3
		run.Metrics[results.MetricProduceOps] = run.Metrics[results.MetricOps]
		run.Runtime.InvoluntarySwitches = 5
	})
	for i := range s.Runs {
		other := s.Runs[i]
		if other.Cell.Arm == "" {
			other.Cell.Build = "old"
			s.Runs = append(s.Runs, other)
		}
	}
	seen := readable(t, writeReport(t, s))
	for _, want := range []string{"vs old", "actor@old", "2.0 ms†", "† more than 10 % of what is measured, at most 50 %", "involuntary switches/op"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if style, other := StyleOf("actor"), StyleOf("actor@old"); style.Color != other.Color || style.Marker.Hollow == other.Marker.Hollow {
		t.Errorf("actor is drawn as %+v and that of the other build as %+v", style, other)
	}
}
