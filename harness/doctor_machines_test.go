package harness

import (
	"strconv"
	"strings"
	"testing"
)

func otherCases() []machineCase {
	const (
		plainly = "build it plainly: go build -o bin/tailrace ./cmd/tailrace"
		another = "name a directory on a disk of this machine: --dir"
	)
	group := "sys/fs/cgroup/user.slice/"
	return []machineCase{
		{name: "throttled container of version 2", files: map[string]string{
			"proc/self/cgroup":       "0::/\n",
			"sys/fs/cgroup/cpu.max":  "150000 100000\n",
			"sys/fs/cgroup/cpu.stat": "nr_periods 900\nnr_throttled 123\nthrottled_usec 99\n",
		}, want: []Finding{
			{Name: "CPU quota", Status: StatusWarning, Seen: "1.5 CPUs, by /sys/fs/cgroup/cpu.max", Mend: quotaMend},
			{Name: "throttling", Status: StatusWarning, Seen: "none now, but in 123 periods before",
				Mend: "raise the quota (docker update --cpus, resources.limits.cpu), or run fewer threads with --cpu"},
		}},
		{name: "quota of version 1, of half a CPU", files: map[string]string{
			"proc/self/cgroup":                               "4:memory:/x\n1:cpu,cpuacct:/docker/abc\n0::/\n",
			"proc/self/mountinfo":                            "33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
			"sys/fs/cgroup/cpu/docker/abc/cgroup.procs":      "7\n",
			"sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us":  "50000\n",
			"sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":             "-1\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us":            "100000\n",
		}, want: []Finding{
			{Name: "CPU quota", Status: StatusUnfit, Seen: "0.5 CPUs, by /sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", Mend: quotaMend},
		}},
		{name: "quota of a group above", files: map[string]string{group + "cpu.max": "300000 100000\n"}, want: []Finding{
			{Name: "CPU quota", Status: StatusWarning, Seen: "3 CPUs, by /sys/fs/cgroup/user.slice/cpu.max", Mend: quotaMend},
		}},
		{name: "memory limit", files: map[string]string{group + "memory.max": "1073741824\n", group + "memory.current": "536870912\n"}, want: []Finding{
			{Name: "memory", Status: StatusWarning, Seen: "512 MiB available within the control group's limit, a run may need 2.1 GiB",
				Mend: "free some, raise the limit, or lower --max-bytes and --prefill"},
		}},
		{name: "swapping", files: map[string]string{
			"proc/meminfo": "MemAvailable: 12000000 kB\nSwapTotal: 4194304 kB\nSwapFree: 2097152 kB\n",
		}, want: []Finding{{Name: "swap", Status: StatusWarning, Seen: "2 GiB of 4 GiB in use", Mend: "free memory, then: sudo swapoff -a"}}},
		{name: "huge pages by compaction", files: map[string]string{
			"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
			"sys/kernel/mm/transparent_hugepage/defrag":  "[always] defer madvise never\n",
		}, want: []Finding{{Name: "huge pages", Status: StatusWarning, Seen: "always, defrag always",
			Mend: "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/defrag"}}},
		{name: "few descriptors and mappings", files: map[string]string{
			"proc/self/limits": "Max open files            1024                 1024               files     \n", "proc/sys/vm/max_map_count": "1000\n",
		}, want: []Finding{
			{Name: "descriptors", Status: StatusWarning, Seen: "at most 1024",
				Mend: "ulimit -n 65536 (as root, or through /etc/security/limits.conf; docker run --ulimit nofile=65536)"},
			{Name: "mappings", Status: StatusWarning, Seen: "at most 1000", Mend: "sudo sysctl vm.max_map_count=65530"},
		}},
		{name: "timer slack", files: map[string]string{"proc/self/timerslack_ns": "1000000\n"}, want: []Finding{
			{Name: "timer slack", Status: StatusWarning, Seen: "1ms",
				Mend: "start it from a shell with the usual slack; for a systemd service: TimerSlackNSec=50us"},
		}},
		{name: "with the race detector", change: setting("-race", "true"), want: []Finding{
			{Name: "build", Status: StatusUnfit, Seen: "with a detector (-race, -msan or -asan)", Mend: plainly},
		}},
		{name: "without optimisations", change: setting("-gcflags", "all=-N -l"), want: []Finding{
			{Name: "build", Status: StatusUnfit, Seen: "without optimisations (-gcflags all=-N -l)", Mend: plainly},
		}},
		{name: "other flags of the compiler", change: setting("-gcflags", "-m -lang=go1.26")},
		{name: "another system", change: func(m *machine) { m.system = "darwin" }, want: []Finding{
			{Name: "system", Status: StatusUnfit, Seen: "darwin", Mend: "measure on Linux"},
		}},
		{name: "variables", change: func(m *machine) {
			m.variable = func(name string) string { return map[string]string{"GOGC": "off", "GODEBUG": "madvdontneed=1"}[name] }
		}, want: []Finding{{Name: "Go runtime", Status: StatusWarning, Seen: "GOGC=off GODEBUG=madvdontneed=1",
			Mend: "unset GOGC GODEBUG, unless that is what you compare"}}},
		{name: "disk in memory", change: onFilesystem("tmpfs", 100<<30), want: []Finding{
			{Name: "disk at /data", Status: StatusWarning, Seen: "tmpfs, 100 GiB free", Mend: another},
		}},
		{name: "layer of a container", change: onFilesystem("overlayfs", 100<<30), want: []Finding{
			{Name: "disk at /data", Status: StatusWarning, Seen: "overlayfs, 100 GiB free", Mend: "mount a volume (docker run -v) and name it: --dir"},
		}},
		{name: "disk of another machine", change: onFilesystem("nfs", 100<<30), want: []Finding{
			{Name: "disk at /data", Status: StatusWarning, Seen: "nfs, 100 GiB free", Mend: another},
		}},
		{name: "full disk", change: onFilesystem("ext4", 1<<30), want: []Finding{
			{Name: "disk at /data", Status: StatusWarning, Seen: "ext4, 1 GiB free, a run may need 2.1 GiB",
				Mend: "free some, choose another disk with --dir, or lower --max-bytes"},
		}},
		{name: "disk that can't be written", change: func(m *machine) { m.probe = func(string) error { return errReadOnly } }, want: []Finding{
			{Name: "disk at /data", Status: StatusWarning, Seen: "xfs, 100 GiB free", Mend: "go to another directory, or name one: --dir and --out"},
		}},
		{name: "small shared memory", change: func(m *machine) {
			m.filesystem = func(path string) (filesystem, error) {
				if path == sharedMemory {
					return filesystem{name: "tmpfs", free: 64 << 20}, nil
				}
				return filesystem{name: "xfs", free: 100 << 30}, nil
			}
		}, want: []Finding{{Name: "/dev/shm", Status: StatusWarning, Seen: "tmpfs, 64 MiB free, a run may need 2.1 GiB",
			Mend: "sudo mount -o remount,size=4G /dev/shm; in a container: docker run --shm-size 4g; or lower --max-bytes"}}},
		{name: "no shared memory", change: func(m *machine) {
			m.filesystem = func(path string) (filesystem, error) { return filesystem{name: "ext4", free: 100 << 30}, nil }
		}, want: []Finding{{Name: "/dev/shm", Status: StatusWarning, Seen: "it is ext4, not tmpfs", Mend: "sudo mount -t tmpfs tmpfs /dev/shm"}}},
	}
}

const quotaMend = "whole CPUs in place of a quota: docker run --cpuset-cpus 0-3; in Kubernetes the static CPU manager policy with " +
	"whole CPUs as requests and limits; systemd-run -p AllowedCPUs=0-3"

// second is the machine after a second in which its usable CPUs, 0 and 1, did this, in ticks.
func second(t *testing.T, usable string, others, own, steal int) (before, after sample) {
	t.Helper()
	files := bareMetal()
	files["proc/self/status"] = "Cpus_allowed_list:\t" + usable + "\n"
	before = machineOf(files).sample()
	files["proc/stat"] = "cpu0 " + strconv.Itoa(10+others+own) + " 0 10 " + strconv.Itoa(1000+100-others-own-steal) + " 0 0 0 " + strconv.Itoa(steal) + " 0 0\n" +
		"cpu1 10 0 10 1100 0 0 0 0 0 0\n"
	files["proc/self/stat"] = "7 (tailrace) R 1 7 7 0 -1 0 0 0 0 0 " + strconv.Itoa(2+own) + " 1 0 0 20 0 5 0 100\n"
	files["proc/7/stat"] = files["proc/self/stat"]
	files["proc/8/stat"] = "8 (a (b) c) S 1 8 8 0 -1 0 0 0 0 0 " + strconv.Itoa(10+others) + " 20 0 0 20 0 5 0 100\n"
	return before, machineOf(files).sample()
}

func TestNeighboursAndSteal(t *testing.T) {
	const named = ", most of all a (b) c (process 8) with "
	for _, test := range []struct {
		name               string
		usable             string
		others, own, steal int
		neighbours         Status
		seen               string
		stolen             Status
	}{
		{"idle", "0-1", 0, 0, 0, StatusOK, "they took 0 % of the CPUs in a second", StatusOK},
		{"busy with itself", "0-1", 0, 90, 0, StatusOK, "they took 0 % of the CPUs in a second", StatusOK},
		{"a neighbour", "0-1", 40, 10, 0, StatusWarning, "they took 20 % of the CPUs in a second" + named + "20 %", StatusOK},
		{"a neighbour on the only CPU", "0", 80, 0, 0, StatusUnfit, "they took 80 % of the CPUs in a second" + named + "80 %", StatusOK},
		{"a neighbour on another CPU", "1", 80, 0, 0, StatusOK, "they took 0 % of the CPUs in a second", StatusOK},
		{"a greedy host", "0-1", 0, 0, 4, StatusOK, "they took 0 % of the CPUs in a second", StatusWarning},
		{"a very greedy host", "0-1", 0, 0, 60, StatusOK, "they took 0 % of the CPUs in a second", StatusUnfit},
	} {
		before, after := second(t, test.usable, test.others, test.own, test.steal)
		if f := neighbours(before, after); f.Status != test.neighbours || f.Seen != test.seen || f.grave() != (f.Why != "" && f.Mend != "") {
			t.Errorf("%s: %+v", test.name, f)
		}
		if f := stolen(before, after); f.Status != test.stolen || f.grave() != (f.Why != "" && f.Mend != "") {
			t.Errorf("%s: %+v", test.name, f)
		}
	}
}

func TestThrottlingDuringTheExamination(t *testing.T) {
	before := sample{groups: control{known: true, quotaFile: "f", throttled: 5}}
	after := before
	after.groups.throttled = 8
	f := throttling(before, after)
	if f.Status != StatusUnfit || f.Seen != "the CPU quota stopped this group in 3 periods while it was examined" {
		t.Errorf("%+v", f)
	}
	before.groups.throttled, after.groups.throttled = 0, 0
	if f := throttling(before, after); f.Status != StatusOK || f.Seen != "none" {
		t.Errorf("%+v", f)
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "0-3": "0,1,2,3", "0-1,8,10-11": "0,1,8,10,11", "": "", "x": "", "3-": "", "0-99999999": "", "-1": "",
	} {
		if got := list(numbers(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestProcessTicks(t *testing.T) {
	if _, _, ok := processTicks(strings.Repeat("x", 10)); ok {
		t.Error("no process, but ticks")
	}
	if _, _, ok := processTicks("1 (short) R 1 2 3"); ok {
		t.Error("a line cut off, but ticks")
	}
	if name, ticks, ok := processTicks("8 (a) b) S 1 8 8 0 -1 0 0 0 0 0 10 20 0"); name != "a) b" || ticks != 30 || !ok {
		t.Errorf("%q %d %t", name, ticks, ok)
	}
}
