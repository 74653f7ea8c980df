package results_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

func reopen(t *testing.T, dir string) (*results.Writer, *results.Sweep) {
	t.Helper()
	w, s, err := results.Reopen(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, s
}

// A sweep that is killed while it writes a line, at whatever byte, goes on with every run exactly once.
func TestReopenAfterALineTornAnywhere(t *testing.T) {
	const runs = 4
	dir, w := create(t)
	for i := range 2 {
		if err := w.Add(testRun(i), whole(twoKinds())); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !load(t, dir).Meta.Interrupted {
		t.Error("a sweep that was killed does not say that it was interrupted")
	}
	path := filepath.Join(dir, "runs.jsonl")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole2 := string(content)
	second := strings.Index(whole2, "\n") + 1
	for cut := second; cut <= len(whole2); cut++ {
		write(t, path, whole2[:cut])
		w, s := reopen(t, dir)
		kept := 1
		if cut >= len(whole2)-1 { // all but the line break
			kept = 2
		}
		if torn := cut > second && kept == 1; len(s.Runs) != kept || (len(s.Warnings) == 1) != torn {
			t.Fatalf("cut at %d of %d: %d runs, warnings %q", cut, len(whole2), len(s.Runs), s.Warnings)
		}
		for i := len(s.Runs); i < runs; i++ {
			if err := w.Add(testRun(i), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		again := load(t, dir)
		if len(again.Runs) != runs || len(again.Warnings) != 0 {
			t.Fatalf("cut at %d: %d runs after resuming, warnings %q", cut, len(again.Runs), again.Warnings)
		}
		for i, run := range again.Runs {
			if run.Index != i {
				t.Fatalf("cut at %d: run %d at %d", cut, run.Index, i)
			}
		}
	}
}

func TestReopenAfterALossOfPower(t *testing.T) {
	dir, w := create(t)
	if err := w.Add(testRun(0), nil); err != nil {
		t.Fatal(err)
	}
	w.Close()
	path := filepath.Join(dir, "runs.jsonl")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(content)+"\x00\x00\x00\x00,\"index\":1}\n")
	w, s := reopen(t, dir)
	if len(s.Runs) != 1 || len(s.Warnings) != 1 {
		t.Errorf("%d runs, warnings %q", len(s.Runs), s.Warnings)
	}
	if err := w.Add(testRun(1), nil); err != nil {
		t.Fatal(err)
	}
	if s := load(t, dir); len(s.Runs) != 2 {
		t.Errorf("%d runs after the next one", len(s.Runs))
	}
	write(t, path, string(content)+"{\n"+string(content))
	w.Close()
	if _, _, err := results.Reopen(dir); err == nil || !strings.Contains(err.Error(), "runs.jsonl:2:") {
		t.Errorf("a malformed line in the middle: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || len(got) != 2*len(content)+2 {
		t.Errorf("refused, and the file was changed: %d bytes, %v", len(got), err)
	}
}

func TestReopenRemovesLeftoversAlone(t *testing.T) {
	dir, w := create(t)
	if err := errors.Join(w.WritePlan([]byte(`{"cells":3}`)), w.Add(testRun(0), whole(twoKinds())), w.Close()); err != nil {
		t.Fatal(err)
	}
	left := []string{".123.tmp", "latency/.456.tmp", "charts/.789.tmp"}
	kept := []string{"meta.json", "plan.json", "notes", ".mine.tmp", "latency/0000-mix-mutex-b1.hlog", "latency/0001-mix-mutex-b1.hlog", "charts/mix.svg"}
	for _, name := range append([]string{"notes", ".mine.tmp", "charts/mix.svg"}, left...) {
		write(t, filepath.Join(dir, name), "x")
	}
	// A histogram file that was complete, though its run has no line: even half of one is overwritten.
	write(t, filepath.Join(dir, kept[5]), "#[Histogram log format version 1.3]\nTag=produce,0.000,0.4")
	w, _ = reopen(t, dir)
	for _, name := range left {
		if exists(filepath.Join(dir, name)) {
			t.Errorf("%s is left", name)
		}
	}
	for _, name := range kept {
		if !exists(filepath.Join(dir, name)) {
			t.Errorf("%s is gone", name)
		}
	}
	run := testRun(1)
	if err := w.Add(run, whole(twoKinds())); err != nil || run.Latency != kept[5] {
		t.Fatalf("file %q, %v", run.Latency, err)
	}
	s := load(t, dir)
	if hists, err := s.Histograms(&s.Runs[1]); err != nil || len(hists) != 2 {
		t.Errorf("%d histograms, %v", len(hists), err)
	}
	if err := w.Discard(); err != nil || len(load(t, dir).Runs) != 2 {
		t.Errorf("Discard took back what was there before: %v", err)
	}
}

func TestReopenOfAFinishedSweep(t *testing.T) {
	dir, w := create(t)
	if err := errors.Join(w.Add(testRun(0), nil), w.Finish(testMeta())); err != nil {
		t.Fatal(err)
	}
	w, s := reopen(t, dir)
	if s.Meta.Interrupted || load(t, dir).Meta.Interrupted {
		t.Error("a finished sweep is interrupted because it was looked at")
	}
	if err := w.Add(testRun(1), nil); err != nil {
		t.Fatal(err)
	}
	if !load(t, dir).Meta.Interrupted {
		t.Error("a sweep that goes on is finished")
	}
	if len(s.Runs) != 1 {
		t.Errorf("the loaded sweep grew to %d runs", len(s.Runs))
	}
	if err := w.Finish(testMeta()); err != nil {
		t.Fatal(err)
	}
	if s := load(t, dir); s.Meta.Interrupted || len(s.Runs) != 2 {
		t.Errorf("interrupted %v, %d runs", s.Meta.Interrupted, len(s.Runs))
	}
}

func TestReopenWithoutASweep(t *testing.T) {
	if _, _, err := results.Reopen(tempDir(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty directory: %v", err)
	}
	dir := tempDir(t)
	write(t, filepath.Join(dir, "runs.jsonl"), "")
	if _, _, err := results.Reopen(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without meta.json: %v", err)
	}
	write(t, filepath.Join(dir, "meta.json"), `{"schema":7}`)
	if _, _, err := results.Reopen(dir); !errors.Is(err, results.ErrSchema) {
		t.Errorf("another schema: %v", err)
	}
}

func TestOneWriterAtATime(t *testing.T) {
	dir, w := create(t)
	if _, _, err := results.Reopen(dir); !errors.Is(err, results.ErrInUse) {
		t.Errorf("beside the sweep under way: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again, _ := reopen(t, dir)
	if _, _, err := results.Reopen(dir); !errors.Is(err, results.ErrInUse) {
		t.Errorf("beside one that was reopened: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	reopen(t, dir)
}

func TestPlan(t *testing.T) {
	dir, w := create(t)
	if _, err := results.ReadPlan(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no plan: %v", err)
	}
	for _, plan := range []string{`{"cells":3}`, `{"cells":4}`} {
		if err := w.WritePlan([]byte(plan)); err != nil {
			t.Fatal(err)
		}
		if got, err := results.ReadPlan(dir); err != nil || string(got) != plan {
			t.Errorf("plan %s, %v, want %s", got, err, plan)
		}
	}
	if err := w.Discard(); err != nil || exists(dir) {
		t.Errorf("after Discard: %v, left %t", err, exists(dir))
	}
	other := tempDir(t)
	write(t, filepath.Join(other, "plan.json"), "{}")
	if err := results.CheckUnused(other); !errors.Is(err, results.ErrExists) {
		t.Errorf("a directory with a plan: %v", err)
	}
}

func TestIntervalsOfARun(t *testing.T) {
	dir, w := create(t)
	run := testRun(0)
	run.Samples = map[string]int64{"produce": 3, "consume": 3}
	intervals := []results.IntervalHistograms{
		{Start: 0, Length: 0.1, Histograms: map[string]*results.Histogram{"produce": record(5, 61*second), "consume": record(7)}},
		{Start: 0.1, Length: 0.1, Histograms: map[string]*results.Histogram{"produce": record(1_000_000)}},
		{Start: 0.2, Length: 0.1},
		{Start: 0.3, Length: 0.05, Histograms: map[string]*results.Histogram{"consume": record(9, 11)}},
	}
	if err := w.Add(run, intervals); err != nil {
		t.Fatal(err)
	}
	s := load(t, dir)
	got, err := s.Intervals(&s.Runs[0])
	if err != nil {
		t.Fatal(err)
	}
	intervals = slices.Delete(intervals, 2, 3) // nothing was recorded in it
	if len(got) != len(intervals) {
		t.Fatalf("%d intervals, want %d", len(got), len(intervals))
	}
	for i, want := range intervals {
		if got[i].Start != want.Start || got[i].Length != want.Length {
			t.Errorf("interval %d from %v, %v long", i, got[i].Start, got[i].Length)
		}
		sameHistograms(t, got[i].Histograms, want.Histograms)
	}
	total, err := s.Histograms(&s.Runs[0])
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]*results.Histogram{"produce": record(5, 61*second, 1_000_000), "consume": record(7, 9, 11)}
	sameHistograms(t, total, want)
	sameHistograms(t, results.Total(got), want)
	if none, err := s.Intervals(testRun(1)); err != nil || len(none) != 0 {
		t.Errorf("a run without latencies: %v, %v", none, err)
	}
}

func sameHistograms(t *testing.T, got, want map[string]*results.Histogram) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d histograms, want %d", len(got), len(want))
	}
	for kind, h := range want {
		if got[kind] == nil || text(t, got[kind]) != text(t, h) {
			t.Errorf("another histogram of %s", kind)
		}
	}
}

// A run whose histograms can't be read any more counts as not done, once the sweep goes on.
func TestReopenDropsRunsWithoutTheirHistograms(t *testing.T) {
	dir, w := create(t)
	for i := range 3 {
		if err := w.Add(testRun(i), whole(twoKinds())); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, before.Runs[0].Latency)); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, before.Runs[2].Latency), 100); err != nil {
		t.Fatal(err)
	}
	w, s, err := results.Reopen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Runs) != 1 || s.Runs[0].Index != 1 || len(s.Warnings) != 2 {
		t.Errorf("%d runs, warnings %q", len(s.Runs), s.Warnings)
	}
	if _, _, err := results.Reopen(dir); !errors.Is(err, results.ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	for _, i := range []int{0, 2} {
		if err := w.Add(testRun(i), whole(twoKinds())); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := results.Load(dir)
	if err != nil || len(after.Runs) != 3 {
		t.Fatalf("%d runs, %v", len(after.Runs), err)
	}
	for i := range after.Runs {
		if _, err := after.Histograms(&after.Runs[i]); err != nil {
			t.Error(err)
		}
	}
}
