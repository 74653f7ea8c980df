package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/strategies"
)

// tailrace is a process of this command line in a directory, whose umask and limits are those of the shell's line that
// starts it.
func tailrace(t *testing.T, dir, prepare string, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command("sh", append([]string{"-c", prepare + ` exec "$@"`, "sh", tailraceBinary(t)}, args...)...)
	command.Dir = dir
	return command
}

// tailraceBinary is where the script engine has put this binary.
func tailraceBinary(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("tailrace")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// ended runs a process, and returns its exit code and what it said on standard error.
func ended(t *testing.T, command *exec.Cmd) (code int, said string) {
	t.Helper()
	var stderr bytes.Buffer
	command.Stderr = &stderr
	err := command.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), stderr.String()
}

// short are the arguments of the shortest sweep.
func short(args ...string) []string {
	return append([]string{"run", "--storage", "heap", "--producers", "1", "--strategies", "mutex", "--duration", "5ms", "--ramp", "2ms",
		"--blocks", "1", "--quiet"}, args...)
}

// What can't be printed is an error of its own, and not the one of a wrong answer. Whoever stops reading is none.
func TestStandardOutputOfEveryCommand(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if code, said := ended(t, tailrace(t, dir, "", short("--out", "swept")...)); code != 0 && code != exitUnmeasured {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for _, name := range []string{"old.txt", "new.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("BenchmarkA 1 1 ns/op\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeLog(t, filepath.Join(dir, "log"))
	for _, test := range []struct {
		args []string
		// broken is the exit code where nobody reads; full that where there is no space, as it is with what can't be written.
		broken []int
	}{
		{short("--out", "OUT"), []int{0, exitUnmeasured}}, // nothing may end in so short a window
		{[]string{"report", "swept"}, []int{0, exitUnmeasured}},
		{[]string{"report", "swept", "--json"}, []int{0, exitUnmeasured}},
		{[]string{"compare", "old.txt", "new.txt"}, []int{0, exitUnmeasured}},
		{[]string{"compare", "old.txt", "new.txt", "--json"}, []int{0, exitUnmeasured}},
		{[]string{"claims", "--quick", "--quiet", "--claim", "actor-complex", "--out", "OUT"}, []int{0}},
		{[]string{"check", "--strategies", "mutex", "--duration", "10ms", "--storage", "heap", "--quiet"}, []int{0}},
		{[]string{"dump", "log"}, []int{0}},
		{[]string{"dump", "log", "--json"}, []int{0}},
		{[]string{"dump", "log", "--verify"}, []int{0}},
		{[]string{"list"}, []int{0}},
		{[]string{"list", "presets"}, []int{0}},
		{[]string{"completion", "bash"}, []int{0}},
		{[]string{"completion", "zsh"}, []int{0}},
		{[]string{"completion", "fish"}, []int{0}},
		{[]string{"completion", "powershell"}, []int{0}},
		{[]string{"help"}, []int{0}},
		{[]string{"help", "run"}, []int{0}},
		{[]string{"run", "--help"}, []int{0}},
		{[]string{"dump", "--help"}, []int{0}},
		{[]string{"--version"}, []int{0}},
		{nil, []int{0}},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			for _, output := range []string{">/dev/full", "|:"} {
				args := slices.Clone(test.args)
				out := filepath.Join(t.TempDir(), "out")
				if at := slices.Index(args, "OUT"); at >= 0 {
					args[at] = out
				}
				command := tailrace(t, dir, "", args...)
				want := []int{exitUsage}
				if output == "|:" {
					want, command.Stdout = test.broken, closedPipe(t)
				} else {
					full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
					if err != nil {
						t.Fatal(err)
					}
					defer full.Close()
					command.Stdout = full
				}
				code, said := ended(t, command)
				if !slices.Contains(want, code) {
					t.Errorf("%s: exit code %d, want %d: %s", output, code, want, said)
				}
				const lost = "tailrace: standard output cannot be written: no space left on device"
				if full := output != "|:"; strings.Contains(said, lost) != full || !full && code == 0 && said != "" || strings.Contains(said, "pipe") {
					t.Errorf("%s: it says %q", output, said)
				}
				if test.args == nil || test.args[0] != "run" || !slices.Contains(args, out) {
					continue
				}
				if sweep, err := results.Load(out); err != nil || sweep.Meta.Interrupted || len(sweep.Runs) == 0 {
					t.Errorf("%s: results %v, %v", output, sweep, err)
				}
				if _, err := os.Stat(filepath.Join(out, reportFile)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// closedPipe is a pipe that nobody reads from any more.
func closedPipe(t *testing.T) *os.File {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = writer.Close() })
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	return writer
}

// A finding stays one where nobody reads it, and is said where it can't be printed.
func TestFindingsBesideOutputErrors(t *testing.T) {
	dir := t.TempDir()
	writeLog(t, filepath.Join(dir, "log"))
	f, err := os.OpenFile(filepath.Join(dir, "log", "00000000000000000000.log"), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt([]byte("x"), 65)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	command := tailrace(t, dir, "", "dump", "--verify", "--json", "log")
	command.Stdout = closedPipe(t)
	if code, said := ended(t, command); code != exitFailed || !strings.Contains(said, "checksum") {
		t.Errorf("nobody reads: exit code %d: %s", code, said)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	command = tailrace(t, dir, "", "dump", "--verify", "--json", "log")
	command.Stdout = full
	if code, said := ended(t, command); code != exitUsage || !strings.Contains(said, "no space left on device; ") || !strings.Contains(said, "checksum") {
		t.Errorf("full: exit code %d: %s", code, said)
	}
}

// writeLog makes a directory with a small log that was closed in order.
func writeLog(t *testing.T, dir string) {
	t.Helper()
	storage, err := segment.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	strategy, err := strategies.Find("mutex")
	if err != nil {
		t.Fatal(err)
	}
	log, err := strategy.Open(strategies.Options{Storage: storage})
	if err != nil {
		t.Fatal(err)
	}
	var b segment.Builder
	b.Add(1, []byte("key"), []byte("value"))
	handle := log.NewHandle()
	_, err = handle.Append(t.Context(), b.Finish(), strategies.AcksLeader)
	if err := errors.Join(err, handle.Close(), log.Close()); err != nil {
		t.Fatal(err)
	}
}
