package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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
	orphaned := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, io.MultiReader(decoder.Buffered(), stdin))
		close(orphaned)
	}()
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

// runProcess executes a run in a process of its own, and gives up after limit. An error means that
// there is no outcome: the context has ended, or the process has failed, with what it said.
func runProcess(ctx context.Context, command []string, spec Spec, limit time.Duration) (*Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	spec.Protocol = protocol
	input, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("harness: specification of a run: %w", err)
	}
	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.Args[0] = "tailrace" // however the binary was found
	child.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", spec.Cell.GOMAXPROCS))
	// A group of its own keeps the terminal's Ctrl-C away: the parent decides, and kills all of it.
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	child.Cancel = func() error { return syscall.Kill(-child.Process.Pid, syscall.SIGKILL) }
	child.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	child.Stdout, child.Stderr = &stdout, &stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("harness: process of a run: %w", err)
	}
	defer stdin.Close() // open until the run is over: the child watches it
	if err := child.Start(); err != nil {
		return nil, fmt.Errorf("harness: process of a run: %w", err)
	}
	_, writeErr := stdin.Write(input)
	err = errors.Join(child.Wait(), writeErr)
	switch {
	case context.Cause(ctx) == context.DeadlineExceeded:
		return nil, fmt.Errorf("harness: the run was ended after %v without a result", limit)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("harness: process of a run: %w%s", err, detail(stderr.String()))
	}
	var outcome Outcome
	if err := json.Unmarshal(stdout.Bytes(), &outcome); err != nil {
		return nil, fmt.Errorf("harness: outcome of a run: %w", err)
	}
	return &outcome, nil
}

// detail is the first line of what a process said, to stand behind how it ended.
func detail(stderr string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	if line == "" {
		return ", without a word"
	}
	return ": " + line
}
