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
	fmt.Fprintf(&out, "# %s\n\n", markdown(summary.Title))
	if summary.Distrust != "" {
		fmt.Fprintf(&out, "**This sweep is not to be trusted**: %s.\n\n", markdown(summary.Distrust))
	}
	if summary.Doubt != "" {
		fmt.Fprintf(&out, "**Its findings are not to be relied on**: %s.\n\n", markdown(summary.Doubt))
	}
	for _, answer := range summary.Answers {
		fmt.Fprintf(&out, "- %s\n", markdownBlock(answer.Text))
	}
	fmt.Fprintf(&out, "\n%s\n\n", markdownBlock(summary.Headline))
	writeList(&out, append(summary.Verification, summary.Preflight))
	if len(summary.Warnings) > 0 {
		fmt.Fprint(&out, "\n## Warnings\n\n")
		writeList(&out, summary.Warnings)
	}
	for _, section := range summary.Sections {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", markdown(section.Workload.Name), markdownBlock(section.Description))
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
		fmt.Fprintf(&out, "\n## %s\n", markdown(t.Title()))
		tables := t.Tables()
		for j := range tables {
			writeMarkdown(&out, &tables[j])
		}
		out.WriteString("\n")
		writeList(&out, t.Notes())
	}
	fmt.Fprint(&out, "\n## How to read this\n")
	for _, note := range summary.Footnotes {
		fmt.Fprintf(&out, "\n%s\n", markdownBlock(note))
	}
	out.WriteString("\n")
	for _, text := range summary.Reading {
		fmt.Fprintf(&out, "- %s\n", strings.ReplaceAll(text, "\n", "\n  "))
	}
	fmt.Fprint(&out, "\n## Environment\n\n")
	for _, fact := range summary.Environment {
		fmt.Fprintf(&out, "- %s: %s\n", markdownBlock(fact.Name), markdown(fact.Value))
	}
	fmt.Fprintf(&out, "\n## Reproduce\n\nBegun %s, %s.\n\n%s\nBeside this file: %s\n",
		summary.Begun, summary.Seed, markdownFence("sh", summary.Command), summary.Files)
	for _, source := range summary.Sources {
		fmt.Fprintf(&out, "\n%s:\n\n%s", markdown(quoted(source.Path)), markdownFence("yaml", source.Text))
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

func writeList(out *strings.Builder, items []string) {
	for _, item := range items {
		fmt.Fprintf(out, "- %s\n", markdownBlock(item))
	}
}

// writeMarkdown writes a table after an empty line, its title as the heading of the labels.
func writeMarkdown(out *strings.Builder, t *Table) {
	out.WriteString("\n")
	columns := append([]Column{{Head: t.Title, Cells: t.Labels, Left: true}}, t.Columns...)
	for _, c := range columns {
		fmt.Fprintf(out, "| %s ", markdownCell(c.Head))
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
			fmt.Fprintf(out, "| %s ", markdownCell(c.Cells[i]))
		}
		out.WriteString("|\n")
	}
}
