package torture

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"tailrace/strategies"
)

// task is what the process that checks a strategy reads from its standard input.
type task struct {
	Strategy string
	Options  Options
	// Temporary: Options.Dir is to be removed at the end, by both: either may be killed.
	Temporary bool
}

// message is what it writes to its standard output: where it is, and at last what it has found.
type message struct {
	Progress  *Progress  `json:",omitempty"`
	Violation *Violation `json:",omitempty"`
	Error     string     `json:",omitempty"`
	Done      bool       `json:",omitempty"` // there was nothing to find
}

// Run is Check in a process of its own, so that a panic in a goroutine of the strategy, or calls that hang,
// end that process alone; a crash is a violation. command is what to start; it is to call Execute. Data goes
// below Options.Dir, and is removed. When the context ends, so does the process, and Run gives its error.
func Run(ctx context.Context, command []string, s strategies.Strategy, o Options) (Counts, error) {
	if o.Dir != "" {
		dir, err := os.MkdirTemp(o.Dir, "tailrace-check-")
		if err != nil {
			return Counts{}, fmt.Errorf("torture: %w", err)
		}
		// Data of no worth, and there may be another error to tell.
		defer func() { _ = os.RemoveAll(dir) }()
		o.Dir = dir
	}
	input, err := json.Marshal(task{s.Name, o, o.Dir != ""})
	if err != nil {
		return Counts{}, fmt.Errorf("torture: %w", err)
	}
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	process.Env = append(os.Environ(), "GORACE="+raceOptions(s))
	if o.Processors > 0 {
		process.Env = append(process.Env, "GOMAXPROCS="+strconv.Itoa(o.Processors))
	}
	var stderr bytes.Buffer
	process.Stderr = &stderr
	stdin, err := process.StdinPipe()
	if err != nil {
		return Counts{}, fmt.Errorf("torture: %w", err)
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return Counts{}, fmt.Errorf("torture: %w", err)
	}
	// The end of its input ends the process too, also when this one is killed.
	process.Cancel = stdin.Close
	process.WaitDelay = cmp.Or(o.Patience, defaultPatience)
	if err := process.Start(); err != nil {
		return Counts{}, fmt.Errorf("torture: %w", err)
	}
	_, err = stdin.Write(append(input, '\n'))
	last, said, readErr := listen(stdout, o.Progress)
	exit := process.Wait()
	switch {
	case ctx.Err() != nil:
		return last.Counts, ctx.Err()
	case said.Violation != nil:
		return last.Counts, said.Violation
	case said.Error != "":
		return last.Counts, errors.New(said.Error)
	case said.Done && exit == nil:
		return last.Counts, errors.Join(err, readErr)
	case last.Check == "": // it has not come so far
		return last.Counts, fmt.Errorf("torture: %s says nothing: %w", command[0], cmp.Or(exit, err, readErr, io.EOF))
	}
	return last.Counts, crash(s.Name, last, exit, stderr.Bytes())
}

// listen takes the messages of a process, and returns the last ones.
func listen(stdout io.Reader, progress func(Progress)) (last Progress, said message, err error) {
	for decoder := json.NewDecoder(bufio.NewReader(stdout)); ; {
		var m message
		if err := decoder.Decode(&m); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil // it ends, in order or not
			}
			return last, said, err
		}
		if m.Progress == nil {
			said = m
			continue
		}
		last = *m.Progress
		if progress != nil {
			progress(last)
		}
	}
}

// raceOptions are for a build with the race detector: a race ends the process while it is known which check has it. That
// of a faulty strategy is one on purpose, and whether the checks see it is what is asked.
func raceOptions(s strategies.Strategy) string {
	if s.Faulty {
		return os.Getenv("GORACE") + " log_path=stderr halt_on_error=0 exitcode=0"
	}
	return os.Getenv("GORACE") + " log_path=stderr halt_on_error=1"
}

// causes begin the line in which Go, or its race detector, says why a process ends.
var causes = []string{"panic:", "fatal error:", "WARNING: DATA RACE"}

// crash is the violation that ended a process.
func crash(strategy string, last Progress, exit error, stderr []byte) error {
	cause := fmt.Sprint(exit)
	for line := range strings.Lines(string(stderr)) {
		if slices.ContainsFunc(causes, func(cause string) bool { return strings.HasPrefix(line, cause) }) {
			cause = strings.TrimSpace(line)
			break
		}
	}
	v := &Violation{Strategy: strategy, Check: last.Check, Seed: last.Seed, What: "the process crashes: " + cause}
	return with(v, "stacks.txt", stderr)
}

// Execute checks one strategy, as the input says, and writes what it finds to the output. It ends early when
// the context or the input does. The error is of the input or the output.
func Execute(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	input := bufio.NewReader(stdin)
	line, err := input.ReadBytes('\n')
	var t task
	if err == nil {
		err = json.Unmarshal(line, &t)
	}
	if err != nil {
		return fmt.Errorf("torture: no task on the input: %w", err)
	}
	if t.Temporary {
		defer func() { _ = os.RemoveAll(t.Options.Dir) }()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, input) // whoever gave the task has gone when it ends
		cancel()
	}()
	s, err := find(t.Strategy)
	if err != nil {
		return err
	}
	output := json.NewEncoder(stdout)
	var outputErr error
	t.Options.Progress = func(p Progress) { outputErr = cmp.Or(outputErr, output.Encode(message{Progress: &p})) }
	_, err = Check(ctx, s, t.Options)
	last := message{Done: true}
	if v, ok := errors.AsType[*Violation](err); ok {
		last = message{Violation: v}
	} else if err != nil {
		last = message{Error: err.Error()}
	}
	return errors.Join(outputErr, output.Encode(last))
}

// find finds a strategy by its name, also one that is no candidate.
func find(name string) (strategies.Strategy, error) {
	if unordered := strategies.Unordered(); name == unordered.Name {
		return unordered, nil
	}
	return strategies.Find(name)
}

// defaultPatience is that of Options.
const defaultPatience = 10 * time.Second
