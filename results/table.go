package results

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// tableWidth is how wide WriteTable writes for no terminal in particular.
const tableWidth = 100

// WriteTable writes the sweep as text for a terminal: what was run, whether it was verified, and for
// each workload the planned comparisons and the latencies of each role, as medians over the runs. Tables
// stand beside each other as far as they fit in so many columns; 0 is a width that suits most.
func (s *Sweep) WriteTable(w io.Writer, columns int) error {
	if columns == 0 {
		columns = tableWidth
	}
	var out strings.Builder
	summary := s.Summary()
	fmt.Fprintln(&out, printable(summary.Headline))
	fmt.Fprintln(&out, printable(summary.Preflight))
	for _, warning := range summary.Warnings {
		fmt.Fprintln(&out, "warning: "+printable(warning))
	}
	for i, line := range summary.Verification {
		if i > 0 {
			line = "  " + line
		}
		fmt.Fprintln(&out, printable(line))
	}
	for _, section := range summary.Sections {
		fmt.Fprintf(&out, "\n%s   %s\n", printable(section.Workload.Name), printable(section.Description))
		writeText(&out, slices.DeleteFunc(section.Tables, func(t Table) bool { return t.Detail }), columns)
		for _, note := range section.Notes {
			fmt.Fprintln(&out, "  "+printable(note))
		}
	}
	for i := range summary.Trends {
		t := &summary.Trends[i]
		fmt.Fprintf(&out, "\n%s\n", printable(t.Title()))
		writeText(&out, t.Tables(), columns)
		for _, note := range t.Notes() {
			fmt.Fprintln(&out, "  "+printable(note))
		}
	}
	fmt.Fprintln(&out)
	for _, note := range summary.Footnotes {
		fmt.Fprintln(&out, printable(note))
	}
	for _, line := range summary.Profiles {
		fmt.Fprintln(&out, "profile: "+printable(line))
	}
	if summary.Doubt != "" {
		fmt.Fprintf(&out, "not to be relied on: %s\n", printable(summary.Doubt))
	}
	if summary.Distrust != "" {
		fmt.Fprintf(&out, "THIS SWEEP IS NOT TO BE TRUSTED: %s\n", printable(summary.Distrust))
	}
	_, err := io.WriteString(w, printableLines(out.String()))
	return err
}
