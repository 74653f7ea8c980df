package results_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tailrace/results"
)

// withWorkload edits the workload of a part, each part having its own.
func withWorkload(edit func(*results.Workload)) func(*results.Meta) {
	return func(m *results.Meta) { edit(&m.Workloads[0]) }
}

func TestMergeRefuses(t *testing.T) {
	first := writePart(t, "a", []int{0, 2}, 2, nil)
	other := func(edit func(*results.Meta)) []string {
		return []string{first, writePart(t, "b", []int{1}, 2, edit)}
	}
	another := func(edit func(*results.Meta)) []string { // of another plan
		return other(func(m *results.Meta) { m.Plan = "plan-2"; edit(m) })
	}
	for want, dirs := range map[string][]string{
		"there are none":                                         {},
		"version differs: 1.0 in":                                other(func(m *results.Meta) { m.Version = "1.1" }),
		"commit differs: abc in":                                 other(func(m *results.Meta) { m.Environment.Commit = "" }),
		"CPU model differs: Invented CPU 3000 in":                other(func(m *results.Meta) { m.Environment.CPUModel = "Z80" }),
		"number of CPUs differs: 2 in":                           other(func(m *results.Meta) { m.Environment.CPUs = 4 }),
		"GOMAXPROCS differs: 2 in":                               other(func(m *results.Meta) { m.Environment.GOMAXPROCS = 1 }),
		"Go version differs: go1.26.8 in":                        other(func(m *results.Meta) { m.Environment.GoVersion = "go1.27" }),
		"GOGC differs: unknown in":                               other(func(m *results.Meta) { m.Environment.GOGC = "off" }),
		"other build differs: none in":                           other(func(m *results.Meta) { m.Against = &results.Build{Label: "old"} }),
		"baseline differs: mutex in":                             another(func(m *results.Meta) { m.Baseline = "raw" }),
		"number of cells differs: 2 in":                          another(func(m *results.Meta) { m.Cells = 3 }),
		"the duration of mix differs: 400ms in":                  another(withWorkload(func(w *results.Workload) { w.Duration = 1 })),
		"the ramp of mix differs: 0s in":                         another(withWorkload(func(w *results.Workload) { w.Ramp = 1 })),
		"the prefill of mix differs: 1 MiB in":                   another(withWorkload(func(w *results.Workload) { w.Prefill = 2 << 20 })),
		"the segment size of mix differs: 0 B in":                another(withWorkload(func(w *results.Workload) { w.SegmentSize = 64 << 20 })),
		"the primary metric of mix differs: op/s":                another(withWorkload(func(w *results.Workload) { w.Primary = results.MetricCPU })),
		"the storage of mix differs: tmpfs in":                   another(withWorkload(func(w *results.Workload) { w.Points[0].Cell.Storage = "disk" })),
		"has no workload mix, and ":                              another(withWorkload(func(w *results.Workload) { w.Name = "tail" })),
		"does not compare actor with mutex in mix on op/s, and ": another(func(m *results.Meta) { m.Planned = nil }),
		"a load differs between ":                                another(func(m *results.Meta) { m.Design = "design-2" }),
		"does not say whether it is of the design of ":           another(func(m *results.Meta) { m.Design = "" }),
		"has a search for the highest rate":                      another(func(m *results.Meta) { m.Searches = []results.Search{{Workload: "mix"}} }),
		"the run of actor in mix in block 0 is in ":              {first, first},
	} {
		out := filepath.Join(tempDir(t), "new", "merged")
		s, err := results.Merge(t.Context(), dirs, out)
		if !errors.Is(err, results.ErrMerge) || !strings.Contains(err.Error(), want) || s != nil {
			t.Errorf("error %v, want one with %q", err, want)
			continue
		}
		for _, dir := range dirs {
			if !strings.Contains(err.Error(), dir) && !strings.Contains(want, "search") {
				t.Errorf("%v does not name %s", err, dir)
			}
		}
		if exists(filepath.Dir(out)) {
			t.Errorf("%s: something was written", want)
		}
	}
	if _, err := results.Merge(t.Context(), []string{first}, first); !errors.Is(err, results.ErrExists) {
		t.Errorf("onto itself: %v", err)
	}
	if err := os.Remove(filepath.Join(first, "latency", "0003-mix-mutex-b2.hlog")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(tempDir(t), "merged")
	if _, err := results.Merge(t.Context(), []string{first}, out); err == nil || exists(out) {
		t.Errorf("a histogram that is missing: %v, left %v", err, exists(out))
	}
}

// editFile replaces all of old in a file of a sweep.
func editFile(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.ReplaceAll(string(text), old, new)
	if edited == string(text) {
		t.Fatalf("%s has no %s", path, old)
	}
	if err := os.WriteFile(path, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMergeRefusesOtherRuns(t *testing.T) {
	merge := func(dirs ...string) error {
		_, err := results.Merge(t.Context(), dirs, filepath.Join(tempDir(t), "merged"))
		return err
	}
	day := func(n int) string { return writeDay(t, "a", n, 2, []float64{2, 2, 2}) }
	first, second := day(1), day(2)

	// Cells that another sweep has not.
	editFile(t, filepath.Join(second, "runs.jsonl"), `"strategy":"actor",`, `"strategy":"actor","producers":4,`)
	want := "results can't be merged: " + first + " has no run of actor in mix at producers 4, and " + second + " has"
	if err := merge(first, second); !errors.Is(err, results.ErrMerge) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("other cells: %v, want %s", err, want)
	}
	// Half a block of an interrupted sweep has no pair.
	third := writeDay(t, "a", 3, 2, []float64{2, 2, 2}, func(m *results.Meta) { m.Interrupted = true })
	editFile(t, filepath.Join(third, "meta.json"), `"interrupted": true`, `"interrupted": false`)
	whole, err := os.ReadFile(filepath.Join(third, "runs.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	one, _, _ := strings.Cut(string(whole), "\n")
	if err := os.WriteFile(filepath.Join(third, "runs.jsonl"), []byte(one+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := merge(first, third); err == nil || !strings.Contains(err.Error(), third+" has no run of mutex in mix, and "+first+" has") {
		t.Errorf("a finished sweep without a cell: %v", err)
	}
	editFile(t, filepath.Join(third, "meta.json"), `"interrupted": false`, `"interrupted": true`)
	s, err := results.Merge(t.Context(), []string{first, third}, filepath.Join(tempDir(t), "merged"))
	if err != nil {
		t.Fatal(err)
	}
	if e := s.Effects()[0]; len(s.Runs) != 7 || e.Blocks != 3 || !s.Meta.Interrupted {
		t.Errorf("%d runs, effect %+v, interrupted %v", len(s.Runs), e, s.Meta.Interrupted)
	}

	// Another schema, and a block that can't be.
	fourth := day(4)
	editFile(t, filepath.Join(fourth, "runs.jsonl"), `"block":1,`, `"block":-1,`)
	if err := merge(first, fourth); err == nil || !strings.Contains(err.Error(), "in block -1: there are runs from 0 on") {
		t.Errorf("a negative block: %v", err)
	}
	editFile(t, filepath.Join(fourth, "runs.jsonl"), `"block":-1,`, `"block":3000000000,`)
	if err := merge(first, fourth); err == nil || !strings.Contains(err.Error(), "in block 3000000000: ") {
		t.Errorf("a block of no sweep: %v", err)
	}
	editFile(t, filepath.Join(fourth, "meta.json"), `"schema": 1,`, `"schema": 2,`)
	if err := merge(first, fourth); !errors.Is(err, results.ErrSchema) || !strings.Contains(err.Error(), fourth) {
		t.Errorf("another schema: %v", err)
	}
}

func TestMergeRefusesTheSameRunsTwice(t *testing.T) {
	merge := func(dirs ...string) (string, error) {
		out := filepath.Join(tempDir(t), "merged")
		_, err := results.Merge(t.Context(), dirs, out)
		return out, err
	}
	first, second := writeDay(t, "a", 1, 2, []float64{2, 2}), writeDay(t, "a", 2, 2, []float64{2, 2})
	both, err := merge(first, second)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(tempDir(t), "copy")
	if err := os.CopyFS(copied, os.DirFS(first)); err != nil {
		t.Fatal(err)
	}
	for name, dirs := range map[string][]string{
		"a directory twice": {first, first},
		"a copy":            {first, second, copied},
		"a part, merged":    {both, second},
		"merged, a part":    {first, both},
		"the copy of one":   {copied, both},
	} {
		out, err := merge(dirs...)
		if !errors.Is(err, results.ErrMerge) || exists(out) ||
			!strings.HasSuffix(err.Error(), " is in "+dirs[0]+" and in "+dirs[len(dirs)-1]) && !strings.HasSuffix(err.Error(), " is in "+dirs[len(dirs)-1]+" and in "+dirs[0]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Another day of the same plan is no copy.
	if _, err := merge(both, writeDay(t, "a", 3, 2, []float64{2, 2})); err != nil {
		t.Error(err)
	}
}

// writeDay writes a sweep of one plan, run on a day of November on a host, with a ratio of actor to mutex for each
// block and edits of the description, if any.
func writeDay(t *testing.T, host string, day int, seed uint64, ratios []float64, edits ...func(*results.Meta)) string {
	t.Helper()
	blocks := make([]int, len(ratios))
	for i := range blocks {
		blocks[i] = i
	}
	return writeBlocks(t, host, blocks, func(block int) float64 { return ratios[block] }, func(m *results.Meta) {
		m.Shard, m.Blocks, m.Seed = "", len(ratios), seed
		m.Started = time.Date(2026, 11, day, 9, 30, 0, 0, time.UTC)
		for _, edit := range edits {
			edit(m)
		}
	})
}
