package results

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ErrMerge: the results can't be merged, because they are not of one design or not from machines of one kind,
// or have a run in common. Test with errors.Is; the error says what differs between which directories.
var ErrMerge = errors.New("results can't be merged")

// Merge writes the runs of several sweep directories as one into a new directory, with their histograms and
// profiles, and returns what that holds: Sweep.WriteFiles makes the rest of it. The directories are shards of one plan, each block whole on one machine, or sweeps of one design from
// several days or machines, with whatever seeds and numbers of blocks: the same cells and loads, the same planned
// comparisons, the same tailrace, machines of a kind. Anything else is refused with ErrMerge before anything is
// written, and so are searches, whose probes depend on the machine and the day.
//
// Where the context ends before the last run is copied, or anything can't be read or written, nothing is left of the
// new directory. The context's error is then in the chain.
//
// Blocks stay whole. Those of shards of one plan keep their numbers; of several sweeps they are numbered on, in
// the order in which the sweeps began, and runs get the session that they are of. Runs get new indices,
// and Meta.Parts lists the parts; results that were merged already can be merged with further ones.
func Merge(ctx context.Context, dirs []string, out string) (*Sweep, error) {
	m := merger{}
	for _, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("results: merge: %w", err)
		}
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
	err = m.copyTo(ctx, w)
	if err == nil {
		err = w.writeMeta(&meta) // last: until now it says that the sweep is under way
	}
	if err != nil {
		return nil, errors.Join(err, m.undo(w))
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return Load(out)
}

// undo takes back all that was written of the merged sweep.
func (m *merger) undo(w *Writer) error {
	for i := range m.runs {
		if run := m.merged(i); run.Latency != "" {
			_ = os.Remove(filepath.Join(w.sweep.Dir, run.Latency))
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
	parts  []*Sweep
	sweeps []*execution // in the order in which they began
	runs   []mergedRun  // in their new order
}

// mergedRun is a run with where it comes from.
type mergedRun struct {
	part  *Sweep
	run   *Run
	block int // its new number
	// session is the new one; zero where only hosts are told apart.
	session time.Time
}

// execution is one sweep: one part, or several that are shards of one plan.
type execution struct {
	parts  []*Sweep
	blocks map[int]bool         // that the parts have
	size   int                  // numbers of blocks that it takes
	began  map[string]time.Time // on each host
}

// arrange finds out which parts are of one sweep, and orders the runs by block, and within one as they were
// executed.
func (m *merger) arrange() {
	m.findSweeps()
	first := 0 // block
	for _, sweep := range m.sweeps {
		for _, part := range sweep.parts {
			for i := range part.Runs {
				run := &part.Runs[i]
				merged := mergedRun{part: part, run: run, block: first + run.Block, session: run.Session}
				if merged.session.IsZero() && len(m.sweeps) > 1 {
					merged.session = sweep.began[part.hostOf(run)]
				}
				m.runs = append(m.runs, merged)
			}
		}
		first += sweep.size
	}
	slices.SortStableFunc(m.runs, func(a, b mergedRun) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.run.Index, b.run.Index))
	})
}

// findSweeps puts parts of one plan together whose blocks are not the same: those that were run again are of
// another sweep.
func (m *merger) findSweeps() {
	ordered := slices.Clone(m.parts)
	slices.SortStableFunc(ordered, func(a, b *Sweep) int { return a.Meta.Started.Compare(b.Meta.Started) })
	for _, part := range ordered {
		blocks := part.blocks()
		at := slices.IndexFunc(m.sweeps, func(e *execution) bool {
			return part.Meta.Plan != "" && e.parts[0].Meta.Plan == part.Meta.Plan && !overlap(e.blocks, blocks)
		})
		if at < 0 {
			at = len(m.sweeps)
			m.sweeps = append(m.sweeps, &execution{blocks: make(map[int]bool), began: make(map[string]time.Time)})
		}
		m.sweeps[at].add(part, blocks)
	}
}

func (e *execution) add(part *Sweep, blocks map[int]bool) {
	e.parts = append(e.parts, part)
	e.size = max(e.size, part.Meta.Blocks)
	for block := range blocks {
		e.blocks[block] = true
		e.size = max(e.size, block+1)
	}
	for _, p := range partsOf(part) {
		host := p.Environment.Host
		if began, known := e.began[host]; !known || p.Started.Before(began) {
			e.began[host] = p.Started
		}
	}
}

// blocks are those of which there are runs.
func (s *Sweep) blocks() map[int]bool {
	blocks := make(map[int]bool)
	for i := range s.Runs {
		blocks[s.Runs[i].Block] = true
	}
	return blocks
}

func overlap(a, b map[int]bool) bool {
	for block := range a {
		if b[block] {
			return true
		}
	}
	return false
}

// hostOf is the machine that executed a run: that of the sweep, where the run does not say.
func (s *Sweep) hostOf(run *Run) string { return cmp.Or(run.Host, s.Meta.Environment.Host) }

// merged is a run as it is in the merged sweep.
func (m *merger) merged(i int) Run {
	r := &m.runs[i]
	run := *r.run
	run.Index, run.Block, run.Session = i, r.block, r.session
	run.Host = r.part.hostOf(r.run)
	if run.Latency != "" {
		run.Latency = latencyDir + "/" + latencyName(&run)
	}
	return run
}

// copyTo writes the runs, their histograms and the profiles.
func (m *merger) copyTo(ctx context.Context, w *Writer) error {
	for i := range m.runs {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("results: merge: %w", err)
		}
		run, from := m.merged(i), &m.runs[i]
		err := w.add(&run, func(out io.Writer) error { return from.part.copyFile(out, from.run.Latency) })
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
	file, err := openRegular(filepath.Join(s.Dir, name))
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(out, file)
	return err
}
