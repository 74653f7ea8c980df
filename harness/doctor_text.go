package harness

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// textWidth is how wide WriteText writes where it can.
const textWidth = 112

// WriteText writes the diagnosis for whoever wants to read it: what was looked at, what was measured, and what
// to do.
func (d *Diagnosis) WriteText(w io.Writer) error {
	var out strings.Builder
	e := &d.Environment
	fmt.Fprintf(&out, "tailrace %s · %s · %d CPUs %s · %s · %s\n", d.Version, e.Host, e.CPUs, e.CPUModel, e.Kernel, e.GoVersion)

	fmt.Fprintf(&out, "\nThe machine\n")
	for i := range d.Checks {
		f := &d.Checks[i]
		fmt.Fprintf(&out, "  %s%s%s\n", pad(label(f.Status), 9), pad(f.Name, 19), f.Seen)
		writeAdvice(&out, f)
	}

	fmt.Fprintf(&out, "\nWhat it costs\n  %s%s%s%s%s\n", pad("", 9), pad("", 30), pad("median", 9), pad("p10 – p90", 19), "usual")
	for i := range d.Calibrations {
		c := &d.Calibrations[i]
		fmt.Fprintf(&out, "  %s%s", pad(label(c.Status), 9), pad(c.Name, 30))
		if c.Status == StatusUnknown {
			fmt.Fprintln(&out, c.Seen)
			continue
		}
		fmt.Fprintf(&out, "%s%s%s\n", pad(c.Text(c.Median), 9), pad(c.Text(c.P10)+" – "+c.Text(c.P90), 19), c.Usual)
		if c.Max > 0 {
			fmt.Fprintf(&out, "%sp99 %s, at most %s in %d\n", pad("", 41), c.Text(c.P99), c.Text(c.Max), c.Samples)
		}
		if c.Note != "" {
			fmt.Fprintf(&out, "%s%s\n", pad("", 41), c.Note)
		}
		writeAdvice(&out, &c.Finding)
	}
	if d.Spread != nil {
		d.Spread.write(&out)
	}

	fmt.Fprintf(&out, "\n%s\n", d.Verdict)
	if d.First != "" {
		fmt.Fprintln(&out, "first: "+d.First)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (s *Spread) write(out *strings.Builder) {
	fmt.Fprintf(out, "\nEqual runs, the mutex against itself\n  %s%s\n", pad(label(s.Status), 9), s.Seen)
	writeAdvice(out, &s.Finding)
	if len(s.Detectable) == 0 {
		return
	}
	fmt.Fprintf(out, "  %sa difference that one comparison can tell apart, with\n  %s", pad("", 9), pad("", 9))
	for i, d := range s.Detectable {
		if i > 0 {
			out.WriteString(" · ")
		}
		fmt.Fprintf(out, "--blocks %d: ±%.1f %%", d.Blocks, 100*d.Difference)
	}
	fmt.Fprintf(out, "\n  %s(half of Student's 95 %% interval: found in half of all sweeps if it is real, twice as much in nearly all)\n", pad("", 9))
}

// label is a status as it stands at the beginning of a line: what is not in order stands out.
func label(s Status) string {
	switch s {
	case StatusUnfit:
		return "UNFIT"
	case StatusWarning:
		return "WARNING"
	}
	return string(s)
}

func writeAdvice(out *strings.Builder, f *Finding) {
	if f.grave() {
		writeWrapped(out, "why", f.Why)
		writeWrapped(out, "mend", f.Mend)
	}
}

// writeWrapped writes text with a label before it, in as many lines as it takes.
func writeWrapped(out *strings.Builder, label, text string) {
	indent := strings.Repeat(" ", 30)
	line := indent[:24] + pad(label, 6)
	for i, word := range strings.Fields(text) {
		if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > textWidth {
			fmt.Fprintln(out, line)
			line = indent
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(out, line)
}

// pad fills text up with spaces to a width; %-10s counts bytes.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(1, width-utf8.RuneCountInString(text)))
}
