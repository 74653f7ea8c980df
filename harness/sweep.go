package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// sweep is a plan while it is executed.
type sweep struct {
	plan   *Plan
	writer *results.Writer
	// journal has the runs that are done, by index: those of an interrupted sweep too.
	journal map[int]*results.Run
	// roots are the directories that hold the runs' data, by parent.
	roots map[string]string
	locks []*os.File // of the roots, see lockFile
	began time.Time
	// Estimates of the runs that were done before an interruption, and of those that were done since.
	before, spent time.Duration
}

// Run executes a plan and writes its results. When the context ends, it kills the run that is under
// way, keeps what had finished, and returns it with ErrInterrupted. It returns ErrNotCaught, and keeps
// nothing, if the checks don't work. A failed verification of a run is in the results and no error.
func Run(ctx context.Context, p *Plan) (*results.Sweep, error) {
	s := &sweep{plan: p, roots: map[string]string{}, journal: map[int]*results.Run{}}
	release, err := s.holdOther()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.open(); err != nil {
		return nil, err
	}
	err = s.execute(ctx)
	err = cmp.Or(err, s.clean(err == nil))
	if len(s.journal) == 0 {
		return nil, cmp.Or(err, s.writer.Discard())
	}
	p.Meta.Interrupted = err != nil
	if err != nil && !errors.Is(err, ErrInterrupted) {
		// What stopped the sweep may well keep Finish from writing too.
		_ = s.writer.Finish(&p.Meta)
		return nil, fmt.Errorf("%w; %d runs before it are kept; to go on: tailrace run --resume --out %s", err, len(s.journal), p.Options.Out)
	}
	if finishErr := s.writer.Finish(&p.Meta); finishErr != nil {
		return nil, cmp.Or(err, fmt.Errorf("%w; all runs are kept; to write the rest: tailrace run --resume --out %s", finishErr, p.Options.Out))
	}
	loaded, loadErr := results.Load(p.Options.Out)
	return loaded, cmp.Or(err, loadErr)
}

// open begins the directory of the results, or goes on with it.
func (s *sweep) open() error {
	p := s.plan
	if p.resumed {
		writer, before, err := results.Reopen(p.Options.Out)
		if err != nil {
			return usagef("--resume %s: %w", p.Options.Out, err)
		}
		s.writer = writer
		for i := range before.Runs {
			s.journal[before.Runs[i].Index] = &before.Runs[i]
		}
		p.Meta.Warnings = append(p.Meta.Warnings, before.Warnings...)
		p.Meta.Interrupted = true // until it is finished
		if err := writer.Update(&p.Meta); err != nil {
			return err
		}
		return s.removeLeft()
	}
	p.Meta.Started = time.Now()
	writer, err := results.Create(p.Options.Out, &p.Meta)
	if err != nil {
		return usagef("--out %s: %w", p.Options.Out, err)
	}
	s.writer = writer
	text, err := json.Marshal(p.saved())
	if err == nil {
		err = writer.WritePlan(text)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("harness: plan: %w", err), writer.Discard())
	}
	return nil
}

func (s *sweep) execute(ctx context.Context) error {
	if err := s.preflight(ctx); err != nil {
		return err
	}
	turns := s.plan.turns()
	for _, t := range turns {
		if s.journal[t.index] != nil {
			s.before += t.cell.estimate()
		}
	}
	s.began = time.Now()
	s.progress(nil)
	for _, t := range turns {
		if _, err := s.one(ctx, t); err != nil {
			return err
		}
	}
	if err := s.search(ctx); err != nil {
		return err
	}
	return s.profile(ctx)
}

// turn is one run of the plan.
type turn struct {
	index int // in the order of execution of the whole plan, over all its machines
	block int
	cell  *PlannedCell
}

// turns are the runs of the blocks that this machine has, in their order: every cell once a block.
func (p *Plan) turns() []turn {
	var turns []turn
	for block := range p.Options.Blocks {
		if !p.Options.Shard.has(block) {
			continue
		}
		for i, cell := range workload.Shuffle(p.Options.Seed, block, len(p.Cells)) {
			turns = append(turns, turn{index: block*len(p.Cells) + i, block: block, cell: &p.Cells[cell]})
		}
	}
	return turns
}

// one executes one run and journals it, unless it is in the journal.
func (s *sweep) one(ctx context.Context, t turn) (*results.Run, error) {
	if run, ok := s.journal[t.index]; ok {
		return run, nil
	}
	o := &s.plan.Options
	// Equal for all cells of a block, so that strategies are asked for the same.
	seed := o.Seed + uint64(t.block)<<32
	dir, err := s.dir(t.cell.Place, fmt.Sprintf("%06d-%s-%s-b%d", t.index, t.cell.Cell.Workload, fileName(t.cell.Cell.Label()), t.block))
	if err != nil {
		return nil, err
	}
	spec := Spec{Cell: t.cell.Cell, Workload: t.cell.Workload, Seed: seed, Dir: dir}
	spec.Keep = o.KeepData && t.block == o.Blocks-1
	outcome, err := s.process(ctx, spec)
	if err != nil {
		return nil, err
	}
	if dir != "" && !spec.Keep {
		if err := os.RemoveAll(dir); err != nil { // what a run that crashed has left
			return nil, fmt.Errorf("harness: data of a run: %w", err)
		}
	}
	run := &outcome.Run
	if err := unwritable(run.Verification.Error, t.cell.Place.Text); err != nil {
		return nil, err
	}
	run.Index, run.Block, run.Cell = t.index, t.block, t.cell.Cell
	run.Host = s.plan.Meta.Environment.Host
	if err := s.writer.AddEach(run, outcome.decoded()); err != nil {
		return nil, err
	}
	s.journal[t.index] = run
	s.spent += t.cell.estimate()
	s.progress(run)
	return run, nil
}

// decoded are the histograms of the intervals, one interval at a time, up to one that can't be decoded.
func (o *Outcome) decoded() iter.Seq2[results.IntervalHistograms, error] {
	return func(yield func(results.IntervalHistograms, error) bool) {
		for _, e := range o.Intervals {
			i := results.IntervalHistograms{Start: e.Start, Length: e.Length, Histograms: map[string]*results.Histogram{}}
			for kind, text := range e.Histograms {
				h := new(results.Histogram)
				if err := h.UnmarshalText([]byte(text)); err != nil {
					yield(i, fmt.Errorf("harness: outcome of a run: %w", err))
					return
				}
				i.Histograms[kind] = h
			}
			if !yield(i, nil) {
				return
			}
		}
	}
}

// process executes a run in its process. One that crashes or hangs is a run that failed verification.
func (s *sweep) process(ctx context.Context, spec Spec) (*Outcome, error) {
	outcome, err := runProcess(ctx, s.plan.Options.child(spec.Cell.Build), spec, patienceWith(&spec.Workload))
	if ctx.Err() != nil {
		return nil, ErrInterrupted
	}
	if err != nil {
		outcome = &Outcome{Run: results.Run{
			Cell: spec.Cell, Seed: spec.Seed, Start: time.Now(),
			Verification: results.Verification{Error: strings.TrimPrefix(err.Error(), "harness: ")},
		}}
		if failed, ok := errors.AsType[*FailedChild](err); ok {
			outcome.Run.Verification.Said = failed.Said
		}
	}
	return outcome, nil
}

// patienceWith is how long a run may take, on a disk that is slow.
func patienceWith(w *workload.Workload) time.Duration {
	const slowDisk = 20 << 20 // bytes/s
	const slowSync = 20 * time.Millisecond
	limit := time.Minute + 3*(w.Ramp+w.Duration)
	limit += time.Duration(float64(w.Prefill+2*storedBytes(w)) / slowDisk * float64(time.Second)) // written, and read again
	if w.Sync == workload.SyncBatch {
		limit += time.Duration(float64(w.Prefill) / workload.MeanBatchBytes(w) * float64(slowSync))
	}
	return limit
}

func (s *sweep) progress(run *results.Run) {
	o := &s.plan.Options
	if o.Progress == nil {
		return
	}
	left := s.plan.Estimate - s.before - s.spent
	if s.spent > 0 {
		left = time.Duration(float64(left) * float64(time.Since(s.began)) / float64(s.spent))
	}
	o.Progress(Progress{Done: len(s.journal), Total: max(s.plan.Runs(), len(s.journal)), Left: max(left, 0), Run: run, Preflight: &s.plan.Meta.Preflight})
}
