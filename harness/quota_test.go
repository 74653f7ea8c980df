package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tailrace/harness/cgroup"
)

// The tightest quota of all groups above the process is the one that holds.
func TestQuotaOfControlGroups(t *testing.T) {
	const (
		v1     = "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
		v2     = "24 23 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		hybrid = v1 + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		cpu    = "sys/fs/cgroup/cpu,cpuacct/"
	)
	for _, test := range []struct {
		name, groups, mounts string
		files                map[string]string // besides cgroup.procs of each folder
		want                 string
	}{
		{"version 1", "1:cpu,cpuacct:/a\n", v1, map[string]string{
			cpu + "cpu.cfs_quota_us": "-1\n", cpu + "cpu.cfs_period_us": "100000\n",
			cpu + "a/cpu.cfs_quota_us": "50000\n", cpu + "a/cpu.cfs_period_us": "100000\n",
		}, "0.5 CPUs"},
		{"version 1, tightest above", "1:cpu,cpuacct:/a/b\n", v1, map[string]string{
			cpu + "a/cpu.cfs_quota_us": "25000\n", cpu + "a/cpu.cfs_period_us": "100000\n",
			cpu + "a/b/cpu.cfs_quota_us": "200000\n", cpu + "a/b/cpu.cfs_period_us": "100000\n",
		}, "0.25 CPUs"},
		{"version 1, none", "1:cpu,cpuacct:/a\n", v1, map[string]string{
			cpu + "a/cpu.cfs_quota_us": "-1\n", cpu + "a/cpu.cfs_period_us": "100000\n",
		}, "none"},
		{"version 2", "0::/a\n", v2, map[string]string{"sys/fs/cgroup/a/cpu.max": "150000 100000\n"}, "1.5 CPUs"},
		{"version 2, tightest in the middle", "0::/a/b/c\n", v2, map[string]string{
			"sys/fs/cgroup/a/cpu.max": "300000 100000\n", "sys/fs/cgroup/a/b/cpu.max": "5000 5000\n", "sys/fs/cgroup/a/b/c/cpu.max": "max 100000\n",
		}, "1 CPU"},
		{"version 2, none", "0::/a\n", v2, map[string]string{"sys/fs/cgroup/a/cpu.max": "max 100000\n"}, "none"},
		{"version 2, the root", "0::/\n", v2, map[string]string{"sys/fs/cgroup/cpu.stat": "usage_usec 1\n"}, "none"},
		{"both, processors in version 1", "1:cpu,cpuacct:/a\n0::/b\n", hybrid, map[string]string{
			cpu + "a/cpu.cfs_quota_us": "10000\n", cpu + "a/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/unified/b/cgroup.events": "",
		}, "0.1 CPUs"},
		{"both, processors in version 2", "4:memory:/m\n0::/b\n", hybrid, map[string]string{
			"sys/fs/cgroup/unified/b/cpu.max": "20000 100000\n", cpu + "cpu.cfs_quota_us": "1000\n", cpu + "cpu.cfs_period_us": "100000\n",
		}, "0.2 CPUs"},
		{"a container's part", "0::/docker/a\n", "9 1 0:3 /docker/a /sys/fs/cgroup ro - cgroup2 c rw\n", map[string]string{
			"sys/fs/cgroup/cpu.max": "75000 100000\n",
		}, "0.75 CPUs"},
		{"not to be seen", "0::/../a\n", v2, map[string]string{"sys/fs/cgroup/cpu.max": "1000 100000\n"}, "unknown"},
		{"no groups", "", "", nil, "unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"proc/self/cgroup": test.groups, "proc/self/mountinfo": test.mounts}
			for name, text := range test.files {
				files[name] = text
				files[filepath.Dir(name)+"/cgroup.procs"] = ""
			}
			m := machineOf(files)
			if c := m.control(); c.quotaText() != test.want {
				t.Errorf("quota %s, want %s", c.quotaText(), test.want)
			}
			seen := m.checkQuota().Seen
			if quota, _, _ := strings.Cut(seen, ", by "); quota != test.want && test.want != "unknown" {
				t.Errorf("the doctor sees %s, want %s", seen, test.want)
			}
		})
	}
}

// What is recorded of a real group with a quota of half a CPU is that quota, and a warning.
func TestQuotaIsRecorded(t *testing.T) {
	const child = "TAILRACE_TEST_QUOTA"
	if os.Getenv(child) != "" {
		fmt.Println(environment().Quota, judge(environment()))
		return
	}
	if quota := environment().Quota; quota != "none" {
		t.Skipf("this process has a quota: %s", quota)
	}
	own, err := cgroup.Find(os.DirFS("/"), "cpu")
	if err != nil {
		t.Skip(err)
	}
	group, err := os.MkdirTemp(own.Dir, "tailrace-test-")
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		for err := os.Remove(group); errors.Is(err, unix.EBUSY); err = os.Remove(group) {
			runtime.Gosched() // the kernel is still at the end of the process
		}
	}()
	file, quota := "cpu.cfs_quota_us", "50000"
	if own.Version == 2 {
		file, quota = "cpu.max", "50000 100000"
	}
	f, err := os.OpenFile(filepath.Join(group, file), os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	if _, err = f.WriteString(quota); err != nil {
		t.Skip(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	inside := exec.Command("sh", "-c", `echo $$ >"$1/cgroup.procs" || exit 77; exec "$2" -test.run '^TestQuotaIsRecorded$'`, "sh", group, os.Args[0])
	inside.Env = append(os.Environ(), child+"=1")
	output, err := inside.CombinedOutput()
	if inside.ProcessState.ExitCode() == 77 {
		t.Skipf("the group can't be entered: %s", output)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, want := range []string{"0.5 CPUs [", "a CPU quota of 0.5 CPUs"} {
		if !strings.Contains(string(output), want) {
			t.Errorf("it says %s, want %s", output, want)
		}
	}
}
