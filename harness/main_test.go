package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// childMode is the environment variable that turns the test binary into the process of a run, and says
// which: one that works, or one with a fault.
const childMode = "TAILRACE_TEST_CHILD"

// Values of childMode.
const (
	childWorks   = "works"
	childBlind   = "blind"   // runs mutex where it was told to run busted
	childCrashes = "crashes" // like the rest, at the strategy rwmutex alone
	childBabbles = "babbles"
	childKilled  = "killed"
	childNoCheck = "no-busted" // crashes where it was told to run busted
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		os.Exit(child(mode))
	}
	os.Exit(m.Run())
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
	case mode == childBlind && spec.Cell.Strategy == "busted":
		spec.Cell.Strategy = "mutex"
	case mode == childNoCheck && spec.Cell.Strategy == "busted", mode == childCrashes && faulty:
		fmt.Fprintln(os.Stderr, "it fell over\nand said more")
		return 3
	case mode == childBabbles && faulty:
		fmt.Println("no outcome at all")
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
		err = Execute(io.MultiReader(bytes.NewReader(again), decoder.Buffered(), os.Stdin), os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// tiny is the base of the workloads here: windows of 20 ms, small segments so that logs roll.
func tiny(name string) workload.Workload {
	w := workload.Default()
	w.Name = name
	w.RecordSize = 100
	w.FetchBytes = 8 << 10
	w.SegmentSize = 1 << 20
	w.MaxBytes = 64 << 20
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
