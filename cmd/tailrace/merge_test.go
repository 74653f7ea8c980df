package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/results/resultstest"
)

// TestInterruptMerge interrupts merges while they copy runs: nothing is left of --out. One that had copied all of them
// before the signal came has left results that can be reported.
func TestInterruptMerge(t *testing.T) {
	dirs, runs := mergeable(t, 8)
	nothing := false
	for try := 0; try < 10 && !nothing; try++ {
		parent := t.TempDir()
		out := filepath.Join(parent, "new", "merged")
		merge := exec.Command("tailrace", slices.Concat([]string{"report"}, dirs, []string{"--out", out})...)
		var stderr bytes.Buffer
		merge.Stderr = &stderr
		if err := merge.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, "the first run", func() bool { return journaled(t, out) > 0 })
		if err := merge.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if _, isExit := errors.AsType[*exec.ExitError](merge.Wait()); !isExit || merge.ProcessState.ExitCode() != exitInterrupted {
			t.Fatalf("%v, want exit code %d", merge.ProcessState, exitInterrupted)
		}
		want := "tailrace: interrupted: nothing was merged\n"
		if left, err := os.ReadDir(parent); err != nil {
			t.Fatal(err)
		} else if nothing = len(left) == 0; !nothing {
			want = fmt.Sprintf("tailrace: interrupted: all runs are merged; to write the rest: tailrace report %s\n", out)
			if s, err := results.Load(out); err != nil || len(s.Runs) != runs || s.Meta.Interrupted {
				t.Fatalf("left %v, with %v", left, err)
			}
		}
		if stderr.String() != want {
			t.Errorf("said %q, want %q", &stderr, want)
		}
	}
	if !nothing {
		t.Error("no merge was interrupted before its end")
	}
}

// mergeable writes sweeps of one design on several days, and returns how many runs they have together.
func mergeable(t *testing.T, days int) (dirs []string, runs int) {
	t.Helper()
	first := filepath.Join(t.TempDir(), "day")
	if err := resultstest.Write(first, 1); err != nil {
		t.Fatal(err)
	}
	sweep, err := results.Load(first)
	if err != nil {
		t.Fatal(err)
	}
	for day := range days {
		dir := filepath.Join(t.TempDir(), fmt.Sprint("day-", day))
		if err := os.CopyFS(dir, os.DirFS(first)); err != nil {
			t.Fatal(err)
		}
		for name, edits := range map[string][]string{
			"meta.json":  {`"schema": 1,`, `"schema": 1, "design": "one",`},
			"runs.jsonl": {`"start":"2026-`, fmt.Sprintf(`"start":"%d-`, 2000+day)},
		} {
			path := filepath.Join(dir, name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(strings.NewReplacer(edits...).Replace(string(text))), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		dirs = append(dirs, dir)
	}
	return dirs, days * len(sweep.Runs)
}
