package results

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchunit"
)

// mostNames is how many benchmarks of one side alone are named.
const mostNames = 5

// WriteText writes what was compared, the table of changes, what could not be told, and the verdict. Lines of the
// table have so many columns at most if they can; 0 is a width that suits most.
func (c *Changes) WriteText(w io.Writer, columns int) error {
	var out strings.Builder
	for _, side := range []struct {
		name string
		Origin
	}{{"old", c.Old}, {"new", c.New}} {
		fmt.Fprintf(&out, "%s: %s%s\n", side.name, printable(side.Path), printable(parenthesis(side.Description)))
	}
	fmt.Fprintln(&out, c.interleavedText())
	for _, warning := range c.Warnings {
		fmt.Fprintln(&out, "warning: "+printable(warning))
	}
	if c.common != "" {
		fmt.Fprintln(&out, "all: "+printable(c.common))
	}
	fmt.Fprintln(&out)
	writeText(&out, []Table{c.table()}, cmp.Or(columns, tableWidth))
	fmt.Fprintln(&out)
	for _, line := range slices.Concat(c.undecidedNotes(), c.Footnotes(), []string{c.VerdictText()}) {
		fmt.Fprintln(&out, printable(line))
	}
	if hint := c.hint(); hint != "" {
		fmt.Fprintln(&out, hint)
	}
	_, err := io.WriteString(w, printableLines(out.String()))
	return err
}

func (c *Changes) interleavedText() string {
	if c.Interleaved {
		return "interleaved: both ran in the same blocks, so that drift of the machine hits both alike"
	}
	return "not interleaved: one side ran after the other, as far as can be seen, and drift of the machine in between looks like a change"
}

func (c *Changes) table() Table {
	t := Table{}
	columns := []Column{{Head: "metric", Left: true}, {Head: "runs"}, {Head: "old"}, {Head: "new"}, {Head: "new/old", Left: true}, {Head: "", Left: true}}
	for i := range c.Changes {
		d := &c.Changes[i]
		t.Labels = append(t.Labels, d.label)
		runs := fmt.Sprint(d.New.Runs)
		if d.Old.Runs != d.New.Runs {
			runs = fmt.Sprintf("%d/%d", d.Old.Runs, d.New.Runs)
		}
		for at, text := range []string{d.Metric, runs, formatValue(d.Metric, d.Old.Value), formatValue(d.Metric, d.New.Value), d.ratioText(), c.words(d)} {
			columns[at].Cells = append(columns[at].Cells, text)
		}
	}
	t.Columns = columns
	return t
}

// ratioText is the ratio with its interval, as far as there are any.
func (d *Change) ratioText() string {
	if d.hasSpread() && d.Blocks >= 2 {
		return d.Interval.Text()
	}
	return FormatRatio(d.Ratio)
}

// words are the verdict on one change.
func (c *Changes) words(d *Change) string {
	var text string
	switch {
	case d.Verdict == NoDifference:
		return "no difference found"
	case d.Verdict == Undecided:
		return "undecided"
	case d.Verdict == Better:
		text = "better"
	case d.Beyond:
		text = "WORSE"
	default:
		text = fmt.Sprintf("worse, but not surely by more than %s", c.thresholdText())
	}
	if !c.Interleaved {
		text += ", but not interleaved"
	}
	return text
}

func (c *Changes) undecidedNotes() []string {
	var notes []string
	told := make(map[string]bool)
	undecided := c.Undecided()
	for _, d := range c.Regressions() {
		if d.Reason != "" {
			notes = append(notes, fmt.Sprintf("not all of it: %s, %s: %s", d.label, d.Metric, d.Reason))
		}
	}
	same := len(undecided) > 0 && !slices.ContainsFunc(undecided, func(d Change) bool { return d.Reason != undecided[0].Reason })
	for _, d := range undecided {
		note := fmt.Sprintf("undecided: %s, %s: %s", d.label, d.Metric, d.Reason)
		if same {
			note = "undecided: " + d.Reason
		}
		if !told[note] {
			told[note] = true
			notes = append(notes, note)
		}
	}
	for _, unmatched := range c.Unmatched {
		notes = append(notes, "unmatched: "+unmatched)
	}
	for _, violation := range c.Violations {
		notes = append(notes, "wrong answer of the new side: "+violation)
	}
	return notes
}

// Footnotes say what was left out, what the numbers are, and what they may hide.
func (c *Changes) Footnotes() []string {
	var notes []string
	for _, only := range []struct {
		path  string
		names []string
	}{{c.Old.Path, c.OnlyOld}, {c.New.Path, c.OnlyNew}} {
		if len(only.names) > 0 {
			notes = append(notes, fmt.Sprintf("only in %s, and not compared (%d): %s", only.path, len(only.names), someOf(only.names, mostNames)))
		}
	}
	if len(c.NotCompared) > 0 {
		notes = append(notes, fmt.Sprintf("without the metrics that were asked for, and not compared (%d): %s", len(c.NotCompared), someOf(c.NotCompared, mostNames)))
	}
	return append(notes, fmt.Sprintf("old, new: geometric means of the runs · intervals: 95 %% over %s together", count(len(c.Changes), "comparison")))
}

// thresholdText is the threshold as it was given: rounded, it would be another one.
func (c *Changes) thresholdText() string { return fmt.Sprintf("%.10g %%", 100*c.Options.Threshold) }

// VerdictText is the outcome in a line.
func (c *Changes) VerdictText() string {
	regressions, undecided := len(c.Regressions()), len(c.Undecided())
	than := ""
	if c.Options.Threshold > 0 {
		than = " by more than " + c.thresholdText()
	}
	of := fmt.Sprintf("of %s", count(len(c.Changes), "comparison"))
	numbered := fmt.Sprintf("%d %s", regressions, of)
	switch outcome := c.Outcome(); {
	case len(c.Violations) > 0:
		return fmt.Sprintf("REGRESSION: %s of the new side gave wrong answers", count(len(c.Violations), "run"))
	case outcome == Regression && !c.regressed():
		return fmt.Sprintf("REGRESSION: %s lacks what %s has: %s", c.New.Path, c.Old.Path, someOf(c.Missing(), mostNames))
	case outcome == Regression:
		return fmt.Sprintf("REGRESSION: %s worse%s", numbered, than)
	case regressions > 0:
		return fmt.Sprintf("INCONCLUSIVE: %s worse%s, which may be drift, since old and new were not interleaved", numbered, than)
	case c.Failed:
		return "INCONCLUSIVE: benchmarks of the new side failed"
	case len(c.OnlyOld) > 0:
		return fmt.Sprintf("INCONCLUSIVE: %s lacks %s of %s, which --require-all takes for a failure", c.New.Path, count(len(c.OnlyOld), "benchmark"), c.Old.Path)
	case undecided > 0:
		return fmt.Sprintf("INCONCLUSIVE: %d %s without a verdict", undecided, of)
	case len(c.Unmatched) > 0:
		return fmt.Sprintf("INCONCLUSIVE: what only %s has may belong to benchmarks of %s", c.New.Path, c.Old.Path)
	case outcome == Inconclusive:
		return fmt.Sprintf("INCONCLUSIVE: no difference found, but more than %s worse could hide in the widest interval, which more blocks, or an idle machine, make narrower",
			FormatPercent(mostHidden))
	}
	text := fmt.Sprintf("no regression: none %s is worse%s for certain", of, than)
	if share, ok := c.Hidden(); ok && share > 0 {
		most := "up to " + FormatPercent(share)
		if share > 1 {
			most = "more than 100 %"
		}
		text += fmt.Sprintf("; %s worse could hide in the widest interval, which more blocks make narrower", most)
	}
	return text
}

// hint is how to get a better answer; "" if this one is as good as it gets.
func (c *Changes) hint() string {
	if c.Interleaved {
		return ""
	}
	return "to tell a change from drift: tailrace run --against BINARY, then tailrace compare on its directory"
}

func count(n int, noun string) string { return counted(n, noun, noun+"s") }

// formatValue formats a value of any unit, which is in base units.
func formatValue(unit string, value float64) string {
	switch {
	case slices.Contains(MetricNames(), unit):
		return FormatMetric(unit, value)
	case strings.HasPrefix(unit, "sec/"), strings.HasSuffix(unit, "-sec"), strings.HasSuffix(unit, "-sec/op"), unit == "sec":
		return FormatDuration(value)
	case benchunit.ClassOf(unit) == benchunit.Binary:
		return FormatBytes(value)
	case value > 0 && value < 1:
		return fmt.Sprintf("%.3g", value)
	}
	return FormatRate(value)
}
