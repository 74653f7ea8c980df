package results_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tailrace/results"
)

func mergeDirs(t *testing.T, dirs ...string) *results.Sweep {
	t.Helper()
	s, err := results.Merge(t.Context(), dirs, filepath.Join(tempDir(t), "merged"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMergeDays(t *testing.T) {
	otherPlan := func(m *results.Meta) {
		m.Plan, m.Command = "plan-2", []string{"tailrace", "run", "--seed", "8"}
		m.Workloads[0].Storage = "tmpfs at /mnt"
	}
	first := writeDay(t, "a", 1, 7, []float64{2, 2.02, 1.98})
	second := writeDay(t, "a", 2, 8, []float64{2.01, 1.99, 2, 2.02}, otherPlan)
	s := mergeDirs(t, second, first)

	// Blocks are numbered on, in the order of the days, and stay whole.
	for i, run := range s.Runs {
		day, block := 1, i/2
		if block >= 3 {
			day = 2
		}
		if run.Index != i || run.Block != block || run.Session.Day() != day || run.Start.Day() != day || run.Host != "a" {
			t.Errorf("run %d: block %d of %v", run.Index, run.Block, run.Session)
		}
		hists, err := s.Histograms(&run)
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(block-3*(day-1)) * 1000; hists["produce"].Max()/1000*1000 != want {
			t.Errorf("run %d has the histogram of another: %d", i, hists["produce"].Max())
		}
	}
	if m := s.Meta; m.Blocks != 7 || m.Plan != "" || m.Design != "design-1" || !slices.Equal(m.Seeds, []uint64{7, 8}) || len(m.Parts) != 2 || m.Started.Day() != 1 {
		t.Errorf("meta %+v", m)
	}
	e := s.Effects()[0]
	logs := []float64{2, 2.02, 1.98, 2.01, 1.99, 2, 2.02}
	product := 1.0
	for _, ratio := range logs {
		product *= ratio
	}
	if e.Blocks != 7 || math.Abs(e.Ratio-math.Pow(product, 1.0/7)) > 1e-9 || e.Low < 1.98 || e.High > 2.03 || e.Verdict != results.Better {
		t.Errorf("effect %+v", e)
	}
	summary := s.Summary()
	for what, c := range map[string][2]string{
		"headline": {summary.Headline, "2 cells × 7 blocks = 14 runs · seeds 7, 8 · 2 sessions · tmpfs at /mnt and tmpfs at /dev/shm"},
		"begun":    {summary.Begun, "2026-11-01 09:30:00 to 2026-11-02 09:30:00 UTC"},
		"seed":     {summary.Seed, "seeds 7, 8"},
		"command":  {summary.Command, "tailrace run --seed 8\n"},
		"runs":     {strings.Split(summary.Verification[0], ",")[0], "14/14 runs"},
		"warnings": {strings.Join(summary.Warnings, "|"), "a: virtual machine"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s %q, want %q", what, c[0], c[1])
		}
	}
	if err := s.WriteFiles(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(s.Dir, "summary.md")); err != nil || !strings.Contains(string(text), "UTC, seeds 7, 8.") {
		t.Errorf("summary.md: %v\n%s", err, text)
	}

	// A third day, on another machine, is merged with what was merged, and nothing of that changes.
	third := writeDay(t, "b", 3, 7, []float64{2, 2.01})
	all := mergeDirs(t, s.Dir, third)
	var sessions []string
	for i, run := range all.Runs {
		text := fmt.Sprint(run.Host, " ", run.Session.Day())
		if !slices.Contains(sessions, text) {
			sessions = append(sessions, text)
		}
		if run.Block != i/2 {
			t.Errorf("run %d is in block %d", i, run.Block)
		}
	}
	if want := []string{"a 1", "a 2", "b 3"}; !slices.Equal(sessions, want) || all.Meta.Blocks != 9 || len(all.Meta.Parts) != 3 || !slices.Equal(all.Meta.Seeds, []uint64{7, 8}) {
		t.Errorf("sessions %v, meta %+v", sessions, all.Meta)
	}
	tables := all.Sections()[0].Tables
	table := tables[len(tables)-1]
	var heads []string
	for _, c := range table.Columns {
		heads = append(heads, c.Head)
	}
	if want := []string{"a 2026-11-01 09:30:00", "a 2026-11-02 09:30:00", "b"}; table.Title != "ratio by session" || !slices.Equal(heads, want) {
		t.Errorf("table %q with %q", table.Title, heads)
	}
}

// Shards of one plan are one sweep on each of two days.
func TestMergeShardsOfTwoDays(t *testing.T) {
	shard := func(host string, day int, blocks ...int) string {
		return writeBlocks(t, host, blocks, func(int) float64 { return 2 }, func(m *results.Meta) {
			m.Blocks, m.Started = 4, time.Date(2026, 11, day, 9, 30, 0, 0, time.UTC)
		})
	}
	a1, b1, a2, b2 := shard("a", 1, 0, 2), shard("b", 1, 1, 3), shard("a", 2, 0, 2), shard("b", 2, 1, 3)
	for name, dirs := range map[string][]string{"at once": {b2, a1, a2, b1}, "by day": {mergeDirs(t, a1, b1).Dir, mergeDirs(t, a2, b2).Dir}} {
		s := mergeDirs(t, dirs...)
		if s.Meta.Blocks != 8 || len(s.Meta.Parts) != 4 || slices.ContainsFunc(s.Summary().Warnings, func(w string) bool { return strings.Contains(w, "missing") }) {
			t.Errorf("%s: meta %+v", name, s.Meta)
		}
		for i, run := range s.Runs {
			host := []string{"a", "b"}[run.Block%2]
			if run.Block != i/2 || run.Host != host || run.Session.Day() != 1+run.Block/4 {
				t.Errorf("%s: run %d in block %d on %s, %v", name, i, run.Block, run.Host, run.Session)
			}
		}
	}
	// Half of a day that is not there is told.
	s := mergeDirs(t, a1, b1, a2)
	if want := "blocks 5, 7 of 8 are missing from the parts that were merged"; !slices.Contains(s.Meta.Warnings, want) {
		t.Errorf("warnings %q", s.Meta.Warnings)
	}
}

// inSessions is a sweep over two days on one host, whose ratio differs between the days by factor.
func inSessions(random *rand.Rand, factor float64) *results.Sweep {
	s := simulation{ratios: map[string]float64{"actor": 2}, metric: results.MetricOps, blocks: 12, drift: 0.3, noise: 0.05}.sweep(random)
	for i := range s.Runs {
		run := &s.Runs[i]
		run.Host, run.Session = "a", time.Date(2026, 11, 1+run.Block/6, 9, 30, 0, 0, time.UTC)
		if run.Block >= 6 && run.Cell.Strategy == "actor" {
			run.Metrics[results.MetricOps] *= factor
		}
	}
	return s
}

func TestSessionsThatDiffer(t *testing.T) {
	long(t)
	told := func(s *results.Sweep) bool {
		return slices.ContainsFunc(s.Summary().Warnings, func(w string) bool {
			return strings.HasPrefix(w, "mix: the ratio of `actor` to `mutex` differs between sessions by more than chance, ") &&
				strings.Contains(w, " in a 2026-11-01 09:30:00, ") && strings.HasSuffix(w, " in a 2026-11-02 09:30:00: its interval over all blocks is too narrow")
		})
	}
	const sweeps = 1000
	random := rand.New(rand.NewPCG(20261130, 1))
	alarms := 0
	for range sweeps {
		if told(inSessions(random, 1)) {
			alarms++
		}
	}
	if alarms < 3 || alarms > 20 {
		t.Errorf("%d false alarms in %d sweeps, want about 10", alarms, sweeps)
	}
	found := 0
	for range 100 {
		if told(inSessions(random, 1.4)) {
			found++
		}
	}
	if found < 98 {
		t.Errorf("sessions that differ by 40 %% are found in %d of 100 sweeps", found)
	}
}
