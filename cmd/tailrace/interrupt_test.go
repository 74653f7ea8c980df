package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tailrace/results"
)

// TestInterrupt ends a sweep in its middle: what has finished is kept and shown, the data is removed.
func TestInterrupt(t *testing.T) {
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "result")
	run := exec.Command("tailrace", "run", "--producers", "1", "--strategies", "mutex", "--duration", "200ms", "--ramp", "10ms",
		"--blocks", "10", "--dir", data, "--out", out)
	var stdout bytes.Buffer
	run.Stdout = &stdout
	stderr, err := run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		last = lines.Text()
		if strings.Contains(last, " runs, ") { // a block has finished
			if err := run.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, isExit := run.Wait().(*exec.ExitError); !isExit || run.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("%v, want exit code %d", run.ProcessState, exitInterrupted)
	}
	sweep, err := results.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	if !sweep.Meta.Interrupted || len(sweep.Runs) < 3 || len(sweep.Runs) >= 30 {
		t.Errorf("interrupted %t with %d runs, want some of 30", sweep.Meta.Interrupted, len(sweep.Runs))
	}
	want := fmt.Sprintf("tailrace: interrupted: %d of 30 runs kept; to go on: tailrace run --resume --out %s; to see them: tailrace report %s", len(sweep.Runs), out, out)
	if last != want {
		t.Errorf("last line\n%q, want\n%q", last, want)
	}
	if !strings.Contains(stdout.String(), "custom   1 producer, closed loop") {
		t.Errorf("no table of what has finished, but\n%s", &stdout)
	}
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("data left behind: %v, %v", left, err)
	}
	if text, err := exec.Command("tailrace", "report", out).CombinedOutput(); err != nil {
		t.Errorf("report: %v\n%s", err, text)
	}
}
