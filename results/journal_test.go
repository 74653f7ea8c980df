package results_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tailrace/results"
)

func testRun(index int) *results.Run {
	return &results.Run{
		Index: index, Block: 1, Window: 0.4, Start: time.Date(2026, 11, 2, 9, 30, index, 0, time.UTC),
		Cell:    results.Cell{Workload: "mix", Strategy: "mutex", Storage: "tmpfs"},
		Samples: map[string]int64{"produce": 2},
		Metrics: map[string]float64{results.MetricOps: 1000},
	}
}

func testMeta() *results.Meta {
	return &results.Meta{Seed: 9, Baseline: "mutex", Blocks: 2, Started: time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)}
}

func create(t *testing.T) (dir string, w *results.Writer) {
	t.Helper()
	dir = filepath.Join(tempDir(t), "new", "sweep")
	w, err := results.Create(dir, testMeta())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return dir, w
}

func load(t *testing.T, dir string) *results.Sweep {
	t.Helper()
	s, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRunsAreReadableAsTheyEnd(t *testing.T) {
	dir, w := create(t)
	if s := load(t, dir); len(s.Runs) != 0 || s.Meta.Seed != 9 || s.Meta.Schema != results.Schema {
		t.Errorf("before the first run: %+v", s)
	}
	hists := twoKinds()
	run := testRun(0)
	if err := w.Add(run, whole(hists)); err != nil {
		t.Fatal(err)
	}
	s := load(t, dir)
	if len(s.Runs) != 1 || !reflect.DeepEqual(&s.Runs[0], run) {
		t.Fatalf("runs %+v, want %+v", s.Runs, run)
	}
	if run.Latency != "latency/0000-mix-mutex-b1.hlog" {
		t.Errorf("latency file %q", run.Latency)
	}
	got, err := s.Histograms(&s.Runs[0])
	if err != nil {
		t.Fatal(err)
	}
	if text(t, got[results.KindProduce]) != text(t, hists[results.KindProduce]) {
		t.Error("another histogram came back")
	}

	without := testRun(1)
	if err := w.Add(without, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Histograms(without); err != nil || len(got) != 0 || without.Latency != "" {
		t.Errorf("a run without latencies: %v, %v, file %q", got, err, without.Latency)
	}

	meta := testMeta()
	meta.Interrupted = true
	if err := w.Finish(meta); err != nil {
		t.Fatal(err)
	}
	if s := load(t, dir); len(s.Runs) != 2 || !s.Meta.Interrupted {
		t.Errorf("after Finish: %d runs, meta %+v", len(s.Runs), s.Meta)
	}
	for _, name := range []string{"bench.txt", "summary.md"} {
		if content, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(content) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(content), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := w.Add(testRun(2), nil); !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Add after Finish: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("Close after Finish: %v", err)
	}
}

func TestLatencyFileNames(t *testing.T) {
	_, w := create(t)
	run := testRun(12)
	run.Cell.Workload, run.Cell.Arm = "../my load;1/x.yaml", "A/A"
	if err := w.Add(run, whole(twoKinds())); err != nil {
		t.Fatal(err)
	}
	if want := "latency/0012-___my_load_1_x_yaml-mutex-A_A-b1.hlog"; run.Latency != want {
		t.Errorf("latency file %q, want %q", run.Latency, want)
	}
}

// A sweep that was killed before its first run had ended has left nothing that anybody could want.
func TestCreateOverNothing(t *testing.T) {
	for _, planned := range []bool{false, true} {
		dir, w := create(t)
		if planned {
			if err := w.WritePlan([]byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w, err := results.Create(dir, &results.Meta{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Add(testRun(0), nil), w.Close()); err != nil {
			t.Fatal(err)
		}
		if s := load(t, dir); s.Meta.Seed != 7 || len(s.Runs) != 1 {
			t.Errorf("%d runs with seed %d", len(s.Runs), s.Meta.Seed)
		}
	}
}

func TestCreateRefusesResults(t *testing.T) {
	dir, w := create(t)
	before := load(t, dir)
	if _, err := results.Create(dir, &results.Meta{Seed: 1}); !errors.Is(err, results.ErrInUse) {
		t.Errorf("over a sweep that is under way: %v", err)
	}
	if !reflect.DeepEqual(load(t, dir), before) {
		t.Error("the sweep changed")
	}
	if err := errors.Join(w.Add(testRun(0), nil), w.Close()); err != nil {
		t.Fatal(err)
	}
	before = load(t, dir)
	if _, err := results.Create(dir, &results.Meta{Seed: 1}); !errors.Is(err, results.ErrExists) {
		t.Errorf("over a sweep: %v", err)
	}
	if !reflect.DeepEqual(load(t, dir), before) {
		t.Error("the sweep changed")
	}
	for _, name := range []string{"summary.md", "charts/mix.svg", "latency/0.hlog"} {
		dir := tempDir(t)
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		if _, err := results.Create(dir, testMeta()); !errors.Is(err, results.ErrExists) {
			t.Errorf("over %s: %v", name, err)
		}
		if exists(filepath.Join(dir, "runs.jsonl")) {
			t.Errorf("over %s: something was written", name)
		}
	}
}

func TestCreateInADirectoryOfOtherFiles(t *testing.T) {
	dir := tempDir(t)
	if err := os.WriteFile(filepath.Join(dir, "notes"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := results.Create(dir, testMeta())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCreateThatFailsLeavesNothing(t *testing.T) {
	parent := tempDir(t)
	file := filepath.Join(parent, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := results.Create(filepath.Join(file, "sweep"), testMeta()); err == nil {
		t.Error("a directory below a file was made")
	}
	meta := testMeta()
	meta.Preflight.ClockRead = math.NaN() // has no JSON
	dir := filepath.Join(parent, "sweep")
	if _, err := results.Create(dir, meta); err == nil {
		t.Error("NaN was written")
	}
	if exists(dir) {
		t.Error("the directory was left behind")
	}
}

func TestARunThatCannotBeWrittenLeavesNoLine(t *testing.T) {
	dir, w := create(t)
	bad := testRun(0)
	bad.Metrics[results.MetricOps] = math.Inf(1)
	if err := w.Add(bad, whole(twoKinds())); err == nil {
		t.Error("infinity was written")
	}
	if err := w.Add(testRun(1), whole(map[string]*results.Histogram{"a b": record(1)})); err == nil {
		t.Error("a tag with a space was written")
	}
	if err := w.Add(testRun(2), whole(twoKinds())); err != nil {
		t.Fatal(err)
	}
	s := load(t, dir)
	files, err := os.ReadDir(filepath.Join(dir, "latency"))
	if len(s.Runs) != 1 || s.Runs[0].Index != 2 || len(files) != 1 || err != nil {
		t.Errorf("%d runs, %d latency files, %v", len(s.Runs), len(files), err)
	}
}

func TestLoadRefuses(t *testing.T) {
	const good = `{"schema":1,"index":0}` + "\n"
	for name, c := range map[string]struct {
		meta, runs, want string
		is               error
	}{
		"no meta":           {want: "meta.json"},
		"malformed meta":    {meta: "{", want: "meta.json"},
		"schema of meta":    {meta: `{"schema":2}`, want: "meta.json", is: results.ErrSchema},
		"meta without one":  {meta: `{}`, want: "meta.json", is: results.ErrSchema},
		"no runs":           {meta: `{"schema":1}`, runs: "-", want: "runs.jsonl"},
		"malformed line":    {meta: `{"schema":1}`, runs: good + "{\n" + `{"schema":1,"index":1}` + "\n", want: "runs.jsonl:2:"},
		"malformed last":    {meta: `{"schema":1}`, runs: good + "{\n", want: "runs.jsonl:2:"},
		"empty line":        {meta: `{"schema":1}`, runs: good + "\n" + good, want: "runs.jsonl:2:"},
		"schema of a run":   {meta: `{"schema":1}`, runs: good + `{"schema":7,"index":"x"}` + "\n", want: "runs.jsonl:2:", is: results.ErrSchema},
		"the same run":      {meta: `{"schema":1}`, runs: good + good, want: "runs.jsonl:2: run 0 is on line 1"},
		"type of a field":   {meta: `{"schema":1}`, runs: `{"schema":1,"index":"x"}` + "\n", want: "runs.jsonl:1:"},
		"two runs one line": {meta: `{"schema":1}`, runs: strings.TrimSpace(good) + good, want: "runs.jsonl:1:"},
	} {
		dir := tempDir(t)
		if c.meta != "" {
			write(t, filepath.Join(dir, "meta.json"), c.meta)
		}
		if c.runs != "-" {
			write(t, filepath.Join(dir, "runs.jsonl"), c.runs)
		}
		s, err := results.Load(dir)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
		if s != nil {
			t.Errorf("%s: a sweep beside an error", name)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLoadLeavesOutALineCutShort(t *testing.T) {
	dir, w := create(t)
	for i := range 2 {
		if err := w.Add(testRun(i), nil); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "runs.jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(whole[:len(whole)-20]))
	s := load(t, dir)
	if len(s.Runs) != 1 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "runs.jsonl:2:") {
		t.Errorf("%d runs, warnings %q", len(s.Runs), s.Warnings)
	}
	// Only the end of the line is missing: nothing is lost.
	write(t, path, string(whole[:len(whole)-1]))
	if s := load(t, dir); len(s.Runs) != 2 || len(s.Warnings) != 0 {
		t.Errorf("%d runs, warnings %q", len(s.Runs), s.Warnings)
	}
}

func TestHistogramsStaysInTheSweep(t *testing.T) {
	s := invented(t)
	for _, path := range []string{"../outside.hlog", "/etc/passwd"} {
		if _, err := s.Histograms(&results.Run{Latency: path}); err == nil || !strings.Contains(err.Error(), "outside") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := s.Histograms(&results.Run{Latency: "latency/none.hlog"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// A failed Create removes what it has made, and nothing that was there.
func TestCreateLeavesOthersFiles(t *testing.T) {
	for _, name := range []string{"charts", "latency"} {
		dir := tempDir(t)
		mine := filepath.Join(dir, name)
		if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := results.Create(dir, &results.Meta{}); err == nil {
			t.Fatalf("results were begun beside a file named %s", name)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if content, err := os.ReadFile(mine); err != nil || string(content) != "mine" || len(entries) != 1 {
			t.Errorf("%s: %q, %v, beside it %v", name, content, err, entries)
		}
	}
}

// Discard takes back all that Create made, missing parents too, except what holds something else.
func TestDiscard(t *testing.T) {
	root := tempDir(t)
	w, err := results.Create(filepath.Join(root, "a", "b"), &results.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
	w, err = results.Create(filepath.Join(root, "c"), &results.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(root, "c", "other")
	if err := os.WriteFile(other, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Join(root, "c")); err != nil || len(entries) != 1 {
		t.Errorf("left beside a file that was not ours: %v, %v", entries, err)
	}
}

// A run whose intervals can't all be had is not written.
func TestAddEachOfABrokenSequence(t *testing.T) {
	dir, w := create(t)
	broken := errors.New("broken")
	err := w.AddEach(testRun(0), func(yield func(results.IntervalHistograms, error) bool) {
		_ = yield(results.IntervalHistograms{Length: 0.1, Histograms: twoKinds()}, nil) && yield(results.IntervalHistograms{}, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if err := errors.Join(w.Add(testRun(1), whole(twoKinds())), w.Close()); err != nil {
		t.Fatal(err)
	}
	if s := load(t, dir); len(s.Runs) != 1 || s.Runs[0].Index != 1 {
		t.Errorf("runs %+v", s.Runs)
	}
}
