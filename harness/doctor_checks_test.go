package harness

import (
	"errors"
	"io/fs"
	"maps"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"
)

// bareMetal are the files of a machine with four cores on which nothing is wrong.
func bareMetal() map[string]string {
	files := map[string]string{
		"proc/self/status":          "Name:\ttailrace\nCpus_allowed:\tf\nCpus_allowed_list:\t0-3\n",
		"proc/self/cgroup":          "0::/user.slice/user-1000.slice\n",
		"proc/self/mountinfo":       "24 23 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"proc/self/limits":          "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files     \n",
		"proc/loadavg":              "0.05 0.10 0.08 1/200 1234\n",
		"proc/cpuinfo":              "model name\t: A CPU\nflags\t\t: fpu vme constant_tsc\n",
		"proc/version":              "Linux version 6.12 #1 SMP PREEMPT_DYNAMIC\n",
		"proc/meminfo":              "MemTotal: 16000000 kB\nMemAvailable:   12000000 kB\nSwapTotal:       0 kB\nSwapFree:        0 kB\n",
		"proc/stat":                 "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 10 0 10 1000 0 0 0 0 0 0\ncpu1 10 0 10 1000 0 0 0 0 0 0\n",
		"proc/self/stat":            "7 (tailrace) R 1 7 7 0 -1 0 0 0 0 0 2 1 0 0 20 0 5 0 100\n",
		"proc/7/stat":               "7 (tailrace) R 1 7 7 0 -1 0 0 0 0 0 2 1 0 0 20 0 5 0 100\n",
		"proc/8/stat":               "8 (a (b) c) S 1 8 8 0 -1 0 0 0 0 0 10 20 0 0 20 0 5 0 100\n",
		"proc/self/timerslack_ns":   "50000\n",
		"proc/sys/vm/max_map_count": "1048576\n",
		"sys/kernel/mm/transparent_hugepage/enabled":                        "always [madvise] never\n",
		"sys/kernel/mm/transparent_hugepage/defrag":                         "always defer [madvise] never\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource":   "tsc\n",
		"sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm\n",
		"sys/devices/system/node/online":                                    "0\n",
		"sys/devices/system/node/node0/cpulist":                             "0-3\n",
		cpuFolder + "/online":                                               "0-3\n",
		cpuFolder + "/isolated":                                             "\n",
		cpuFolder + "/intel_pstate/no_turbo":                                "1\n",
		cpuFolder + "/vulnerabilities/meltdown":                             "Not affected\n",
		"sys/kernel/debug/sched/preempt":                                    "none (voluntary) full\n",
		"sys/fs/cgroup/cgroup.procs":                                        "",
		"sys/fs/cgroup/user.slice/user-1000.slice/cgroup.procs":             "7\n",
		"sys/fs/cgroup/user.slice/user-1000.slice/cpu.max":                  "max 100000\n",
		"sys/fs/cgroup/user.slice/user-1000.slice/cpu.stat":                 "usage_usec 5\nnr_periods 0\nnr_throttled 0\n",
	}
	for _, cpu := range []string{"0", "1", "2", "3"} {
		files[cpuFolder+"/cpu"+cpu+"/cpufreq/scaling_governor"] = "performance\n"
		files[cpuFolder+"/cpu"+cpu+"/topology/thread_siblings_list"] = cpu + "\n"
	}
	return files
}

// machineOf is a machine with these files, and otherwise nothing wrong.
func machineOf(files map[string]string) *machine {
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return &machine{
		root: root, system: "linux", processors: 4, dir: "/data",
		build:    []debug.BuildSetting{{Key: "-buildmode", Value: "exe"}},
		variable: func(string) string { return "" },
		filesystem: func(path string) (filesystem, error) {
			if path == sharedMemory {
				return filesystem{name: "tmpfs", free: 8 << 30}, nil
			}
			return filesystem{name: "xfs", free: 100 << 30}, nil
		},
		probe: func(string) error { return nil },
	}
}

// examined are the findings on a machine at rest, by name.
func examined(m *machine) map[string]Finding {
	found := map[string]Finding{}
	for _, f := range append(m.checks(m.sample(), m.sample()), throttling(m.sample(), m.sample())) {
		found[f.Name] = f
	}
	return found
}

func TestNothingIsWrongWithBareMetal(t *testing.T) {
	found := examined(machineOf(bareMetal()))
	if len(found) != 26 {
		t.Errorf("%d checks with names of their own, want 26", len(found))
	}
	for _, f := range found {
		// At rest no tick passes between two looks at the same files.
		if f.Name == "other processes" || f.Name == "steal" {
			continue
		}
		if f.Status != StatusOK || f.Seen == "" || f.Why != "" || f.Mend != "" {
			t.Errorf("%s: %+v", f.Name, f)
		}
	}
}

// TestWhatCannotBeSeenIsUnknown is a machine without a single file.
func TestWhatCannotBeSeenIsUnknown(t *testing.T) {
	m := machineOf(nil)
	m.filesystem = func(path string) (filesystem, error) { return filesystem{}, fs.ErrNotExist }
	m.build = nil
	for _, f := range examined(m) {
		known := f.Name == "system" || f.Name == "Go runtime" || f.Name == "isolated CPUs"
		if f.Status != StatusUnknown && !known || f.grave() || f.Seen == "" {
			t.Errorf("%s: %+v", f.Name, f)
		}
	}
}

// machineCase is a machine with something that is wrong, and all that is to be found.
type machineCase struct {
	name   string
	files  map[string]string // in place of those of bareMetal
	change func(m *machine)
	want   []Finding // Why is not compared
}

func TestMachines(t *testing.T) {
	for _, test := range append(processorCases(), otherCases()...) {
		t.Run(test.name, func(t *testing.T) {
			files := bareMetal()
			maps.Copy(files, test.files)
			m := machineOf(files)
			if test.change != nil {
				test.change(m)
			}
			found := examined(m)
			for _, want := range test.want {
				got := found[want.Name]
				if got.grave() && got.Why == "" {
					t.Errorf("%s: no word of why", want.Name)
				}
				got.Why = ""
				if got != want {
					t.Errorf("got\n%+v, want\n%+v", got, want)
				}
				delete(found, want.Name)
			}
			for _, f := range found {
				if f.grave() {
					t.Errorf("found too: %+v", f)
				}
			}
		})
	}
}

func processorCases() []machineCase {
	governor := func(value string) map[string]string {
		files := map[string]string{cpuFolder + "/intel_pstate/no_turbo": "0\n"}
		for _, cpu := range []string{"0", "1", "2", "3"} {
			files[cpuFolder+"/cpu"+cpu+"/cpufreq/scaling_governor"] = value + "\n"
		}
		return files
	}
	return []machineCase{
		{name: "laptop in powersave", files: governor("powersave"), want: []Finding{
			{Name: "frequency governor", Status: StatusWarning, Seen: "powersave",
				Mend: "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"},
			{Name: "turbo", Status: StatusWarning, Seen: "on", Mend: "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"},
		}},
		{name: "boost of AMD", files: map[string]string{
			cpuFolder + "/intel_pstate/no_turbo": "", cpuFolder + "/cpufreq/boost": "1\n",
		}, want: []Finding{{Name: "turbo", Status: StatusWarning, Seen: "on", Mend: "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"}}},
		{name: "no cpufreq", files: governor(""), change: func(m *machine) {
			delete(m.root.(fstest.MapFS), cpuFolder+"/intel_pstate/no_turbo")
		}, want: []Finding{
			{Name: "frequency governor", Status: StatusUnknown, Seen: "the kernel does not control frequencies here (usual in virtual machines)"},
			{Name: "turbo", Status: StatusUnknown, Seen: "the kernel does not tell"},
		}},
		{name: "two threads per core", files: map[string]string{
			cpuFolder + "/cpu0/topology/thread_siblings_list": "0,2\n", cpuFolder + "/cpu2/topology/thread_siblings_list": "0,2\n",
			cpuFolder + "/cpu1/topology/thread_siblings_list": "1,3\n", cpuFolder + "/cpu3/topology/thread_siblings_list": "1,3\n",
		}, want: []Finding{{Name: "hardware threads", Status: StatusWarning, Seen: "4 usable CPUs are 2 cores",
			Mend: "one thread per core: taskset -c 0,1 tailrace run"}}},
		{name: "two sockets", files: map[string]string{
			"sys/devices/system/node/online": "0-1\n", "sys/devices/system/node/node0/cpulist": "0-1\n", "sys/devices/system/node/node1/cpulist": "2-3\n",
		}, want: []Finding{{Name: "memory nodes", Status: StatusWarning, Seen: "the usable CPUs are on 2",
			Mend: "stay on one: numactl --cpunodebind=0 --membind=0 tailrace run"}}},
		{name: "bound to one CPU", files: map[string]string{"proc/self/status": "Cpus_allowed_list:\t2\n"}, want: []Finding{
			{Name: "processors", Status: StatusWarning, Seen: "4 online, 1 usable, GOMAXPROCS 4", Mend: "allow more of them: taskset -c 0-3 tailrace run"},
		}},
		{name: "GOMAXPROCS too large", change: func(m *machine) { m.processors = 8 }, want: []Finding{
			{Name: "processors", Status: StatusWarning, Seen: "4 online, 4 usable, GOMAXPROCS 8", Mend: "unset GOMAXPROCS, or tailrace run --cpu 4"},
		}},
		{name: "bound to isolated CPUs", files: map[string]string{cpuFolder + "/isolated": "2-3\n"}, want: []Finding{
			{Name: "isolated CPUs", Status: StatusWarning, Seen: "this process may use 2,3, which isolcpus took from the scheduler",
				Mend: "boot without isolcpus and shield CPUs with cpusets, or use others: taskset -c 0,1 tailrace run"},
		}},
		{name: "hpet where tsc could be", files: map[string]string{
			"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
		}, want: []Finding{{Name: "clock source", Status: StatusUnfit, Seen: "hpet",
			Mend: "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"}}},
		{name: "xen without tsc", files: map[string]string{
			"sys/devices/system/clocksource/clocksource0/current_clocksource":   "xen\n",
			"sys/devices/system/clocksource/clocksource0/available_clocksource": "xen hpet acpi_pm\n",
		}, want: []Finding{{Name: "clock source", Status: StatusWarning, Seen: "xen",
			Mend: "see why the kernel does not use tsc: sudo dmesg | grep -i -e tsc -e clocksource"}}},
		{name: "virtual machine", files: map[string]string{
			"proc/cpuinfo": "flags\t\t: fpu hypervisor lahf_lm\n", "sys/class/dmi/id/sys_vendor": "QEMU\n",
		}, want: []Finding{{Name: "hypervisor", Status: StatusWarning, Seen: "a virtual machine (QEMU)",
			Mend: "more blocks (tailrace run --blocks 25) and several times of day; better, bare metal or a dedicated host with pinned CPUs"}}},
		{name: "loaded", files: map[string]string{"proc/loadavg": "2.50 1.00 1.00 3/200 1\n"}, want: []Finding{
			{Name: "load average", Status: StatusWarning, Seen: "2.50 over the last minute on 4 CPUs", Mend: "wait until it has ended, or stop it: top -o %CPU"},
		}},
	}
}

func setting(key, value string) func(*machine) {
	return func(m *machine) { m.build = []debug.BuildSetting{{Key: key, Value: value}} }
}

func onFilesystem(name string, free int64) func(*machine) {
	return func(m *machine) {
		m.filesystem = func(path string) (filesystem, error) {
			if path == sharedMemory {
				return filesystem{name: "tmpfs", free: 8 << 30}, nil
			}
			return filesystem{name: name, free: free}, nil
		}
	}
}

func TestMostUrgentComesFirst(t *testing.T) {
	files := bareMetal()
	files["proc/cpuinfo"] = "flags : hypervisor\n"
	m := machineOf(files)
	d := &Diagnosis{Checks: m.checks(m.sample(), m.sample())}
	d.conclude()
	if !d.Fit || d.Verdict != "fit, with 1 warning" || !strings.HasPrefix(d.First, "hypervisor: more blocks") {
		t.Errorf("virtual machine: %+v", d)
	}
	m.variable = func(name string) string { return map[string]string{"GOGC": "off"}[name] }
	setting("-race", "true")(m)
	d = &Diagnosis{Checks: m.checks(m.sample(), m.sample())}
	d.conclude()
	if d.Fit || d.Verdict != "not fit: build: with a detector (-race, -msan or -asan)" || d.Warnings != 2 ||
		d.First != "build: build it plainly: go build -o bin/tailrace ./cmd/tailrace" {
		t.Errorf("with a detector: %+v", d)
	}
	d = &Diagnosis{Checks: []Finding{ok("a", "b"), unknown("c", "d")}}
	d.conclude()
	if !d.Fit || d.Verdict != "fit to measure" || d.First != "" {
		t.Errorf("without a fault: %+v", d)
	}
}

var errReadOnly = errors.New("read-only file system")
