package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// protocol is the version of what a sweep and the process of a run say to each other. It changes when the
// same words mean something else, so that two builds that differ in it are not compared.
const protocol = 1

// Execute is the process of one run: it reads a Spec as JSON from stdin, executes it, removes its data
// unless that is to be kept, and writes an Outcome as JSON to stdout. When stdin ends early the parent has
// died; then, or when the context ends, Execute removes the data and returns, and the process must exit.
func Execute(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	decoder := json.NewDecoder(stdin)
	// What another build asks for that this one does not know must not be left out of a load.
	decoder.DisallowUnknownFields()
	var spec Spec
	if err := decoder.Decode(&spec); err != nil {
		return fmt.Errorf("harness: specification of a run: %w", err)
	}
	if spec.Protocol != protocol {
		return fmt.Errorf("harness: specification of a run: protocol %d, this build has %d", spec.Protocol, protocol)
	}
	// The logs are open before stdin is watched: all that the run makes later lies in their directories,
	// and can't be made any more once these have another name.
	r, err := newRun(spec)
	if err != nil {
		return err
	}
	orphaned := InputEnded(io.MultiReader(decoder.Buffered(), stdin))
	done := make(chan *Outcome, 1)
	go func() { done <- r.perform() }()
	select {
	case outcome := <-done:
		if spec.Dir != "" && !spec.Keep {
			if err := os.RemoveAll(spec.Dir); err != nil {
				return fmt.Errorf("harness: data of a run: %w", err)
			}
		}
		return json.NewEncoder(stdout).Encode(outcome)
	case <-orphaned:
		return errors.Join(errors.New("harness: the sweep that this run is part of has ended"), removeOrphan(spec.Dir))
	case <-ctx.Done():
		return errors.Join(errors.New("harness: the run was ended by a signal"), removeOrphan(spec.Dir))
	}
}

// removeOrphan removes the data of a run that still goes on, and then the sweep's directory if nothing
// else is in it. The data gets another name first, so that the run can't add to it meanwhile.
func removeOrphan(dir string) error {
	if dir == "" {
		return nil
	}
	removed := dir + ".removed"
	err := os.Rename(dir, removed)
	if err == nil {
		err = os.RemoveAll(removed)
	}
	_ = os.Remove(filepath.Dir(dir)) // stays if it holds anything else
	return err
}

// runProcess executes a run in a process of its own, with more in its environment, and gives up after limit. An error
// means that there is no outcome: the context has ended, or the process has failed, with what it said.
func runProcess(ctx context.Context, command []string, spec Spec, limit time.Duration, environment ...string) (*Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	spec.Protocol = protocol
	environment = append(environment, fmt.Sprintf("GOMAXPROCS=%d", spec.Cell.GOMAXPROCS))
	child := Child{Name: "a run", Command: command, Env: environment}
	output, err := child.Ask(ctx, spec)
	switch {
	case context.Cause(ctx) == context.DeadlineExceeded:
		return nil, fmt.Errorf("harness: the run was ended after %v without a result", limit)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("harness: %w", err)
	}
	var outcome Outcome
	if err := json.Unmarshal(output, &outcome); err != nil {
		return nil, fmt.Errorf("harness: outcome of a run: %w", err)
	}
	return &outcome, nil
}
