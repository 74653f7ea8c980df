package results_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/results/resultstest"
)

// searched is a sweep in which only the highest rates of ingest were searched for, with a run at each
// rate.
func searched(searches ...results.Search) *results.Sweep {
	s := &results.Sweep{Meta: results.Meta{
		Blocks: 1, Baseline: "mutex", Workloads: []results.Workload{{Name: "ingest", Description: "8 producers", Notes: []string{"a note"}}},
	}}
	for _, search := range searches {
		search.Workload = "ingest"
		for i := range search.Probes {
			search.Probes[i].Run = len(s.Runs)
			s.Runs = append(s.Runs, results.Run{
				Index: len(s.Runs), Window: 0.4, Overloaded: !search.Probes[i].Passed,
				Cell:    results.Cell{Workload: "ingest", Strategy: search.Strategy, Producers: 8, ProduceRate: search.Probes[i].Rate},
				Metrics: map[string]float64{results.MetricOps: search.Probes[i].Rate},
			})
		}
		s.Meta.Searches = append(s.Meta.Searches, search)
	}
	return s
}

var slo = []string{"produce p99 < 2ms", "consume p99 < 1ms"}

func TestSearchAnswers(t *testing.T) {
	search := func(strategy string, pass, fail float64) results.Search {
		return results.Search{Strategy: strategy, Objectives: slo, Pass: pass, Fail: fail}
	}
	other := search("mutex", 100e3, 110e3)
	other.Objectives = nil
	for want, searches := range map[string][]results.Search{
		"`actor` sustains 180,000–190,000 records/s and `mutex` sustains 90,000–95,000 records/s, under produce p99 < 2ms and consume p99 < 1ms": {
			search("mutex", 90e3, 95e3), search("actor", 180e3, 190e3)},
		"`a` sustains 100–120 records/s and `b` sustains 90–101 records/s, under produce p99 < 2ms and consume p99 < 1ms; no verdict between `a` and `b`, whose brackets overlap": {
			search("a", 100, 120), search("b", 90, 101)},
		// That the rate at which one failed is the one that the other passed tells them apart.
		"`a` sustains 100–120 records/s and `b` sustains 90–100 records/s, under produce p99 < 2ms and consume p99 < 1ms": {
			search("a", 100, 120), search("b", 90, 100)},
		"`a` sustains 1,000,000 records/s, the highest rate that was tried, `b` sustains less than 900 records/s and `c` was not tried, under produce p99 < 2ms and consume p99 < 1ms; no verdict between `a` and `c`, nor between `b` and `c`, whose brackets overlap": {
			search("a", 1e6, 0), search("b", 0, 900), search("c", 0, 0)},
		"`a` passed 120 records/s and failed 100, under produce p99 < 2ms and consume p99 < 1ms": {search("a", 120, 100)},
		"`a` sustains 3–9 records/s, `b` sustains 2–8 records/s and `c` sustains 1–7 records/s, under produce p99 < 2ms and consume p99 < 1ms; all of these brackets overlap: no verdict on which sustains most": {
			search("a", 3, 9), search("b", 2, 8), search("c", 1, 7)},
		"`actor` sustains 180,000–190,000 records/s under produce p99 < 2ms and consume p99 < 1ms and `mutex` sustains 100,000–110,000 records/s under keeping up": {
			other, search("actor", 180e3, 190e3)},
	} {
		answers := searched(searches...).Answers()
		if len(answers) != 1 || answers[0].Text != "ingest: "+want+", in this sweep." {
			t.Errorf("got  %+v\nwant %s", answers, want)
		}
	}
}

// Where the lowest rate that failed could not be judged, it says so; a run that was judged there says more.
func TestSearchTellsWhatNobodyKnows(t *testing.T) {
	for _, judged := range []bool{false, true} {
		s := searched(results.Search{Strategy: "mutex", Objectives: slo, Pass: 90e3, Fail: 100e3, Probes: []results.Probe{
			{Rate: 200e3, Reason: "produce p99 9 ms"}, {Rate: 90e3, Passed: true},
			{Rate: 100e3, Reason: "late", Unknown: true}, {Rate: 100e3, Reason: "late", Unknown: !judged, Confirms: true},
		}})
		text := strings.Join(s.Sections()[0].Notes, "\n")
		if told := strings.Contains(text, "mutex: at 100,000/s nobody knows"); told == judged {
			t.Errorf("judged %t: notes\n%s", judged, text)
		}
	}
}

func TestSearchSection(t *testing.T) {
	s := searched(
		results.Search{Strategy: "mutex", Objectives: slo, Pass: 90e3, Probes: []results.Probe{
			{Rate: 90e3, Passed: true, Measured: []string{"produce p99 1.2 ms", "consume p99 ≤ 800 µs"}}, {Rate: 90e3, Passed: true, Confirms: true}}},
		results.Search{Strategy: "actor", Objectives: slo, Fail: 190e3, Probes: []results.Probe{{Rate: 190e3, Reason: "produce p99 was 3.0 ms"}}},
	)
	sections := s.Sections()
	if len(sections) != 1 || len(sections[0].Cells) != 0 || len(sections[0].Tables) != 2 || len(sections[0].Searches) != 2 || sections[0].Notes[0] != "a note" {
		t.Fatalf("sections %+v", sections)
	}
	table, probes := sections[0].Tables[0], sections[0].Tables[1]
	want := []results.Column{{Head: "passed", Cells: []string{"90,000", "–"}}, {Head: "failed", Cells: []string{"–", "190,000"}}, {Head: "probes", Cells: []string{"2", "1"}}}
	if table.Title != "records/s under produce p99 < 2ms and consume p99 < 1ms" || !slices.Equal(table.Labels, []string{"mutex", "actor"}) || len(table.Columns) != len(want) {
		t.Fatalf("table %+v", table)
	}
	for i, c := range table.Columns {
		if c.Head != want[i].Head || !slices.Equal(c.Cells, want[i].Cells) {
			t.Errorf("column %+v, want %+v", c, want[i])
		}
	}
	if !probes.Detail || !slices.Equal(probes.Columns[1].Cells, []string{"passed: produce p99 1.2 ms, consume p99 ≤ 800 µs", "passed when repeated", "failed: produce p99 was 3.0 ms"}) {
		t.Errorf("probes %+v", probes)
	}
	for format, text := range rendered(t, s) {
		for _, part := range []string{"190,000", "under produce p99 < 2ms and consume p99 < 1ms", "one search each is no comparison"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q:\n%s", format, part, text)
			}
		}
		if strings.Contains(text, "overloaded in") || strings.Contains(text, "produce-rate") {
			t.Errorf("%s shows every rate that was tried:\n%s", format, text)
		}
	}
	var out bytes.Buffer
	if err := s.WriteJSON(&out); err != nil || !strings.Contains(out.String(), `"searches": [`) || !strings.Contains(out.String(), `"pass": 90000`) {
		t.Errorf("%v:\n%s", err, out.String())
	}
	s.Meta.Searches[0].Objectives = nil
	if columns := s.Sections()[0].Tables[0].Columns; len(columns) != 4 || !slices.Equal(columns[2].Cells, []string{"keeping up", "produce p99 < 2ms and consume p99 < 1ms"}) {
		t.Errorf("columns %+v", columns)
	}
}

func TestSustainedNotes(t *testing.T) {
	s := invented(t)
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Cell.Strategy == "actor" {
			run.Sustained = &results.Sustained{
				Trimmed: []int64{1234, 1000, 2000}[run.Block], Verified: 5_000_000, Held: 0.1 + 0.02*float64(run.Block),
				Bytes: results.Range{Most: int64(60+10*run.Block) << 20}, Files: results.Range{Most: 23},
			}
		}
	}
	const want = "actor: held producers for 12 % of the window; trimmed 1,234 segments with 5,000,000 records, all verified before; at most 80 MiB of log, 23 open files"
	for format, text := range rendered(t, s) {
		if strings.Count(text, want) != 1 || strings.Count(text, "held producers") != 1 {
			t.Errorf("%s:\n%s", format, text)
		}
	}
	for i := range s.Runs {
		if s.Runs[i].Sustained != nil {
			s.Runs[i].Sustained = &results.Sustained{}
		}
	}
	if notes := strings.Join(s.Sections()[1].Notes, "\n"); !strings.Contains(notes, "actor: held producers for 0 % of the window; trimmed no segment") {
		t.Errorf("notes %q", notes)
	}
}

func TestProfilesAreListed(t *testing.T) {
	s := invented(t)
	s.Meta.Profiles = []results.Profile{{Cell: results.Cell{Workload: "mix", Strategy: "actor"}, Kind: "cpu", File: "profiles/mix-actor.cpu.pprof"}}
	for format, text := range rendered(t, s) {
		if !strings.Contains(text, "cpu of `actor` in mix → `profiles/mix-actor.cpu.pprof`") {
			t.Errorf("%s:\n%s", format, text)
		}
	}
	var out bytes.Buffer
	if err := s.WriteJSON(&out); err != nil || !strings.Contains(out.String(), `"file": "profiles/mix-actor.cpu.pprof"`) {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

func TestTimeToDrainABacklog(t *testing.T) {
	s := resultstest.Sweep(1)
	for i := range s.Meta.Workloads {
		s.Meta.Workloads[i].Primary = results.MetricDrain
	}
	for i := range s.Meta.Planned {
		s.Meta.Planned[i].Metric = results.MetricDrain
	}
	for i := range s.Runs {
		s.Runs[i].Metrics[results.MetricDrain] = 1e6 / s.Runs[i].Metrics[results.MetricOps]
	}
	ingest := s.Answers()[2].Text
	if !strings.Contains(ingest, "`atomics` drains the backlog in 0.5") || !strings.Contains(ingest, ") the time of `mutex`; `actor` drains the backlog in 1.") {
		t.Error(ingest)
	}
	if c := s.Sections()[0].Tables[0].Columns[0]; c.Head != "time to drain" || !strings.HasSuffix(c.Cells[0], " s") {
		t.Errorf("column %+v", c)
	}
	if text := bench(t, s); !strings.Contains(text, "Unit drain-sec better=lower\n") || strings.Count(text, " drain-sec\n") == 0 && strings.Count(text, " drain-sec\t") == 0 {
		t.Errorf("bench.txt has no time to drain:\n%.500s", text)
	}
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Cell.Workload == "ingest" && run.Cell.Strategy == "actor" && run.Block == 0 {
			delete(run.Metrics, results.MetricDrain)
		}
	}
	if text := s.Answers()[2].Text; !strings.Contains(text, "no verdict on `actor`, because 1 of 6 runs of `actor` carry no time to drain, in this sweep") {
		t.Error(text)
	}
}
