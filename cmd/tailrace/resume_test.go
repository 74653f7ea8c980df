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
	const runs = 3 * 16 // mutex, its A/A arm and raw
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
	run, stderr := start("--producers", "1", "--strategies", "mutex", "--duration", "20ms", "--ramp", "5ms", "--blocks", "16", "--dir", data)
	killed := 0
	for range kills {
		// Kills come when some more runs are done, a random number and a random moment later.
		done := journaled(t, out) + rand.IntN(4)
		ended := make(chan error, 1)
		go func() { ended <- run.Wait() }()
		await(t, "more runs", func() bool { return len(ended) > 0 || planned(out) && journaled(t, out) >= done })
		time.Sleep(time.Duration(rand.Int64N(int64(60 * time.Millisecond))))
		_ = run.Process.Kill()
		if err := <-ended; err == nil {
			break // nothing was left to be killed
		}
		killed++
		await(t, "the processes of the killed sweep to end", func() bool { return marked(t, marker) == 0 })
		run, stderr = start("--resume")
	}
	if killed < kills/2 {
		t.Errorf("the sweep was over after %d kills, want %d", killed, kills)
	}
	// The last one may have nothing left to do, if the sweep ended before.
	if err := run.Wait(); err != nil && !strings.Contains(stderr.String(), "has been finished") &&
		run.ProcessState.ExitCode() != 0 && run.ProcessState.ExitCode() != exitUnmeasured {
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

// planned reports whether a sweep has begun to be one that can be resumed.
func planned(out string) bool {
	_, err := os.Stat(filepath.Join(out, "plan.json"))
	return err == nil
}

// journaled is the number of runs that are done.
func journaled(t *testing.T, out string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(out, "runs.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
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
