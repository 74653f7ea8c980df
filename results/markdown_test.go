package results_test

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/results/resultstest"
)

// What means something to Markdown or HTML wherever it stands.
var (
	rawTag     = regexp.MustCompile(`<[A-Za-z/!?]`)
	rawLink    = regexp.MustCompile(`\[`)
	rawCode    = regexp.MustCompile("`")
	rawStress  = regexp.MustCompile(`\*stress|(?:^|[^\pL\pN])_+(?:stress|init)`)
	rawFormula = regexp.MustCompile(`\$`)
	rawAddress = regexp.MustCompile(`://|www\.`)
	// Blocks that one of the names would begin.
	rawBlock = regexp.MustCompile(`(?m)^(?:- )?(?:    |#+ heading|> quote|- item|1\. item)`)

	escapes    = regexp.MustCompile(`\\[[:punct:]]`)
	backquotes = regexp.MustCompile("`+")
)

// unescaped is Markdown with a dot in the place of its code and of what is escaped.
func unescaped(text string) string {
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		marks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(marks) >= 3:
			fence = marks
		case fence != "" && strings.TrimRight(line, "\n") == fence:
			fence = ""
		case fence == "":
			out.WriteString(unescapedLine(line))
		}
	}
	return out.String()
}

// unescapedLine scans as CommonMark does: code ends where as many backquotes follow as it began with.
func unescapedLine(line string) string {
	var out strings.Builder
	for at := 0; at < len(line); at++ {
		switch run := line[at : len(line)-len(strings.TrimLeft(line[at:], "`"))]; {
		case line[at] == '\\' && at+1 < len(line):
			at++
			out.WriteString("·")
		case run != "":
			at += len(run)
			end := slices.IndexFunc(backquotes.FindAllString(line[at:], -1), func(other string) bool { return other == run })
			if end < 0 {
				out.WriteString(run)
				at--
				break
			}
			out.WriteString("·")
			at += backquotes.FindAllStringIndex(line[at:], -1)[end][1] - 1
		default:
			out.WriteByte(line[at])
		}
	}
	return out.String()
}

var hostileNames = []string{
	"<img src=x onerror=alert(1)>", "a|b", `a\|b`, "`", "```\n<script>", "a`<b>`c", "x`|`y", "![x](//evil)<!-- ", "a\n\n# heading",
	"# heading", "> quote", "- item", "1. item", "    code", "~~~", "`\\`<b", "|---|",
	"*stress* and **stress**", "_stress_", "a _stress_ _stress_", "__init__ here", "$x^2$", "https://example.com/a", "www.example.com",
}

func TestForeignNamesAreNoMarkdown(t *testing.T) {
	t.Parallel()
	rows := func(text string) int { return strings.Count("\n"+text, "\n|") }
	lines := func(text string) int { return strings.Count(text, "\n") }
	sweep := resultstest.Sweep(1)
	plain := markdownOf(t, sweep, "name")
	for _, name := range hostileNames {
		for what, text := range markdownOf(t, sweep, name) {
			seen := unescaped(text)
			for _, raw := range []*regexp.Regexp{rawTag, rawLink, rawCode, rawStress, rawFormula, rawAddress, rawBlock} {
				if at := raw.FindString(seen); at != "" {
					t.Errorf("%s of %q has a raw %q:\n%s", what, name, at, seen)
				}
			}
			if got, want := rows(seen), rows(unescaped(plain[what])); got != want {
				t.Errorf("%s of %q has %d rows of tables, want %d", what, name, got, want)
			}
			if got, want := lines(seen), lines(unescaped(plain[what])); got != want {
				t.Errorf("%s of %q has %d lines, want %d:\n%s", what, name, got, want, seen)
			}
			columns := 0
			for line := range strings.Lines(text) {
				if !strings.HasPrefix(line, "|") {
					columns = 0
					continue
				}
				n := strings.Count(escapes.ReplaceAllString(line, ""), "|")
				if columns == 0 {
					columns = n
				}
				if n != columns {
					t.Errorf("%s of %q has %d bars where its head has %d: %s", what, name, n, columns, line)
				}
			}
		}
	}
}

// markdownOf is all Markdown of a copy of a sweep, and of claims, in which all that comes from files is of one name.
func markdownOf(t *testing.T, sweep *results.Sweep, name string) map[string]string {
	t.Helper()
	s := *sweep
	s.Runs = slices.Clone(s.Runs)
	m := &s.Meta
	m.Workloads, m.Planned, m.Command = slices.Clone(m.Workloads), slices.Clone(m.Planned), slices.Clone(m.Command)
	was := m.Workloads[0].Name
	m.Workloads[0].Name, m.Workloads[0].Description, m.Workloads[0].Notes = name, name, []string{name}
	for i := range m.Planned {
		c := &m.Planned[i]
		c.Workload, c.Strategy = renamed(c.Workload, was, name), renamed(c.Strategy, "actor", name)
	}
	for i := range s.Runs {
		run := &s.Runs[i]
		run.Cell.Workload, run.Cell.Strategy = renamed(run.Cell.Workload, was, name), renamed(run.Cell.Strategy, "actor", name)
		run.Warnings = []string{name}
	}
	s.Runs[0].Verification.Error = name
	m.Command, m.Warnings = append(m.Command, name), []string{name}
	m.Sources = []results.Source{{Path: name, Text: name}}
	m.Profiles = []results.Profile{{Cell: s.Runs[0].Cell, Kind: name, File: name}}
	m.Against = &results.Build{Label: name, Binary: name, Version: name, Commit: name, Go: name}
	m.Environment.Host, m.Environment.CPUModel, m.Environment.Filesystems = name, name, map[string]string{name: name}
	c := resultstest.Claims()
	c.Command, c.Warnings, c.Environment.Host = append(c.Command, name), []string{name}, name
	for i := range c.Claims {
		of := &c.Claims[i]
		of.Name, of.Sentence, of.Experiment, of.Finding, of.Reason, of.Limits = name, name, name, name, name, name
		of.Verdict = results.ClaimVerdict(name)
		for j := range of.Conditions {
			d := &of.Conditions[j]
			d.Text, d.Figure, d.Outcome = name, name, name
		}
		for j := range of.Figures {
			f := &of.Figures[j]
			f.Name, f.Text, f.Unit = name, name, name
		}
	}
	texts := make(map[string]string)
	for what, write := range map[string]func(io.Writer) error{"summary.md": s.WriteSummary, "claims.md": c.WriteMarkdown} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		texts[what] = out.String()
	}
	return texts
}

func renamed(name, from, to string) string {
	if name == from {
		return to
	}
	return name
}
