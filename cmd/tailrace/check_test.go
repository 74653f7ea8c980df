package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// runCheck returns what a check prints, which is to end with an exit code.
func runCheck(t *testing.T, exitCode int, program string, args ...string) (stdout, stderr string) {
	t.Helper()
	check := exec.Command(program, append([]string{"check"}, args...)...)
	var out, diagnostics bytes.Buffer
	check.Stdout, check.Stderr = &out, &diagnostics
	err := check.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := check.ProcessState.ExitCode(); got != exitCode {
		t.Fatalf("exit code %d, want %d\n%s\n%s", got, exitCode, &out, &diagnostics)
	}
	return out.String(), diagnostics.String()
}

// A strategy that gives a wrong answer is shown with the history that proves it, and with a command that
// shows it again.
func testCheckViolation(t *testing.T, program string) {
	t.Setenv(plantedVariable, "lost timestamp")
	out := filepath.Join(t.TempDir(), "histories")
	stdout, stderr := runCheck(t, exitFailed, program, "--strategies", "mutex,actor", "--seed", "6", "--storage", "heap", "--out", out)
	for _, name := range []string{"mutex-violation.txt", "mutex-history.txt", "mutex-history.html", "actor-history.html"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !strings.Contains(stderr, "VIOLATED mutex, linearizability: a history of ") {
		t.Errorf("stderr\n%s", stderr)
	}
	if want := "tailrace: 2 of 2 strategies gave wrong answers; what they did is in " + out + "\n"; !strings.HasSuffix(stderr, want) {
		t.Errorf("stderr\n%swant at its end\n%s", stderr, want)
	}
	again := regexp.MustCompile(`(?m)^again: tailrace check (--strategies mutex .* --storage heap)$`).FindStringSubmatch(stdout)
	if again == nil {
		t.Fatalf("no command to repeat in\n%s", stdout)
	}
	runCheck(t, exitFailed, program, append(strings.Fields(again[1]), "--out", out)...)
}

// Checks that do not catch what is wrong on purpose are worth nothing, and say so.
func testCheckWorthless(t *testing.T, program string) {
	t.Setenv(plantedVariable, "faultless busted")
	_, stderr := runCheck(t, exitFailed, program, "--strategies", "mutex", "--duration", "10ms")
	want := regexp.MustCompile(`tailrace: busted, which is wrong on purpose, was not caught in [\d.]+ s: the checks are worth nothing here\n$`)
	if !want.MatchString(stderr) {
		t.Errorf("stderr\n%swant at its end\n%s", stderr, want)
	}
}

// An interrupted check says how far it came, and leaves neither data nor a process.
func TestCheckInterrupt(t *testing.T) {
	data := t.TempDir()
	check := exec.Command("tailrace", "check", "--strategies", "mutex,actor", "--duration", "1h", "--dir", data)
	stderr, err := check.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := check.Start(); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		last = lines.Text()
		if strings.Contains(last, "was caught") { // the next has begun, or is about to
			if err := check.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, isExit := check.Wait().(*exec.ExitError); !isExit || check.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("%v, want exit code %d", check.ProcessState, exitInterrupted)
	}
	if want := "tailrace: interrupted: 0 of 2 strategies were checked"; last != want {
		t.Errorf("last line %q, want %q", last, want)
	}
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("data left behind: %v, %v", left, err)
	}
}
