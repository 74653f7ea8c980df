package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

func TestRunOnce(t *testing.T) {
	t.Setenv(childMode, childWorks)
	child, dir := []string{os.Args[0]}, scratchDir(t)
	w := workload.DefaultMix()
	w.Workers, w.Prefill, w.Ramp, w.Duration = 2, 1<<20, 5*time.Millisecond, 20*time.Millisecond
	var run *results.Run
	for tries := 0; run == nil || run.Unmeasured != "" && tries < 20; tries++ { // on a busy machine a window may see nothing
		var err error
		if run, err = RunOnce(t.Context(), child, w, "mutex", 7, dir); err != nil {
			t.Fatal(err)
		}
	}
	if run.Cell.Strategy != "mutex" || run.Cell.Workers != 2 || run.Seed != 7 || !(run.Metrics[results.MetricOps] > 0) || run.Start.IsZero() {
		t.Errorf("run %+v", run)
	}
	for name, test := range map[string]struct {
		child    []string
		strategy string
		dir      string
		want     string
	}{
		"no child":         {nil, "mutex", dir, "no command"},
		"no such program":  {[]string{"/nonexistent"}, "mutex", dir, "process of a run"},
		"no such strategy": {child, "mutexes", dir, "no such strategy"},
		"no directory":     {child, "mutex", filepath.Join(dir, "gone"), "no such file"},
	} {
		if _, err := RunOnce(t.Context(), test.child, w, test.strategy, 7, test.dir); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, test.want)
		}
	}
	wrong := workload.Default() // the load of the pre-flight
	wrong.Producers, wrong.Consumers, wrong.Subscriptions = 2, 2, 2
	wrong.MaxBytes, wrong.Duration = 32<<20, 2*time.Second
	if _, err := RunOnce(t.Context(), child, wrong, "busted", 7, dir); err == nil || !strings.Contains(err.Error(), "busted failed verification: ") {
		t.Errorf("error %v of wrong answers", err)
	}
	if _, err := RunOnce(t.Context(), child, workload.Workload{}, "mutex", 7, dir); err == nil {
		t.Error("a workload that is none was run")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left of the runs (%v)", left, err)
	}
}
