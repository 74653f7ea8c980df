package harness

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tailrace/results"
)

// checks looks at everything, what matters most first.
func (m *machine) checks(before, after sample) []Finding {
	return []Finding{
		m.checkSystem(),
		m.checkBuild(),
		m.checkClockSource(),
		neighbours(before, after),
		stolen(before, after),
		m.checkProcessors(),
		m.checkQuota(),
		m.checkIsolation(),
		m.checkGovernor(),
		m.checkTurbo(),
		m.checkThreads(),
		m.checkNodes(),
		m.checkMemory(),
		m.checkSwap(),
		m.checkHugePages(),
		m.checkSharedMemory(),
		m.checkDisk(),
		m.checkDescriptors(),
		m.checkMaps(),
		m.checkRuntime(),
		m.checkTimerSlack(),
		m.checkLoad(),
		m.checkHypervisor(),
		m.checkPreemption(),
		m.checkMitigations(),
	}
}

func (m *machine) checkSystem() Finding {
	if m.system == "linux" {
		return ok("system", "linux")
	}
	return Finding{
		Name: "system", Status: StatusUnfit, Seen: m.system,
		Why:  "tailrace can be tried out here, but its sleeps, syncs and allocations are stand-ins",
		Mend: "measure on Linux",
	}
}

// checkBuild looks at how the program was compiled; see go help build.
func (m *machine) checkBuild() Finding {
	const name = "build"
	settings := map[string]string{}
	for _, s := range m.build {
		settings[s.Key] = s.Value
	}
	seen := ""
	switch flags := settings["-gcflags"]; {
	case m.build == nil:
		return unknown(name, "it carries no settings")
	case settings["-race"] == "true", settings["-msan"] == "true", settings["-asan"] == "true":
		seen = "with a detector (-race, -msan or -asan)"
	case slices.ContainsFunc(strings.FieldsFunc(flags, func(r rune) bool { return r == ' ' || r == '=' || r == '\'' }),
		func(flag string) bool { return flag == "-N" || flag == "-l" }):
		seen = "without optimisations (-gcflags " + flags + ")"
	case settings["-cover"] == "true", settings["-covermode"] != "":
		seen = "with coverage counters"
	default:
		return ok(name, "optimised, without a detector")
	}
	return Finding{
		Name: name, Status: StatusUnfit, Seen: seen,
		Why:  "every memory access or call costs more, some models' much more than others'",
		Mend: "build it plainly: go build -o bin/tailrace ./cmd/tailrace",
	}
}

// checkClockSource knows which of the kernel's clock sources are read without a system call.
func (m *machine) checkClockSource() Finding {
	const (
		name   = "clock source"
		folder = "sys/devices/system/clocksource/clocksource0/"
	)
	source := m.text(folder + "current_clocksource")
	f := ok(name, "%s", source)
	f.Why = "every operation reads the clock twice; reading this one takes a system call or a device, 1 µs or more where tsc takes some tens of ns"
	f.Mend = "see why the kernel does not use tsc: sudo dmesg | grep -i -e tsc -e clocksource"
	if slices.Contains(strings.Fields(m.text(folder+"available_clocksource")), "tsc") {
		f.Mend = "echo tsc | sudo tee /" + folder + "current_clocksource"
	}
	switch source {
	case "":
		return unknown(name, "no %scurrent_clocksource", "/"+folder)
	case "tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page":
		return ok(name, "%s", source)
	case "hpet", "acpi_pm", "jiffies", "refined-jiffies":
		f.Status = StatusUnfit
	default:
		f.Status = StatusWarning
	}
	return f
}

func (m *machine) checkProcessors() Finding {
	const name = "processors"
	online, usable := len(numbers(m.text(cpuFolder+"/online"))), len(m.usable())
	if online == 0 || usable == 0 {
		return unknown(name, "GOMAXPROCS %d; how many are online can't be read", m.processors)
	}
	f := ok(name, "%d online, %d usable, GOMAXPROCS %d", online, usable, m.processors)
	switch {
	case usable < 2:
		f.Why = "nothing runs in parallel, so that only the cost of coordination is compared"
		f.Mend = "use a machine with more CPUs"
		if online > 1 {
			f.Mend = "allow more of them: taskset -c " + m.text(cpuFolder+"/online") + " tailrace run"
		}
	case m.processors < 2:
		f.Why = "nothing runs in parallel, so that only the cost of coordination is compared"
		f.Mend = "unset GOMAXPROCS, or tailrace run --cpu " + strconv.Itoa(usable)
	case m.processors > usable:
		f.Why = "more threads than CPUs: the kernel's scheduler takes part, and stops whoever holds a lock"
		f.Mend = "unset GOMAXPROCS, or tailrace run --cpu " + strconv.Itoa(usable)
	default:
		return f
	}
	f.Status = StatusWarning
	return f
}

func (m *machine) checkQuota() Finding {
	const name = "CPU quota"
	c := m.control()
	switch {
	case !c.known:
		return unknown(name, "no control groups to be seen")
	case math.IsInf(c.quota, 1):
		return ok(name, "none")
	}
	f := Finding{
		Name: name, Status: StatusWarning, Seen: c.quotaText() + ", by " + c.quotaFile,
		Why: "when it is used up all threads stand still until the next period, which shows as latency",
		Mend: "whole CPUs in place of a quota: docker run --cpuset-cpus 0-3; in Kubernetes the static CPU manager policy with " +
			"whole CPUs as requests and limits; systemd-run -p AllowedCPUs=0-3",
	}
	if c.quota < 1 {
		f.Status = StatusUnfit
		f.Why = "it is less than one CPU: every thread that runs is stopped again and again"
	}
	return f
}

func (m *machine) checkIsolation() Finding {
	const name = "isolated CPUs"
	isolated := numbers(m.text(cpuFolder + "/isolated"))
	var inside []int
	for _, cpu := range m.usable() {
		if slices.Contains(isolated, cpu) {
			inside = append(inside, cpu)
		}
	}
	switch {
	case len(isolated) == 0:
		return ok(name, "none")
	case len(inside) < 2:
		return ok(name, "%s, left alone", list(isolated))
	}
	return Finding{
		Name: name, Status: StatusWarning, Seen: fmt.Sprintf("this process may use %s, which isolcpus took from the scheduler", list(inside)),
		Why:  "the kernel moves no threads between isolated CPUs: all may end up on one while the others idle",
		Mend: "boot without isolcpus and shield CPUs with cpusets, or use others: taskset -c " + list(without(numbers(m.text(cpuFolder+"/online")), isolated)) + " tailrace run",
	}
}

func without(all, some []int) []int {
	return slices.DeleteFunc(slices.Clone(all), func(n int) bool { return slices.Contains(some, n) })
}

// checkLoad looks back further than a second does.
func (m *machine) checkLoad() Finding {
	text, _, _ := strings.Cut(m.text("proc/loadavg"), " ")
	load, err := strconv.ParseFloat(text, 64)
	online := len(numbers(m.text(cpuFolder + "/online")))
	if err != nil || online == 0 {
		return unknown("load average", "no /proc/loadavg")
	}
	f := ok("load average", "%.2f over the last minute on %d CPUs", load, online)
	if load <= 0.5*float64(online) {
		return f
	}
	f.Status = StatusWarning
	f.Why = "something else has been running, or waiting for a disk, and may go on"
	f.Mend = "wait until it has ended, or stop it: top -o %CPU"
	return f
}

// checkHypervisor looks for the flag that hypervisors set in CPUID.
func (m *machine) checkHypervisor() Finding {
	const name = "hypervisor"
	info := m.text("proc/cpuinfo")
	if info == "" {
		return unknown(name, "no /proc/cpuinfo")
	}
	if !strings.Contains(info, " hypervisor") {
		return ok(name, "none")
	}
	seen := "a virtual machine"
	if maker := cmp.Or(m.text("sys/class/dmi/id/sys_vendor"), m.text("sys/hypervisor/type")); maker != "" {
		seen += " (" + maker + ")"
	}
	return Finding{
		Name: name, Status: StatusWarning, Seen: seen,
		Why:  "neighbours on the host share caches, memory and disk, and take time that no counter here shows; a pause of a virtual CPU is a latency",
		Mend: "more blocks (tailrace run --blocks 25) and several times of day; better, bare metal or a dedicated host with pinned CPUs",
	}
}

func (m *machine) checkPreemption() Finding {
	if mode := m.text("sys/kernel/debug/sched/preempt"); mode != "" {
		return ok("preemption", "%s", chosen(mode))
	}
	version := m.text("proc/version")
	for _, model := range []string{"PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT"} {
		if strings.Contains(version, model) {
			return ok("preemption", "kernel built with %s", model)
		}
	}
	return unknown("preemption", "the kernel does not tell")
}

// checkMitigations is for the record: what system calls cost depends on them.
func (m *machine) checkMitigations() Finding {
	var active []string
	known := false
	for _, flaw := range []string{"meltdown", "spectre_v2", "mds", "retbleed", "srbds", "mmio_stale_data", "spec_store_bypass", "vmscape"} {
		state := m.text(cpuFolder + "/vulnerabilities/" + flaw)
		known = known || state != ""
		if strings.HasPrefix(state, "Mitigation") {
			active = append(active, flaw)
		}
	}
	switch {
	case !known:
		return unknown("mitigations", "no %s/vulnerabilities", "/"+cpuFolder)
	case len(active) == 0:
		return ok("mitigations", "none active")
	}
	return ok("mitigations", "%s: system calls cost more, for all models alike", strings.Join(active, ", "))
}

// room words what is free of what may be needed.
func room(free, need int64) string {
	return fmt.Sprintf("%s free, a run may need %s", results.FormatBytes(float64(free)), results.FormatBytes(float64(need)))
}
