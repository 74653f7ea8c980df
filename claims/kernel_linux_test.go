package claims

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"tailrace/results"
)

func kernelBench(t *testing.T) *bench {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/dev/shm", "claims-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &bench{
		ctx: t.Context(), blocks: 2, turn: shortestWindow, random: rand.New(rand.NewPCG(1, 2)), dir: dir, level: 0.95,
		child: []string{program, executeArgument},
	}
}

func TestFutexCallsAreCounted(t *testing.T) {
	long(t)
	b := kernelBench(t)
	figures, err := futexCalls("mutex", "raw")(b)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range figures {
		f := &figures[i]
		names = append(names, f.Name)
		if math.IsNaN(f.Value) {
			if !strings.HasSuffix(f.Text, ")") {
				t.Errorf("%s is NaN without a reason: %s", f.Name, f.Text)
			}
			continue
		}
		if !(f.Value > 0) {
			t.Errorf("%s is %g", f.Name, f.Value)
		}
		t.Logf("%s: %s", f.Text, f.ValueText())
	}
	if got := strings.Join(names, " "); got != "mutex-futex raw-futex" {
		t.Errorf("figures %s", got)
	}
	if left, err := os.ReadDir(b.dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left of the runs (%v)", left, err)
	}
}

// plantedCounter counts n calls in each run.
func plantedCounter(n float64) *futexCounter {
	return &futexCounter{means: "hand", count: func(once func([]string) (*results.Run, error), child []string) (*results.Run, float64, error) {
		run, err := once(child)
		return run, n, err
	}}
}

func TestFutexRuns(t *testing.T) {
	b := kernelBench(t)
	figures, err := b.futexRuns(plantedCounter(1e6), []string{"mutex", "raw"})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"mutex-futex", "raw-futex"} {
		if f := figures[i]; f.Name != name || !(f.Value > 0) || f.Blocks != b.blocks || !strings.HasSuffix(f.Text, "counted by hand") {
			t.Errorf("figure %+v, want %s of %d blocks", f, name, b.blocks)
		}
	}
	unread := &futexCounter{count: func(func([]string) (*results.Run, error), []string) (*results.Run, float64, error) {
		return nil, 0, errNotRead
	}}
	if figures, err := b.futexRuns(unread, []string{"mutex"}); err != nil || !math.IsNaN(figures[0].Value) {
		t.Errorf("figures %+v (%v) of a counter that is never read", figures, err)
	}
}

func TestFailedFutexRunIsAnError(t *testing.T) {
	b := kernelBench(t)
	b.child = []string{"/nonexistent"}
	figures, err := b.futexRuns(plantedCounter(1), []string{"mutex"})
	if err == nil || !strings.HasPrefix(err.Error(), "mutex: ") {
		t.Errorf("figures %v, error %v of a program that is not there", figures, err)
	}
}

func TestLinesOfStrace(t *testing.T) {
	const log = `12 1700000000.100000 futex(0xc000, FUTEX_WAKE_PRIVATE, 1) = 1
12 1700000000.500000 futex(0xc000, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>
13 1700000000.600000 futex(0xc000, FUTEX_WAKE_PRIVATE, 1) = 1
12 1700000000.700000 <... futex resumed>) = 0
13 1700000001.000000 futex(0xc000, FUTEX_WAKE_PRIVATE, 1) = 1
13 1700000001.100000 +++ exited with 0 +++
`
	from := time.Unix(1700000000, 500_000_000)
	for _, test := range []struct {
		to   time.Time
		want float64
	}{{from.Add(500 * time.Millisecond), 2}, {from.Add(501 * time.Millisecond), 3}, {from, 0}} {
		if got, err := countLines(strings.NewReader(log), from, test.to); err != nil || got != test.want {
			t.Errorf("up to %v: %g calls (%v), want %g", test.to, got, err, test.want)
		}
	}
	if _, err := countLines(strings.NewReader("12 noon futex(0xc000)"), from, from); err == nil {
		t.Error("a line without a time is no error")
	}
}

func TestReadingsBetween(t *testing.T) {
	begun := time.Unix(1700000000, 0)
	after := func(d time.Duration) time.Time { return begun.Add(d * time.Millisecond) }
	readings := []reading{{after(0), 0}, {after(10), 100}, {after(20), 100}, {after(30), 130}}
	for _, test := range []struct {
		from, to time.Duration
		want     float64
	}{{0, 30, 130}, {5, 15, 50}, {10, 20, 0}, {20, 25, 15}, {-1, 10, math.NaN()}, {10, 31, math.NaN()}} {
		if got := between(readings, after(test.from), after(test.to)); got != test.want && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("%d to %d ms: %g calls, want %g", test.from, test.to, got, test.want)
		}
	}
	if got := between(nil, after(0), after(1)); !math.IsNaN(got) {
		t.Errorf("%g calls of no readings", got)
	}
}

func TestOperationsWithoutAnyCallHaveLessThanOne(t *testing.T) {
	run := &results.Run{Window: 0.5, Metrics: map[string]float64{results.MetricOps: 1000}}
	if got := countPerOperation(max(1, 0), run); got != 1.0/500 {
		t.Errorf("%g calls per operation of none, want 1/500", got)
	}
	if got := countPerOperation(1000, run); got != 2 {
		t.Errorf("%g calls per operation, want 2", got)
	}
}

// The program that the command line names for a run is the link to itself, which leads to strace once that runs.
func TestStraceOfThisVeryProgram(t *testing.T) {
	b := kernelBench(t)
	s, err := newStrace(b)
	if err != nil {
		t.Skip(err)
	}
	command := s.command([]string{"/proc/self/exe", "execute"})
	program := command[len(command)-2]
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if led, err := os.Readlink(program); err != nil || led != own || program == "/proc/self/exe" {
		t.Errorf("%s leads to %q (%v), want %q by another way", program, led, err, own)
	}
}
