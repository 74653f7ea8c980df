// Package cgroup finds the control groups of this process (cgroups(7)): in hierarchies of version 1, of version 2, or of
// both, and in a container, where a part of a hierarchy is mounted.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Group is a control group that can be seen.
type Group struct {
	Dir     string // an absolute path
	Version int    // of its hierarchy: 1 or 2

	mount string // where its hierarchy is mounted
}

// Parent is the group above; false where none can be seen.
func (g Group) Parent() (Group, bool) {
	if g.Dir == g.mount {
		return Group{}, false
	}
	g.Dir = path.Dir(g.Dir)
	return g, true
}

// Chain is the group and all above it that can be seen, the innermost first. The limits of each of them hold.
func (g Group) Chain() iter.Seq[Group] {
	return func(yield func(Group) bool) {
		for seen := true; seen && yield(g); g, seen = g.Parent() {
		}
	}
}

// Find returns the group of this process that has a controller, such as cpu or memory: in the hierarchy of version 1 that
// has the controller, else in that of version 2, since a controller is in one of them at a time. The root are the files
// of the machine. Of a group that is mounted in several places it takes the one that shows most groups above it. Where
// the group itself is not visible, it is the innermost above that is.
func Find(root fs.FS, controller string) (Group, error) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return Group{}, fmt.Errorf("cgroup: %w", err)
	}
	mounts, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return Group{}, fmt.Errorf("cgroup: %w", err)
	}
	version, name, err := ownPath(string(groups), controller)
	if err != nil {
		return Group{}, err
	}
	var found Group
	best := 0 // levels that are visible; the mount itself is the first
	for line := range strings.Lines(string(mounts)) {
		m, ok := parseMount(line)
		if !ok || !m.has(controller, version) {
			continue
		}
		below, ok := pathBelow(name, m.root)
		if !ok {
			continue
		}
		group := Group{Dir: path.Join(m.point, below), Version: version, mount: m.point}
		if group, ok = visible(root, group); !ok {
			continue // another file system hides it
		}
		if levels := len(slices.Collect(group.Chain())); levels >= best {
			found, best = group, levels
		}
	}
	if best == 0 {
		return Group{}, fmt.Errorf("cgroup: the control group %s of this process is not mounted", name)
	}
	return found, nil
}

// visible is the group, or the innermost above it, whose directory is there.
func visible(root fs.FS, group Group) (Group, bool) {
	for g := range group.Chain() {
		if _, err := fs.Stat(root, path.Join(g.Dir[1:], "cgroup.procs")); err == nil {
			return g, true
		}
	}
	return Group{}, false
}

// ownPath is the path of this process's group within its hierarchy, of lines "4:memory:/a/b", or "0::/a/b" for version 2.
func ownPath(groups, controller string) (version int, name string, err error) {
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) < 3 {
			continue
		}
		switch {
		case slices.Contains(strings.Split(fields[1], ","), controller):
			return 1, fields[2], nil
		case fields[0] == "0" && fields[1] == "":
			version, name = 2, fields[2]
		}
	}
	if version == 0 {
		return 0, "", errors.New("cgroup: this process is in no control group of " + controller)
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
	m := mount{unescape(front[3]), unescape(front[4]), back[0], back[2]}
	return m, path.IsAbs(m.point)
}

// has reports whether a mount is a hierarchy of a version, and of version 1 the one that has a controller.
func (m *mount) has(controller string, version int) bool {
	if version == 2 {
		return m.kind == "cgroup2"
	}
	return m.kind == "cgroup" && slices.Contains(strings.Split(m.options, ","), controller)
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

// pathBelow is the rest of a group's path below the root of a mount, which may be a part of the hierarchy, as in
// containers. Of a group outside of this process's namespace the path begins with "/..".
func pathBelow(name, root string) (string, bool) {
	below, ok := strings.CutPrefix(name+"/", strings.TrimSuffix(root, "/")+"/")
	below = strings.Trim(below, "/")
	return below, ok && !slices.Contains(strings.Split(below, "/"), "..")
}
