package harness

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

// environment records the machine and the build. What can't be read is "unknown" or 0.
func environment() results.Environment {
	host, _ := os.Hostname()
	groups := (&machine{root: os.DirFS("/")}).control()
	e := results.Environment{
		Host:        host,
		OS:          runtime.GOOS,
		Arch:        runtime.GOARCH,
		Kernel:      kernel(),
		CPUModel:    cpuModel(),
		CPUs:        runtime.NumCPU(),
		Affinity:    runtime.NumCPU(),
		Quota:       groups.quotaText(),
		Governor:    readLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
		Virtual:     virtual(),
		Memory:      memoryOf("MemTotal"),
		GoVersion:   runtime.Version(),
		Commit:      commit(),
		GOMAXPROCS:  runtime.GOMAXPROCS(0),
		GOGC:        os.Getenv("GOGC"),
		Filesystems: map[string]string{},
	}
	if online, ok := onlineCPUs(); ok {
		e.CPUs = online
	}
	if e.GOGC == "" {
		e.GOGC = "100"
	}
	if load, _, ok := strings.Cut(readLine("/proc/loadavg"), " "); ok {
		e.Load1, _ = strconv.ParseFloat(load, 64)
	}
	return e
}

// judge says what about an environment makes measurements less worth.
func judge(e results.Environment) []string {
	var warnings []string
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	if e.OS != "linux" {
		warn("%s is for trying tailrace out, not for measuring: its sleeps, syncs and allocations are stand-ins", e.OS)
	}
	if e.Virtual == "hypervisor" {
		warn("virtual machine: neighbours and the hypervisor take time that no counter here shows")
	}
	if e.GOMAXPROCS < 2 {
		warn("one processor: nothing runs in parallel, so that only the cost of coordination is compared")
	}
	if e.Load1 > 0.5*float64(e.CPUs) {
		warn("load average %.1f on %d CPUs: something else is running", e.Load1, e.CPUs)
	}
	if e.Quota != "none" && e.Quota != "unknown" {
		warn("a CPU quota of %s: throttling shows as latency", e.Quota)
	}
	if e.Governor != "unknown" && e.Governor != "performance" {
		warn("CPU frequency governor %s: the clock changes with load", e.Governor)
	}
	return warnings
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return commitOf(info)
}

// commitOf is the commit that a binary was built from.
func commitOf(info *debug.BuildInfo) string {
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " with changes"
		}
	}
	if revision == "" {
		return "unknown"
	}
	return revision + dirty
}

func cpuModel() string {
	for line := range strings.Lines(readFile("/proc/cpuinfo")) {
		key, value, ok := strings.Cut(line, ":")
		if ok && (strings.TrimSpace(key) == "model name" || strings.TrimSpace(key) == "Model") {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func virtual() string {
	info := readFile("/proc/cpuinfo")
	switch {
	case info == "":
		return "unknown"
	case strings.Contains(info, " hypervisor"):
		return "hypervisor"
	default:
		return "none"
	}
}

// onlineCPUs counts the machine's, where this process may be bound to fewer.
func onlineCPUs() (int, bool) {
	n := 0
	for part := range strings.SplitSeq(readLine("/sys/devices/system/cpu/online"), ",") {
		low, high, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(low)
		if err != nil {
			return 0, false
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(high); err != nil {
				return 0, false
			}
		}
		n += b - a + 1
	}
	return n, n > 0
}

// availableMemory is the bytes that can be used without swapping; 0 where that is not known.
func availableMemory() int64 { return memoryOf("MemAvailable") }

// residentMemory is the bytes of memory that the process has; 0 where that is not known.
func residentMemory() int64 {
	fields := strings.Fields(readLine("/proc/self/statm"))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

func memoryOf(key string) int64 {
	for line := range strings.Lines(readFile("/proc/meminfo")) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == key+":" {
			kib, _ := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

func readFile(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

// readLine is the first line of a file, or "unknown".
func readLine(path string) string {
	line, _, _ := strings.Cut(readFile(path), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "unknown"
	}
	return line
}
