package harness

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// tinySweep is a sweep of two workloads and two strategies, with data and results in directories of
// their own, whose runs are processes of this test binary.
func tinySweep(t *testing.T, mode string) Options {
	t.Helper()
	t.Setenv(childMode, mode)
	t.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0") // or each child under the race detector takes a second to end
	mix, producers := tinyMix(), tiny("producers")
	producers.Producers, producers.Primary = 2, results.MetricProduceOps
	for _, w := range []*workload.Workload{&mix, &producers} {
		w.Ramp, w.Duration = 2*time.Millisecond, 10*time.Millisecond
		w.MaxBytes = 64 << 20
	}
	return Options{
		Workloads:  []workload.Workload{mix, producers},
		Strategies: []string{"mutex", "rwmutex"},
		GOMAXPROCS: []int{2},
		Blocks:     2,
		Seed:       5,
		Dir:        t.TempDir(),
		Out:        filepath.Join(t.TempDir(), "results"),
		Child:      []string{os.Args[0]},
		Command:    []string{"tailrace", "run"},
		Version:    "test",
	}
}

func mustPlan(t *testing.T, o Options) *Plan {
	t.Helper()
	p, err := NewPlan(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// order is the cells of one block in the order in which they ran.
func order(s *results.Sweep, block int) (cells []results.Cell) {
	for _, run := range s.Runs {
		if run.Block == block {
			cells = append(cells, run.Cell)
		}
	}
	return cells
}

func TestSweep(t *testing.T) {
	o := tinySweep(t, childWorks)
	o.Blocks = 3
	var calls []Progress
	o.Progress = func(p Progress) { calls = append(calls, p) }
	p := mustPlan(t, o)
	s, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	// Two strategies, raw and the A/A arm, then two and raw.
	const cells = 7
	if len(p.Cells) != cells || len(s.Runs) != cells*o.Blocks {
		t.Fatalf("%d cells and %d runs, want %d and %d", len(p.Cells), len(s.Runs), cells, cells*o.Blocks)
	}
	wantMeasured(t, s)
	for i, run := range s.Runs {
		if run.Index != i {
			t.Errorf("run %d (%s) has index %d", i, run.Cell.Label(), run.Index)
		}
		if hists, err := s.Histograms(&run); err != nil || len(hists) != len(run.Samples) {
			t.Errorf("run %d: %d histograms for %d kinds, %v", i, len(hists), len(run.Samples), err)
		}
		if same := s.Runs[i/cells*cells]; run.Seed != same.Seed {
			t.Errorf("run %d has another seed than the others of its block", i)
		}
	}
	var orders [][]results.Cell
	for block := range o.Blocks {
		ran := order(s, block)
		orders = append(orders, ran)
		for _, c := range p.Cells {
			if n := countOf(ran, c.Cell); n != 1 {
				t.Errorf("block %d: cell %s %s ran %d times", block, c.Cell.Workload, c.Cell.Label(), n)
			}
		}
	}
	if slices.Equal(orders[0], orders[1]) && slices.Equal(orders[1], orders[2]) {
		t.Error("all blocks have one order")
	}
	for block, want := range orders {
		var again []results.Cell
		for _, i := range workload.Shuffle(o.Seed, block, cells) {
			again = append(again, p.Cells[i].Cell)
		}
		if !slices.Equal(again, want) {
			t.Errorf("block %d: the order does not follow from the seed", block)
		}
	}
	wantProgress(t, calls, cells*o.Blocks)
	wantEmpty(t, o.Dir)
	for _, name := range []string{"meta.json", "runs.jsonl", "bench.txt", "summary.md", "latency"} {
		if _, err := os.Stat(filepath.Join(o.Out, name)); err != nil {
			t.Error(err)
		}
	}
	wantCosts(t, s)
	pre := s.Meta.Preflight
	if pre.BustedCaught <= 0 || pre.BustedError == "" || pre.HarnessCost <= 0 || pre.ClockRead <= 0 || s.Meta.Interrupted {
		t.Errorf("preflight %+v, interrupted %t", pre, s.Meta.Interrupted)
	}
}

// wantCosts verifies that a sweep says of each workload what the harness costs.
func wantCosts(t *testing.T, s *results.Sweep) {
	t.Helper()
	if len(s.Meta.Costs) != len(s.Meta.Workloads) {
		t.Errorf("%d costs of %d workloads", len(s.Meta.Costs), len(s.Meta.Workloads))
		return
	}
	for i, c := range s.Meta.Costs {
		if c.Workload != s.Meta.Workloads[i].Name || !(c.Append > 0) || !(c.Read > 0) || math.IsInf(c.Append+c.Read, 0) {
			t.Errorf("cost %d: %+v", i, c)
		}
	}
}

func countOf(cells []results.Cell, c results.Cell) (n int) {
	for _, other := range cells {
		if other == c {
			n++
		}
	}
	return n
}

// wantProgress verifies that a sweep told of its start and of each run.
func wantProgress(t *testing.T, calls []Progress, total int) {
	t.Helper()
	if len(calls) != total+1 {
		t.Fatalf("%d calls of Progress for %d runs, want one more", len(calls), total)
	}
	for i, p := range calls {
		if p.Done != i || p.Total != total || (p.Run == nil) != (i == 0) || p.Preflight == nil || p.Left < 0 {
			t.Errorf("call %d: %+v", i, p)
		}
	}
	if left := calls[total].Left; left != 0 {
		t.Errorf("%v left when all is done", left)
	}
}

// A second sweep into the same directory is refused, before and after its results are complete.
func TestSweepKeepsOlderResults(t *testing.T) {
	o := tinySweep(t, childWorks)
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(o.Out, "bench.txt")
	if err := os.WriteFile(old, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(context.Background(), o)
	if err == nil {
		_, err = Run(context.Background(), p)
	}
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("results over results: %v, want one line", err)
	}
	if got := namesIn(t, o.Out); len(got) != 1 || got[0] != old {
		t.Errorf("the directory now holds %v, want %s alone", got, old)
	}
	wantEmpty(t, o.Dir)
}

func TestSweepFaultyChildren(t *testing.T) {
	for mode, says := range map[string]string{
		childCrashes: "exit status 3: it fell over",
		childBabbles: "outcome of a run",
		childKilled:  "killed",
	} {
		t.Run(mode, func(t *testing.T) {
			o := tinySweep(t, mode)
			o.Workloads = o.Workloads[:1]
			o.Blocks = 1
			s, err := Run(context.Background(), mustPlan(t, o))
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Runs) != 4 {
				t.Errorf("%d runs, want the 4 that were planned", len(s.Runs))
			}
			for _, run := range s.Runs {
				text := run.Verification.Error
				if run.Cell.Strategy != "rwmutex" {
					if text != "" {
						t.Errorf("%s: %s", run.Cell.Label(), text)
					}
					continue
				}
				if !strings.Contains(text, says) || strings.Contains(text, "\n") {
					t.Errorf("the run says %q, want one line with %q", text, says)
				}
				if said := run.Verification.Said; mode == childCrashes && said != "it fell over\nand said more\n" {
					t.Errorf("its process said %q", said)
				}
				if len(run.Metrics) > 0 || run.Latency != "" {
					t.Errorf("a run that failed has numbers: %v", run.Metrics)
				}
			}
			wantEmpty(t, o.Dir)
		})
	}
}

// Checks that let the negative control pass make the sweep worth nothing.
func TestPreflightNotCaught(t *testing.T) {
	o := tinySweep(t, childBlind)
	o.Progress = func(Progress) { t.Error("runs began") }
	s, err := Run(context.Background(), mustPlan(t, o))
	if !errors.Is(err, ErrNotCaught) || s != nil {
		t.Errorf("the sweep gave %v and %v, want ErrNotCaught", s, err)
	}
	wantEmpty(t, o.Dir)
	if _, err := os.Stat(o.Out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("results were left behind: %v", namesIn(t, o.Out))
	}
}

// A negative control that falls over has not been caught by the checks.
func TestPreflightCrashIsNoCatch(t *testing.T) {
	o := tinySweep(t, childNoCheck)
	s, err := Run(context.Background(), mustPlan(t, o))
	if err == nil || s != nil || !strings.Contains(err.Error(), "it fell over") {
		t.Errorf("the sweep gave %v and %v, want the child's message", s, err)
	}
	wantEmpty(t, o.Dir)
	if _, err := os.Stat(o.Out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("results were left behind: %v", namesIn(t, o.Out))
	}
}

// The race of the negative control is one on purpose. A build with the race detector tells of any other, and begins with
// a line that says nothing.
func TestRaces(t *testing.T) {
	for _, options := range []string{"", "halt_on_error=1"} {
		o := tinySweep(t, childRaces)
		t.Setenv("GORACE", os.Getenv("GORACE")+" "+options)
		o.Workloads, o.Blocks = o.Workloads[:1], 1
		s, err := Run(context.Background(), mustPlan(t, o))
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range s.Runs {
			want := ""
			if raceDetector && run.Cell.Strategy == "rwmutex" {
				want = "process of a run: exit status 66: WARNING: DATA RACE"
			}
			if text := run.Verification.Error; text != want {
				t.Errorf("%s: %q, want %q", run.Cell.Label(), text, want)
			}
			if said := run.Verification.Said; want != "" && !strings.Contains(said, "harness.race()") {
				t.Errorf("%s: no stack in %q", run.Cell.Label(), said)
			}
		}
	}
}

// A process that goes on talking does not fill the memory of the sweep, and is not kept waiting.
func TestChildSaysMuch(t *testing.T) {
	child := Child{Name: "a test", Command: []string{"sh", "-c", "read request; yes line | head -c 1000000 >&2; exit 7"}}
	_, err := child.Ask(t.Context(), "request")
	failed, ok := errors.AsType[*FailedChild](err)
	if !ok || failed.Error() != "process of a test: exit status 7: line" {
		t.Fatalf("%v, want how it ended and its first line", err)
	}
	if !strings.HasPrefix(failed.Said, "line\nline\n") || len(failed.Said) != maxSaid {
		t.Errorf("%d bytes are kept, want the first %d", len(failed.Said), maxSaid)
	}
}

func TestDetail(t *testing.T) {
	for said, want := range map[string]string{
		"":                             ", without a word",
		" \n\n":                        ", without a word",
		"!!! 42\n":                     ": !!! 42",
		"====\nRACE\nmore":             ": RACE",
		"it\n":                         ": it",
		strings.Repeat("é", 200):       ": " + strings.Repeat("é", maxDetail/2) + " …",
		"a" + strings.Repeat("é", 200): ": a" + strings.Repeat("é", maxDetail/2-1) + " …",
	} {
		if got := detail(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// A program that is not there is told before anything is left behind.
func TestPreflightMissingChild(t *testing.T) {
	o := tinySweep(t, childWorks)
	o.Child = []string{filepath.Join(t.TempDir(), "nothing-here")}
	s, err := Run(context.Background(), mustPlan(t, o))
	if err == nil || s != nil || !strings.Contains(err.Error(), "nothing-here") {
		t.Errorf("the sweep gave %v and %v, want an error that names the program", s, err)
	}
	wantEmpty(t, o.Dir)
}

// announcement makes the pipe through which a child tells that it is under way, and returns what waits
// for that.
func announcement(t *testing.T) (wait func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "announce")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	t.Setenv(announceFile, path)
	return func() {
		if pipe, err := os.Open(path); err == nil { // blocks until the child opens it too
			pipe.Close()
		}
	}
}

func TestSweepInterrupted(t *testing.T) {
	wait := announcement(t)
	o := tinySweep(t, childAnnounces)
	o.Seed = seedWithFirst(t, o, "mutex")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		wait() // a run is in the middle
		cancel()
	}()
	s, err := Run(ctx, mustPlan(t, o))
	if !errors.Is(err, ErrInterrupted) {
		t.Fatalf("the sweep ended with %v, want ErrInterrupted", err)
	}
	if s == nil || len(s.Runs) == 0 || !s.Meta.Interrupted {
		t.Fatalf("the sweep kept %+v, want the runs that had finished", s)
	}
	for _, run := range s.Runs {
		if !run.Valid() || run.Cell.Strategy == "rwmutex" {
			t.Errorf("run %d (%s) was kept: %s", run.Index, run.Cell.Label(), run.Verification.Error)
		}
	}
	if loaded, err := results.Load(o.Out); err != nil || len(loaded.Runs) != len(s.Runs) {
		t.Errorf("on disk: %v, %v", loaded, err)
	}
	wantEmpty(t, o.Dir)
}

// seedWithFirst finds a seed with which a strategy has the first run.
func seedWithFirst(t *testing.T, o Options, strategy string) uint64 {
	t.Helper()
	p := mustPlan(t, o)
	for seed := range uint64(1000) {
		if p.Cells[workload.Shuffle(seed, 0, len(p.Cells))[0]].Cell.Strategy == strategy {
			return seed
		}
	}
	t.Fatalf("no seed puts %s first", strategy)
	return 0
}

// A sweep that is ended before any run has finished leaves nothing.
func TestSweepInterruptedAtOnce(t *testing.T) {
	o := tinySweep(t, childWorks)
	p := mustPlan(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, err := Run(ctx, p)
	if !errors.Is(err, ErrInterrupted) || s != nil {
		t.Errorf("the sweep gave %v and %v, want ErrInterrupted alone", s, err)
	}
	wantEmpty(t, o.Dir)
	if _, err := os.Stat(o.Out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("results were left behind: %v", namesIn(t, o.Out))
	}
}

// Data is kept for the last run of each cell, and for nothing else.
func TestSweepKeepData(t *testing.T) {
	o := tinySweep(t, childWorks)
	o.KeepData = true
	o.Workloads = o.Workloads[:1]
	for i := range o.Workloads {
		o.Workloads[i].MaxBytes = 1 << 20
	}
	p := mustPlan(t, o)
	s, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	roots, err := os.ReadDir(o.Dir)
	if err != nil || len(roots) != 1 {
		t.Fatalf("%v in %s, want the one directory of the sweep (%v)", roots, o.Dir, err)
	}
	root := filepath.Join(o.Dir, roots[0].Name())
	kept, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != len(p.Cells) {
		t.Errorf("%d directories are kept of %d cells: %v", len(kept), len(p.Cells), kept)
	}
	for _, dir := range kept {
		if bytesOfLogs(t, filepath.Join(root, dir.Name()), 1) == 0 {
			t.Errorf("%s is empty", dir.Name())
		}
	}
	if !slices.ContainsFunc(s.Meta.Warnings, func(w string) bool { return strings.Contains(w, root) }) {
		t.Errorf("nothing says that data is in %s: %q", root, s.Meta.Warnings)
	}
}

// TestExecuteOrphaned: a run whose parent has died ends, and its data goes.
func TestExecuteOrphaned(t *testing.T) {
	w := tiny("producers")
	w.Producers, w.SegmentSize = 2, 4<<10 // rolls all the time
	for range 3 {
		wait := announcement(t)
		t.Setenv(childMode, childAnnounces)
		parent := t.TempDir()
		spec := specOf(w, "rwmutex", filepath.Join(parent, "sweep", "run"))
		spec.Protocol = protocol
		input, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		child := exec.Command(os.Args[0])
		stdin, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := stdin.Write(input); err != nil {
			t.Fatal(err)
		}
		wait()
		if err := stdin.Close(); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := child.Wait(); !errors.As(err, &exit) {
			t.Errorf("the orphan ended with %v, want an exit code", err)
		}
		wantEmpty(t, parent)
	}
}

// Execute refuses what is no specification.
func TestExecuteBadInput(t *testing.T) {
	for _, input := range []string{"", "{", "[]", `{"protocol":1,"cell":{"strategy":"mutecks"}}`} {
		var out strings.Builder
		stdin, stdinEnd, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stdinEnd.WriteString(input); err != nil {
			t.Fatal(err)
		}
		if !json.Valid([]byte(input)) {
			stdinEnd.Close()
		}
		if err := Execute(t.Context(), stdin, &out); err == nil || out.Len() > 0 {
			t.Errorf("input %q: error %v, output %q", input, err, out.String())
		}
		stdinEnd.Close()
		stdin.Close()
	}
}
