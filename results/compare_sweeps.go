package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// compareSweeps compares the runs of this build in two sweeps.
func compareSweeps(old, new *Sweep, o CompareOptions) (*Changes, error) {
	for _, check := range []func(old, new *Sweep) error{sameSettings, sameDesigns, apartRuns} {
		if err := check(old, new); err != nil {
			return nil, err
		}
	}
	before, after := old.index(), new.index()
	keys := func(workload string) []cellKey {
		return differingKeys(slices.Concat(before.points(workload), after.points(workload)))
	}
	a, b := before.side("", keys), after.side("", keys)
	for _, s := range []*Sweep{old, new} {
		if s.Meta.Against != nil {
			b.warnings = append(b.warnings, fmt.Sprintf("%s has runs of another build too, which are left out; tailrace compare %[1]s compares the two", s.Dir))
		}
	}
	if one, other := old.Meta.Environment.Host, new.Meta.Environment.Host; one != other {
		b.warnings = append(b.warnings, fmt.Sprintf("two machines, of one kind: %s and %s", cmp.Or(one, "unknown"), cmp.Or(other, "unknown")))
	}
	if overlapping(old, new) {
		b.warnings = append(b.warnings, "the two ran at the same time on one machine, and disturbed each other")
		return compareSides(a, b, false, 0, o)
	}
	return compareSides(a, b, alternate(old, new), 0, o)
}

// sameDesigns refuses two sweeps of the same cells whose loads differ in what the cells do not tell.
func sameDesigns(old, new *Sweep) error {
	cells := func(s *Sweep) map[Cell]bool {
		found := make(map[Cell]bool)
		for i := range s.Runs {
			found[s.Runs[i].Cell] = true
		}
		return found
	}
	if old.Meta.Design != "" && new.Meta.Design != "" && old.Meta.Design != new.Meta.Design && maps.Equal(cells(old), cells(new)) {
		return fmt.Errorf("results: loads that %w: those of %s and %s differ in what their results do not show, such as --max-bytes or --payload",
			ErrIncomparable, old.Dir, new.Dir)
	}
	return nil
}

// apartRuns refuses two sweeps that have a run in common: one is a copy of the other, or a part of it.
func apartRuns(old, new *Sweep) error {
	ran := make(map[runIdentity]bool)
	for i := range old.Runs {
		ran[old.identity(&old.Runs[i])] = true
	}
	for i := range new.Runs {
		if run := &new.Runs[i]; !run.Start.IsZero() && ran[new.identity(run)] {
			return fmt.Errorf("results: runs that %w: the run of %s in %s in block %d is in %s and in %s",
				ErrIncomparable, run.Cell.Label(), run.Cell.Workload, run.Block, old.Dir, new.Dir)
		}
	}
	return nil
}

// overlapping reports whether a window of one sweep overlaps one of the other on the same machine.
func overlapping(a, b *Sweep) bool {
	if a.Meta.Environment.Host != b.Meta.Environment.Host || a.Meta.Environment.Host == "" {
		return false
	}
	type window struct {
		start, end time.Time
		sweep      *Sweep
	}
	var windows []window
	for _, s := range []*Sweep{a, b} {
		for i := range s.Runs {
			if run := &s.Runs[i]; !run.Start.IsZero() {
				windows = append(windows, window{run.Start, run.Start.Add(time.Duration(run.Window * float64(time.Second))), s})
			}
		}
	}
	slices.SortFunc(windows, func(a, b window) int { return a.start.Compare(b.start) })
	ended := make(map[*Sweep]time.Time) // the latest window of each so far
	for _, w := range windows {
		other := a
		if w.sweep == a {
			other = b
		}
		if w.start.Before(ended[other]) {
			return true
		}
		if w.end.After(ended[w.sweep]) {
			ended[w.sweep] = w.end
		}
	}
	return false
}

// compareBuilds compares the two builds of one sweep.
func compareBuilds(s *Sweep, o CompareOptions) (*Changes, error) {
	if s.Meta.Against == nil {
		return nil, fmt.Errorf("results: %s has runs of %w", s.Dir, ErrOneBuild)
	}
	x := s.index()
	old, new := x.side(s.Meta.Against.Label, x.keys), x.side("", x.keys)
	old.warnings = nil // the same as those of new
	new.origin.Path = "this build"
	least := s.Meta.Verdicts
	if len(o.Metrics) > 0 {
		least = 0
	}
	return compareSides(old, new, true, least, o)
}

// side is what a sweep measured of one build. Controls and the second arm of the baseline are no candidates. keys are
// those in which the points of a workload differ on either side, for names that tell them apart.
func (s *index) side(build string, keys func(workload string) []cellKey) *side {
	x := &side{origin: s.origin(build), machine: s.machine(), warnings: slices.Clone(s.Warnings)}
	if s.Meta.Interrupted {
		x.warnings = append(x.warnings, fmt.Sprintf("%s: the sweep was interrupted, or is still under way", s.Dir))
	}
	for _, workload := range s.names {
		if len(s.searches(workload)) > 0 {
			x.warnings = append(x.warnings, fmt.Sprintf("%s: the search for a rate under %s is left out", s.Dir, workload))
			continue
		}
		differing := keys(workload)
		for _, cell := range s.cellsOf(workload) {
			if cell.Build == build && cell.Arm == "" && !s.isControl(cell) {
				x.benchmarks = append(x.benchmarks, s.benchmark(cell, differing))
			}
		}
	}
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Cell.Build == build && !run.Valid() {
			x.violations = append(x.violations, fmt.Sprintf("%s, %s, block %d: %s", run.Cell.Workload, run.Cell.Label(), run.Block, run.Verification.Error))
		}
	}
	return x
}

func (s *Sweep) origin(build string) Origin {
	describe := func(version, commit, goVersion string) string {
		return fmt.Sprintf("version %s, commit %s, %s", cmp.Or(version, "unknown"), cmp.Or(commit, "unknown"), cmp.Or(goVersion, "unknown Go"))
	}
	if other := s.Meta.Against; other != nil && build != "" {
		return Origin{Path: other.Binary, Description: describe(other.Version, other.Commit, other.Go)}
	}
	return Origin{Path: s.Dir, Description: describe(s.Meta.Version, s.Meta.Environment.Commit, s.Meta.Environment.GoVersion)}
}

// machine is what has to be equal for runs to be comparable.
func (s *Sweep) machine() []Fact {
	env := &s.Meta.Environment
	system := ""
	if env.OS != "" || env.Arch != "" {
		system = env.OS + "/" + env.Arch
	}
	return []Fact{
		{"system", system},
		{"CPU model", env.CPUModel},
		{"number of CPUs", positive(env.CPUs)},
		{"number of CPUs that may be used", positive(env.Affinity)},
		{gomaxprocsKey, positive(env.GOMAXPROCS)},
	}
}

// isControl reports whether a cell is no candidate, or one whose answers can't be checked.
func (s *index) isControl(cell Cell) bool {
	return isControl(cell.Strategy) ||
		slices.ContainsFunc(s.runs[cell], func(r *Run) bool { return r.Verification.Skipped != "" })
}

// benchmark is what the runs of a cell measured.
func (s *index) benchmark(cell Cell, keys []cellKey) *benchmark {
	primary := s.primary(cell.Workload)
	b := &benchmark{
		name: strings.TrimSpace(cell.Workload + " " + cell.Strategy), primary: []string{primary}, values: make(map[string][]observation),
		exact:    func(string) bool { return false },
		distrust: func(metric string) string { return cmp.Or(s.sick, s.distrust(cell, metric)) },
		better: func(metric string) int {
			if LowerIsBetter(metric) {
				return -1
			}
			return 1
		},
	}
	if label := pointLabel(cell.Point(), keys); label != "" {
		b.name += ", " + label
	}
	key := cell
	key.Build = ""
	b.key = key
	known := map[string]bool{primary: true}
	for _, run := range s.runs[cell] {
		if run.Valid() {
			b.runs++
		}
		for metric := range run.Bounds {
			known[metric] = true
		}
		for metric, value := range run.Metrics {
			if isFinite(value) && value >= 0 {
				known[metric] = true
				if run.Valid() {
					b.values[metric] = append(b.values[metric], observation{value, run.Block})
				}
			}
		}
	}
	for _, metric := range append([]string{primary}, MetricNames()...) {
		if known[metric] && !slices.Contains(b.metrics, metric) {
			b.metrics = append(b.metrics, metric)
		}
	}
	return b
}

// sameSettings refuses two sweeps in which a workload of one name is not the same load.
func sameSettings(old, new *Sweep) error {
	for _, w := range new.Meta.Workloads {
		other := old.workload(w.Name)
		if !slices.ContainsFunc(old.Meta.Workloads, func(o Workload) bool { return o.Name == w.Name }) {
			continue
		}
		for _, setting := range []struct {
			name     string
			old, new float64
			format   func(float64) string
		}{
			{"prefill", float64(other.Prefill), float64(w.Prefill), FormatBytes},
			{"segment size", float64(other.SegmentSize), float64(w.SegmentSize), FormatBytes},
			{"window", other.Duration, w.Duration, FormatDuration},
			{"ramp", other.Ramp, w.Ramp, FormatDuration},
		} {
			if setting.old != setting.new {
				return fmt.Errorf("results: loads that %w: the %s of %s is %s in %s and %s in %s", ErrIncomparable,
					setting.name, w.Name, setting.format(setting.old), old.Dir, setting.format(setting.new), new.Dir)
			}
		}
	}
	return nil
}

// alternate reports whether two sweeps took turns on one machine: each block of both began before the next block
// of either.
func alternate(a, b *Sweep) bool {
	begunA, hostA := a.blockStarts()
	begunB, hostB := b.blockStarts()
	if len(begunA) < 2 || len(begunA) != len(begunB) || hostA != hostB || hostA == "" {
		return false
	}
	var latest time.Time // of the block before
	for _, block := range slices.Sorted(maps.Keys(begunA)) {
		one, other := begunA[block], begunB[block]
		if one.IsZero() || other.IsZero() || !one.After(latest) || !other.After(latest) {
			return false
		}
		latest = one
		if other.After(one) {
			latest = other
		}
	}
	return true
}

// blockStarts is when each block began, and on which machine all of them ran; "" if it was more than one, or is
// not known.
func (s *Sweep) blockStarts() (begun map[int]time.Time, host string) {
	begun = make(map[int]time.Time)
	host = s.Meta.Environment.Host
	for i := range s.Runs {
		run := &s.Runs[i]
		if run.Host != "" && run.Host != host {
			return begun, ""
		}
		if first, ok := begun[run.Block]; !ok || run.Start.Before(first) {
			begun[run.Block] = run.Start
		}
	}
	return begun, host
}
