package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// headline says how much was run, on which storage.
func (s *index) headline() string {
	var parts []string
	if cells := s.cellCount(); cells > 0 || s.Meta.SearchesPlanned == 0 {
		parts = append(parts, fmt.Sprintf("%s × %s = %s", counted(cells, "cell", "cells"), counted(s.Meta.Blocks, "block", "blocks"), counted(cells*s.Meta.Blocks, "run", "runs")))
	}
	if n := s.Meta.SearchesPlanned; n > 0 {
		parts = append(parts, fmt.Sprintf("search for the highest rate of %s", counted(n, "strategy", "strategies")))
	}
	if s.Meta.Shard != "" {
		parts = append(parts, fmt.Sprintf("shard %s: %d runs", s.Meta.Shard, s.plannedRuns()))
	}
	parts = append(parts, s.seedText())
	if n := len(s.sessions); n > 1 && s.Meta.Plan == "" {
		parts = append(parts, fmt.Sprintf("%d sessions", n))
	}
	if n := s.Meta.Resumed; n > 0 {
		parts = append(parts, "resumed "+counted(n, "time", "times"))
	}
	return strings.Join(append(parts, s.storages()...), " · ")
}

func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// plannedRuns is the number of runs that the blocks have.
func (s *Sweep) plannedRuns() int { return cmp.Or(s.Meta.Runs, s.cellCount()*s.Meta.Blocks) }

// cellCount is the number of cells planned, or of those that were run where the plan is not known.
func (s *Sweep) cellCount() int {
	if s.Meta.Cells > 0 || s.Meta.SearchesPlanned > 0 {
		return s.Meta.Cells
	}
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

// shownFailures is the number of failed runs whose reasons tables show.
const shownFailures = 3

// verificationLines say how many runs count, why others don't, and who else used the machine.
func (s *Sweep) verificationLines() []string {
	var failures, skips []string // sentences; reasons
	for i := range s.Runs {
		run := &s.Runs[i]
		switch v := run.Verification; {
		case v.Error != "":
			failures = append(failures, fmt.Sprintf("run %d, %s %s, block %d: %s",
				run.Index, run.Cell.Workload, run.Cell.Label(), run.Block, v.Error))
		case v.Skipped != "":
			skips = append(skips, v.Skipped)
		}
	}
	line := counted(len(s.Runs), "run", "runs") // of a search, nobody knows how many there will be
	if s.Meta.SearchesPlanned == 0 {
		line = fmt.Sprintf("%d/%d runs", len(s.Runs), s.plannedRuns())
	}
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
		steal, other := s.otherUse()
		line += fmt.Sprintf(" · steal %s, other processes %s of the CPU time",
			FormatPercent(steal), FormatPercent(other))
	}
	if more := len(failures) - shownFailures; more > 0 {
		failures = append(failures[:shownFailures], fmt.Sprintf("and %d more", more))
	}
	return append([]string{line}, failures...)
}

// crowded is the share of the CPU time that other processes may use before a warning says so.
const crowded = 0.1

// neighbours is the warning that other processes were busy; nil if they were not.
func (s *Sweep) neighbours() []string {
	_, other := s.otherUse()
	if !(other > crowded) {
		return nil
	}
	return []string{fmt.Sprintf("other processes used %s of the CPU time during the runs: "+
		"what they take from one strategy more than from another looks like a difference; repeat the sweep on an idle machine",
		FormatPercent(other))}
}

// busy is the share of the CPU time that other processes may use before nothing is to be relied on.
const busy = 0.25

// doubt says what makes findings unreliable; "" if nothing does.
func (s *index) doubt() string {
	if _, other := s.otherUse(); other > busy {
		return fmt.Sprintf("other processes used %s of the CPU time during the runs", FormatPercent(other))
	}
	for _, h := range s.health {
		if h.tellsNothing() {
			return h.Reason
		}
	}
	return ""
}

// otherUse returns the median shares, over the runs, of the CPU time that the hypervisor took and that
// other processes used; zeros without runs.
func (s *Sweep) otherUse() (steal, other float64) {
	if len(s.Runs) == 0 {
		return 0, 0
	}
	var steals, others []float64
	for i := range s.Runs {
		steals = append(steals, s.Runs[i].StealPercent/100)
		others = append(others, s.Runs[i].OtherPercent/100)
	}
	slices.Sort(steals)
	slices.Sort(others)
	return Median(steals), Median(others)
}

func (s *Sweep) environment() []Fact {
	e := &s.Meta.Environment
	known := func(text string) string { return cmp.Or(text, "unknown") }
	facts := []Fact{
		{"host", known(e.Host)},
		{"CPU", fmt.Sprintf("%s, %d online, %d usable, quota %s, governor %s, virtual: %s",
			known(e.CPUModel), e.CPUs, e.Affinity, known(e.Quota), known(e.Governor), known(e.Virtual))},
		{"memory", FormatBytes(float64(e.Memory))},
		{"system", fmt.Sprintf("%s/%s, kernel %s", known(e.OS), known(e.Arch), known(e.Kernel))},
		{"Go", fmt.Sprintf("%s, GOMAXPROCS %d, GOGC %s", known(e.GoVersion), e.GOMAXPROCS, known(e.GOGC))},
		{"tailrace", fmt.Sprintf("%s, commit %s", known(s.Meta.Version), known(e.Commit))},
		{"load at the start", fmt.Sprintf("%.2f", e.Load1)},
	}
	if hosts := s.partHosts(); len(hosts) > 0 {
		facts[0].Value = strings.Join(hosts, ", ") + "; what follows is that of " + known(e.Host)
		if s.Meta.Plan == "" {
			facts[0].Value += ", " + s.Meta.Parts[0].Started.UTC().Format(time.DateTime)
		}
	}
	if other := s.Meta.Against; other != nil {
		facts = append(facts, Fact{"compared with", fmt.Sprintf("%s: %s, commit %s, %s, %s",
			other.Label, known(other.Version), known(other.Commit), known(other.Go), known(other.Binary))})
	}
	for _, kind := range slices.Sorted(maps.Keys(e.Filesystems)) {
		facts = append(facts, Fact{kind, e.Filesystems[kind]})
	}
	return facts
}

// partHosts are the machines of the parts of a merged sweep, each once.
func (s *Sweep) partHosts() []string {
	var hosts []string
	for _, part := range s.Meta.Parts {
		if host := cmp.Or(part.Environment.Host, "unknown"); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// profiles say which cells were profiled, and where to.
func (s *Sweep) profiles() []string {
	var lines []string
	for _, p := range s.Meta.Profiles {
		lines = append(lines, fmt.Sprintf("%s of `%s` in %s → `%s`", p.Kind, p.Cell.Label(), p.Cell.Workload, p.File))
	}
	return lines
}

// shortened says in which runs the window closed before its time, because they had written all that
// they may.
func (s *Sweep) shortened() []string {
	runs, unmeasured := 0, 0
	reason := ""
	var of []string // strategies
	least, bound := 1.0, int64(0)
	for i := range s.Runs {
		run := &s.Runs[i]
		if run.Unmeasured != "" {
			unmeasured++
			reason = run.Unmeasured
			if label := quoted(run.Cell.Label()); !slices.Contains(of, label) {
				of = append(of, label)
			}
		}
		if w := s.workload(run.Cell.Workload); run.ByteBound && run.Valid() && w.Duration > 0 {
			runs++
			if share := run.Window / w.Duration; share < least {
				least, bound = share, w.MaxBytes
			}
		}
	}
	var warnings []string
	if runs > 0 {
		than := ""
		if bound > 0 { // an older sweep does not tell
			than = " above " + FormatBytes(float64(bound))
		}
		warnings = append(warnings, fmt.Sprintf(
			"%d of %d runs had written all that they may before their window was over, one after %s of it: rates are over the shorter window (--max-bytes%s allows more)",
			runs, len(s.Runs), FormatPercent(least), than))
	}
	if unmeasured > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d runs were not measured, of %s: %s", unmeasured, len(s.Runs), enumerate(of), reason))
	}
	return warnings
}

// runWarnings are those of the runs, each told once, with the number of runs that it holds for.
func (s *Sweep) runWarnings() []string {
	var texts []string
	count := make(map[string]int)
	for i := range s.Runs {
		for _, text := range s.Runs[i].Warnings {
			if count[text]++; count[text] == 1 {
				texts = append(texts, text)
			}
		}
	}
	for i, text := range texts {
		texts[i] = fmt.Sprintf("%s, in %d of %d runs", text, count[text], len(s.Runs))
	}
	return texts
}
