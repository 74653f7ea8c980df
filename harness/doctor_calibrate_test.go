package harness

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// scratchParent is a directory in memory where there is one, so that no test waits for a disk.
func scratchParent(t *testing.T) string {
	t.Helper()
	if f, err := statFilesystem(sharedMemory); err != nil || !f.inMemory() {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(sharedMemory, "tailrace-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestCalibrations(t *testing.T) {
	m := thisMachine(scratchParent(t))
	m.processors = max(2, m.processors)
	var said []string
	all, err := calibrate(t.Context(), m, time.Millisecond, func(doing string) { said = append(said, doing) })
	if err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, m.dir)
	if len(said) != len(steps()) || !slices.Contains(said, "calibrating: fdatasync") {
		t.Errorf("said %q", said)
	}
	names := map[string]bool{}
	for _, c := range all {
		if names[c.Name] {
			t.Errorf("two calibrations are called %s", c.Name)
		}
		names[c.Name] = true
		if c.Status == StatusUnknown {
			if !strings.HasPrefix(c.Name, "pwrite to memory") { // where there is no tmpfs
				t.Errorf("%+v", c)
			}
			continue
		}
		numbers := []float64{c.P10, c.Median, c.P90}
		if c.Max > 0 {
			numbers = append(numbers, c.P99, c.Max)
		}
		if c.P10 < 0 || c.Median <= 0 && c.Max == 0 || !slices.IsSorted(numbers) || math.IsNaN(c.P90) || math.IsInf(c.P90, 0) {
			t.Errorf("%s: %v", c.Name, numbers)
		}
		if c.Samples < leastSamples || c.Usual == "" || c.Seen != c.Text(c.Median) || c.grave() != (c.Why != "" && c.Mend != "") {
			t.Errorf("%+v", c)
		}
	}
	if len(names) != 17 {
		t.Errorf("%d calibrations, want 17: %v", len(names), names)
	}
}

// TestCalibrationsThatCannotBeMade are unknown: those of two goroutines on one processor, and those of files
// where none can be made.
func TestCalibrationsThatCannotBeMade(t *testing.T) {
	m := thisMachine("/proc")
	m.processors = 1
	m.filesystem = func(string) (filesystem, error) { return filesystem{name: "proc"}, nil }
	all, err := calibrate(t.Context(), m, time.Millisecond, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	var unknown []string
	for _, c := range all {
		if c.Status == StatusUnknown {
			unknown = append(unknown, c.Name)
		}
	}
	want := []string{"mutex, contended", "false sharing", "parallel computing", "pread", "pwrite to memory", "pwrite to disk", "fdatasync"}
	if !slices.Equal(unknown, want) {
		t.Errorf("unknown %q, want %q", unknown, want)
	}
}

func TestNearestRank(t *testing.T) {
	sorted := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for q, want := range map[float64]float64{0: 1, 0.1: 1, 0.11: 2, 0.5: 5, 0.9: 9, 0.99: 10, 1: 10} {
		if got := nearestRank(sorted, q); got != want {
			t.Errorf("%g: %g, want %g", q, got, want)
		}
	}
	if got := nearestRank([]float64{7}, 0.1); got != 7 {
		t.Errorf("of one: %g", got)
	}
}

func TestJudgements(t *testing.T) {
	for _, test := range []struct {
		median   float64
		inMemory bool
		want     Status
		why      string
	}{
		{200e-6, false, StatusOK, ""},
		{3e-6, false, StatusWarning, "the disk acknowledges without writing"},
		{3e-6, true, StatusOK, ""},
		{30e-3, false, StatusWarning, "a window of 0.4 s holds few syncs"},
	} {
		c := summarizeCalls("fdatasync", "", []float64{test.median})
		judgeSync(&c, test.inMemory, "/data")
		if c.Status != test.want || !strings.HasPrefix(c.Why, test.why) {
			t.Errorf("fdatasync of %g s: %+v", test.median, c)
		}
	}
	for _, test := range []struct {
		same, at64, at128 float64
		want              Status
		note              string
	}{
		{1.0, 1.0, 1.0, StatusOK, ""},
		{5, 1.1, 1.0, StatusOK, "64 B between words that different processors write are enough"},
		{5, 3, 1.1, StatusWarning, "words that different processors write need 128 B between them here"},
		{5, 3, 2, StatusWarning, "words that different processors write need 256 B between them here"},
	} {
		of := func(median float64) *Calibration { return &Calibration{Median: median, Finding: ok("", "")} }
		same, at64, at128 := of(test.same), of(test.at64), of(test.at128)
		judgePadding(same, at64, at128)
		if at64.Status != test.want || at64.Note != test.note || (same.Note != "") != (test.same < 1.5) {
			t.Errorf("%g× at 64 B, %g× at 128 B: %+v", test.at64, test.at128, at64)
		}
	}
}

// TestExamineIsInterrupted ends an examination at each of its steps.
func TestExamineIsInterrupted(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	for _, at := range []string{"looking at", "calibrating: clock read", "calibrating: channel", "calibrating: false sharing", "calibrating: fdatasync"} {
		ctx, cancel := context.WithCancel(t.Context())
		dir := scratchParent(t)
		_, err := Examine(ctx, Examination{
			Quick: true, Dir: dir, idle: time.Millisecond, budget: time.Millisecond,
			Progress: func(doing string) {
				if strings.HasPrefix(doing, at) {
					cancel()
				}
			},
		})
		if !errors.Is(err, ErrInterrupted) {
			t.Errorf("%s: %v", at, err)
		}
		wantEmpty(t, dir)
		cancel()
	}
	for range 1000 { // those of a context end a little later
		if runtime.NumGoroutine() <= goroutines {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
}
