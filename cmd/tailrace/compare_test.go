package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sourceCopy copies what the command is built from into a repository of its own, and returns its directory.
func sourceCopy(t *testing.T) string {
	t.Helper()
	root, dir := filepath.Join("..", ".."), t.TempDir()
	parts := []string{"go.mod", "go.sum", "examples/compare-ci.sh"}
	for _, p := range listPackages(t) {
		parts = append(parts, strings.TrimPrefix(p.ImportPath, module+"/"))
	}
	for _, part := range parts {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				if err == nil && entry.Name() == "testdata" {
					return fs.SkipDir
				}
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || strings.HasSuffix(path, "_test.go") {
				return err
			}
			relative, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			target := filepath.Join(dir, relative)
			return errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, text, 0o755))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "--quiet")
	commit(t, dir)
	return dir
}

func commit(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "add", "--all")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--allow-empty", "--message", "a change")
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// slowdown makes the mutex spin, before each call, for a third of the time since the one before, as long as that is
// one of work and not of waiting for a processor: a quarter of the throughput is gone.
var slowdown = strings.NewReplacer(
	"\tcursor segment.Cursor\n}", `	cursor segment.Cursor
	called time.Time
}

func (h *mutexHandle) slowDown() {
	if now := time.Now(); !h.called.IsZero() {
		for pause := min(now.Sub(h.called)/3, 10*time.Microsecond); time.Since(now) < pause; {
		}
	}
	h.called = time.Now()
}`,
	"acks Acks) (int64, error) {\n", "acks Acks) (int64, error) {\n\th.slowDown()\n",
	"Read(offset int64, buf []byte) ([]byte, error) {\n", "Read(offset int64, buf []byte) ([]byte, error) {\n\th.slowDown()\n",
	"\t\"sync\"\n", "\t\"sync\"\n\t\"time\"\n",
)

// TestCompareInCI runs the recipe for CI on two changes: one of nothing, and one that takes a quarter of the throughput.
func TestCompareInCI(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := sourceCopy(t)
	commit(t, dir)
	// An alarm is promised to be rare, not never to happen; two in a row do not.
	for try := 1; ; try++ {
		code, out := compareCI(t, dir, 12)
		if !strings.Contains(out, "interleaved: ") {
			t.Fatalf("exit code %d, and nothing was compared:\n%s", code, out)
		}
		if code == 0 || code == exitUnmeasured { // the A/A arm may alarm too
			break
		}
		if code != exitFailed || try == 2 {
			t.Fatalf("identical code: exit code %d\n%s", code, out)
		}
	}

	path := filepath.Join(dir, "strategies", "mutex.go")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	slow := slowdown.Replace(string(text))
	if n := strings.Count(slow, "slowDown()"); n != 3 {
		t.Fatalf("the slowdown is planted at %d places of %s, want 3", n, path)
	}
	if err := os.WriteFile(path, []byte(slow), 0o644); err != nil {
		t.Fatal(err)
	}
	commit(t, dir)
	// More blocks tell more: a machine may be so busy that few do not.
	for _, blocks := range []int{12, 25, 50} {
		code, out := compareCI(t, dir, blocks)
		if code == exitFailed && strings.Contains(out, "REGRESSION") {
			break
		}
		if blocks == 50 {
			t.Errorf("a quarter of the throughput is gone: exit code %d\n%s", code, out)
		}
	}

	// It leaves nothing but results.
	worktrees, err := exec.Command("git", "-C", dir, "worktree", "list").Output()
	if err != nil || strings.Count(string(worktrees), "\n") != 1 {
		t.Errorf("%v, work trees\n%s", err, worktrees)
	}
	if code, out := runScript(t, dir, nil, "no-such-commit"); code != exitUsage || !strings.Contains(out, "no such commit") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// compareCI compares the last commit with the one before, by the recipe.
func compareCI(t *testing.T, dir string, blocks int) (code int, out string) {
	t.Helper()
	// Processor time too: other tests may be running beside this one, and take from both builds what they like.
	environment := []string{"STRICT=1", "METRIC=op/s,cpu-sec/op", "THRESHOLD=10%", fmt.Sprintf("BLOCKS=%d", blocks), "OUT=" + filepath.Join(t.TempDir(), "result")}
	return runScript(t, dir, environment, "HEAD~1", "--workers", "1", "--mix", "produce=50", "--record-size", "8KiB", "--fetch-bytes", "16KiB",
		"--prefill", "4MiB", "--strategies", "mutex", "--storage", "heap", "--duration", "50ms", "--ramp", "10ms")
}

func runScript(t *testing.T, dir string, environment []string, args ...string) (code int, out string) {
	t.Helper()
	script := exec.Command(filepath.Join(dir, "examples", "compare-ci.sh"), args...)
	script.Dir, script.Env = dir, slices.Concat(os.Environ(), environment)
	text, err := script.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, text)
	}
	t.Logf("%v\n%s", args, text)
	return script.ProcessState.ExitCode(), string(text)
}
