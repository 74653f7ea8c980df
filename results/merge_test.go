package results_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tailrace/results"
)

// writePart writes a directory with the runs of some blocks of mutex and actor on a host, with a ratio between
// them that differs a little from block to block. edit, if not nil, changes the description.
func writePart(t *testing.T, host string, blocks []int, actor float64, edit func(*results.Meta)) string {
	t.Helper()
	return writeBlocks(t, host, blocks, func(block int) float64 { return actor * math.Exp(0.01*float64(block%3)) }, edit)
}

func writeBlocks(t *testing.T, host string, blocks []int, ratio func(block int) float64, edit func(*results.Meta)) string {
	t.Helper()
	dir := filepath.Join(tempDir(t), host)
	meta := testMeta()
	meta.Plan, meta.Blocks, meta.Cells, meta.Version, meta.Shard = "plan-1", 12, 2, "1.0", "1/2"
	meta.Design, meta.Warnings = "design-1", []string{"virtual machine"}
	meta.Workloads = []results.Workload{{Name: "mix", Storage: "tmpfs at /dev/shm", Duration: 0.4, Prefill: 1 << 20,
		Points: []results.Point{{Cell: results.Cell{Workload: "mix", Storage: "tmpfs"}}}}}
	meta.Planned = []results.Comparison{{Workload: "mix", Strategy: "actor", Baseline: "mutex", Metric: results.MetricOps}}
	meta.Environment = results.Environment{Host: host, CPUModel: "Invented CPU 3000", CPUs: 2, GOMAXPROCS: 2, GoVersion: "go1.26.8", Commit: "abc"}
	meta.Preflight = results.Preflight{BustedCaught: 0.1}
	meta.Costs = []results.Cost{{Workload: "mix", Append: float64(len(blocks)) * 10e-9}}
	if edit != nil {
		edit(meta)
	}
	w, err := results.Create(dir, meta)
	if err != nil {
		t.Fatal(err)
	}
	index := 0
	for _, block := range blocks {
		for _, strategy := range []string{"actor", "mutex"} {
			run := testRun(index)
			run.Index, run.Block, run.Cell.Strategy = index, block, strategy
			run.Start = meta.Started.Add(time.Duration(index) * time.Second)
			run.Samples["produce"] = 1
			if strategy == "actor" {
				run.Metrics[results.MetricOps] *= ratio(block)
			}
			if err := w.Add(run, whole(map[string]*results.Histogram{"produce": record(int64(1000*block + index + 1))})); err != nil {
				t.Fatal(err)
			}
			index++
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "profiles"), 0o755), os.WriteFile(filepath.Join(dir, "profiles", "cpu.pprof"), []byte(host), 0o644)); err != nil {
		t.Fatal(err)
	}
	meta.Profiles = []results.Profile{{Kind: "cpu", File: "profiles/cpu.pprof"}}
	if err := w.Finish(meta); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestMerge(t *testing.T) {
	a := writePart(t, "a", []int{0, 2, 4, 6}, 2, nil)
	b := writePart(t, "b", []int{1, 3, 5, 9}, 2, func(m *results.Meta) {
		m.Started = m.Started.Add(-time.Hour)
		m.Interrupted = true
	})
	out := filepath.Join(tempDir(t), "merged")
	s, err := results.Merge(t.Context(), []string{a, b}, out)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Runs) != 16 || len(s.Meta.Parts) != 2 || s.Meta.Parts[1].Dir != b || s.Meta.Shard != "" || !s.Meta.Interrupted {
		t.Fatalf("%d runs, meta %+v", len(s.Runs), s.Meta)
	}
	for i, run := range s.Runs {
		host, strategy := "a", []string{"actor", "mutex"}[i%2]
		if run.Block%2 == 1 {
			host = "b"
		}
		if run.Index != i || run.Host != host || !run.Session.IsZero() || run.Cell.Strategy != strategy || i > 0 && run.Block < s.Runs[i-1].Block {
			t.Errorf("run %d is %s, block %d on %s, at %d", run.Index, run.Cell.Strategy, run.Block, run.Host, i)
		}
		hists, err := s.Histograms(&run)
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(1000 * run.Block); hists["produce"].Max()/1000*1000 != want || !strings.HasPrefix(run.Latency, fmt.Sprintf("latency/%04d-", i)) {
			t.Errorf("run %d has the histogram of another: %d in %s", i, hists["produce"].Max(), run.Latency)
		}
	}
	if s.Meta.Costs[0].Append != 40e-9 || !s.Meta.Started.Before(testMeta().Started) {
		t.Errorf("costs %v, started %v", s.Meta.Costs, s.Meta.Started)
	}
	for i, host := range []string{"a", "b"} {
		if content, err := os.ReadFile(filepath.Join(out, s.Meta.Profiles[i].File)); err != nil || string(content) != host {
			t.Errorf("profile %s: %q, %v", s.Meta.Profiles[i].File, content, err)
		}
	}
	want := []string{"a: virtual machine", "b: virtual machine", "blocks 7, 8, 10, 11 of 12 are missing from the parts that were merged"}
	if !slices.Equal(s.Meta.Warnings, want) {
		t.Errorf("warnings %q, want %q", s.Meta.Warnings, want)
	}
	if e := s.Effects()[0]; e.Blocks != 8 || e.Verdict != results.Better {
		t.Errorf("effect %+v", e)
	}
	if facts := s.Summary().Environment; facts[0].Value != "a, b; what follows is that of a" {
		t.Errorf("environment %+v", facts[0])
	}

	// Further parts are merged with what was merged.
	c := writePart(t, "c", []int{7, 8, 10, 11}, 2, nil)
	s, err = results.Merge(t.Context(), []string{out, c}, filepath.Join(tempDir(t), "all"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a: virtual machine", "b: virtual machine", "c: virtual machine"}; len(s.Runs) != 24 || len(s.Meta.Parts) != 3 || !slices.Equal(s.Meta.Warnings, want) {
		t.Errorf("%d runs, %d parts, warnings %q", len(s.Runs), len(s.Meta.Parts), s.Meta.Warnings)
	}
}

// endsAfter is a context that ends when it has been asked so often.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever a merge is interrupted, nothing is left of it, and it can be done again.
func TestMergeInterrupted(t *testing.T) {
	dirs := []string{writePart(t, "a", []int{0, 2}, 2, nil), writePart(t, "b", []int{1}, 2, nil)}
	parent := tempDir(t)
	out := filepath.Join(parent, "new", "merged")
	ended := 0
	for ; ; ended++ {
		s, err := results.Merge(&endsAfter{t.Context(), ended}, dirs, out)
		if err == nil {
			if len(s.Runs) != 6 || s.Meta.Interrupted {
				t.Errorf("%d runs, interrupted %t", len(s.Runs), s.Meta.Interrupted)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || s != nil {
			t.Fatalf("%v and %v, want a context that ended", s, err)
		}
		if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
			t.Fatalf("interrupted after %d steps: left %v, %v", ended, left, err)
		}
	}
	if ended != 2+6 {
		t.Errorf("interrupted at %d moments, want one for each part and run", ended)
	}
}

func TestHostsThatDiffer(t *testing.T) {
	for name, c := range map[string]struct {
		other float64
		told  bool
	}{"alike": {2.001, false}, "different": {2.5, true}} {
		dirs := []string{writePart(t, "a", []int{0, 1, 2, 3, 4}, 2, nil), writePart(t, "b", []int{5, 6, 7, 8, 9}, c.other, nil)}
		s, err := results.Merge(t.Context(), dirs, filepath.Join(tempDir(t), "merged"))
		if err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(s.Summary().Warnings, func(w string) bool {
			return strings.HasPrefix(w, "mix: the ratio of `actor` to `mutex` differs between hosts by more than chance, 2.0") && strings.HasSuffix(w, "its interval over all blocks is too narrow")
		})
		if told != c.told {
			t.Errorf("%s: warnings %q", name, s.Summary().Warnings)
		}
		tables := s.Sections()[0].Tables
		table := tables[len(tables)-1]
		if table.Title != "ratio by host" || !table.Detail || len(table.Columns) != 2 || table.Columns[1].Head != "b" || !slices.Equal(table.Labels, []string{"actor"}) ||
			!strings.HasPrefix(table.Columns[0].Cells[0], "2.0") {
			t.Errorf("%s: table %+v", name, table)
		}
	}
}
