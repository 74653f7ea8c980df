package results

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// tableWidth is the width of a terminal that tables keep to where they can.
const tableWidth = 100

// WriteTable writes the sweep as text for a terminal: what was run, whether it was verified, and for
// each workload the planned comparisons and the latencies of each role, as medians over the runs.
func (s *Sweep) WriteTable(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintln(&out, s.headline())
	fmt.Fprintln(&out, s.preflightLine())
	for _, warning := range s.allWarnings() {
		fmt.Fprintln(&out, "warning: "+warning)
	}
	for _, line := range s.verificationLines() {
		fmt.Fprintln(&out, line)
	}
	for _, section := range s.sections() {
		fmt.Fprintf(&out, "\n%s   %s\n", section.name, section.description)
		if err := writeText(&out, section.labels, section.groups, tableWidth); err != nil {
			return err
		}
		for _, note := range section.notes {
			fmt.Fprintln(&out, "  "+note)
		}
	}
	fmt.Fprintf(&out, "\n%s\n", s.footnote())
	if sick := s.sickness(); sick != "" {
		fmt.Fprintf(&out, "THIS SWEEP IS NOT TO BE TRUSTED: %s\n", sick)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// headline says how much was run, on which storage.
func (s *Sweep) headline() string {
	cells := s.cellCount()
	parts := []string{
		fmt.Sprintf("%d cells × %d blocks = %d runs", cells, s.Meta.Blocks, cells*s.Meta.Blocks),
		fmt.Sprintf("seed %d", s.Meta.Seed),
	}
	return strings.Join(append(parts, s.storages()...), " · ")
}

func (s *Sweep) cellCount() int {
	seen := make(map[Cell]bool)
	for i := range s.Runs {
		seen[s.Runs[i].Cell] = true
	}
	return len(seen)
}

// storages says which workloads ran on what.
func (s *Sweep) storages() []string {
	var storages []string
	workloads := make(map[string][]string)
	for _, w := range s.Meta.Workloads {
		if w.Storage == "" {
			continue
		}
		if !slices.Contains(storages, w.Storage) {
			storages = append(storages, w.Storage)
		}
		workloads[w.Storage] = append(workloads[w.Storage], w.Name)
	}
	if len(storages) == 1 {
		return storages
	}
	for i, storage := range storages {
		storages[i] = strings.Join(workloads[storage], ", ") + " on " + storage
	}
	return storages
}

func (s *Sweep) preflightLine() string {
	p := s.Meta.Preflight
	if p == (Preflight{}) {
		return "preflight: not run"
	}
	var parts []string
	if p.BustedCaught > 0 {
		parts = append(parts, "busted caught in "+FormatDuration(p.BustedCaught))
	} else {
		parts = append(parts, "busted not caught")
	}
	if p.HarnessCost > 0 {
		parts = append(parts, "harness "+FormatDuration(p.HarnessCost)+"/op")
	}
	if p.ClockRead > 0 {
		parts = append(parts, "clock "+FormatDuration(p.ClockRead))
	}
	return "preflight: " + strings.Join(parts, " · ")
}

func (s *Sweep) allWarnings() []string { return slices.Concat(s.Meta.Warnings, s.Warnings) }

// shownFailures is the number of failed runs whose reasons tables show.
const shownFailures = 3

// verificationLines say how many runs count, why others don't, and who else used the machine.
func (s *Sweep) verificationLines() []string {
	var failures, skips []string // sentences; reasons
	var steal, other []float64
	for i := range s.Runs {
		run := &s.Runs[i]
		steal = append(steal, run.StealPercent)
		other = append(other, run.OtherPercent)
		switch v := run.Verification; {
		case v.Error != "":
			failures = append(failures, fmt.Sprintf("  run %d, %s %s, block %d: %s",
				run.Index, run.Cell.Workload, run.Cell.Label(), run.Block, v.Error))
		case v.Skipped != "":
			skips = append(skips, v.Skipped)
		}
	}
	line := fmt.Sprintf("%d/%d runs", len(s.Runs), s.cellCount()*s.Meta.Blocks)
	if s.Meta.Interrupted {
		line += ", interrupted"
	}
	verified := len(s.Runs) - len(failures) - len(skips)
	switch {
	case len(s.Runs) == 0:
	case verified == len(s.Runs):
		line += ", all verified"
	default:
		line += fmt.Sprintf(", %d verified", verified)
	}
	if len(failures) > 0 {
		line += fmt.Sprintf(", %d FAILED verification", len(failures))
	}
	if len(skips) > 0 {
		line += fmt.Sprintf(", %d could not be (%s)", len(skips), skips[0])
	}
	if len(s.Runs) > 0 {
		slices.Sort(steal)
		slices.Sort(other)
		line += fmt.Sprintf(" · steal %s, other processes %s of the CPU time",
			FormatPercent(median(steal)/100), FormatPercent(median(other)/100))
	}
	if more := len(failures) - shownFailures; more > 0 {
		failures = append(failures[:shownFailures], fmt.Sprintf("  and %d more", more))
	}
	return append([]string{line}, failures...)
}

// footnote explains the signs in the tables, and what the intervals mean.
func (s *Sweep) footnote() string {
	effects := s.Effects()
	comparisons := len(effects)
	noun := "comparisons"
	if comparisons == 1 {
		noun = "comparison"
	}
	text := fmt.Sprintf("95 %% over %d planned %s, in this sweep.", comparisons, noun)
	signs := make(map[Verdict]bool)
	for _, e := range effects {
		signs[e.Verdict] = true
	}
	if signs[Undecided] {
		text = "? no verdict, see the notes. " + text
	}
	if signs[NoDifference] {
		text = "~ no difference found. " + text
	}
	return text
}
