package results

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// ErrMerge: the results can't be merged, because they are not parts of one sweep on machines of one kind,
// or have a run in common. Test with errors.Is; the error says what differs.
var ErrMerge = errors.New("results can't be merged")

// Merge writes the runs of several sweep directories as one into a new directory, and returns what that
// holds. The directories have to be parts of one plan: the same cells, blocks and seed, run by the same
// tailrace on machines of a kind, each block whole on one of them. Anything else is refused with ErrMerge
// before anything is written. Runs get new indices, histograms and profiles are copied, and Meta.Parts
// lists the parts; results that were merged already can be merged with further ones.
func Merge(dirs []string, out string) (_ *Sweep, err error) {
	m := merger{}
	for _, dir := range dirs {
		part, err := Load(dir)
		if err != nil {
			return nil, err
		}
		m.parts = append(m.parts, part)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	m.arrange()
	meta := m.meta()
	w, err := Create(out, &meta)
	if err != nil {
		return nil, err
	}
	if err := m.copyTo(w); err != nil {
		return nil, errors.Join(err, w.undo())
	}
	if err := w.Finish(&meta); err != nil {
		return nil, err
	}
	return Load(out)
}

// undo takes back all that a Writer has written.
func (w *Writer) undo() error {
	for i := range w.sweep.Runs {
		if name := w.sweep.Runs[i].Latency; name != "" {
			_ = os.Remove(filepath.Join(w.sweep.Dir, name))
		}
	}
	for _, p := range w.sweep.Meta.Profiles {
		_ = os.Remove(filepath.Join(w.sweep.Dir, p.File))
	}
	w.sweep.Runs = nil
	return w.Discard()
}

// merger makes one sweep of several.
type merger struct {
	parts []*Sweep
	runs  []mergedRun // in their new order
}

// mergedRun is a run with where it comes from.
type mergedRun struct {
	part *Sweep
	run  *Run
}

// check refuses parts that don't belong together.
func (m *merger) check() error {
	if len(m.parts) == 0 {
		return fmt.Errorf("%w: there are none", ErrMerge)
	}
	first := m.parts[0]
	for _, part := range m.parts {
		if part.Meta.Plan == "" {
			return fmt.Errorf("%w: %s does not say which plan it is part of", ErrMerge, part.Dir)
		}
		ours, theirs := traits(&first.Meta), traits(&part.Meta)
		for i := range ours {
			if ours[i] != theirs[i] {
				return fmt.Errorf("%w: %s differs: %s in %s, %s in %s",
					ErrMerge, ours[i].Name, ours[i].Value, first.Dir, theirs[i].Value, part.Dir)
			}
		}
	}
	return m.checkBlocks()
}

// traits are what parts of one sweep have in common.
func traits(m *Meta) []Fact {
	e := &m.Environment
	against := "none"
	if m.Against != nil {
		against = fmt.Sprintf("%s %s %s", m.Against.Label, m.Against.Version, m.Against.Commit)
	}
	return []Fact{
		{"plan", m.Plan},
		{"version", m.Version},
		{"commit", cmp.Or(e.Commit, "unknown")},
		{"other build", against},
		{"CPU model", cmp.Or(e.CPUModel, "unknown")},
		{"number of CPUs", fmt.Sprint(e.CPUs)},
		{"GOMAXPROCS", fmt.Sprint(e.GOMAXPROCS)},
		{"Go version", cmp.Or(e.GoVersion, "unknown")},
	}
}

// checkBlocks refuses parts of which two have a block in common: what is compared must have run on one
// machine.
func (m *merger) checkBlocks() error {
	type blockRun struct {
		block int
		cell  Cell
	}
	ranBlock := make(map[int]*Sweep)
	ran := make(map[blockRun]*Sweep)
	for _, part := range m.parts {
		for i := range part.Runs {
			run := &part.Runs[i]
			if other, ok := ran[blockRun{run.Block, run.Cell}]; ok && other != part {
				return fmt.Errorf("%w: the run of %s in %s in block %d is in %s and in %s",
					ErrMerge, run.Cell.Label(), run.Cell.Workload, run.Block, other.Dir, part.Dir)
			}
			ran[blockRun{run.Block, run.Cell}] = part
		}
	}
	for _, part := range m.parts {
		for i := range part.Runs {
			block := part.Runs[i].Block
			if other, ok := ranBlock[block]; ok && other != part {
				return fmt.Errorf("%w: block %d has runs in %s and in %s", ErrMerge, block, other.Dir, part.Dir)
			}
			ranBlock[block] = part
		}
	}
	return nil
}

// arrange orders the runs by block, and within one as they were executed.
func (m *merger) arrange() {
	for _, part := range m.parts {
		for i := range part.Runs {
			m.runs = append(m.runs, mergedRun{part, &part.Runs[i]})
		}
	}
	slices.SortStableFunc(m.runs, func(a, b mergedRun) int {
		return cmp.Or(cmp.Compare(a.run.Block, b.run.Block), cmp.Compare(a.run.Index, b.run.Index))
	})
}

// copyTo writes the runs, their histograms and the profiles.
func (m *merger) copyTo(w *Writer) error {
	for i, r := range m.runs {
		run := *r.run
		run.Index = i
		run.Host = cmp.Or(run.Host, r.part.Meta.Environment.Host)
		from := run.Latency
		if from != "" {
			run.Latency = latencyDir + "/" + latencyName(&run)
		}
		err := w.add(&run, func(out io.Writer) error { return r.part.copyFile(out, from) })
		if err != nil {
			return err
		}
	}
	for i, part := range m.parts {
		for _, profile := range part.Meta.Profiles {
			name := profileName(i, profile.File)
			if err := w.makeDir(filepath.Dir(filepath.Join(w.sweep.Dir, name))); err != nil {
				return err
			}
			err := w.sweep.replace(name, func(out io.Writer) error { return part.copyFile(out, profile.File) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// profileName is where the profile of a part goes.
func profileName(part int, file string) string {
	return fmt.Sprintf("profiles/%d-%s", part+1, filepath.Base(file))
}

// copyFile copies a file of the sweep.
func (s *Sweep) copyFile(out io.Writer, name string) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%q lies outside the sweep", name)
	}
	file, err := os.Open(filepath.Join(s.Dir, name))
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(out, file)
	return err
}
