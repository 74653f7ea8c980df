package results_test

import (
	"bytes"
	"cmp"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tailrace/results"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// invented loads the sweep of testdata, whose numbers are made up.
func invented(t *testing.T) *results.Sweep {
	t.Helper()
	s, err := results.Load(filepath.Join("testdata", "invented"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGolden(t *testing.T) {
	failed := func(t *testing.T) *results.Sweep {
		s := invented(t)
		for i := range s.Runs {
			run := &s.Runs[i]
			switch {
			case run.Cell.Strategy == "atomics" && run.Block == 1:
				run.Verification.Error = "offset 17 follows offset 15"
			case run.Cell.Arm != "":
				run.Metrics[results.MetricOps] *= 1.5
			}
		}
		s.Meta.Interrupted = true
		s.Meta.Preflight = results.Preflight{}
		return s
	}
	table := func(s *results.Sweep, w io.Writer) error { return s.WriteTable(w, 0) }
	for name, c := range map[string]struct {
		sweep func(*testing.T) *results.Sweep
		write func(*results.Sweep, io.Writer) error
	}{
		"table":      {invented, table},
		"narrow":     {invented, func(s *results.Sweep, w io.Writer) error { return s.WriteTable(w, 80) }},
		"summary":    {invented, (*results.Sweep).WriteSummary},
		"bench":      {invented, (*results.Sweep).WriteBench},
		"csv":        {invented, (*results.Sweep).WriteCSV},
		"unhealthy":  {failed, table},
		"no-verdict": {failed, (*results.Sweep).WriteSummary},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := c.write(c.sweep(t), &got); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("differs from %s:\n%s", path, got.String())
			}
		})
	}
}

func TestTableFitsATerminal(t *testing.T) {
	for _, columns := range []int{0, 80, 120} {
		var table bytes.Buffer
		if err := invented(t).WriteTable(&table, columns); err != nil {
			t.Fatal(err)
		}
		limit := cmp.Or(columns, 100)
		for line := range strings.Lines(table.String()) {
			// Prose may be longer than the tables, whose columns stand at least three blanks apart.
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > limit && strings.Contains(line, "   ") {
				t.Errorf("%d characters in %d columns: %s", n, limit, line)
			}
			if strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
				t.Errorf("white space at the end of %q", line)
			}
		}
	}
}

func TestNothingRun(t *testing.T) {
	for name, s := range map[string]*results.Sweep{
		"empty":   {},
		"planned": {Meta: invented(t).Meta},
	} {
		t.Run(name, func(t *testing.T) {
			for what, write := range map[string]func(io.Writer) error{
				"table": func(w io.Writer) error { return s.WriteTable(w, 0) }, "summary": s.WriteSummary, "bench": s.WriteBench, "csv": s.WriteCSV,
			} {
				var out bytes.Buffer
				if err := write(&out); err != nil {
					t.Errorf("%s: %v", what, err)
				}
				if strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "%!") {
					t.Errorf("%s:\n%s", what, out.String())
				}
			}
			for _, e := range s.Effects() {
				if e.Verdict != results.Undecided || e.Reason != "fewer than two blocks" {
					t.Errorf("%s: %s, %q", e.Strategy, e.Verdict, e.Reason)
				}
			}
			if answers := s.Answers(); len(answers) != 0 {
				t.Errorf("answers %v from no runs", answers)
			}
		})
	}
}
