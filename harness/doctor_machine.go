package harness

import (
	"io/fs"
	"math"
	"strconv"
	"strings"

	"tailrace/harness/cgroup"
)

// text is the content of a file, "" where it can't be read.
func (m *machine) text(name string) string {
	data, err := fs.ReadFile(m.root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// number is the whole number that a file holds.
func (m *machine) number(name string) (int64, bool) {
	n, err := strconv.ParseInt(m.text(name), 10, 64)
	return n, err == nil
}

// field is the value behind a key at the beginning of a line, as in /proc/self/status and /proc/meminfo.
func field(text, key string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(strings.TrimPrefix(value, ":"))
		}
	}
	return ""
}

// kibibytes is such a value in bytes.
func kibibytes(text, key string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSuffix(field(text, key), " kB"), 10, 64)
	return n << 10, err == nil
}

// chosen is the word in brackets, as in "always [madvise] never"; all of it where there are none.
func chosen(text string) string {
	if _, after, ok := strings.Cut(text, "["); ok {
		word, _, _ := strings.Cut(after, "]")
		return word
	}
	return text
}

// numbers reads a list of the kernel's, as in "0-3,8"; nil where it is none.
func numbers(list string) []int {
	var all []int
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil || from < 0 || to > math.MaxInt16 {
			return nil
		}
		for n := from; n <= to; n++ {
			all = append(all, n)
		}
	}
	return all
}

// list is the inverse of numbers, without ranges.
func list(all []int) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

const cpuFolder = "sys/devices/system/cpu"

// usable are the CPUs that this process may run on.
func (m *machine) usable() []int {
	return numbers(field(m.text("proc/self/status"), "Cpus_allowed_list"))
}

// control is what the process's control groups allow it.
type control struct {
	quota     float64 // CPUs; +Inf without a limit
	quotaFile string  // that sets the quota
	throttled int64   // periods in which the group was held back, since it was made
	memory    int64   // bytes that may still be allocated; MaxInt64 without a limit
	known     bool    // whether the group that would have a quota can be seen
}

// control looks at the process's groups and all above them, each of which may have the tightest limit.
func (m *machine) control() control {
	c := control{quota: math.Inf(1), memory: math.MaxInt64}
	if cpu, err := cgroup.Find(m.root, "cpu"); err == nil {
		c.known = true
		for group := range cpu.Chain() {
			m.readCPU(&c, group)
		}
	}
	if memory, err := cgroup.Find(m.root, "memory"); err == nil {
		for group := range memory.Chain() {
			m.readMemory(&c, group)
		}
	}
	return c
}

func (m *machine) readCPU(c *control, group cgroup.Group) {
	folder := strings.TrimPrefix(group.Dir, "/")
	if group.Version == 1 {
		c.limitCPU(m.text(folder+"/cpu.cfs_quota_us"), m.text(folder+"/cpu.cfs_period_us"), group.Dir+"/cpu.cfs_quota_us")
	} else {
		quota, period, _ := strings.Cut(m.text(folder+"/cpu.max"), " ")
		c.limitCPU(quota, period, group.Dir+"/cpu.max")
	}
	c.countThrottling(m.text(folder + "/cpu.stat"))
}

func (m *machine) readMemory(c *control, group cgroup.Group) {
	folder := strings.TrimPrefix(group.Dir, "/")
	if group.Version == 1 {
		c.limitMemory(m.text(folder+"/memory.limit_in_bytes"), m.text(folder+"/memory.usage_in_bytes"))
	} else {
		c.limitMemory(m.text(folder+"/memory.max"), m.text(folder+"/memory.current"))
	}
}

func (c *control) limitCPU(quota, period, file string) {
	q, err := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err == nil && err2 == nil && q > 0 && p > 0 && q/p < c.quota { // else "max" or -1
		c.quota, c.quotaFile = q/p, file
	}
}

// quotaText is the quota for people: "none", "unknown", or in CPUs.
func (c *control) quotaText() string {
	switch cpus := strconv.FormatFloat(math.Round(1000*c.quota)/1000, 'f', -1, 64); {
	case !c.known:
		return "unknown"
	case math.IsInf(c.quota, 1):
		return "none"
	case cpus == "1":
		return "1 CPU"
	default:
		return cpus + " CPUs"
	}
}

func (c *control) countThrottling(stat string) {
	if n, err := strconv.ParseInt(field(stat, "nr_throttled "), 10, 64); err == nil {
		c.throttled = max(c.throttled, n)
	}
}

func (c *control) limitMemory(limit, used string) {
	l, err := strconv.ParseInt(limit, 10, 64)
	u, err2 := strconv.ParseInt(used, 10, 64)
	if err == nil && err2 == nil {
		c.memory = min(c.memory, max(0, l-u))
	}
}
