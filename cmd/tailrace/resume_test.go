package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tailrace/results"
)

// killedSweep marks the processes of one sweep in their environment.
const killedSweep = "TAILRACE_TEST_SWEEP"

// TestKillAndResume kills a sweep at ten random moments, each time without a chance to clean up, and goes
// on with it: every run is there once, in the order of an undisturbed sweep, and no process and no data is left.
func TestKillAndResume(t *testing.T) {
	kills := 10
	if testing.Short() {
		kills = 3
	}
	const runs = 3 * 12 // mutex, its A/A arm and raw
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "result")
	marker := fmt.Sprintf("%s=%d-%d", killedSweep, os.Getpid(), rand.Uint64())
	start := func(args ...string) (*exec.Cmd, *bytes.Buffer) {
		var stderr bytes.Buffer
		run := exec.Command("tailrace", append([]string{"run", "--quiet", "--out", out}, args...)...)
		run.Env = append(os.Environ(), marker)
		run.Stderr = &stderr
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		return run, &stderr
	}
	run, stderr := start("--producers", "1", "--strategies", "mutex", "--duration", "20ms", "--ramp", "5ms", "--blocks", "12", "--dir", data)
	for range kills {
		await(t, "the plan of the sweep", func() bool {
			_, err := os.Stat(filepath.Join(out, "plan.json"))
			return err == nil
		})
		time.Sleep(time.Duration(rand.Int64N(int64(400 * time.Millisecond)))) // the moment is what is random
		_ = run.Process.Kill()
		if err := run.Wait(); err == nil {
			t.Logf("the sweep had ended before it was killed") // the machine is fast; what was done before counts
			break
		}
		await(t, "the processes of the killed sweep to end", func() bool { return marked(t, marker) == 0 })
		run, stderr = start("--resume")
	}
	// The last one may have nothing left to do, if the sweep ended before.
	if err := run.Wait(); err != nil && !strings.Contains(stderr.String(), "has been finished") && run.ProcessState.ExitCode() != 0 {
		t.Fatalf("%v: %s", err, stderr)
	}
	sweep, err := results.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	if sweep.Meta.Interrupted || len(sweep.Runs) != runs {
		t.Errorf("%d runs of %d, interrupted %t", len(sweep.Runs), runs, sweep.Meta.Interrupted)
	}
	for i, run := range sweep.Runs {
		if run.Index != i || !run.Valid() {
			t.Errorf("run %d has index %d, %q", i, run.Index, run.Verification.Error)
		}
		if _, err := sweep.Histograms(&run); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("data left behind: %v, %v", left, err)
	}
	t.Logf("killed and resumed %d times", sweep.Meta.Resumed)
	refusal, err := exec.Command("tailrace", "run", "--resume", "--out", out).CombinedOutput()
	if err == nil || !strings.Contains(string(refusal), "has been finished") {
		t.Errorf("a finished sweep is resumed: %s", refusal)
	}
}

// await polls a condition.
func await(t *testing.T, what string, there func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !there(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// marked counts the processes that have a marker in their environment, this one apart. Those that have ended
// and were not waited for have none.
func marked(t *testing.T, marker string) int {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range environments {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(marker)) {
			n++
		}
	}
	return n
}
