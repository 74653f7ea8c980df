package harness

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
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

// control is what the process's control groups allow it; see cgroups(7).
type control struct {
	quota     float64 // CPUs; +Inf without a limit
	quotaFile string  // that sets the quota
	throttled int64   // periods in which the group was held back, since it was made
	memory    int64   // bytes that may still be allocated; MaxInt64 without a limit
	known     bool    // whether the process's groups could be seen
}

// control looks at the process's group and all above it, each of which may have the tightest limit. In a
// container the groups above are invisible, and the path to its own may be: then its root is looked at.
func (m *machine) control() control {
	groups := m.text("proc/self/cgroup")
	c := control{quota: math.Inf(1), memory: math.MaxInt64, known: groups != ""}
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			switch parts[1] {
			case "":
				m.unified(&c, path.Join("sys/fs/cgroup", group))
			case "cpu", "cpu,cpuacct", "cpuacct,cpu":
				m.cpuGroup(&c, path.Join("sys/fs/cgroup/cpu", group))
			case "memory":
				folder := path.Join("sys/fs/cgroup/memory", group)
				c.limitMemory(m.text(folder+"/memory.limit_in_bytes"), m.text(folder+"/memory.usage_in_bytes"))
			}
			if group == "/" {
				break
			}
		}
	}
	return c
}

// unified reads a group of version 2.
func (m *machine) unified(c *control, folder string) {
	if quota, period, ok := strings.Cut(m.text(folder+"/cpu.max"), " "); ok {
		c.limitCPU(quota, period, folder+"/cpu.max")
	}
	c.countThrottling(m.text(folder + "/cpu.stat"))
	c.limitMemory(m.text(folder+"/memory.max"), m.text(folder+"/memory.current"))
}

// cpuGroup reads a group of version 1.
func (m *machine) cpuGroup(c *control, folder string) {
	c.limitCPU(m.text(folder+"/cpu.cfs_quota_us"), m.text(folder+"/cpu.cfs_period_us"), folder+"/cpu.cfs_quota_us")
	c.countThrottling(m.text(folder + "/cpu.stat"))
}

func (c *control) limitCPU(quota, period, file string) {
	q, err := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err == nil && err2 == nil && q > 0 && p > 0 && q/p < c.quota { // else "max" or -1
		c.quota, c.quotaFile = q/p, "/"+file
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
