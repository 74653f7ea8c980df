package claims

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ownMemoryGroup finds the group of this process by what the kernel says in /proc/self/cgroup and
// /proc/self/mountinfo; parent is the one above, whose dir is "" where there is none that can be seen.
func ownMemoryGroup() (own, parent memoryGroup, err error) {
	groups, err := os.Open("/proc/self/cgroup")
	if err != nil {
		return own, parent, err
	}
	defer groups.Close()
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return own, parent, err
	}
	defer mounts.Close()
	return findMemoryGroup(groups, mounts)
}

// findMemoryGroup takes the hierarchy of version 1 that has the controller of memory, else that of version 2: a
// controller is in one of them at a time.
func findMemoryGroup(groups, mounts io.Reader) (own, parent memoryGroup, err error) {
	version, name, err := memoryPath(groups)
	if err != nil {
		return own, parent, err
	}
	lines := bufio.NewScanner(mounts)
	for lines.Scan() {
		m, ok := parseMount(lines.Text())
		if !ok || !m.limitsMemory(version) {
			continue
		}
		// A mount may show a part of the hierarchy alone, as those of containers do.
		below, ok := pathBelow(name, m.root)
		if !ok {
			continue
		}
		own = memoryGroup{filepath.Join(m.point, below), version}
		if below != "" {
			parent = memoryGroup{filepath.Dir(own.dir), version}
		}
		return own, parent, nil
	}
	if err := lines.Err(); err != nil {
		return own, parent, err
	}
	return own, parent, fmt.Errorf("the control group %s of this process is not mounted", name)
}

// memoryPath is the path of a process's group within the hierarchy, of lines "4:memory:/a/b", or "0::/a/b" for
// version 2.
func memoryPath(groups io.Reader) (version int, name string, err error) {
	lines := bufio.NewScanner(groups)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), ":", 3)
		if len(fields) < 3 {
			continue
		}
		switch {
		case slices.Contains(strings.Split(fields[1], ","), "memory"):
			return 1, fields[2], nil
		case fields[0] == "0" && fields[1] == "":
			version, name = 2, fields[2]
		}
	}
	if err := lines.Err(); err != nil {
		return 0, "", err
	}
	if version == 0 {
		return 0, "", errors.New("this process is in no control group of memory")
	}
	return version, name, nil
}

// mount is a line of /proc/self/mountinfo, as proc_pid_mountinfo(5) has it.
type mount struct{ root, point, kind, options string }

func parseMount(line string) (mount, bool) {
	before, after, ok := strings.Cut(line, " - ")
	front, back := strings.Fields(before), strings.Fields(after)
	if !ok || len(front) < 6 || len(back) < 3 {
		return mount{}, false
	}
	return mount{unescape(front[3]), unescape(front[4]), back[0], back[2]}, true
}

func (m *mount) limitsMemory(version int) bool {
	if version == 2 {
		return m.kind == "cgroup2"
	}
	return m.kind == "cgroup" && slices.Contains(strings.Split(m.options, ","), "memory")
}

// unescape puts characters in for what stands for blanks and backslashes: \ and three octal digits.
func unescape(field string) string {
	var text strings.Builder
	for at := 0; at < len(field); at++ {
		if field[at] == '\\' && at+4 <= len(field) {
			if code, err := strconv.ParseUint(field[at+1:at+4], 8, 8); err == nil {
				text.WriteByte(byte(code))
				at += 3
				continue
			}
		}
		text.WriteByte(field[at])
	}
	return text.String()
}

// pathBelow is the rest of a group's path below the root of a mount. Of a group outside of this process's namespace the
// path begins with "/..".
func pathBelow(name, root string) (string, bool) {
	below, ok := strings.CutPrefix(name+"/", strings.TrimSuffix(root, "/")+"/")
	below = strings.Trim(below, "/")
	return below, ok && !slices.Contains(strings.Split(below, "/"), "..")
}
