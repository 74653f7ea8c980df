package claims

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"tailrace/harness"
)

// The experiments whose process has a limit.
const (
	shortOfMemory = "short-of-memory"
	workOfOthers  = "work-of-others"
)

// byBlock are values of each kind by block.
type byBlock map[string][]float64

func (v byBlock) add(kind string, value float64) { v[kind] = append(v[kind], value) }

// pressureRequest is what the process of an experiment is told, as JSON.
type pressureRequest struct {
	Experiment string
	Log        string        // path of a file of pattern on a disk, which is opened anew for each view of it
	Size       int           // bytes of the log
	Memory     int           // bytes that the group of the process may have; 0 if there is no such limit
	Turn       time.Duration // that each arm takes
	Seed       uint64
	// Group is the directory of a control group that holds this process alone, and Home that of the one which it came
	// from; empty if it was not moved.
	Group, Home string
}

// pressureAnswer is what came out, or why nothing did, as JSON.
type pressureAnswer struct {
	Values     byBlock
	Unmeasured string
}

// experiment is what does what is asked for.
func (r *pressureRequest) experiment() (func(context.Context, *pressureRequest) (byBlock, error), error) {
	if r.Log == "" || r.Size < 1<<20 || r.Memory < 0 || r.Turn <= 0 {
		return nil, errors.New("it takes a log of a MiB or more, and a turn")
	}
	switch r.Experiment {
	case shortOfMemory:
		return readUnderPressure, nil
	case workOfOthers:
		return workBesideReaders, nil
	}
	return nil, fmt.Errorf("no experiment %q", r.Experiment)
}

// ExecutePressure is the process of an experiment that needs a limit of memory or of processors: it reads a request as
// JSON from stdin, measures, and writes an answer as JSON to stdout. When stdin ends early the parent has died; then, or
// when the context ends, it removes its control group and returns, and the process must exit.
func ExecutePressure(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	check := func(r *pressureRequest) error {
		_, err := r.experiment()
		return err
	}
	measure := func(ctx context.Context, r *pressureRequest) (pressureAnswer, error) {
		experiment, err := r.experiment()
		if err != nil {
			return pressureAnswer{}, err
		}
		values, err := experiment(ctx, r)
		if errors.Is(err, errors.ErrUnsupported) {
			return pressureAnswer{Unmeasured: err.Error()}, nil
		}
		return pressureAnswer{Values: values}, err
	}
	return serve(ctx, stdin, stdout, check, measure, leaveGroup)
}

// reason is why this machine can't give a figure, in one clause.
type reason string

func (r reason) Error() string { return string(r) }

func (r reason) Is(target error) bool { return target == errors.ErrUnsupported }

const (
	errNoChild = reason("there is no command for its process")
	errKilled  = reason("its process was killed, as systems do that lack memory")
)

// pressurePatience is how long a process may take: many times as long as it does where a disk reads ahead a thousand
// times what is asked for.
const pressurePatience = 30 * time.Second

// logDescriptor is where a process finds the log that it was handed, which has no name.
const logDescriptor = "/proc/self/fd/3"

// pressureChild makes an experiment, each block in a process of its own (as apart): in a control group with a limit of
// memory, or in that of this process if the limit is 0. Process and group are gone when it returns. What this machine
// can't do is an error that is errors.ErrUnsupported.
func (b *bench) pressureChild(experiment string, memory int, turn time.Duration) (values byBlock, err error) {
	if len(b.pressed) == 0 {
		return nil, errNoChild
	}
	log, err := b.coldFile(logBytes, pattern)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	values = make(byBlock)
	lack := 0
	for range b.blocks {
		request := pressureRequest{
			Experiment: experiment, Log: logDescriptor, Size: logBytes, Memory: memory, Turn: turn, Seed: b.random.Uint64(),
		}
		var answer pressureAnswer
		switch err := b.converse(log, &request, &answer, pressurePatience); {
		case b.ctx.Err() != nil:
			return nil, b.ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			return nil, fmt.Errorf("an experiment has not answered in %v", pressurePatience)
		case errors.Is(err, errors.ErrUnsupported):
			answer.Unmeasured = err.Error()
		case err != nil:
			return nil, err
		}
		if answer.Unmeasured == "" {
			for kind, of := range answer.Values {
				values[kind] = append(values[kind], of...)
			}
		} else if lack++; float64(lack) >= mostMissing*float64(b.blocks) {
			return nil, reason(answer.Unmeasured)
		}
	}
	for kind := range values {
		values[kind] = append(values[kind], make([]float64, lack)...) // which blocks lack, as those with zero do
	}
	return values, nil
}

// converse has the process make the experiment, in its group, if it is to have one, from before it begins.
func (b *bench) converse(log *os.File, request *pressureRequest, answer *pressureAnswer, patience time.Duration) (err error) {
	child := harness.Child{Command: b.pressed, Files: []*os.File{log}}
	if request.Memory > 0 {
		leave := func() error { return nil }
		child.Started = func(process int) error {
			entered, err := enterGroup(request, process)
			if err == nil {
				leave = entered
			}
			return err
		}
		defer func() {
			if left := leave(); left != nil {
				b.warn("a control group is left behind: " + left.Error())
			}
		}()
	}
	if err = b.ask(&child, patience, request, answer); killed(err) {
		return errKilled
	}
	return err
}

// killed reports whether an error is that of a process that was ended by force.
func killed(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
