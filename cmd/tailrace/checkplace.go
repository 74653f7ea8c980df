package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"tailrace/harness"
)

const sharedMemory = "/dev/shm"

// place chooses where the logs of a check live.
func (c *checking) place() error {
	f, o := c.flags, &c.options
	switch f.storage {
	case harness.StorageHeap:
		if f.dir != "" {
			return usagef("--dir %s: nothing is stored in files under --storage heap; leave one of the two out", f.dir)
		}
		o.Heap, c.where = true, "Go heap"
		return nil
	case harness.StorageTmpfs, harness.StorageDisk, harness.StorageAuto:
	default:
		return usagef("--storage %s: choose auto, tmpfs, disk or heap", f.storage)
	}
	o.Dir = f.dir
	switch {
	case f.dir != "":
	case f.storage == harness.StorageDisk:
		o.Dir = "."
	case f.storage == harness.StorageAuto && !inMemory(sharedMemory):
		o.Dir = os.TempDir()
	default:
		o.Dir = sharedMemory
	}
	if err := writable(o.Dir); err != nil {
		return err
	}
	// The descriptors of a log are known by the absolute paths of its files.
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	memory := inMemory(o.Dir)
	if f.storage == harness.StorageDisk && memory || f.storage == harness.StorageTmpfs && !memory {
		return usagef("%s is not what --storage %s asks for; name another directory with --dir", o.Dir, f.storage)
	}
	c.where = "files in " + o.Dir
	if f.storage == harness.StorageAuto {
		o.Heap = true
		c.where += " and Go heap"
	}
	return nil
}

// writable verifies that something can be made in a directory: permissions alone don't tell.
func writable(dir string) error {
	made, err := os.MkdirTemp(dir, ".tailrace-probe-")
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usagef("%s does not exist; make it, or choose another directory with --dir", dir)
	case errors.As(err, &path):
		return usagef("%s cannot be written (%w); choose another directory with --dir", dir, path.Err)
	case err != nil:
		return fmt.Errorf("%s: %w", dir, err)
	}
	return os.Remove(made)
}

// spaceOfCheck is more than what a check has in files.
const spaceOfCheck = 64 << 20

// full reports whether what a check says, perhaps as a wrong answer, is that the data can't be written. A check also makes
// writes fail on purpose, and says the same then; but it does so where there is room.
func (c *checking) full(what string) bool {
	said := func(number unix.Errno) bool { return strings.Contains(what, number.Error()) }
	var st unix.Statfs_t
	crowded := c.options.Dir != "" && unix.Statfs(c.options.Dir, &st) == nil && int64(st.Bavail)*int64(st.Bsize) < spaceOfCheck
	return said(unix.EDQUOT) || said(unix.EFBIG) || said(unix.ENOSPC) && crowded
}

// inMemory reports whether a directory is on a file system in memory.
func inMemory(dir string) bool {
	const tmpfs, ramfs = 0x01021994, 0x858458f6 // statfs(2)
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && (uint32(st.Type) == tmpfs || uint32(st.Type) == ramfs)
}
