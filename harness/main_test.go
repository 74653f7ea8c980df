package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/strategies"
	"tailrace/workload"
)

// childMode is the environment variable that turns the test binary into the process of a run, and says
// which: one that works, or one with a fault.
const childMode = "TAILRACE_TEST_CHILD"

// Values of childMode.
const (
	childWorks     = "works"
	childBlind     = "blind"   // runs mutex where it was told to run busted
	childCrashes   = "crashes" // like the rest, at the strategy rwmutex alone
	childBabbles   = "babbles"
	childKilled    = "killed"
	childFull      = "full"        // finds no room for the data where it was told to run rwmutex
	childFullFirst = "full-busted" // finds none where it was told to run busted
	childNoCheck   = "no-busted"   // crashes where it was told to run busted
	childRaces     = "races"       // has a data race beside a run of busted or rwmutex
	childAnnounces = "announces"   // tells of a run of rwmutex through announceFile once it has data
)

// announceFile is the environment variable that names a named pipe.
const announceFile = "TAILRACE_TEST_ANNOUNCE"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		os.Exit(child(mode))
	}
	code := m.Run()
	if dir := builtTailrace.dir; dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// child is the process of a run in the given mode.
func child(mode string) int {
	// The parent keeps stdin open, so a decoder reads the specification and no more is taken for it.
	decoder := json.NewDecoder(os.Stdin)
	var spec Spec
	if err := decoder.Decode(&spec); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	faulty := spec.Cell.Strategy == "rwmutex"
	switch {
	case mode == childAnnounces && faulty:
		if err := announce(&spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	case mode == childRaces && (faulty || spec.Cell.Strategy == "busted"):
		race()
	case mode == childBlind && spec.Cell.Strategy == "busted":
		spec.Cell.Strategy, spec.Workload.Duration = "mutex", 10*time.Millisecond
	case mode == childNoCheck && spec.Cell.Strategy == "busted", mode == childCrashes && faulty:
		fmt.Fprintln(os.Stderr, "it fell over\nand said more")
		return 3
	case mode == childBabbles && faulty:
		fmt.Println("no outcome at all")
		return 0
	case mode == childFull && faulty, mode == childFullFirst && spec.Cell.Strategy == "busted":
		fmt.Println(`{"run":{"verification":{"error":"append: write 00000000000000000000.log: no space left on device"}}}`)
		return 0
	case mode == childKilled && faulty:
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		fmt.Fprintln(os.Stderr, err)
		select {}
	}
	again, err := json.Marshal(spec)
	if err == nil {
		err = Execute(context.Background(), io.MultiReader(bytes.NewReader(again), decoder.Buffered(), os.Stdin), os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// race is a data race however its goroutines are scheduled.
func race() {
	var raced int
	done := make(chan struct{})
	go func() {
		raced++
		close(done)
	}()
	raced++
	<-done
}

// announce makes the run a long one that has data already, and lets whoever opens the pipe go on.
func announce(spec *Spec) error {
	spec.Workload.Duration = time.Hour
	if spec.Dir != "" {
		if err := os.MkdirAll(spec.Dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(spec.Dir, "data"), []byte("data"), 0o644); err != nil {
			return err
		}
	}
	pipe, err := os.OpenFile(os.Getenv(announceFile), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return pipe.Close()
}

// tiny is the base of the workloads here: windows of 20 ms, small segments so that logs roll.
func tiny(name string) workload.Workload {
	w := workload.Default()
	w.Name = name
	w.RecordSize = 100
	w.FetchBytes = 8 << 10
	w.SegmentSize = 1 << 20
	w.MaxBytes = 1 << 30
	w.Ramp, w.Duration = 5*time.Millisecond, 20*time.Millisecond
	return w
}

func tinyMix() workload.Workload {
	w := tiny("mix")
	w.Workers, w.ProducePercent = 3, 20
	w.Pattern, w.Prefill = workload.Random, 256<<10
	return w
}

func tinyTail() workload.Workload {
	w := tiny("tail")
	w.Producers, w.Consumers, w.Subscriptions = 2, 2, 2
	return w
}

// specOf is what one run of a strategy under a workload needs; dir is "" for the heap.
func specOf(w workload.Workload, strategy, dir string) Spec {
	return Spec{
		Cell: results.Cell{
			Workload: w.Name, Strategy: strategy, Producers: w.Producers, Consumers: w.Consumers, Workers: w.Workers,
			ProducePercent: w.ProducePercent, Pattern: string(w.Pattern), GOMAXPROCS: 2,
		},
		Workload: w, Seed: 7, Dir: dir,
	}
}

// mustPerform executes a run in this process.
func mustPerform(t *testing.T, spec Spec) *Outcome {
	t.Helper()
	if err := spec.Workload.Validate(); err != nil {
		t.Fatalf("the workload is not one: %v", err)
	}
	o, err := perform(spec)
	if err != nil {
		t.Fatalf("perform: %v", err)
	}
	return o
}

// performUntil executes a run until its window has what a test needs. On a busy machine a window of
// some milliseconds may pass without the process, or a role of it, having been on a processor.
func performUntil(t *testing.T, spec Spec, has func(run *results.Run) bool) *Outcome {
	t.Helper()
	const tries = 20
	dir := spec.Dir
	for i := range tries {
		if dir != "" {
			spec.Dir = fmt.Sprintf("%s-%d", dir, i)
		}
		if o := mustPerform(t, spec); !o.Run.Valid() || has(&o.Run) {
			return o
		}
	}
	t.Fatalf("none of %d runs had what the test needs", tries)
	return nil
}

// hasOperations is for performUntil.
func hasOperations(run *results.Run) bool { return run.Metrics[results.MetricOps] > 0 }

// wantMeasured verifies that the runs of a sweep are sound, and that each has numbers or says why it has none: on a busy
// machine nothing may have ended in a short window. That is not so in all of them.
func wantMeasured(t *testing.T, s *results.Sweep) {
	t.Helper()
	measured := 0
	for _, run := range s.Runs {
		if !run.Valid() || (len(run.Metrics) == 0) != (run.Unmeasured != "") {
			t.Errorf("run %d (%s, build %q): %d metrics, unmeasured %q, %q",
				run.Index, run.Cell.Label(), run.Cell.Build, len(run.Metrics), run.Unmeasured, run.Verification.Error)
		}
		if len(run.Metrics) > 0 {
			measured++
		}
	}
	if measured == 0 {
		t.Errorf("none of %d runs has measured anything", len(s.Runs))
	}
}

// histogramsOf are those of a whole run, by kind.
func histogramsOf(tb testing.TB, o *Outcome) map[string]*results.Histogram {
	tb.Helper()
	return results.Total(intervalsOf(tb, o))
}

// intervalsOf are the histograms of each interval of a run.
func intervalsOf(tb testing.TB, o *Outcome) []results.IntervalHistograms {
	tb.Helper()
	var intervals []results.IntervalHistograms
	for i, err := range o.decoded() {
		if err != nil {
			tb.Fatal(err)
		}
		intervals = append(intervals, i)
	}
	return intervals
}

// counted is what a tally has counted, as a histogram.
func counted(t *tally) *results.Histogram {
	if h := t.kept().histogram(); h != nil {
		return h
	}
	return results.NewHistogram()
}

// collect adds up what workers have measured, as at the end of a run.
func collect(r *run, workers ...*worker) {
	r.interval = intervalLength(len(workers), r.spec.Workload.Duration)
	r.collector = newCollector(r, workers)
	r.collector.done.Add(1)
	go r.collector.collect()
	for _, w := range workers {
		w.handOver()
	}
	r.collector.close()
}

// wrapped is a log whose handles are changed.
type wrapped struct {
	strategies.Log
	handle func(strategies.Handle) strategies.Handle
}

func (l *wrapped) NewHandle() strategies.Handle { return l.handle(l.Log.NewHandle()) }

// wrap is a run of a spec whose clients get changed handles.
func wrap(t *testing.T, spec Spec, handle func(strategies.Handle) strategies.Handle) *run {
	t.Helper()
	if err := spec.Workload.Validate(); err != nil {
		t.Fatalf("the workload is not one: %v", err)
	}
	r, err := newRun(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.partitions {
		p.log = &wrapped{Log: p.log, handle: handle}
	}
	return r
}

// ends executes a run that must not go on for ever.
func ends(t *testing.T, r *run) *Outcome {
	t.Helper()
	const forEver = 20 * time.Second
	done := make(chan *Outcome, 1)
	go func() { done <- r.perform() }()
	select {
	case o := <-done:
		return o
	case <-time.After(forEver):
		t.Fatalf("the run has not ended after %v", forEver)
		return nil
	}
}

// wantEmpty verifies that a directory holds nothing.
func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	if names := namesIn(t, dir); len(names) > 0 {
		t.Errorf("%s holds %v, want nothing", dir, names)
	}
}

// namesIn lists everything below a directory.
func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
