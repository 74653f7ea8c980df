package harness

import (
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"tailrace/results"
)

// measured is what the process and the machine did inside the window.
type measured struct {
	start    time.Time // wall clock
	cpu      time.Duration
	switches int64 // voluntary and involuntary
	allocs   int64 // objects
	bytes    int64 // allocated
	rolls    int
	elapsed  time.Duration // between the two readings, about the window
	runtime  results.Runtime

	steal, other float64 // shares of the machine's CPU time, 0 to 1
}

// meter reads the counters at both ends of the window.
type meter struct {
	run      *run
	measured measured
	before   reading
}

// reading is the counters at one moment.
type reading struct {
	at            time.Time
	cpu           time.Duration
	switches      int64
	allocs, bytes int64
	segments      int
	machine       cpuTimes
	runtime       runtimeReading
}

func newMeter(r *run) *meter { return &meter{run: r} }

func (m *meter) open() {
	m.before = m.read()
	m.measured.start = m.before.at
	m.before.allocs, m.before.bytes = allocations() // last, since reading allocates
}

func (m *meter) close() {
	allocs, bytes := allocations()
	after, before := m.read(), m.before
	m.measured.elapsed = after.at.Sub(before.at)
	m.measured.cpu = after.cpu - before.cpu
	m.measured.switches = after.switches - before.switches
	m.measured.allocs = allocs - before.allocs
	m.measured.bytes = bytes - before.bytes
	m.measured.rolls = after.segments - before.segments
	m.measured.runtime = after.runtime.since(before.runtime)
	if total := after.machine.total - before.machine.total; total > 0 {
		m.measured.steal = (after.machine.steal - before.machine.steal) / total
		busy := after.machine.busy - before.machine.busy
		m.measured.other = max(0, (busy-m.measured.cpu.Seconds())/total)
	}
}

func (m *meter) read() reading {
	r := reading{at: time.Now(), machine: machineTimes(), runtime: readRuntime()}
	usage := &r.runtime.usage
	r.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	r.switches = int64(usage.Nvcsw) + int64(usage.Nivcsw)
	if k := m.run.keeper; k != nil {
		r.segments = int(k.trimmed.Load())
	}
	for _, p := range m.run.partitions {
		names, _ := p.storage.List() // a count that can't be had is 0
		for _, name := range names {
			if strings.HasSuffix(name, ".log") {
				r.segments++
			}
		}
	}
	return r
}

// allocations are the objects and bytes that the process has allocated. Not runtime.ReadMemStats,
// which stops the world.
func allocations() (objects, bytes int64) {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())
}

// cpuTimes is the machine's CPU time since it was started, in seconds, over all processors.
type cpuTimes struct{ busy, steal, total float64 }

// machineTimes reads the first line of /proc/stat (man 5 proc_stat); zeros where there is none.
func machineTimes() cpuTimes {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cpuTimes{}
	}
	line, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return cpuTimes{}
	}
	t, ok := parseTicks(fields[1:9])
	if !ok {
		return cpuTimes{}
	}
	const perSecond = 100 // USER_HZ, the same on all Linux platforms that Go supports
	return cpuTimes{busy: float64(t.busy) / perSecond, steal: float64(t.steal) / perSecond, total: float64(t.total) / perSecond}
}

// cpuTicks are CPU times as /proc/stat counts them.
type cpuTicks struct{ busy, steal, total int64 }

// parseTicks adds up the first eight numbers of a line of /proc/stat: user nice system idle iowait irq softirq
// steal; guest is part of user. It is false if one is no number.
func parseTicks(fields []string) (t cpuTicks, ok bool) {
	for i, field := range fields {
		v, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return cpuTicks{}, false
		}
		t.total += v
		switch i {
		case 3, 4:
		case 7:
			t.steal += v
		default:
			t.busy += v
		}
	}
	return t, true
}
