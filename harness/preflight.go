package harness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// preflight shows that the checks work, and measures what the harness costs.
func (s *sweep) preflight(ctx context.Context) error {
	first := s.plan.first()
	for _, build := range []string{"", otherBuild} {
		if build != "" && s.plan.Options.Against == "" {
			continue
		}
		if err := s.catchBusted(ctx, first, build); err != nil {
			return err
		}
	}
	if err := s.measureCosts(ctx); err != nil {
		return err
	}
	s.plan.Meta.Preflight.ClockRead = clockCost()
	return nil
}

// first is the first cell of the plan.
func (p *Plan) first() *PlannedCell {
	if len(p.Cells) > 0 {
		return &p.Cells[0]
	}
	return &p.Searches[0].Cells[0]
}

// catchBusted runs the negative control of a build, where the first cell has its data.
func (s *sweep) catchBusted(ctx context.Context, first *PlannedCell, build string) error {
	const tries = 5 // a checker that works catches it in the first
	load := workload.Default()
	load.Producers, load.Consumers, load.Subscriptions = 2, 2, 2
	load.Ramp, load.Duration, load.MaxBytes = 10*time.Millisecond, 500*time.Millisecond, 256<<20
	cell := first.Cell
	cell.Strategy, cell.Arm, cell.Build = "busted", "", build
	for i := range tries {
		dir, err := s.dir(first.Place, fmt.Sprintf("busted-%d", i))
		if err != nil {
			return err
		}
		began := time.Now()
		// Not process: a run that crashed has caught nothing.
		outcome, err := runProcess(ctx, s.plan.Options.child(build),
			Spec{Cell: cell, Workload: load, Seed: s.plan.Options.Seed + uint64(i), Dir: dir}, time.Minute, raceOnPurpose())
		said := ""
		if failed, ok := errors.AsType[*FailedChild](err); ok {
			said = failed.Said
		} else if err == nil {
			said = outcome.Run.Verification.Error
		}
		if full := unwritable(said, first.Place.Text); full != nil {
			err = full
		}
		if err := s.preflightFailed(ctx, err, dir); err != nil {
			return err
		}
		if text := outcome.Run.Verification.Error; text != "" {
			if build == "" {
				s.plan.Meta.Preflight.BustedCaught = time.Since(began).Seconds()
				s.plan.Meta.Preflight.BustedError = text
			}
			return nil
		}
	}
	return ErrNotCaught
}

// raceOnPurpose is the environment of the negative control. A build with the race detector may see the control's race
// on the heap before a check sees a wrong answer, and would fail; whether the checks see one is what is asked here.
func raceOnPurpose() string { return "GORACE=" + os.Getenv("GORACE") + " halt_on_error=0 exitcode=0" }

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

// measureCosts runs the strategy that does nothing with the records and buffers of each workload: what is
// left is the harness. It is measured in a closed loop of one client, for in an open one the processor
// spins while it waits for the next operation.
func (s *sweep) measureCosts(ctx context.Context) error {
	meta := &s.plan.Meta
	meta.Costs = nil
	measured := make(map[string]bool)
	for _, c := range s.plan.all() {
		if name := c.Workload.Name; measured[name] {
			continue
		} else {
			measured[name] = true
		}
		cost := results.Cost{Workload: c.Workload.Name}
		var err error
		if cost.Append, err = s.nullCost(ctx, c, 100); err != nil {
			return err
		}
		if cost.Read, err = s.nullCost(ctx, c, 0); err != nil {
			return err
		}
		meta.Costs = append(meta.Costs, cost)
	}
	load := &s.plan.first().Workload
	share := 1.0
	switch {
	case load.Workers > 0:
		share = load.ProducePercent / 100
	case load.Producers == 0:
		share = 0
	}
	meta.Preflight.HarnessCost = share*meta.Costs[0].Append + (1-share)*meta.Costs[0].Read
	return nil
}

// all are the cells of blocks and searches.
func (p *Plan) all() []*PlannedCell {
	var cells []*PlannedCell
	for i := range p.Cells {
		cells = append(cells, &p.Cells[i])
	}
	for _, search := range p.Searches {
		for i := range search.Cells {
			cells = append(cells, &search.Cells[i])
		}
	}
	return cells
}

// nullCost is the processor time in seconds of an operation of a workload on null.
func (s *sweep) nullCost(ctx context.Context, c *PlannedCell, producePercent float64) (float64, error) {
	load := workload.DefaultMix()
	from := &c.Workload
	load.Workers, load.ProducePercent = 1, producePercent
	load.RecordSize, load.Sizes, load.BatchRecords, load.FetchBytes = from.RecordSize, from.Sizes, from.BatchRecords, from.FetchBytes
	load.Payload, load.Acks, load.SegmentSize = from.Payload, from.Acks, from.SegmentSize
	load.Prefill = int64(workload.BatchBytes(&load))
	load.MaxBytes = math.MaxInt64 / 2 // of which null stores nothing
	load.Ramp, load.Duration = 10*time.Millisecond, 50*time.Millisecond
	cell := c.Cell
	cell.Strategy, cell.Arm, cell.Build = "null", "", ""
	outcome, err := runProcess(ctx, s.plan.Options.Child, Spec{Cell: cell, Workload: load, Seed: s.plan.Options.Seed}, time.Minute)
	if err := s.preflightFailed(ctx, err, ""); err != nil {
		return 0, err
	}
	if text := outcome.Run.Verification.Error; text != "" {
		return 0, fmt.Errorf("harness: preflight with null: %s", text)
	}
	return outcome.Run.Metrics[results.MetricCPU], nil
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
