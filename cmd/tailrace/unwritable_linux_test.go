package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

// tinyTmpfs mounts a file system in memory that has no more than this, as mount(8) writes it.
func tinyTmpfs(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("nothing can be mounted: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, 0) })
	return dir
}

// Results that find no room are no wrong answers. What is there is whole.
func TestResultsOnAFullDisk(t *testing.T) {
	disk := tinyTmpfs(t, "70m")
	out := filepath.Join(disk, "out")
	if code, said := ended(t, tailrace(t, disk, "", short("--out", "out")...)); code != 0 && code != exitUnmeasured {
		t.Fatalf("exit code %d: %s", code, said)
	}
	before, err := os.ReadFile(filepath.Join(out, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(disk, "other"), make([]byte, 80<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	code, said := ended(t, tailrace(t, disk, "", "report", "out"))
	if code != exitUsage || !strings.HasSuffix(said, ": no space left on device\n") || strings.Count(said, "\n") != 1 {
		t.Errorf("report: exit code %d: %s", code, said)
	}
	if after, err := os.ReadFile(filepath.Join(out, reportFile)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the report is another: %v", err)
	}
	code, said = ended(t, tailrace(t, disk, "", short("--out", "another")...))
	if code != exitUsage || strings.Count(said, "\n") != 1 {
		t.Errorf("run: exit code %d: %s", code, said)
	}
}

// Files that may not grow are no wrong answers either, however far the sweep comes.
func TestResultsUnderALimitOfFileSizes(t *testing.T) {
	for _, blocks := range []string{"0", "40", "100"} { // of 512 bytes: not even a plan, no results of all runs, no page
		dir := t.TempDir()
		code, said := ended(t, tailrace(t, dir, "ulimit -f "+blocks+";", short("--out", "out")...))
		if code != exitUsage || !strings.Contains(said, "file too large") || strings.Count(said, "\n") != 1 {
			t.Errorf("%s blocks: exit code %d: %s", blocks, code, said)
		}
		sweep, err := results.Load(filepath.Join(dir, "out"))
		if whole := err == nil && len(sweep.Runs) == 3; whole != strings.Contains(said, "all runs are kept; to ") {
			t.Errorf("%s blocks: %v, %s", blocks, err, said)
		}
	}
}

// A manual that finds no room is no finding, either.
func TestManualOnAFullDisk(t *testing.T) {
	code, said := ended(t, tailrace(t, t.TempDir(), "", "man", filepath.Join(tinyTmpfs(t, "8k"), "man1")))
	if code != exitUsage || !strings.Contains(said, "no space left on device") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// Data that finds no room, or may not grow, is no wrong answer of a strategy, neither before the first run nor in one.
func TestDataThatCannotBeWritten(t *testing.T) {
	for _, test := range []struct {
		name, prepare string
		args          []string
		want          string
	}{
		{"limit of a run", "ulimit -f 2000;", []string{"run", "--workers", "1", "--prefill", "4MiB", "--strategies", "mutex", "--duration", "5ms", "--ramp", "2ms", "--blocks", "1", "--quiet"},
			": file too large; raise the limit of file sizes (ulimit -f), or lower --segment-size\n"},
		{"limit of a check", "ulimit -f 20;", []string{"check", "--strategies", "mutex", "--duration", "2s", "--storage", "tmpfs", "--quiet"},
			"; free some or raise the limit of file sizes, or choose another directory with --dir\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			command := tailrace(t, t.TempDir(), test.prepare, test.args...)
			if code, said := ended(t, command); code != exitUsage || !strings.Contains(said, "file too large") || !strings.HasSuffix(said, test.want) || strings.Count(said, "\n") != 1 {
				t.Errorf("exit code %d: %s", code, said)
			}
		})
	}
}
