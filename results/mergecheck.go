package results

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// check refuses parts that don't belong together.
func (m *merger) check() error {
	if len(m.parts) == 0 {
		return fmt.Errorf("%w: there are none", ErrMerge)
	}
	for _, part := range m.parts {
		if len(part.Meta.Searches) > 0 || part.Meta.SearchesPlanned > 0 {
			return fmt.Errorf("%w: %s has a search for the highest rate: what it tries depends on the machine and the day, and two searches make no third",
				ErrMerge, part.Dir)
		}
	}
	for _, part := range m.parts[1:] {
		if err := sameDesign(m.parts[0], part); err != nil {
			return err
		}
	}
	if err := m.checkCells(); err != nil {
		return err
	}
	for _, part := range m.parts[1:] {
		if err := sameLoads(m.parts[0], part); err != nil {
			return err
		}
	}
	return m.checkRuns()
}

// sameDesign refuses a part that differs from the first in what all have in common. What tells the most comes
// first.
func sameDesign(first, part *Sweep) error {
	ours, theirs := traits(&first.Meta), traits(&part.Meta)
	for i := range ours {
		if ours[i] != theirs[i] {
			return differ(ours[i].Name, ours[i].Value, theirs[i].Value, first, part)
		}
	}
	for _, pair := range [][2]*Sweep{{first, part}, {part, first}} {
		if err := hasAll(pair[0], pair[1]); err != nil {
			return err
		}
	}
	for _, w := range first.Meta.Workloads {
		ours, theirs := settingsOf(w), settingsOf(part.workload(w.Name))
		for i := range ours {
			if ours[i] != theirs[i] {
				return differ("the "+ours[i].Name+" of "+w.Name, ours[i].Value, theirs[i].Value, first, part)
			}
		}
	}
	return nil
}

func differ(name, ours, theirs string, first, part *Sweep) error {
	return fmt.Errorf("%w: %s differs: %s in %s, %s in %s", ErrMerge, name, ours, first.Dir, theirs, part.Dir)
}

// sameLoads compares what neither the descriptions of workloads nor the cells that were run tell.
func sameLoads(first, part *Sweep) error {
	ours, theirs := &first.Meta, &part.Meta
	switch {
	case ours.Cells != theirs.Cells:
		return differ("number of cells", fmt.Sprint(ours.Cells), fmt.Sprint(theirs.Cells), first, part)
	case ours.Plan != "" && ours.Plan == theirs.Plan, ours.Design != "" && ours.Design == theirs.Design:
		return nil
	case ours.Design != "" && theirs.Design != "":
		return fmt.Errorf("%w: a load differs between %s and %s in what the results do not show, such as --payload or --max-bytes",
			ErrMerge, first.Dir, part.Dir)
	}
	without, with := first, part
	if ours.Design != "" {
		without, with = part, first
	}
	return fmt.Errorf("%w: %s does not say whether it is of the design of %s: it was written by an older version",
		ErrMerge, without.Dir, with.Dir)
}

// traits are what all parts have in common.
func traits(m *Meta) []Fact {
	e := &m.Environment
	against := "none"
	if m.Against != nil {
		against = fmt.Sprintf("%s %s %s %s", m.Against.Label, m.Against.Version, m.Against.Commit, m.Against.Go)
	}
	known := func(text string) string { return cmp.Or(text, "unknown") }
	return []Fact{
		{"version", known(m.Version)},
		{"commit", known(e.Commit)},
		{"other build", against},
		{"CPU model", known(e.CPUModel)},
		{"number of CPUs", fmt.Sprint(e.CPUs)},
		{"GOMAXPROCS", fmt.Sprint(e.GOMAXPROCS)},
		{"Go version", known(e.GoVersion)},
		{"GOGC", known(e.GOGC)},
		{"baseline", known(m.Baseline)},
	}
}

// settingsOf are what a workload does in every run, whatever its cell.
func settingsOf(w Workload) []Fact {
	storage := "unknown"
	if len(w.Points) > 0 {
		storage = cmp.Or(w.Points[0].Cell.Storage, storage)
	}
	seconds := func(s float64) string { return time.Duration(s * float64(time.Second)).String() }
	return []Fact{
		{"primary metric", cmp.Or(w.Primary, MetricOps)},
		{"storage", storage},
		{"ramp", seconds(w.Ramp)},
		{"duration", seconds(w.Duration)},
		{"prefill", FormatBytes(float64(w.Prefill))},
		{"segment size", FormatBytes(float64(w.SegmentSize))},
	}
}

// hasAll refuses a part that lacks a workload or a planned comparison of another.
func hasAll(of, part *Sweep) error {
	for _, w := range of.Meta.Workloads {
		if !slices.ContainsFunc(part.Meta.Workloads, func(o Workload) bool { return o.Name == w.Name }) {
			return fmt.Errorf("%w: %s has no workload %s, and %s has", ErrMerge, part.Dir, w.Name, of.Dir)
		}
	}
	for _, c := range of.Meta.Planned {
		if !slices.Contains(part.Meta.Planned, c) {
			return fmt.Errorf("%w: %s does not compare %s with %s in %s on %s, and %s does",
				ErrMerge, part.Dir, c.Strategy, c.Baseline, c.Workload, MetricLabel(c.Metric), of.Dir)
		}
	}
	return nil
}

// checkCells refuses a part that has no run of a cell of another, unless it was interrupted: then comparisons
// miss the blocks that it lacks.
func (m *merger) checkCells() error {
	all := &Sweep{}
	owner := make(map[Cell]*Sweep)
	var cells []Cell
	has := make(map[*Sweep]map[Cell]bool)
	for _, part := range m.parts {
		has[part] = make(map[Cell]bool)
		for i := range part.Runs {
			cell := part.Runs[i].Cell
			has[part][cell] = true
			if owner[cell] == nil {
				owner[cell] = part
				cells = append(cells, cell)
				all.Runs = append(all.Runs, part.Runs[i])
			}
		}
	}
	for _, part := range m.parts {
		if part.Meta.Interrupted {
			continue
		}
		for _, cell := range cells {
			if !has[part][cell] {
				where := ""
				if at := all.index().pointLabel(cell.Point()); at != "" {
					where = " at " + at
				}
				return fmt.Errorf("%w: %s has no run of %s in %s%s, and %s has",
					ErrMerge, part.Dir, cell.Label(), cell.Workload, where, owner[cell].Dir)
			}
		}
	}
	return nil
}

// runIdentity tells runs apart, wherever they are kept.
type runIdentity struct {
	host  string
	start int64
	seed  uint64
	cell  Cell
}

func (s *Sweep) identity(run *Run) runIdentity {
	return runIdentity{s.hostOf(run), run.Start.UnixNano(), run.Seed, run.Cell}
}

// checkRuns refuses parts that have a run in common: it would count twice.
func (m *merger) checkRuns() error {
	seen := make(map[runIdentity]*Sweep)
	for _, part := range m.parts {
		for i := range part.Runs {
			run := &part.Runs[i]
			id := part.identity(run)
			if other := seen[id]; other != nil && other != part {
				return fmt.Errorf("%w: the run of %s in %s in block %d is in %s and in %s",
					ErrMerge, run.Cell.Label(), run.Cell.Workload, run.Block, other.Dir, part.Dir)
			}
			seen[id] = part
		}
	}
	return nil
}
