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

func TestFindMemoryGroup(t *testing.T) {
	const (
		v1Mounts = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n" +
			"32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n" +
			"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
		v2Mount = "24 23 0:22 / /sys/fs/cgroup rw,nosuid,nodev,noexec shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
		hybrid  = v1Mounts + "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
	)
	for _, test := range []struct {
		name, groups, mounts string
		own, parent          memoryGroup
		err                  string
	}{
		{
			"version 1", "3:cpuset:/\n4:memory:/a/b\n1:cpu:/c\n", v1Mounts,
			memoryGroup{"/sys/fs/cgroup/memory/a/b", 1}, memoryGroup{"/sys/fs/cgroup/memory/a", 1}, "",
		},
		{
			"version 1, its root", "4:memory:/\n", v1Mounts,
			memoryGroup{"/sys/fs/cgroup/memory", 1}, memoryGroup{}, "",
		},
		{
			"version 1, with other controllers", "2:cpu,memory:/a:b\n", "7 1 0:3 / /cgroup rw - cgroup none rw,cpu,memory,xattr\n",
			memoryGroup{"/cgroup/a:b", 1}, memoryGroup{"/cgroup", 1}, "",
		},
		{
			"version 2", "0::/user.slice/user-1.slice/user@1.service/app.slice/shell.scope\n", v2Mount,
			memoryGroup{"/sys/fs/cgroup/user.slice/user-1.slice/user@1.service/app.slice/shell.scope", 2},
			memoryGroup{"/sys/fs/cgroup/user.slice/user-1.slice/user@1.service/app.slice", 2}, "",
		},
		{
			"version 2, the root of a namespace", "0::/\n", v2Mount,
			memoryGroup{"/sys/fs/cgroup", 2}, memoryGroup{}, "",
		},
		{
			"both, memory in version 1", "9:name=systemd:/x\n4:memory:/a\n0::/b\n", hybrid,
			memoryGroup{"/sys/fs/cgroup/memory/a", 1}, memoryGroup{"/sys/fs/cgroup/memory", 1}, "",
		},
		{
			"both, memory in version 2", "9:name=systemd:/x\n1:cpu:/a\n0::/b\n", hybrid,
			memoryGroup{"/sys/fs/cgroup/unified/b", 2}, memoryGroup{"/sys/fs/cgroup/unified", 2}, "",
		},
		{
			"a container's part", "4:memory:/docker/abc/d\n", "8 1 0:3 /docker/ab /other rw - cgroup c rw,memory\n" +
				"9 1 0:3 /docker/abc /sys/fs/cgroup/memory ro - cgroup c rw,memory\n",
			memoryGroup{"/sys/fs/cgroup/memory/d", 1}, memoryGroup{"/sys/fs/cgroup/memory", 1}, "",
		},
		{
			"a container's own root", "0::/docker/abc\n", "9 1 0:3 /docker/abc /c rw - cgroup2 c rw\n",
			memoryGroup{"/c", 2}, memoryGroup{}, "",
		},
		{
			"blanks", "0::/a b\n", `9 1 0:3 / /my\040groups\134x rw - cgroup2 c rw` + "\n",
			memoryGroup{`/my groups\x/a b`, 2}, memoryGroup{`/my groups\x`, 2}, "",
		},
		{"outside of the namespace", "0::/../a\n", v2Mount, memoryGroup{}, memoryGroup{}, "the control group /../a of this process is not mounted"},
		{"above what is mounted", "0::/../../a\n", "9 1 0:3 /.. /c rw - cgroup2 c rw\n", memoryGroup{}, memoryGroup{}, "the control group /../../a of this process is not mounted"},
		{"not mounted", "4:memory:/a\n", v2Mount, memoryGroup{}, memoryGroup{}, "the control group /a of this process is not mounted"},
		{"mounts of no sense", "0::/a\n", "\n - \n1 2 - cgroup2\n", memoryGroup{}, memoryGroup{}, "the control group /a of this process is not mounted"},
		{"no groups", "no sense\n\n1:cpu:/\n", v2Mount, memoryGroup{}, memoryGroup{}, "this process is in no control group of memory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			own, parent, err := findMemoryGroup(strings.NewReader(test.groups), strings.NewReader(test.mounts))
			if own != test.own || parent != test.parent {
				t.Errorf("%v below %v, want %v below %v", own, parent, test.own, test.parent)
			}
			if said := ""; err != nil || test.err != "" {
				if err != nil {
					said = err.Error()
				}
				if said != test.err {
					t.Errorf("error %q, want %q", said, test.err)
				}
			}
		})
	}
}

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
			_, err := firstGroup(os.Getpid(), 1<<30, place, memoryGroup{})
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
