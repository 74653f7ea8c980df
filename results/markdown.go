package results

import (
	"fmt"
	"io"
	"strings"
)

// WriteSummary writes the sweep as Markdown, to paste into a document: the answers first, then the
// tables of WriteTable, how to read them, and everything needed to repeat the sweep.
func (s *Sweep) WriteSummary(w io.Writer) error {
	var out strings.Builder
	summary := s.Summary()
	fmt.Fprintf(&out, "# %s\n\n", printable(summary.Title))
	if summary.Distrust != "" {
		fmt.Fprintf(&out, "**This sweep is not to be trusted**: %s.\n\n", printable(summary.Distrust))
	}
	if summary.Doubt != "" {
		fmt.Fprintf(&out, "**Its findings are not to be relied on**: %s.\n\n", printable(summary.Doubt))
	}
	for _, answer := range summary.Answers {
		fmt.Fprintf(&out, "- %s\n", printable(answer.Text))
	}
	fmt.Fprintf(&out, "\n%s\n\n", printable(summary.Headline))
	writeList(&out, append(summary.Verification, summary.Preflight))
	if len(summary.Warnings) > 0 {
		fmt.Fprint(&out, "\n## Warnings\n\n")
		writeList(&out, summary.Warnings)
	}
	for _, section := range summary.Sections {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", printable(section.Workload.Name), printable(section.Description))
		for i := range section.Tables {
			writeMarkdown(&out, &section.Tables[i])
		}
		if len(section.Notes) > 0 {
			out.WriteString("\n")
		}
		writeList(&out, section.Notes)
	}
	for i := range summary.Trends {
		t := &summary.Trends[i]
		fmt.Fprintf(&out, "\n## %s\n", printable(t.Title()))
		tables := t.Tables()
		for j := range tables {
			writeMarkdown(&out, &tables[j])
		}
		out.WriteString("\n")
		writeList(&out, t.Notes())
	}
	fmt.Fprint(&out, "\n## How to read this\n")
	for _, note := range summary.Footnotes {
		fmt.Fprintf(&out, "\n%s\n", markdownText.Replace(note))
	}
	out.WriteString("\n")
	for _, text := range summary.Reading {
		fmt.Fprintf(&out, "- %s\n", strings.ReplaceAll(text, "\n", "\n  "))
	}
	fmt.Fprint(&out, "\n## Environment\n\n")
	for _, fact := range summary.Environment {
		fmt.Fprintf(&out, "- %s: %s\n", fact.Name, printable(fact.Value))
	}
	fmt.Fprintf(&out, "\n## Reproduce\n\nBegun %s, %s.\n\n```sh\n%s\n```\n\nBeside this file: %s\n",
		summary.Begun, summary.Seed, summary.Command, summary.Files)
	for _, source := range summary.Sources {
		fence := strings.Repeat("`", max(3, 1+longestRun(source.Text, '`')))
		fmt.Fprintf(&out, "\n%s:\n\n%syaml\n%s\n%s\n", quoted(source.Path), fence, strings.TrimRight(source.Text, "\n"), fence)
	}
	if len(summary.Profiles) > 0 {
		out.WriteString("\nProfiles:\n\n")
		writeList(&out, summary.Profiles)
	}
	if len(summary.Settings.Labels) > 0 {
		writeMarkdown(&out, &summary.Settings)
	}
	_, err := io.WriteString(w, printableLines(out.String()))
	return err
}

// longestRun is the length of the longest run of a character in a text.
func longestRun(text string, of rune) int {
	longest, run := 0, 0
	for _, r := range text {
		if run++; r != of {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

func writeList(out *strings.Builder, items []string) {
	for _, item := range items {
		fmt.Fprintf(out, "- %s\n", printable(item))
	}
}

// writeMarkdown writes a table after an empty line, its title as the heading of the labels.
func writeMarkdown(out *strings.Builder, t *Table) {
	out.WriteString("\n")
	columns := append([]Column{{Head: t.Title, Cells: t.Labels, Left: true}}, t.Columns...)
	for _, c := range columns {
		fmt.Fprintf(out, "| %s ", markdownText.Replace(c.Head))
	}
	out.WriteString("|\n")
	for _, c := range columns {
		if c.Left {
			out.WriteString("|:--")
		} else {
			out.WriteString("|--:")
		}
	}
	out.WriteString("|\n")
	for i := range t.Labels {
		for _, c := range columns {
			fmt.Fprintf(out, "| %s ", markdownText.Replace(c.Cells[i]))
		}
		out.WriteString("|\n")
	}
}

// markdownText escapes what would end a cell of a table, and strikes nothing through.
var markdownText = strings.NewReplacer("|", `\|`, "~", `\~`, "\n", " ")
