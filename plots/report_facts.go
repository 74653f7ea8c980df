package plots

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tailrace/results"
)

// headline says how much was run, when and where.
func headline(s *results.Sweep) string {
	parts := []string{
		fmt.Sprintf("%d runs in %d blocks", len(s.Runs), s.Meta.Blocks),
		fmt.Sprintf("seed %d", s.Meta.Seed),
		s.Meta.Started.UTC().Format("2 January 2006 15:04 UTC"),
	}
	for _, more := range []string{s.Meta.Environment.Host, s.Meta.Environment.CPUModel} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	return strings.Join(parts, " · ")
}

// footnote says what the intervals and signs mean.
func footnote(s *results.Sweep) string {
	return fmt.Sprintf("Intervals hold together with 95 %% over %d planned comparisons, in this sweep, on this machine; A/A arms with 95 %% each. "+
		"~ no difference found. What was not planned has no verdict.", len(s.Effects()))
}

// verification says how many runs count, and why others don't.
func verification(s *results.Sweep) []string {
	const shown = 10
	var failures, skipped []string
	for i := range s.Runs {
		run := &s.Runs[i]
		switch v := run.Verification; {
		case v.Error != "":
			failures = append(failures, fmt.Sprintf("Run %d, %s %s, block %d: %s", run.Index, run.Cell.Workload, run.Cell.Label(), run.Block, v.Error))
		case v.Skipped != "":
			skipped = append(skipped, v.Skipped)
		}
	}
	line := fmt.Sprintf("%d runs: %d verified, %d failed verification", len(s.Runs), len(s.Runs)-len(failures)-len(skipped), len(failures))
	if len(skipped) > 0 {
		line += fmt.Sprintf(", %d could not be checked (%s)", len(skipped), skipped[0])
	}
	if more := len(failures) - shown; more > 0 {
		failures = append(failures[:shown], fmt.Sprintf("and %d more", more))
	}
	return append([]string{line + "."}, failures...)
}

// preflight says what was checked before the first run.
func preflight(s *results.Sweep) string {
	p := &s.Meta.Preflight
	var parts []string
	if p.BustedCaught > 0 {
		parts = append(parts, "busted caught in "+results.FormatDuration(p.BustedCaught))
	} else {
		parts = append(parts, "busted not caught")
	}
	if p.HarnessCost > 0 {
		parts = append(parts, "the harness itself costs "+results.FormatDuration(p.HarnessCost)+" an operation")
	}
	if p.ClockRead > 0 {
		parts = append(parts, "a clock reading "+results.FormatDuration(p.ClockRead))
	}
	return "Preflight: " + strings.Join(parts, ", ") + "."
}

func environment(s *results.Sweep) []reportFact {
	e := &s.Meta.Environment
	known := func(text string) string { return cmp.Or(text, "unknown") }
	facts := []reportFact{
		{"host", known(e.Host)},
		{"CPU", known(e.CPUModel)},
		{"CPUs", fmt.Sprintf("%d online, %d usable, quota %s, governor %s", e.CPUs, e.Affinity, known(e.Quota), known(e.Governor))},
		{"virtual machine", known(e.Virtual)},
		{"memory", results.FormatBytes(float64(e.Memory))},
		{"system", fmt.Sprintf("%s/%s, kernel %s", e.OS, e.Arch, known(e.Kernel))},
		{"Go", fmt.Sprintf("%s, GOMAXPROCS %d, GOGC %s", known(e.GoVersion), e.GOMAXPROCS, known(e.GOGC))},
		{"tailrace", fmt.Sprintf("%s, commit %s", known(s.Meta.Version), known(e.Commit))},
		{"load when it began", fmt.Sprintf("%.2f", e.Load1)},
	}
	for _, kind := range slices.Sorted(maps.Keys(e.Filesystems)) {
		facts = append(facts, reportFact{kind, e.Filesystems[kind]})
	}
	return facts
}

// shellLine writes a command so that a POSIX shell takes it as it was.
func shellLine(command []string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+%@"
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = word
		if word == "" || strings.Trim(word, safe) != "" {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
