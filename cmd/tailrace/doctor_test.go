package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tailrace/harness"
)

// runDoctor runs it in an empty directory. Whether the machine is fit is for the machine to say: on a busy one,
// or with the race detector, it is not.
func runDoctor(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	dir := t.TempDir()
	doctor := exec.Command("tailrace", append([]string{"doctor", "--quick"}, args...)...)
	doctor.Dir = dir
	var out, complaints bytes.Buffer
	doctor.Stdout, doctor.Stderr = &out, &complaints
	var exit *exec.ExitError
	if err := doctor.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return out.String(), complaints.String(), doctor.ProcessState.ExitCode()
}

func TestDoctorAsText(t *testing.T) {
	stdout, stderr, code := runDoctor(t)
	lines := strings.Split(strings.TrimRight(stdout, "\n"), "\n")
	verdict := ""
	for _, line := range lines {
		if strings.HasPrefix(line, "fit") || strings.HasPrefix(line, "not fit: ") {
			verdict = line
		}
	}
	for _, title := range []string{"The machine", "What it costs"} {
		if !strings.Contains(stdout, "\n"+title+"\n") {
			t.Errorf("no title %q in\n%s", title, stdout)
		}
	}
	switch {
	case strings.HasPrefix(verdict, "fit") && code == 0 && stderr == "":
	case strings.HasPrefix(verdict, "not fit: ") && code == exitUnmeasured && stderr == "tailrace: this machine is "+verdict+"\n":
	default:
		t.Errorf("exit code %d with the verdict %q and on stderr %q; all of it:\n%s", code, verdict, stderr, stdout)
	}
}

func TestDoctorAsJSON(t *testing.T) {
	stdout, _, code := runDoctor(t, "--json")
	var d harness.Diagnosis
	decoder := json.NewDecoder(strings.NewReader(stdout))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		t.Fatalf("%v in\n%s", err, stdout)
	}
	if d.Fit != (code == 0) || len(d.Checks) == 0 || len(d.Calibrations) == 0 || d.Spread != nil || d.Verdict == "" {
		t.Errorf("exit code %d with %+v", code, d)
	}
}

// TestDoctorIsInterrupted ends it when it has made its first file.
func TestDoctorIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	doctor := exec.Command("tailrace", "doctor", "--dir", dir)
	var stdout, stderr bytes.Buffer
	doctor.Stdout, doctor.Stderr = &stdout, &stderr
	if err := doctor.Start(); err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for looks, made := 0, 0; made == 0; looks++ {
		<-look.C
		entries, err := os.ReadDir(dir)
		if err != nil || looks == 10_000 {
			t.Fatalf("it has made nothing yet: %v", errors.Join(err, doctor.Process.Kill()))
		}
		made = len(entries)
	}
	if err := doctor.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := doctor.Wait(); err == nil || doctor.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("%v, want exit code %d", doctor.ProcessState, exitInterrupted)
	}
	if stderr.String() != "tailrace: interrupted\n" || stdout.Len() > 0 {
		t.Errorf("stdout %q, stderr %q", &stdout, &stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
