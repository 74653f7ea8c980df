package results

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// claimVerdicts are all verdicts, in the order in which they are counted.
var claimVerdicts = []ClaimVerdict{Holds, HoldsInPart, DoesNotHold, NotSettled, NotMeasured}

// manyVerdicts are the verdicts of several claims, where these have other words.
var manyVerdicts = map[ClaimVerdict]string{Holds: "hold", HoldsInPart: "hold in part", DoesNotHold: "do not hold"}

// Figure is the figure of a name; nil if there is none.
func (c *Claim) Figure(name string) *Figure {
	for i := range c.Figures {
		if c.Figures[i].Name == name {
			return &c.Figures[i]
		}
	}
	return nil
}

// FindingText is what the verdict rests on, or why there is none.
func (c *Claim) FindingText() string {
	if c.Reason != "" {
		return c.Reason
	}
	return c.Finding
}

// BoundText is the bound in the unit of the figure, which may be nil: "≥ 1.30×".
func (d *Condition) BoundText(f *Figure) string {
	if f == nil {
		f = &Figure{}
	}
	switch format := f.format(); {
	case d.AtLeast != nil:
		return "≥ " + format(*d.AtLeast)
	case d.AtMost != nil:
		return "≤ " + format(*d.AtMost)
	}
	return absent
}

// OutcomeText is the outcome for readers; of a claim that was not judged, that it is open.
func (d *Condition) OutcomeText() string {
	if d.Outcome == "" {
		return "open"
	}
	return d.Outcome
}

// Headline counts the verdicts: "19 claims: 7 hold, 4 hold in part, …".
func (c *Claims) Headline() string {
	verdicts := make(map[ClaimVerdict]int)
	for i := range c.Claims {
		verdicts[c.Claims[i].Verdict]++
	}
	var parts []string
	for _, verdict := range claimVerdicts {
		if n := verdicts[verdict]; n > 0 {
			parts = append(parts, counted(n, string(verdict), cmp.Or(manyVerdicts[verdict], string(verdict))))
		}
	}
	text := count(len(c.Claims), "claim")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if c.Quick {
		text += " (quick run)"
	}
	return text
}

// ClaimsRule says how figures become verdicts.
const ClaimsRule = "A condition is met where the whole interval of its figure lies on the right side of the bound, not met where it " +
	"lies on the other, and open where the bound is inside. A claim holds if all its conditions are met, does not hold if all are not met, holds in part if " +
	"some are met and some are not, and is not settled otherwise, or where a premise about the machine is not met or open. The intervals of all conditions of all claims hold together with 95 %, " +
	"as far as the logarithms of what varies do so about normally."

// Bounds of the width in which a finding is set on a terminal.
const (
	narrowestFinding = 24
	widestFinding    = 90
)

// WriteTable writes the claims as text for a terminal: a table of verdicts and findings, which are broken to fit in
// so many columns (0 is a width that suits most), then notes.
func (c *Claims) WriteTable(w io.Writer, columns int) error {
	if columns == 0 {
		columns = tableWidth
	}
	names, verdicts := Column{Head: "claim", Left: true}, Column{Head: "verdict", Left: true}
	for i := range c.Claims {
		names.Cells = append(names.Cells, c.Claims[i].Name)
		verdicts.Cells = append(verdicts.Cells, string(c.Claims[i].Verdict))
	}
	width := min(widestFinding, max(narrowestFinding, columns-names.width()-verdicts.width()-2*columnGap))
	t := Table{Columns: []Column{{Head: verdicts.Head, Left: true}, {Head: "finding", Left: true}}}
	for i := range c.Claims {
		for n, line := range broken(withoutQuotes(c.Claims[i].FindingText()), width) {
			label, verdict := names.Cells[i], verdicts.Cells[i]
			if n > 0 {
				label, verdict = "", ""
			}
			t.Labels = append(t.Labels, label)
			t.Columns[0].Cells = append(t.Columns[0].Cells, verdict)
			t.Columns[1].Cells = append(t.Columns[1].Cells, line)
		}
	}
	var out strings.Builder
	fmt.Fprintln(&out, c.Headline())
	for _, warning := range c.Warnings {
		fmt.Fprintln(&out, "warning: "+warning)
	}
	if len(t.Labels) > 0 {
		fmt.Fprintln(&out)
		writeText(&out, []Table{t}, columns)
	}
	fmt.Fprintf(&out, "\n%s\n", ClaimsRule)
	for i := range c.Claims {
		if of := &c.Claims[i]; of.Limits != "" {
			fmt.Fprintf(&out, "%s: %s\n", of.Name, withoutQuotes(of.Limits))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// broken sets a text in lines of a width, a longer word in a line of its own. An empty text has one line.
func broken(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// withoutQuotes takes the backquotes off, which nothing sets as code on a terminal.
func withoutQuotes(text string) string { return strings.ReplaceAll(text, "`", "") }

// WriteMarkdown writes the claims as Markdown: where and how they were tested, all verdicts, and of each claim its
// experiment, rule, figures and limits.
func (c *Claims) WriteMarkdown(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "# The article on trial\n\n%s.\n\nBegun %s, seed %d.\n\n%s\n",
		markdown(c.Headline()), c.Started.UTC().Format(time.DateTime)+" UTC", c.Seed, markdownFence("sh", c.CommandText()))
	for _, fact := range c.Machine() {
		fmt.Fprintf(&out, "- %s: %s\n", markdownBlock(fact.Name), markdown(fact.Value))
	}
	if len(c.Warnings) > 0 {
		out.WriteString("\n## Warnings\n\n")
		writeList(&out, c.Warnings)
	}
	out.WriteString("\n## Verdicts\n")
	t := Table{Title: "claim", Columns: []Column{{Head: "verdict", Left: true}, {Head: "finding", Left: true}}}
	for i := range c.Claims {
		of := &c.Claims[i]
		t.Labels = append(t.Labels, quoted(of.Name))
		t.Columns[0].Cells = append(t.Columns[0].Cells, string(of.Verdict))
		t.Columns[1].Cells = append(t.Columns[1].Cells, of.FindingText())
	}
	writeMarkdown(&out, &t)
	fmt.Fprintf(&out, "\n%s\n", ClaimsRule)
	for i := range c.Claims {
		c.Claims[i].writeMarkdown(&out)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (c *Claim) writeMarkdown(out *strings.Builder) {
	fmt.Fprintf(out, "\n## %s: %s\n\n**%s**", markdown(quoted(c.Name)), markdown(strings.TrimSuffix(c.Sentence, ".")), markdown(string(c.Verdict)))
	if text := c.FindingText(); text != "" {
		fmt.Fprintf(out, ": %s", markdown(strings.TrimSuffix(text, ".")))
	}
	fmt.Fprintf(out, ".\n\nExperiment: %s.\n", markdown(strings.TrimSuffix(c.Experiment, ".")))
	if len(c.Conditions) > 0 {
		t := c.RuleTable()
		writeMarkdown(out, &t)
	}
	if len(c.Figures) > 0 {
		t := c.FigureTable()
		writeMarkdown(out, &t)
	}
	if c.Limits != "" {
		fmt.Fprintf(out, "\n%s\n", markdownBlock(c.Limits))
	}
}

// RuleTable is the rule, with the outcome of each condition.
func (c *Claim) RuleTable() Table {
	t := Table{Title: "condition", Columns: []Column{{Head: "figure", Left: true}, {Head: "bound"}, {Head: "outcome", Left: true}}}
	for i := range c.Conditions {
		d := &c.Conditions[i]
		text := d.Text
		if d.Premise {
			text = "premise: " + text
		}
		t.Labels = append(t.Labels, text)
		for j, cell := range []string{quoted(d.Figure), d.BoundText(c.Figure(d.Figure)), d.OutcomeText()} {
			t.Columns[j].Cells = append(t.Columns[j].Cells, cell)
		}
	}
	return t
}

// FigureTable is what was measured, and from how many blocks.
func (c *Claim) FigureTable() Table {
	t := Table{Title: "measured", Columns: []Column{{Head: "figure", Left: true}, {Head: "value"}, {Head: "blocks"}}}
	for i := range c.Figures {
		f := &c.Figures[i]
		blocks := absent
		if f.Blocks > 0 {
			blocks = fmt.Sprint(f.Blocks)
		}
		t.Labels = append(t.Labels, f.Text)
		for j, cell := range []string{quoted(f.Name), f.ValueText(), blocks} {
			t.Columns[j].Cells = append(t.Columns[j].Cells, cell)
		}
	}
	return t
}

// CommandText is the command as a POSIX shell takes it.
func (c *Claims) CommandText() string { return shellLine(c.Command) }

// Machine is what tested the claims.
func (c *Claims) Machine() []Fact {
	return (&Sweep{Meta: Meta{Version: c.Version, Environment: c.Environment}}).environment()
}
