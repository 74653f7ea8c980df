package harness

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

func TestExamine(t *testing.T) {
	dir := scratchParent(t)
	d, err := Examine(t.Context(), Examination{Quick: true, Dir: dir, Version: "v1", idle: time.Millisecond, budget: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, dir)
	if len(d.Checks) != 26 || len(d.Calibrations) < len(steps()) || d.Spread != nil || d.Version != "v1" || d.Seconds <= 0 || d.Verdict == "" {
		t.Errorf("%d checks, %d calibrations, %+v", len(d.Checks), len(d.Calibrations), d)
	}

	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var again Diagnosis
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&again); err != nil || !reflect.DeepEqual(&again, d) {
		t.Errorf("JSON: %v\n%+v, want\n%+v", err, again, d)
	}
	var shape map[string]any
	if err := json.Unmarshal(data, &shape); err != nil {
		t.Fatal(err)
	}
	calibration := shape["calibrations"].([]any)[0].(map[string]any)
	for _, key := range []string{"name", "status", "seen", "unit", "samples", "p10", "median", "p90", "usual"} {
		if calibration[key] == nil {
			t.Errorf("a calibration has no %s: %v", key, calibration)
		}
	}
}

func TestExamineRefusesDirectories(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(t.TempDir(), "missing"), "/proc"} {
		if _, err := Examine(t.Context(), Examination{Quick: true, Dir: dir}); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestWriteText(t *testing.T) {
	c := summarizeCalls("fdatasync", "usual text", []float64{1e-3, 2e-3, 3e-3})
	c.Note = "a note"
	d := &Diagnosis{
		Environment:  results.Environment{Host: "h", CPUs: 4, CPUModel: "A CPU", Kernel: "Linux 6", GoVersion: "go1.26"},
		Version:      "v1",
		Checks:       []Finding{ok("swap", "none"), {Name: "build", Status: StatusUnfit, Seen: "slow", Why: strings.Repeat("because ", 20), Mend: "go build"}},
		Calibrations: []Calibration{c, {Finding: unknown("false sharing", "one processor")}},
		Spread:       spreadOf([]float64{0.01, -0.01, 0.02, -0.02}),
	}
	d.conclude()
	var out strings.Builder
	if err := d.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	const want = `tailrace v1 · h · 4 CPUs A CPU · Linux 6 · go1.26

The machine
  ok       swap               none
  UNFIT    build              slow
                        why   because because because because because because because because because because
                              because because because because because because because because because because
                        mend  go build

What it costs
                                         median   p10 – p90          usual
  ok       fdatasync                     2.0 ms   1.0 ms – 3.0 ms    usual text
                                         p99 3.0 ms, at most 3.0 ms in 3
                                         a note
  unknown  false sharing                 one processor

Equal runs, the mutex against itself
  ok       1.00× (0.97–1.03) over 4 blocks, 1.8 % from block to block (1.0 to 6.8 %)
           a difference that one comparison can tell apart, with
           --blocks 6: ±1.9 % · --blocks 12: ±1.2 % · --blocks 25: ±0.8 % · --blocks 50: ±0.5 %
           (half of Student's 95 % interval: found in half of all sweeps if it is real, twice as much in nearly all)

not fit: build: slow
first: build: go build
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

// TestSpread compares with figures that were computed by hand: s = 0.02 over the blocks, and
// t(0.975, n−1) = 2.571, 2.201, 2.064, 2.010 for 6, 12, 25, 50 blocks.
func TestSpread(t *testing.T) {
	logs := []float64{0.02, -0.02, 0.02, -0.02, 0, 0} // Σx² = 0.0016, s² = 0.0016/5
	s := spreadOf(logs)
	deviation := math.Sqrt(0.0016 / 5)
	if math.Abs(s.Deviation-deviation) > 1e-12 || s.Blocks != 6 || math.Abs(s.Ratio-1) > 1e-12 || s.Status != StatusOK {
		t.Errorf("%+v", s)
	}
	if half := 2.571 * deviation / math.Sqrt(6); math.Abs(s.High-math.Exp(half)) > 1e-4 || math.Abs(s.Low-math.Exp(-half)) > 1e-4 {
		t.Errorf("interval %g to %g, half of it %g", s.Low, s.High, half)
	}
	// χ²(0.975, 5) = 12.833, χ²(0.025, 5) = 0.8312.
	if math.Abs(s.DeviationLow-deviation*math.Sqrt(5/12.833)) > 1e-5 || math.Abs(s.DeviationHigh-deviation*math.Sqrt(5/0.8312)) > 1e-5 {
		t.Errorf("deviation %g to %g", s.DeviationLow, s.DeviationHigh)
	}
	for i, want := range []struct {
		blocks int
		t      float64
	}{{6, 2.571}, {12, 2.201}, {25, 2.064}, {50, 2.010}} {
		half := want.t * deviation / math.Sqrt(float64(want.blocks))
		if got := s.Detectable[i]; got.Blocks != want.blocks || math.Abs(got.Difference-math.Expm1(half)) > 1e-5 {
			t.Errorf("%+v, want %d blocks and %g", got, want.blocks, math.Expm1(half))
		}
	}
}

func TestSpreadIsJudged(t *testing.T) {
	for _, test := range []struct {
		name string
		logs []float64
		want Status
	}{
		{"no spread at all", []float64{0, 0, 0, 0}, StatusOK},
		{"two blocks", []float64{0.1, 0.2}, StatusUnknown},
		{"a difference from itself", []float64{0.10, 0.11, 0.09, 0.10}, StatusWarning},
		{"coarse", []float64{0.2, -0.2, 0.2, -0.2}, StatusWarning},
		{"hopeless", []float64{1, -1, 1, -1}, StatusUnfit},
	} {
		s := spreadOf(test.logs)
		if s.Status != test.want || s.grave() != (s.Why != "" && s.Mend != "") {
			t.Errorf("%s: %+v", test.name, s)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestSpreadRuns runs two small blocks.
func TestSpreadRuns(t *testing.T) {
	w := spreadLoad()
	w.Ramp, w.Duration, w.Prefill, w.MaxBytes = 5*time.Millisecond, 20*time.Millisecond, 1<<20, 64<<20
	t.Setenv(childMode, childWorks)
	sweep, err := runSpread(t.Context(), Options{
		Workloads: []workload.Workload{w}, Strategies: []string{"mutex"}, Blocks: 2, Seed: 1, Storage: StorageHeap,
		Out: filepath.Join(t.TempDir(), "out"), Child: []string{os.Args[0]},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sweep.Runs) != 4 {
		t.Errorf("%d runs, want 4", len(sweep.Runs))
	}
	for _, run := range sweep.Runs {
		if !run.Valid() || run.Cell.Strategy != "mutex" {
			t.Errorf("%+v: %s", run.Cell, run.Verification.Error)
		}
	}
	if logs := blockLogs(sweep); len(logs) > 2 {
		t.Errorf("logarithms of %d blocks", len(logs))
	}
}

func TestBlockLogs(t *testing.T) {
	run := func(block int, arm string, rate float64, wrong string) results.Run {
		return results.Run{
			Block: block, Cell: results.Cell{Strategy: "mutex", Arm: arm}, Metrics: map[string]float64{results.MetricOps: rate},
			Verification: results.Verification{Error: wrong},
		}
	}
	got := blockLogs(&results.Sweep{Runs: []results.Run{
		run(0, "", 100, ""), run(0, "A/A", 200, ""), // 2
		run(1, "A/A", 50, ""), run(1, "", 100, ""), // ½
		run(2, "", 100, ""), run(2, "A/A", 0, ""), // nothing was done
		run(3, "", 100, ""), // interrupted
		run(4, "", 100, "wrong"), run(4, "A/A", 100, ""),
	}})
	if want := []float64{math.Log(2), -math.Log(2)}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestSpreadLeavesNothing: neither when it can't be measured, nor when it is interrupted.
func TestSpreadLeavesNothing(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv(childMode, childBlind)
	s, err := measureSpread(t.Context(), []string{os.Args[0]}, "")
	if err != nil || s.Status != StatusUnfit || !strings.Contains(s.Seen, "not caught") {
		t.Errorf("checks that do not work: %+v, %v", s, err)
	}
	wantEmpty(t, temporary)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := measureSpread(ended, []string{os.Args[0]}, ""); !errors.Is(err, ErrInterrupted) {
		t.Errorf("interrupted: %+v, %v", s, err)
	}
	wantEmpty(t, temporary)
	s, err = measureSpread(t.Context(), nil, "")
	if err != nil || s.Status != StatusUnknown || s.Seen != "no command for the process of a run" {
		t.Errorf("no child: %+v, %v", s, err)
	}
	wantEmpty(t, temporary)
}
