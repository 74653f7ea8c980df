package harness

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"tailrace/results"
)

// sample is what the machine has done until a moment, in the kernel's ticks of a hundredth of a second.
type sample struct {
	known     bool
	busy      int64              // on the CPUs that this process may use, by whomever
	steal     int64              // of these, by the hypervisor
	own       int64              // by this process
	total     int64              // that these CPUs had, idle or not
	processes map[string]process // others, by number
	groups    control
}

// process is one with the time that it has taken. Those of the kernel change their names with their work.
type process struct {
	name  string
	ticks int64
}

// sample reads /proc/stat and /proc/PID/stat (proc_stat(5), proc_pid_stat(5)).
func (m *machine) sample() sample {
	s := sample{processes: map[string]process{}, groups: m.control()}
	usable := m.usable()
	for line := range strings.Lines(m.text("proc/stat")) {
		fields := strings.Fields(line)
		if len(fields) < 9 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		cpu, err := strconv.Atoi(strings.TrimPrefix(fields[0], "cpu"))
		if err != nil || usable != nil && !slices.Contains(usable, cpu) {
			continue
		}
		if t, ok := parseTicks(fields[1:9]); ok {
			s.known = true
			s.total += t.total
			s.steal += t.steal
			s.busy += t.busy
		}
	}
	self := m.text("proc/self/stat")
	_, s.own, _ = processTicks(self)
	own, _, _ := strings.Cut(self, " ")
	files, _ := fs.Glob(m.root, "proc/[0-9]*/stat")
	for _, file := range files {
		pid := path.Base(path.Dir(file))
		if name, ticks, ok := processTicks(m.text(file)); ok && pid != own {
			s.processes[pid] = process{name, ticks}
		}
	}
	return s
}

// processTicks reads the name of a process and its user and system time. The name may hold anything, also
// parentheses.
func processTicks(stat string) (name string, ticks int64, ok bool) {
	begin, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if begin < 0 || end < begin {
		return "", 0, false
	}
	fields := strings.Fields(stat[end+1:])
	if len(fields) < 13 {
		return "", 0, false
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return stat[begin+1 : end], user + system, err == nil && err2 == nil
}

// neighbours judges what others did between two samples.
func neighbours(before, after sample) Finding {
	const name = "other processes"
	total := after.total - before.total
	if !before.known || !after.known || total <= 0 {
		return unknown(name, "no /proc/stat to tell")
	}
	busy := max(0, (after.busy-before.busy)-(after.own-before.own))
	share := float64(busy) / float64(total)
	busiest, most := "", int64(0)
	for pid, p := range after.processes {
		if spent := p.ticks - before.processes[pid].ticks; spent > most {
			busiest, most = fmt.Sprintf("%s (process %s)", p.name, pid), spent
		}
	}
	f := ok(name, "they took %s of the CPUs in a second", results.FormatPercent(share))
	if share < 0.05 {
		return f
	}
	f.Status = StatusWarning
	if share >= 0.5 {
		f.Status = StatusUnfit
	}
	f.Why = "a busy neighbour takes processors and caches from some runs and not from others, which can turn rankings round"
	f.Mend = "stop what runs beside: top -o %CPU"
	if most > 0 {
		f.Seen += fmt.Sprintf(", most of all %s with %s", busiest, results.FormatPercent(float64(most)/float64(total)))
	}
	return f
}

// stolen judges what the hypervisor gave to others.
func stolen(before, after sample) Finding {
	const name = "steal"
	total := after.total - before.total
	if !before.known || !after.known || total <= 0 {
		return unknown(name, "no /proc/stat to tell")
	}
	share := float64(max(0, after.steal-before.steal)) / float64(total)
	f := ok(name, "%s of a second", results.FormatPercent(share))
	if share < 0.01 {
		return f
	}
	f.Status = StatusWarning
	if share >= 0.1 {
		f.Status = StatusUnfit
	}
	f.Why = "the hypervisor ran other guests while this one had work: pauses of milliseconds that no model causes"
	f.Mend = "use a machine with CPUs of its own (a dedicated or pinned instance, none with CPU credits), or measure at another time"
	return f
}

// throttling judges whether the CPU quota held the process back during the examination.
func throttling(before, after sample) Finding {
	const name = "throttling"
	switch during := after.groups.throttled - before.groups.throttled; {
	case during > 0:
		return Finding{
			Name: name, Status: StatusUnfit,
			Seen: fmt.Sprintf("the CPU quota stopped this group in %d periods while it was examined", during),
			Why:  "all threads stand still for the rest of a period, up to 100 ms, which shows as latency and hits models that spin or use more threads hardest",
			Mend: "raise the quota (docker update --cpus, resources.limits.cpu), or run fewer threads: tailrace run --cpu 1",
		}
	case after.groups.throttled > 0:
		return Finding{
			Name: name, Status: StatusWarning,
			Seen: fmt.Sprintf("none now, but in %d periods before", after.groups.throttled),
			Why:  "the CPU quota has stopped this group under load, and will do so again under a sweep",
			Mend: "raise the quota (docker update --cpus, resources.limits.cpu), or run fewer threads with --cpu",
		}
	case !after.groups.known:
		return unknown(name, "no control groups to be seen")
	case after.groups.quotaFile == "":
		return ok(name, "none, there is no quota")
	}
	return ok(name, "none")
}
