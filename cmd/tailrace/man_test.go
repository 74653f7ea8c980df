package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// manual writes the manual and returns its pages by name.
func manual(t *testing.T) (dir string, pages map[string]string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "share", "man1")
	var out, errs bytes.Buffer
	if code := execute(t.Context(), []string{"man", dir}, nil, &out, &errs); code != 0 || out.Len()+errs.Len() > 0 {
		t.Fatalf("exit code %d: %s%s", code, out.String(), errs.String())
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages = make(map[string]string)
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		pages[entry.Name()] = string(text)
	}
	return dir, pages
}

func TestManual(t *testing.T) {
	_, pages := manual(t)
	want := []string{"tailrace.1"}
	for _, sub := range newRoot(nil).Commands() {
		if !sub.Hidden {
			want = append(want, "tailrace-"+sub.Name()+".1")
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(pages)); !slices.Equal(got, want) {
		t.Errorf("pages %q, want %q", got, want)
	}
	for name, page := range pages {
		for _, hidden := range []string{"execute", "pressure", "torture", "tailrace man"} {
			if strings.Contains(page, ".B "+hidden) {
				t.Errorf("%s tells of %s", name, hidden)
			}
		}
		if !strings.HasPrefix(page, ".TH TAILRACE") || !strings.Contains(page, " 1 "+manualDate+" ") {
			t.Errorf("%s begins with %.60s", name, page)
		}
	}
	run := pages["tailrace-run.1"]
	at := 0
	for _, g := range (&runFlags{}).groups() {
		next := strings.Index(run, "\n.SS "+g.title+"\n")
		if next < at {
			t.Errorf("group %s is at %d, after one at %d", g.title, next, at)
		}
		at = next
	}
	for _, text := range []string{
		".B tailrace run\n[flags]\n",
		"\\fB\\-\\-blocks\\fR \\fInumber\\fR\n",
		"\\fB\\-\\-strategies\\fR \\fInames\\fR\n",
		"\\fB\\-\\-quiet\\fR\nshow no progress\n",
		"(default 6)\n",
		"tailrace run \\-\\-producers 4 \\-\\-consumers 4 \\-\\-slo \\(aqe2e p99 < 5ms\\(aq",
		".SH SEE ALSO\n.BR tailrace (1)\n",
	} {
		if !strings.Contains(run, text) {
			t.Errorf("tailrace-run.1 has no %q", text)
		}
	}
	if _, again := manual(t); !maps.Equal(pages, again) {
		t.Error("written again, the manual is another")
	}
}

func TestRoffText(t *testing.T) {
	for text, want := range map[string]string{
		"--a 'b'":    `\-\-a \(aqb\(aq`,
		".TH\n.x":    "\\&.TH\n\\&.x",
		"'quoted'":   `\(aqquoted\(aq`,
		`a\fBb`:      `a\(rsfBb`,
		"`^~`":       "\\(ga\\(ha\\(ti\\(ga",
		"10 µs × 2⁶": "10 µs × 2⁶",
	} {
		if got := roffText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var page strings.Builder
	roffProse(&page, "one\ntwo\n\n  as it\n\n  is\n\nthree\n  end\n")
	if want := "one\ntwo\n.PP\n.EX\n  as it\n\n  is\n\n.EE\n.PP\nthree\n.EX\n  end\n.EE\n"; page.String() != want {
		t.Errorf("prose %q, want %q", page.String(), want)
	}
}

// Renderers of manual pages take them without a warning, where they are installed.
func TestManualRenders(t *testing.T) {
	dir, pages := manual(t)
	for _, renderer := range [][]string{
		{"mandoc", "-T", "lint", "-W", "warning"},
		{"groff", "-K", "utf8", "-man", "-ww", "-z", "-T", "utf8"},
	} {
		t.Run(renderer[0], func(t *testing.T) {
			path, err := exec.LookPath(renderer[0])
			if err != nil {
				t.Skip("it is not installed")
			}
			for name := range pages {
				output, _ := exec.Command(path, append(renderer[1:], filepath.Join(dir, name))...).CombinedOutput()
				for line := range strings.Lines(string(output)) {
					if !strings.Contains(line, "STYLE: input text line longer") { // lines are as long as in the help
						t.Errorf("%s: %s", name, line)
					}
				}
			}
		})
	}
}

func TestManRefuses(t *testing.T) {
	for _, args := range [][]string{{"man"}, {"man", "a", "b"}} {
		var out, errs bytes.Buffer
		if code := execute(t.Context(), args, nil, &out, &errs); code != exitUsage || !strings.HasPrefix(errs.String(), "tailrace: man: give one directory") {
			t.Errorf("%q: exit code %d, %s", args, code, errs.String())
		}
	}
}
