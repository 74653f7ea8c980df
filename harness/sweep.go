package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// dataPrefix begins the name of a directory with the data of a sweep's runs.
const dataPrefix = "tailrace-data-"

// sweep is a plan while it is executed.
type sweep struct {
	plan   *Plan
	writer *results.Writer
	// roots are the directories that hold the runs' data, by parent.
	roots map[string]string
	began time.Time
	spent time.Duration // estimate of the runs that are done
	done  int
}

// Run executes a plan and writes its results. When the context ends, it kills the run that is under
// way, keeps what had finished, and returns it with ErrInterrupted. It returns ErrNotCaught, and keeps
// nothing, if the checks don't work. A failed verification of a run is in the results and no error.
func Run(ctx context.Context, p *Plan) (*results.Sweep, error) {
	p.Meta.Started = time.Now()
	writer, err := results.Create(p.Options.Out, &p.Meta)
	if err != nil {
		return nil, usagef("--out %s: %w", p.Options.Out, err)
	}
	s := &sweep{plan: p, writer: writer, roots: map[string]string{}}
	err = s.execute(ctx)
	err = cmp.Or(err, s.clean(err == nil))
	if s.done == 0 {
		return nil, cmp.Or(err, writer.Discard())
	}
	p.Meta.Interrupted = errors.Is(err, ErrInterrupted)
	if err != nil && !p.Meta.Interrupted {
		// What stopped the sweep may well keep Finish from writing too.
		_ = writer.Finish(&p.Meta)
		return nil, fmt.Errorf("%w; %d runs before it are kept: tailrace report %s", err, s.done, p.Options.Out)
	}
	if finishErr := writer.Finish(&p.Meta); finishErr != nil {
		return nil, cmp.Or(err, finishErr)
	}
	loaded, loadErr := results.Load(p.Options.Out)
	return loaded, cmp.Or(err, loadErr)
}

func (s *sweep) execute(ctx context.Context) error {
	if err := s.preflight(ctx); err != nil {
		return err
	}
	s.began = time.Now()
	s.progress(nil)
	o := &s.plan.Options
	for block := range o.Blocks {
		for _, i := range workload.Shuffle(o.Seed, block, len(s.plan.Cells)) {
			if err := s.one(ctx, &s.plan.Cells[i], block); err != nil {
				return err
			}
		}
	}
	return nil
}

// one executes one run and journals it.
func (s *sweep) one(ctx context.Context, c *PlannedCell, block int) error {
	// Equal for all cells of a block, so that strategies are asked for the same.
	seed := s.plan.Options.Seed + uint64(block)<<32
	dir, err := s.dir(c.Place, s.dataName(c, block))
	if err != nil {
		return err
	}
	spec := Spec{Cell: c.Cell, Workload: c.Workload, Seed: seed, Dir: dir}
	spec.Keep = s.plan.Options.KeepData && block == s.plan.Options.Blocks-1
	outcome, err := s.process(ctx, spec)
	if err != nil {
		return err
	}
	if dir != "" && !spec.Keep {
		if err := os.RemoveAll(dir); err != nil { // what a run that crashed has left
			return fmt.Errorf("harness: data of a run: %w", err)
		}
	}
	run := &outcome.Run
	run.Index, run.Block = s.done, block
	if err := s.writer.Add(run, outcome.Histograms); err != nil {
		return err
	}
	s.done++
	s.spent += c.estimate()
	s.progress(run)
	return nil
}

// process executes a run in its process. One that crashes or hangs is a run that failed verification.
func (s *sweep) process(ctx context.Context, spec Spec) (*Outcome, error) {
	limit := time.Minute + 3*(spec.Workload.Ramp+spec.Workload.Duration)
	outcome, err := runProcess(ctx, s.plan.Options.Child, spec, limit)
	if ctx.Err() != nil {
		return nil, ErrInterrupted
	}
	if err != nil {
		outcome = &Outcome{Run: results.Run{
			Cell: spec.Cell, Seed: spec.Seed, Start: time.Now(),
			Verification: results.Verification{Error: strings.TrimPrefix(err.Error(), "harness: ")},
		}}
	}
	return outcome, nil
}

// dir is a data directory in a place; "" on the heap. It is made by the run.
func (s *sweep) dir(place Place, name string) (string, error) {
	if place.Kind == StorageHeap {
		return "", nil
	}
	root, ok := s.roots[place.Parent]
	if !ok {
		removeEmpty(place.Parent)
		var err error
		if root, err = os.MkdirTemp(place.Parent, dataPrefix); err != nil {
			return "", fmt.Errorf("harness: data directory: %w", err)
		}
		s.roots[place.Parent] = root
	}
	return filepath.Join(root, name), nil
}

// dataName names the data directory of a run; the number keeps apart the points of one workload that are
// kept.
func (s *sweep) dataName(c *PlannedCell, block int) string {
	return fmt.Sprintf("%04d-%s-%s-b%d", s.done, c.Cell.Workload, strings.ReplaceAll(c.Cell.Label(), "/", ""), block)
}

// removeEmpty removes the empty data directories that sweeps have left which were killed between two
// runs. One that goes on makes its own again.
func removeEmpty(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, dataPrefix+"*"))
	for _, root := range left {
		_ = os.Remove(root)
	}
}

// clean removes all data, unless that of a finished sweep is to be kept.
func (s *sweep) clean(finished bool) error {
	var errs []error
	for _, root := range s.roots {
		if s.plan.Options.KeepData && finished {
			s.plan.Meta.Warnings = append(s.plan.Meta.Warnings, "segment files of the last block are kept in "+root)
			continue
		}
		errs = append(errs, os.RemoveAll(root))
	}
	return errors.Join(errs...)
}

func (s *sweep) progress(run *results.Run) {
	o := &s.plan.Options
	if o.Progress == nil {
		return
	}
	total := o.Blocks * len(s.plan.Cells)
	left := s.plan.Estimate - s.spent
	if s.spent > 0 {
		left = time.Duration(float64(left) * float64(time.Since(s.began)) / float64(s.spent))
	}
	o.Progress(Progress{Done: s.done, Total: total, Left: left, Run: run, Preflight: &s.plan.Meta.Preflight})
}
