package claims

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tailrace/harness/cgroup"
)

// memoryGroup is a place in the hierarchy of control groups (cgroups(7)) that limits memory: the directory of a
// group, by the hierarchy's version.
type memoryGroup struct {
	dir     string
	version int
}

// handsOn gives an error if groups below this one can't have a limit of their own. In version 2 a group has to hand the
// controller on to those below it, if it has it itself; one that holds processes can't, unless it is the root ("no
// internal processes"). Whether it does is left as it is, because it is so for all groups below it.
func (g memoryGroup) handsOn() error {
	if g.version == 1 {
		return nil
	}
	for _, name := range []string{"cgroup.controllers", "cgroup.subtree_control"} {
		text, err := os.ReadFile(filepath.Join(g.dir, name))
		if err != nil {
			return err
		}
		if !slices.Contains(strings.Fields(string(text)), "memory") {
			return fmt.Errorf("no memory in %s", filepath.Join(g.dir, name))
		}
	}
	return nil
}

// newGroup makes a group below this one that holds a process and limits the memory that it is charged from then on,
// the page cache included.
func (g memoryGroup) newGroup(process, limit int) (made memoryGroup, err error) {
	if err := g.handsOn(); err != nil {
		return made, err
	}
	made.version = g.version
	if made.dir, err = os.MkdirTemp(g.dir, "tailrace-"); err != nil {
		return made, err
	}
	file, swap := "memory.limit_in_bytes", "memory.swappiness"
	if g.version == 2 {
		file, swap = "memory.max", "memory.swap.max"
	}
	err = made.write(file, limit)
	if err == nil {
		// The process itself is to stay in memory. Without accounts of swap there is no such file.
		if err = made.write(swap, 0); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = made.add(process)
	}
	if err != nil {
		return made, errors.Join(err, made.remove())
	}
	return made, nil
}

// add moves a process with all its threads into the group.
func (g memoryGroup) add(process int) error { return g.write("cgroup.procs", process) }

func (g memoryGroup) write(file string, value int) error {
	// Without O_CREATE: a file that is not there can't be made, and the kernel says so as it likes.
	f, err := os.OpenFile(filepath.Join(g.dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Itoa(value))
	return errors.Join(err, f.Close())
}

// remove removes the group, whose processes have ended or left. It is busy for as long as the kernel is at
// their ends.
func (g memoryGroup) remove() error {
	const tries = 200
	var err error
	for range tries {
		if err = unix.Rmdir(g.dir); err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return &os.PathError{Op: "rmdir", Path: g.dir, Err: err}
}

// enterGroup moves a process into a control group of its own, below that of this process or else beside it, and notes
// that in the request. When the process has ended, leave removes the group.
func enterGroup(r *pressureRequest, process int) (leave func() error, err error) {
	own, err := cgroup.Find(os.DirFS("/"), "memory")
	if err != nil {
		return nil, reason(err.Error())
	}
	places := []memoryGroup{{own.Dir, own.Version}}
	if parent, ok := own.Parent(); ok {
		places = append(places, memoryGroup{parent.Dir, parent.Version})
	}
	made, err := firstGroup(process, r.Memory, places...)
	if err != nil {
		return nil, err
	}
	r.Group, r.Home = made.dir, own.Dir
	return made.remove, nil
}

// firstGroup makes a group below the first of some places where that can be done.
func firstGroup(process, limit int, places ...memoryGroup) (memoryGroup, error) {
	var err error
	for _, place := range places {
		made, failed := place.newGroup(process, limit)
		if failed == nil {
			return made, nil
		}
		err = errors.Join(err, failed)
	}
	return memoryGroup{}, reason("no control group can be made: " + oneLine(err))
}

// leaveGroup takes this process back to the group that it came from, and removes its own, since there is no parent
// any more that would.
func leaveGroup(r *pressureRequest) error {
	if r.Group == "" {
		return nil
	}
	home, made := memoryGroup{dir: r.Home}, memoryGroup{dir: r.Group}
	return errors.Join(home.add(os.Getpid()), made.remove())
}
