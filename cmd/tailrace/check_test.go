package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// buildWith builds tailrace with one text of a file replaced by another.
func buildWith(t *testing.T, file, old, new string) (program string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program of its own")
	}
	path, err := filepath.Abs(filepath.Join("../..", file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), old); n != 1 {
		t.Fatalf("%s has the text to replace %d times, want once", file, n)
	}
	dir := t.TempDir()
	changed, overlay, program := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "tailrace")
	mapping, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{changed: strings.Replace(string(text), old, new, 1), overlay: string(mapping)} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if output, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	return program
}

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
func TestCheckViolation(t *testing.T) {
	program := buildWith(t, "strategies/picture.go", "\t\tlatest = max(latest, list[len(list)-1].latest)\n", "\t\t_ = latest\n")
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
func TestCheckWorthless(t *testing.T) {
	program := buildWith(t, "strategies/strategies.go", "Open: openBusted, Faulty: true", "Open: openMutex, Faulty: true")
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
