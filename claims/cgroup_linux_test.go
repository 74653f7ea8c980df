package claims

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Where no group can be made, there is a reason, and nothing is left.
func TestGroupsThatCanNotBeMade(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, test := range []struct {
		name  string
		place func(dir string) memoryGroup
		want  string
	}{
		{"no such place", func(string) memoryGroup { return memoryGroup{missing, 1} }, "no such file"},
		{"no controls", func(dir string) memoryGroup { return memoryGroup{dir, 1} }, "memory.limit_in_bytes"},
		{"version 2, no controls", func(dir string) memoryGroup {
			writeControls(t, dir, "cpu memory\n", "memory\n")
			return memoryGroup{dir, 2}
		}, "memory.max"},
		{"version 2, no controller", func(dir string) memoryGroup {
			writeControls(t, dir, "cpu io\n", "")
			return memoryGroup{dir, 2}
		}, "no memory in "},
		{"version 2, a group with processes", func(dir string) memoryGroup {
			writeControls(t, dir, "cpu memory pids\n", "pids\n")
			return memoryGroup{dir, 2}
		}, "cgroup.subtree_control"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			place := test.place(dir)
			before := names(t, dir)
			_, err := firstGroup(os.Getpid(), 1<<30, place)
			if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if after := names(t, dir); !slices.Equal(before, after) {
				t.Errorf("left are %q, before there were %q", after, before)
			}
		})
	}
}

func writeControls(t *testing.T, dir, controllers, handedOn string) {
	t.Helper()
	for name, text := range map[string]string{"cgroup.controllers": controllers, "cgroup.subtree_control": handedOn} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestRemoveGroup(t *testing.T) {
	dir := t.TempDir()
	if err := (memoryGroup{dir: filepath.Join(dir, "gone")}).remove(); err != nil {
		t.Errorf("what is gone: %v", err)
	}
	writeControls(t, dir, "", "")
	var failed *os.PathError
	if err := (memoryGroup{dir: dir}).remove(); !errors.As(err, &failed) || failed.Path != dir {
		t.Errorf("what holds something else: %v", err)
	}
}

// A group holds the process alone and limits its memory; it is gone after the process, and can't go before.
func TestGroupOfOneProcess(t *testing.T) {
	child := exec.Command("cat") // waits for the end of its input
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	end := func() {
		stdin.Close()
		_ = child.Wait()
	}
	defer end()
	request := &pressureRequest{Memory: 32 << 20}
	leave, err := enterGroup(request, child.Process.Pid)
	if err != nil {
		t.Skip(err)
	}
	held, err := os.ReadFile(filepath.Join(request.Group, "cgroup.procs"))
	if err != nil || strings.TrimSpace(string(held)) != strconv.Itoa(child.Process.Pid) {
		t.Errorf("the group holds %q (%v), not %d", held, err, child.Process.Pid)
	}
	limits, err := filepath.Glob(filepath.Join(request.Group, "memory.limit_in_bytes"))
	if limit2, _ := filepath.Glob(filepath.Join(request.Group, "memory.max")); len(limit2) > 0 {
		limits = limit2
	}
	if err != nil || len(limits) != 1 {
		t.Fatalf("limits of the group: %q, %v", limits, err)
	}
	if limit, err := os.ReadFile(limits[0]); err != nil || strings.TrimSpace(string(limit)) != strconv.Itoa(request.Memory) {
		t.Errorf("the limit is %q (%v)", limit, err)
	}
	end()
	if err := leave(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(request.Group); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the group is there: %v", err)
	}
}
