package harness

import (
	"fmt"
	"slices"
	"strings"
)

// checkGovernor looks at how the frequency of the usable CPUs is chosen.
func (m *machine) checkGovernor() Finding {
	const name = "frequency governor"
	var governors []string
	for _, cpu := range m.usable() {
		if governor := m.text(fmt.Sprintf("%s/cpu%d/cpufreq/scaling_governor", cpuFolder, cpu)); governor != "" {
			governors = append(governors, governor)
		}
	}
	slices.Sort(governors)
	governors = slices.Compact(governors)
	if len(governors) == 0 {
		return unknown(name, "the kernel does not control frequencies here (usual in virtual machines)")
	}
	f := ok(name, "%s", strings.Join(governors, ", "))
	if f.Seen == "performance" {
		return f
	}
	f.Status = StatusWarning
	f.Why = "the clock follows the load, so that a model which often sleeps runs on a slower machine"
	f.Mend = "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
	return f
}

// checkTurbo looks for frequencies above the nominal one.
func (m *machine) checkTurbo() Finding {
	const name = "turbo"
	f := Finding{
		Name: name, Status: StatusWarning, Seen: "on",
		Why: "the clock depends on temperature and on how many cores are busy, which favours models that leave cores idle",
	}
	if off, known := m.number(cpuFolder + "/intel_pstate/no_turbo"); known {
		f.Mend = "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
		if off == 0 {
			return f
		}
		return ok(name, "off")
	}
	if on, known := m.number(cpuFolder + "/cpufreq/boost"); known {
		f.Mend = "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
		if on != 0 {
			return f
		}
		return ok(name, "off")
	}
	return unknown(name, "the kernel does not tell")
}

// checkThreads looks whether two of the usable CPUs are one core.
func (m *machine) checkThreads() Finding {
	const name = "hardware threads"
	cores, known := m.onePerCore()
	usable := len(m.usable())
	switch {
	case !known:
		return unknown(name, "the kernel does not tell which CPUs share a core")
	case len(cores) == usable:
		return ok(name, "each usable CPU is a core of its own, as far as can be seen")
	}
	return Finding{
		Name: name, Status: StatusWarning, Seen: fmt.Sprintf("%d usable CPUs are %d cores", usable, len(cores)),
		Why: "two threads on one core are far from twice as fast as one, and share its first cache: " +
			"where the scheduler puts them changes from run to run",
		Mend: fmt.Sprintf("one thread per core: taskset -c %s tailrace run", list(cores)),
	}
}

// onePerCore are the usable CPUs without those that share a core with one before.
func (m *machine) onePerCore() (cores []int, known bool) {
	seen := map[string]bool{}
	for _, cpu := range m.usable() {
		siblings := m.text(fmt.Sprintf("%s/cpu%d/topology/thread_siblings_list", cpuFolder, cpu))
		if siblings == "" {
			return nil, false
		}
		if !seen[siblings] {
			seen[siblings] = true
			cores = append(cores, cpu)
		}
	}
	return cores, len(cores) > 0
}

// checkNodes looks whether the usable CPUs are near to different memories.
func (m *machine) checkNodes() Finding {
	const name = "memory nodes"
	nodes := numbers(m.text("sys/devices/system/node/online"))
	if len(nodes) == 0 {
		return unknown(name, "no /sys/devices/system/node")
	}
	var used []int
	for _, node := range nodes {
		cpus := numbers(m.text(fmt.Sprintf("sys/devices/system/node/node%d/cpulist", node)))
		if slices.ContainsFunc(m.usable(), func(cpu int) bool { return slices.Contains(cpus, cpu) }) {
			used = append(used, node)
		}
	}
	if len(used) < 2 {
		return ok(name, "the usable CPUs are on one of %d", len(nodes))
	}
	return Finding{
		Name: name, Status: StatusWarning, Seen: fmt.Sprintf("the usable CPUs are on %d", len(used)),
		Why:  "a cache line or page of the other node costs a multiple, and where threads and pages lie changes from run to run",
		Mend: fmt.Sprintf("stay on one: numactl --cpunodebind=%d --membind=%[1]d tailrace run", used[0]),
	}
}
