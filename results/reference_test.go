package results_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// The reference sweep that the README shows is one that deserves it.
func TestReference(t *testing.T) {
	s, err := results.Load("reference")
	if err != nil {
		t.Fatal(err)
	}
	summary := s.Summary()
	if s.Meta.Interrupted || summary.Distrust != "" || len(s.Runs) != s.Meta.Cells*s.Meta.Blocks {
		t.Errorf("interrupted: %v, distrust: %q, %d runs of %d cells in %d blocks", s.Meta.Interrupted, summary.Distrust, len(s.Runs), s.Meta.Cells, s.Meta.Blocks)
	}
	for i := range s.Runs {
		if run := &s.Runs[i]; !run.Valid() {
			t.Errorf("run %d: %s", run.Index, run.Verification.Error)
		}
	}
	if command := strings.Join(s.Meta.Command, " "); command != "tailrace run --preset full --out results/reference" {
		t.Errorf("it was made by %q", command)
	}
	if len(summary.Trends) < 2 || len(summary.Sections) < 10 {
		t.Errorf("%d trends, %d sections", len(summary.Trends), len(summary.Sections))
	}

	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	// What it quotes is there.
	_, quoted, _ := strings.Cut(string(readme), "## What came out here\n")
	quoted, _, found := strings.Cut(quoted, "\n## ")
	if !found {
		t.Fatal("the README has no section on the reference sweep")
	}
	var intervals []string
	for _, e := range s.Effects() {
		intervals = append(intervals, "`"+e.Strategy+"` "+e.Interval.Text())
	}
	claimed := regexp.MustCompile("`[a-z-]+` [0-9.]+× \\([0-9.]+–[0-9.]+\\)").FindAllString(quoted, -1)
	if len(claimed) < 8 {
		t.Errorf("%d figures found in %q", len(claimed), quoted)
	}
	for _, claim := range claimed {
		if !slices.Contains(intervals, claim) {
			t.Errorf("the README says %q, the reference sweep does not", claim)
		}
	}
	for _, name := range regexp.MustCompile(`\(results/reference/([^)]+)\)`).FindAllStringSubmatch(string(readme), -1) {
		if _, err := os.Stat(filepath.Join("reference", name[1])); err != nil {
			t.Errorf("the README shows results/reference/%s: %v", name[1], err)
		}
	}
}
