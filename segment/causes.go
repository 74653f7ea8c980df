package segment

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// cause adds to an error of the system which limit was met and what to do, where one number stands for several
// limits. What the limits are is asked for when the error has come, so that it says only what the system shows
// then. The call was about a file of so many bytes, 0 where it was not about bytes, with this descriptor or in a
// directory with it.
func cause(err error, fd int, size int64) error {
	errno, _ := errors.AsType[unix.Errno](err)
	switch errno {
	case unix.EMFILE:
		return fmt.Errorf("%w: %s, and each open segment takes one: raise that, or use larger segments",
			err, limited(unix.RLIMIT_NOFILE, "this process may have %d descriptors (ulimit -n)"))
	case unix.ENFILE:
		return fmt.Errorf("%w: all processes together have as many files open as fs.file-max allows", err)
	case unix.ENOMEM:
		return fmt.Errorf("%w: %s", err, shortOfMemory(size))
	case unix.ENOSPC:
		return fmt.Errorf("%w: %s", err, shortOfSpace(fd, size))
	case unix.EDQUOT:
		return fmt.Errorf("%w: the quota of the user, the group or the project on this file system is used up", err)
	case unix.EFBIG:
		return fmt.Errorf("%w: %s", err, tooLarge(size))
	}
	return err
}

// limited words a limit of the process.
func limited(resource int, format string) string {
	limit, known := rlimit(resource)
	if !known {
		return "there is a limit of the process"
	}
	return fmt.Sprintf(format, limit)
}

// rlimit is a limit of the process; false where there is none.
func rlimit(resource int) (int64, bool) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(resource, &limit); err != nil || limit.Cur >= math.MaxInt64 {
		return 0, false
	}
	return int64(limit.Cur), true
}

// tooLarge says why a file can't have so many bytes.
func tooLarge(size int64) string {
	if limit, known := rlimit(unix.RLIMIT_FSIZE); known && size > limit {
		return fmt.Sprintf("this process may write files of at most %d bytes (ulimit -f): raise that, or use smaller segments", limit)
	}
	return "the file system has no files that large: use smaller segments"
}

// shortOfSpace says what a file system has no more of.
func shortOfSpace(fd int, size int64) string {
	var st unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
		return "blocks or inodes of the file system are used up"
	}
	return wordSpace(st, size)
}

func wordSpace(st unix.Statfs_t, size int64) string {
	free := int64(st.Bavail) * int64(st.Bsize)
	switch {
	case st.Files > 0 && st.Ffree == 0:
		return fmt.Sprintf("no inode of the file system is free, with %d bytes free: remove files", free)
	case free < max(size, int64(st.Bsize)):
		return fmt.Sprintf("%d bytes of the file system are free", free)
	default:
		return fmt.Sprintf("by now %d bytes of the file system are free; if they were free before, a quota of the directory is used up", free)
	}
}

// memory is what may keep a process from mapping a file; −1 stands for what is not known, or is no limit.
type memory struct {
	mappings, mostMappings int64
	used, mostBytes        int64 // of address space
}

// shortOfMemory says why so many bytes can't be mapped.
func shortOfMemory(size int64) string {
	m := memory{mappings(), readNumber("/proc/sys/vm/max_map_count"), readNumber("/proc/self/statm"), -1}
	page := int64(os.Getpagesize())
	if m.used >= 0 {
		m.used *= page
	}
	if limit, limited := rlimit(unix.RLIMIT_AS); limited {
		m.mostBytes = limit
	}
	return m.word((size + page - 1) / page * page)
}

func (m memory) word(size int64) string {
	counted := m.mappings >= 0 && m.mostMappings >= 0
	switch {
	case counted && m.mappings >= m.mostMappings:
		return fmt.Sprintf("this process has all %d mappings that it may have (vm.max_map_count), and each segment takes two: "+
			"raise that, or use larger segments", m.mostMappings)
	case m.mostBytes >= 0 && m.used >= 0 && m.used+size > m.mostBytes:
		return fmt.Sprintf("this process may have %d bytes of address space (ulimit -v), has %d, and %d more are asked for: "+
			"raise that, or keep fewer or smaller segments", m.mostBytes, m.used, size)
	case counted && (m.mostBytes < 0 || m.used >= 0):
		return fmt.Sprintf("neither vm.max_map_count nor ulimit -v is reached, with %d mappings: the kernel, or the control group of "+
			"this process, has no memory left", m.mappings)
	default:
		return "mappings (vm.max_map_count), address space (ulimit -v) or the memory of the kernel are used up"
	}
}

// mappings counts those of this process; −1 where that can't be done.
func mappings() (n int64) {
	known := readProc("/proc/self/maps", func(p []byte) bool {
		n += int64(bytes.Count(p, []byte{'\n'}))
		return true
	})
	if !known {
		return -1
	}
	return n
}

// readNumber is the first number of a file of the kernel's; −1 where there is none.
func readNumber(path string) int64 {
	n := int64(-1)
	readProc(path, func(p []byte) bool {
		digits, _, _ := bytes.Cut(p, []byte{' '})
		if number, err := strconv.ParseInt(string(bytes.TrimSpace(digits)), 10, 64); err == nil {
			n = number
		}
		return false
	})
	return n
}

// readProc calls visit for pieces of a file until it returns false; it reports whether it could read. It needs
// little memory, since there may be none.
func readProc(path string, visit func(p []byte) bool) bool {
	fd, err := openAt(unix.AT_FDCWD, path, unix.O_RDONLY)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	p := make([]byte, 4096)
	for {
		n, err := unix.Read(fd, p)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return false
		case n == 0 || !visit(p[:n]):
			return true
		}
	}
}
