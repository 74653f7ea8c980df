package segment

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// inChild runs the test that calls it again, in a process of its own, whose limits it may change. It reports whether
// this is that process.
func inChild(t *testing.T) bool {
	t.Helper()
	const variable = "TAILRACE_SEGMENT_CHILD"
	if os.Getenv(variable) == t.Name() {
		return true
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The timer of the timeout makes the runtime open its own descriptors at once, and not when it likes.
	child := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.timeout=1m")
	child.Env = append(os.Environ(), variable+"="+t.Name())
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func limit(t testing.TB, resource int, n uint64) {
	t.Helper()
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: n, Max: n}); err != nil {
		t.Fatal(err)
	}
}

// words checks that an error is one of the system's and says all of some words.
func words(t testing.TB, what string, err, want error, parts ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s = %v, want %v", what, err, want)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s = %v, want it to say %q", what, err, part)
		}
	}
}

// hoard takes all descriptors that the process may still have.
func hoard(t testing.TB) (taken []int) {
	t.Helper()
	for {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == unix.EMFILE {
			return taken
		}
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, fd)
	}
}

func release(t testing.TB, taken []int) {
	t.Helper()
	for _, fd := range taken {
		if err := unix.Close(fd); err != nil {
			t.Fatal(err)
		}
	}
}

// Without descriptors a log does not roll, and does all else: it is trimmed, closed in order, and opened once
// there are some.
func TestNoDescriptors(t *testing.T) {
	if !inChild(t) {
		return
	}
	tempRoot := t.TempDir()
	limit(t, unix.RLIMIT_NOFILE, 32)
	s, err := OpenDir(tempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	p := openPartition(t, Config{Storage: s, Size: 400, Interval: 64})
	b := build(record{1, nil, make([]byte, 300)})
	fill := func() (err error) {
		for {
			p.append(b)
			next, err := p.active.Roll()
			if err != nil {
				return err
			}
			p.sealed, p.active = append(p.sealed, p.active.Publish()), next
		}
	}
	words(t, "Roll", fill(), unix.EMFILE, "may have 32 descriptors", "ulimit -n", "0000")
	if len(p.sealed) < 10 {
		t.Errorf("only %d rolls", len(p.sealed))
	}
	again := func(clean bool) {
		t.Helper()
		p = p.reopen()
		if p.recovery.Clean != clean || p.recovery.Cut != nil {
			t.Fatalf("Open finds %+v, want it clean: %t", p.recovery, clean)
		}
	}
	p.crash() // as after any failed roll
	again(false)

	taken := hoard(t)
	_, err = p.active.Roll()
	words(t, "Roll", err, unix.EMFILE, "ulimit -n")
	p.close()
	release(t, taken)
	again(true)

	taken = hoard(t)
	p.trim()
	taken = append(taken, hoard(t)...) // what the trim has released
	p.close()
	_, err = Open(p.config)
	words(t, "Open", err, unix.EMFILE, "ulimit -n")
	release(t, taken)
	again(true)

	p.crash()
	taken = hoard(t)
	release(t, taken[:len(p.sealed)/2])
	taken = taken[len(p.sealed)/2:]
	_, err = Open(p.config)
	words(t, "Open", err, unix.EMFILE, "ulimit -n")
	release(t, taken)
	again(false)
	p.close()
	taken = hoard(t)
	for _, dir := range []string{tempRoot, filepath.Join(tempRoot, "new")} {
		_, err = OpenDir(dir)
		words(t, "OpenDir", err, unix.EMFILE, "ulimit -n", tempRoot)
	}
	if _, err := os.Stat(filepath.Join(tempRoot, "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory whose name is not durable is left: %v", err)
	}
	release(t, taken)
}

// A limit on address space is not told as one on mappings.
func TestNoAddressSpace(t *testing.T) {
	if !inChild(t) {
		return
	}
	dir := tempDir(t)
	const size = 1 << 30
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "large"), nil, 0o600), os.Truncate(filepath.Join(dir, "large"), size)); err != nil {
		t.Fatal(err)
	}
	s, err := OpenDirReadOnly(dir) // which allocates nothing
	if err != nil {
		t.Fatal(err)
	}
	limit(t, unix.RLIMIT_AS, uint64(readNumber("/proc/self/statm"))*uint64(os.Getpagesize())+size/2)
	_, err = s.MapIndex("large", size, false)
	words(t, "MapIndex", err, unix.ENOMEM, "ulimit -v", "large")
	if strings.Contains(err.Error(), "max_map_count") {
		t.Errorf("MapIndex = %v", err)
	}
}

// A limit on the size of files fails a write, and is told as such; what was written before stays.
func TestLimitedFiles(t *testing.T) {
	if !inChild(t) {
		return
	}
	signal.Ignore(unix.SIGXFSZ) // which the limit sends
	s, err := OpenDir(tempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	p := openPartition(t, Config{Storage: s, Size: 1 << 20})
	limit(t, unix.RLIMIT_FSIZE, 64<<10)
	b := batchOf(t, 5000)
	for range 13 {
		p.append(b)
	}
	for _, n := range []int{1, 2} {
		for range n {
			if _, ok := p.active.Add(b); !ok {
				t.Fatal("no room")
			}
		}
		words(t, "Write", p.active.Write(), unix.EFBIG, "65536 bytes", "ulimit -f")
	}
	p.check()
	_, err = s.MapIndex("any", 1<<20, true)
	words(t, "MapIndex", err, unix.EFBIG, "65536 bytes", "ulimit -f")
}
