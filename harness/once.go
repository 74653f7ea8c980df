package harness

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"tailrace/results"
	"tailrace/workload"
)

// RunOnce executes one run of a load in a process of its own, outside of any sweep: nothing is checked beforehand,
// and nothing is written but the data of the run, below dir, which is removed. The child is the command that calls
// Execute. A run that gave a wrong answer is an error. The process is started by the calling goroutine, so that what
// is attached to a thread that it is locked to is inherited.
func RunOnce(ctx context.Context, child []string, w workload.Workload, strategy string, seed uint64, dir string) (*results.Run, error) {
	if len(child) == 0 {
		return nil, usagef("no command for the process of a run")
	}
	if err := w.Validate(); err != nil {
		return nil, err
	}
	if err := checkStrategy("strategy", strategy); err != nil {
		return nil, err
	}
	f, err := statFilesystem(dir)
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	place := Place{Kind: StorageDisk, Parent: dir, Text: f.name + " at " + dir}
	if f.inMemory() {
		place.Kind = StorageTmpfs
	}
	spec := Spec{Cell: point(&w, place).Cell, Workload: w, Seed: seed}
	spec.Cell.Strategy, spec.Cell.GOMAXPROCS = strategy, runtime.GOMAXPROCS(0)
	if spec.Dir, err = os.MkdirTemp(dir, "run-"); err != nil {
		return nil, fmt.Errorf("harness: data of a run: %w", err)
	}
	defer os.RemoveAll(spec.Dir) // gone already unless the process died
	outcome, err := runProcess(ctx, child, spec, patienceWith(&w))
	if err != nil {
		return nil, err
	}
	if text := outcome.Run.Verification.Error; text != "" {
		return nil, fmt.Errorf("harness: %s failed verification: %s", strategy, text)
	}
	return &outcome.Run, nil
}
