package harness

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// needed is what a run of the default sweep may write.
func needed() int64 {
	w := workload.Default()
	return neededBytes(&w) + spareBytes
}

func (m *machine) checkMemory() Finding {
	const name = "memory"
	available, known := kibibytes(m.text("proc/meminfo"), "MemAvailable")
	if !known {
		return unknown(name, "no MemAvailable in /proc/meminfo")
	}
	limit := m.control().memory
	f := ok(name, "%s available", results.FormatBytes(float64(available)))
	if limit < available {
		f.Seen = fmt.Sprintf("%s available within the control group's limit", results.FormatBytes(float64(limit)))
	}
	if free := min(available, limit); free < needed() {
		f.Status = StatusWarning
		f.Seen += fmt.Sprintf(", a run may need %s", results.FormatBytes(float64(needed())))
		f.Why = "files on tmpfs are memory: near its end pages are reclaimed or swapped during a run, or the run is killed"
		f.Mend = "free some, raise the limit, or lower --max-bytes and --prefill"
	}
	return f
}

func (m *machine) checkSwap() Finding {
	const name = "swap"
	info := m.text("proc/meminfo")
	total, known := kibibytes(info, "SwapTotal")
	free, known2 := kibibytes(info, "SwapFree")
	switch used := total - free; {
	case !known || !known2:
		return unknown(name, "no SwapTotal in /proc/meminfo")
	case total == 0:
		return ok(name, "none")
	case used < total/20:
		return ok(name, "%s, hardly used, swappiness %s", results.FormatBytes(float64(total)), m.text("proc/sys/vm/swappiness"))
	default:
		return Finding{
			Name: name, Status: StatusWarning,
			Seen: fmt.Sprintf("%s of %s in use", results.FormatBytes(float64(used)), results.FormatBytes(float64(total))),
			Why:  "a page that comes back from a disk is a pause of milliseconds in whatever touches it",
			Mend: "free memory, then: sudo swapoff -a",
		}
	}
}

// checkHugePages looks for the setting with which page faults wait until memory has been moved together;
// Documentation/admin-guide/mm/transhuge.rst of the kernel.
func (m *machine) checkHugePages() Finding {
	const (
		name   = "huge pages"
		folder = "sys/kernel/mm/transparent_hugepage/"
	)
	enabled, defrag := chosen(m.text(folder+"enabled")), chosen(m.text(folder+"defrag"))
	if enabled == "" {
		return unknown(name, "no /%senabled", folder)
	}
	f := ok(name, "%s", enabled)
	if defrag != "" {
		f.Seen += ", defrag " + defrag
	}
	if enabled == "always" && defrag == "always" {
		f.Status = StatusWarning
		f.Why = "a page fault may wait until the kernel has moved memory together, which is a latency now and then"
		f.Mend = "echo madvise | sudo tee /" + folder + "defrag"
	}
	return f
}

func (m *machine) checkSharedMemory() Finding {
	const name = sharedMemory
	f, err := m.filesystem(sharedMemory)
	switch {
	case err != nil:
		return unknown(name, "it is not there: runs without a sync go to a disk")
	case !f.inMemory():
		return Finding{
			Name: name, Status: StatusWarning, Seen: "it is " + f.name + ", not tmpfs",
			Why:  "runs without a sync go to a disk, where write-back is measured more than the model",
			Mend: "sudo mount -t tmpfs tmpfs " + sharedMemory,
		}
	case f.free < needed():
		return Finding{
			Name: name, Status: StatusWarning, Seen: f.name + ", " + room(f.free, needed()),
			Why:  "runs without a sync go to a disk, where write-back is measured more than the model",
			Mend: "sudo mount -o remount,size=4G " + sharedMemory + "; in a container: docker run --shm-size 4g; or lower --max-bytes",
		}
	}
	return ok(name, "%s, %s free", f.name, results.FormatBytes(float64(f.free)))
}

func (m *machine) checkDisk() Finding {
	name := "disk at " + m.dir
	f, err := m.filesystem(m.dir)
	if err != nil {
		return unknown(name, "%v", err)
	}
	seen := fmt.Sprintf("%s, %s free", f.name, results.FormatBytes(float64(f.free)))
	warn := func(why, mend string) Finding {
		return Finding{Name: name, Status: StatusWarning, Seen: seen, Why: why, Mend: mend}
	}
	const another = "name a directory on a disk of this machine: --dir"
	if err := m.probe(m.dir); err != nil {
		return warn(fmt.Sprintf("it can't be written (%v), so that neither results nor data can go there", err), "go to another directory, or name one: --dir and --out")
	}
	switch {
	case f.inMemory():
		return warn("it is memory: a sync costs nothing there, so that results under a sync policy say little", another)
	case f.name == "overlayfs":
		return warn("it is a container's layer over another file system, whose costs come on top", "mount a volume (docker run -v) and name it: --dir")
	case f.name == "nfs", f.name == "fuse":
		return warn("each call goes to another machine or process, whose time is measured more than the model", another)
	case f.free < needed():
		seen = f.name + ", " + room(f.free, needed())
		return warn("a sweep with a sync policy refuses to begin", "free some, choose another disk with --dir, or lower --max-bytes")
	}
	return ok(name, "%s", seen)
}

func (m *machine) checkDescriptors() Finding {
	const name = "descriptors"
	fields := strings.Fields(field(m.text("proc/self/limits"), "Max open files"))
	if len(fields) < 2 {
		return unknown(name, "no /proc/self/limits")
	}
	hard, err := strconv.ParseInt(fields[1], 10, 64)
	f := ok(name, "at most %s", fields[1]) // the runtime raises the soft limit to the hard one
	if err == nil && hard < 4096 {
		f.Status = StatusWarning
		f.Why = "each segment and each paced client has one open, so that large sweeps are refused"
		f.Mend = "ulimit -n 65536 (as root, or through /etc/security/limits.conf; docker run --ulimit nofile=65536)"
	}
	return f
}

func (m *machine) checkMaps() Finding {
	const name = "mappings"
	most, known := m.number("proc/sys/vm/max_map_count")
	if !known {
		return unknown(name, "no /proc/sys/vm/max_map_count")
	}
	f := ok(name, "at most %d", most)
	if most < 65530 {
		f.Status = StatusWarning
		f.Why = "each segment maps its two indexes, so that a log of many small segments is refused"
		f.Mend = "sudo sysctl vm.max_map_count=65530"
	}
	return f
}

// checkRuntime looks for variables that every run inherits.
func (m *machine) checkRuntime() Finding {
	const name = "Go runtime"
	var set, names []string
	for _, variable := range []string{"GOGC", "GOMEMLIMIT", "GODEBUG"} {
		if value := m.variable(variable); value != "" {
			set, names = append(set, variable+"="+value), append(names, variable)
		}
	}
	if len(set) == 0 {
		return ok(name, "as it comes")
	}
	return Finding{
		Name: name, Status: StatusWarning, Seen: strings.Join(set, " "),
		Why:  "every run inherits it, and models differ in how much they allocate",
		Mend: "unset " + strings.Join(names, " ") + ", unless that is what you compare",
	}
}

func (m *machine) checkTimerSlack() Finding {
	const (
		name  = "timer slack"
		usual = 50 * time.Microsecond // PR_SET_TIMERSLACK(2const)
	)
	slack, known := m.number("proc/self/timerslack_ns")
	if !known {
		return unknown(name, "no /proc/self/timerslack_ns")
	}
	f := ok(name, "%v", time.Duration(slack))
	if time.Duration(slack) > usual {
		f.Status = StatusWarning
		f.Why = "the kernel may delay each wake-up by so much, beyond what the pauses here allow for"
		f.Mend = "start it from a shell with the usual slack; for a systemd service: TimerSlackNSec=50us"
	}
	return f
}
