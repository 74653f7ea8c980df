package claims

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

// newFutexCounter finds the means that disturbs least: the kernel's own counter, else strace. The errors are that of the
// context, and errors.ErrUnsupported with the reason where this machine has no means.
func newFutexCounter(b *bench) (*futexCounter, error) {
	event, eventErr := futexTracepoint()
	if eventErr == nil {
		return &futexCounter{means: "the kernel's tracepoint", count: event.count}, nil
	}
	strace, straceErr := newStrace(b)
	switch {
	case b.ctx.Err() != nil:
		return nil, b.ctx.Err()
	case straceErr != nil:
		return nil, reason(fmt.Sprintf("%v, and %v", eventErr, straceErr))
	}
	return &futexCounter{means: "strace, which slows the process down", count: strace.count}, nil
}

// tracepoint is the number of an event of the kernel.
type tracepoint uint64

// futexTracepoint finds the event of entering the system call, and tries whether it may be counted.
func futexTracepoint() (tracepoint, error) {
	var text []byte
	var err error
	for _, root := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		if text, err = os.ReadFile(filepath.Join(root, "events/syscalls/sys_enter_futex/id")); err == nil {
			break
		}
	}
	if err != nil {
		return 0, fmt.Errorf("no tracepoint of the kernel can be read (%w)", errors.Unwrap(err))
	}
	id, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("number of a tracepoint: %w", err)
	}
	file, err := tracepoint(id).open()
	if err != nil {
		return 0, fmt.Errorf("the kernel refuses to count (%w)", err)
	}
	return tracepoint(id), file.Close()
}

// open makes a counter of the event for the programs that the calling thread starts, each from the beginning of its
// program on, with all threads that it makes (perf_event_open(2)).
func (event tracepoint) open() (*os.File, error) {
	attributes := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_TRACEPOINT, Config: uint64(event),
		Bits: unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec,
	}
	attributes.Size = uint32(unsafe.Sizeof(attributes))
	descriptor, err := unix.PerfEventOpen(&attributes, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(descriptor), "perf event"), nil
}

// pollInterval is so short that the ends of a window are known to a hundredth of the shortest.
const pollInterval = time.Millisecond

// count counts the calls of a run.
func (event tracepoint) count(once func([]string) (*results.Run, error), child []string) (*results.Run, float64, error) {
	runtime.LockOSThread() // the counter is this thread's, and the process is started by it
	defer runtime.UnlockOSThread()
	file, err := event.open()
	if err != nil {
		return nil, 0, fmt.Errorf("claims: counter: %w", err)
	}
	defer file.Close()
	done, polled := make(chan struct{}), make(chan []reading, 1)
	go func() { polled <- poll(file, done) }()
	run, err := once(child)
	close(done)
	readings := <-polled
	if err != nil {
		return nil, 0, err
	}
	calls := between(readings, run.Start, windowEnd(run))
	if math.IsNaN(calls) {
		return nil, 0, errNotRead
	}
	return run, calls, nil
}

// poll reads a counter at intervals until it is told to stop.
func poll(file io.Reader, done <-chan struct{}) []reading {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var readings []reading
	for {
		var value [8]byte
		if _, err := io.ReadFull(file, value[:]); err == nil {
			// Times of another process are told by the wall clock.
			readings = append(readings, reading{time.Now().Round(0), float64(binary.NativeEndian.Uint64(value[:]))})
		}
		select {
		case <-done:
			return readings
		case <-ticker.C:
		}
	}
}

// reading is how many calls there had been at a time.
type reading struct {
	at    time.Time
	calls float64
}

// between is how many calls there were in a span, by readings in ascending order; between two of them
// they are taken to be spread evenly. It is NaN if the readings don't span it.
func between(readings []reading, from, to time.Time) float64 {
	at := func(t time.Time) float64 {
		i, exact := slices.BinarySearchFunc(readings, t, func(r reading, t time.Time) int { return r.at.Compare(t) })
		switch {
		case exact:
			return readings[i].calls
		case i == 0 || i == len(readings):
			return math.NaN()
		}
		before, after := readings[i-1], readings[i]
		share := float64(t.Sub(before.at)) / float64(after.at.Sub(before.at))
		return before.calls + share*(after.calls-before.calls)
	}
	return at(to) - at(from)
}

// strace counts by strace(1), which writes a line for each call.
type strace struct {
	program string
	log     string // path of a file
}

// newStrace finds the program and tries it.
func newStrace(b *bench) (strace, error) {
	program, err := exec.LookPath("strace")
	if err != nil {
		return strace{}, errors.New("strace is not installed")
	}
	s := strace{program, filepath.Join(b.dir, "futex.strace")}
	defer os.Remove(s.log)
	command := s.command([]string{program, "-V"})
	if said, err := exec.CommandContext(b.ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
		line, _, _ := strings.Cut(string(said), "\n")
		return strace{}, fmt.Errorf("strace fails (%w: %s)", err, line)
	}
	return s, nil
}

// command runs a program under strace: of all threads the futex calls alone, the kernel not even stopping at others,
// each with its time since 1970.
func (s strace) command(child []string) []string {
	if child[0] == "/proc/self/exe" { // which is strace, once that runs
		child = append([]string{fmt.Sprintf("/proc/%d/exe", os.Getpid())}, child[1:]...)
	}
	return append([]string{s.program, "-f", "--seccomp-bpf", "-ttt", "-e", "trace=futex", "-e", "signal=none", "-o", s.log}, child...)
}

func (s strace) count(once func([]string) (*results.Run, error), child []string) (*results.Run, float64, error) {
	defer os.Remove(s.log)
	run, err := once(s.command(child))
	if err != nil {
		return nil, 0, err
	}
	file, err := os.Open(s.log)
	if err != nil {
		return nil, 0, fmt.Errorf("claims: calls of a run: %w", err)
	}
	defer file.Close()
	calls, err := countLines(file, run.Start, windowEnd(run))
	return run, calls, err
}

// countLines counts the calls that strace saw begin within a window: "1234 1700000000.123456 futex(…".
func countLines(log io.Reader, from, to time.Time) (float64, error) {
	begin, end := float64(from.UnixMicro())/1e6, float64(to.UnixMicro())/1e6
	calls := 0.0
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || !strings.HasPrefix(fields[2], "futex(") {
			continue // the second half of a call that had to wait, or the end of a thread
		}
		at, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return 0, fmt.Errorf("claims: calls of a run: %w", err)
		}
		if at >= begin && at < end {
			calls++
		}
	}
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("claims: calls of a run: %w", err)
	}
	return calls, nil
}

func windowEnd(run *results.Run) time.Time {
	return run.Start.Add(time.Duration(run.Window * float64(time.Second)))
}
