package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tailrace/results"
)

// crashing runs a program that is to fail, and returns what it says.
func crashing(t *testing.T, program string, args ...string) string {
	t.Helper()
	run := exec.Command(program, append([]string{"run", "--storage", "heap", "--producers", "1", "--consumers", "1",
		"--duration", "20ms", "--ramp", "5ms", "--blocks", "1"}, args...)...)
	run.Dir = t.TempDir()
	output, _ := run.CombinedOutput() // how it ended is looked at below
	if got := run.ProcessState.ExitCode(); got != exitFailed {
		t.Fatalf("exit code %d, want %d\n%s", got, exitFailed, output)
	}
	return string(output)
}

// wantPanic wants the line of a planted panic, what its process said below it, and the function that it came from.
func wantPanic(t *testing.T, output, line, function string) {
	t.Helper()
	for _, want := range []string{line + "process of a run: exit status 2: panic: planted\n  panic: planted\n", function + "("} {
		if !strings.Contains(output, want) {
			t.Errorf("printed\n%swant in it\n%s", output, want)
		}
	}
}

// Whoever writes a strategy that panics is shown where.
func testRunOfAPanic(t *testing.T, program string) {
	t.Setenv(plantedVariable, "panic of mutex")
	out := filepath.Join(t.TempDir(), "results")
	output := crashing(t, program, "--strategies", "actor,mutex", "--out", out)
	wantPanic(t, output, "FAILED custom mutex, block 0: ", "strategies.(*mutexHandle).Append")
	sweep, err := results.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range sweep.Runs {
		said := run.Verification.Said
		if crashed := run.Cell.Strategy == "mutex"; crashed != strings.Contains(said, "(*mutexHandle).Append(") || crashed == run.Valid() {
			t.Errorf("%s: %q, said %q", run.Cell.Label(), run.Verification.Error, said)
		}
		line, err := json.Marshal(run)
		if err != nil || strings.Contains(string(line), `"said"`) != (said != "") {
			t.Errorf("%s, %v", line, err)
		}
	}
}

// Nothing runs if the negative control crashes: what it said is shown then, too, for it is nowhere else.
func testPreflightOfAPanic(t *testing.T, program string) {
	t.Setenv(plantedVariable, "panic of busted")
	out := filepath.Join(t.TempDir(), "results")
	output := crashing(t, program, "--strategies", "mutex", "--out", out)
	wantPanic(t, output, "tailrace: preflight: ", "strategies.(*bustedHandle).append")
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("results of nothing: %v", err)
	}
}

// So is whoever makes an experiment that panics; the rest is done all the same.
func testExperimentOfAPanic(t *testing.T, program string) {
	t.Setenv(plantedVariable, "panic of indexes")
	claims := exec.Command(program, "claims", "--quick", "--blocks", "2", "--claim", "index,actor-complex", "--out", "found")
	claims.Dir = t.TempDir()
	var stdout, stderr strings.Builder
	claims.Stdout, claims.Stderr = &stdout, &stderr
	_ = claims.Run() // how it ended is looked at below
	if got := claims.ProcessState.ExitCode(); got != exitFailed {
		t.Errorf("exit code %d, want %d", got, exitFailed)
	}
	for _, want := range []string{
		"FAILED experiment index: process of an experiment: exit status 2: panic: planted\n  panic: planted\n",
		"claims.(*bench).indexesHot(", "\ntailrace: processes of experiments failed: 1\n",
	} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("printed\n%swant in it\n%s", &stderr, want)
		}
	}
	for _, want := range []string{"actor-complex", "indexes, block 0: process of an experiment: exit status 2: panic: planted"} {
		if text := strings.Join(strings.Fields(stdout.String()), " "); !strings.Contains(text, want) {
			t.Errorf("printed\n%swant in it\n%s", &stdout, want)
		}
	}
}
