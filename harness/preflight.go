package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// preflight shows that the checks work, and measures what the harness costs.
func (s *sweep) preflight(ctx context.Context) error {
	if err := s.catchBusted(ctx); err != nil {
		return err
	}
	if err := s.measureHarness(ctx); err != nil {
		return err
	}
	s.plan.Meta.Preflight.ClockRead = clockCost()
	return nil
}

// catchBusted runs the negative control, where the first cell has its data.
func (s *sweep) catchBusted(ctx context.Context) error {
	const tries = 5 // a checker that works catches it in the first
	first := s.plan.Cells[0]
	load := workload.Default()
	load.Producers, load.Consumers, load.Subscriptions = 2, 2, 2
	load.Ramp, load.Duration, load.MaxBytes = 10*time.Millisecond, 500*time.Millisecond, 256<<20
	cell := first.Cell
	cell.Strategy, cell.Arm = "busted", ""
	for i := range tries {
		dir, err := s.dir(first.Place, fmt.Sprintf("busted-%d", i))
		if err != nil {
			return err
		}
		began := time.Now()
		// Not process: a run that crashed has caught nothing.
		outcome, err := runProcess(ctx, s.plan.Options.Child,
			Spec{Cell: cell, Workload: load, Seed: s.plan.Options.Seed + uint64(i), Dir: dir}, time.Minute)
		if err := s.preflightFailed(ctx, err, dir); err != nil {
			return err
		}
		if text := outcome.Run.Verification.Error; text != "" {
			s.plan.Meta.Preflight.BustedCaught = time.Since(began).Seconds()
			s.plan.Meta.Preflight.BustedError = text
			return nil
		}
	}
	return ErrNotCaught
}

// preflightFailed removes the data of a preflight run, and turns its error into the sweep's.
func (s *sweep) preflightFailed(ctx context.Context, err error, dir string) error {
	if dir != "" {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	if err != nil {
		return fmt.Errorf("harness: preflight: %w", err)
	}
	return nil
}

// measureHarness runs the strategy that does nothing.
func (s *sweep) measureHarness(ctx context.Context) error {
	load := workload.DefaultMix()
	load.Workers = 2
	load.Prefill = 1 << 20
	load.Ramp, load.Duration = 20*time.Millisecond, 100*time.Millisecond
	cell := s.plan.Cells[0].Cell
	cell.Strategy, cell.Arm = "null", ""
	outcome, err := runProcess(ctx, s.plan.Options.Child, Spec{Cell: cell, Workload: load, Seed: s.plan.Options.Seed}, time.Minute)
	if err := s.preflightFailed(ctx, err, ""); err != nil {
		return err
	}
	if text := outcome.Run.Verification.Error; text != "" {
		return fmt.Errorf("harness: preflight with null: %s", text)
	}
	s.plan.Meta.Preflight.HarnessCost = outcome.Run.Metrics[results.MetricCPU]
	return nil
}

// clockCost is the seconds that one reading of the clock takes.
func clockCost() float64 {
	const readings = 100_000
	c := newClock()
	for range readings {
		c.now()
	}
	return float64(c.now()) / readings / 1e9
}
