package results

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// WriteSummary writes the sweep as Markdown, to paste into a document: the answers first, then the
// tables of WriteTable, how to read them, and everything needed to repeat the sweep.
func (s *Sweep) WriteSummary(w io.Writer) error {
	var out strings.Builder
	fmt.Fprint(&out, "# tailrace: which concurrency model?\n\n")
	if sick := s.sickness(); sick != "" {
		fmt.Fprintf(&out, "**This sweep is not to be trusted**: %s.\n\n", sick)
	}
	for _, answer := range s.Answers() {
		fmt.Fprintf(&out, "- %s\n", answer.Text)
	}
	fmt.Fprintf(&out, "\n%s\n\n", s.headline())
	for _, line := range s.verificationLines() {
		fmt.Fprintf(&out, "- %s\n", strings.TrimSpace(line))
	}
	fmt.Fprintf(&out, "- %s\n", s.preflightLine())
	if warnings := s.allWarnings(); len(warnings) > 0 {
		fmt.Fprint(&out, "\n## Warnings\n\n")
		for _, warning := range warnings {
			fmt.Fprintf(&out, "- %s\n", warning)
		}
	}
	for _, section := range s.sections() {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", section.name, section.description)
		if err := writeMarkdown(&out, section.labels, slices.Concat(section.groups, section.pacing)); err != nil {
			return err
		}
		if len(section.notes) > 0 {
			out.WriteString("\n")
		}
		for _, note := range section.notes {
			fmt.Fprintf(&out, "- %s\n", note)
		}
	}
	s.writeReading(&out)
	s.writeEnvironment(&out)
	s.writeReproduction(&out)
	_, err := io.WriteString(w, out.String())
	return err
}

// writeReading says what the numbers mean, and what they don't.
func (s *Sweep) writeReading(out *strings.Builder) {
	fmt.Fprintf(out, "\n## How to read this\n\n%s\n\n", markdownCell(s.footnote()))
	fmt.Fprint(out, `- Numbers of a strategy are medians over its valid runs. "vs" is the geometric mean, over the blocks, of the
  ratio to the baseline in the same block, with Student's t interval on the logarithms.
- Only planned comparisons have a verdict, and it holds for this sweep: this machine, these workloads.
- The A/A arm is the baseline under a second name. If its interval excludes 1, the sweep sees differences
  where there are none, and nothing in it is to be trusted. Its interval is 95 % by itself, not corrected for
  the number of comparisons: one sound sweep in twenty raises this alarm.
- "of raw" is the share of the limit, which shares nothing between its clients.
- Service time is the time from the start of a call to its end. In a closed loop, where the next call waits for
  the last one, its percentiles are not what a client that arrives at its own time would see: they leave out
  the wait for a slow call before it (coordinated omission), and rank nothing.
- From the intended time: the time from when the call was due, whether or not it could start then.
`)
}

func (s *Sweep) writeEnvironment(out *strings.Builder) {
	e := &s.Meta.Environment
	fmt.Fprint(out, "\n## Environment\n\n")
	lines := [][2]string{
		{"host", e.Host},
		{"CPU", fmt.Sprintf("%s, %d online, %d usable, quota %s, governor %s, virtual: %s",
			e.CPUModel, e.CPUs, e.Affinity, e.Quota, e.Governor, e.Virtual)},
		{"memory", FormatBytes(float64(e.Memory))},
		{"system", fmt.Sprintf("%s/%s, kernel %s", e.OS, e.Arch, e.Kernel)},
		{"Go", fmt.Sprintf("%s, GOMAXPROCS %d, GOGC %s", e.GoVersion, e.GOMAXPROCS, e.GOGC)},
		{"tailrace", fmt.Sprintf("%s, commit %s", s.Meta.Version, e.Commit)},
		{"load at the start", fmt.Sprintf("%.2f", e.Load1)},
	}
	for _, kind := range slices.Sorted(maps.Keys(e.Filesystems)) {
		lines = append(lines, [2]string{kind, e.Filesystems[kind]})
	}
	for _, line := range lines {
		fmt.Fprintf(out, "- %s: %s\n", line[0], line[1])
	}
}

func (s *Sweep) writeReproduction(out *strings.Builder) {
	fmt.Fprintf(out, "\n## Reproduce\n\nBegun %s, seed %d.\n\n```sh\n%s\n```\n\n",
		s.Meta.Started.UTC().Format("2006-01-02 15:04:05 UTC"), s.Meta.Seed, shellLine(s.Meta.Command))
	fmt.Fprint(out, "Beside this file: `runs.jsonl` has every run, `bench.txt` the same for\n"+
		"`benchstat -col /strategy bench.txt`, `latency/` the HdrHistogram log of each run.\n")
	if len(s.Meta.Workloads) == 0 {
		return
	}
	fmt.Fprint(out, "\n| workload | primary metric | ramp | window | prefill | segment size |\n|:--|:--|--:|--:|--:|--:|\n")
	for _, w := range s.Meta.Workloads {
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", markdownCell(w.Name), s.primary(w.Name),
			FormatDuration(w.Ramp), FormatDuration(w.Duration), FormatBytes(float64(w.Prefill)), FormatBytes(float64(w.SegmentSize)))
	}
}

// shellLine quotes a command's words as a POSIX shell needs it.
func shellLine(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		safe := word != "" && !strings.ContainsFunc(word, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=,:+%@", r))
		})
		words[i] = word
		if !safe {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
