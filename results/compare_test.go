package results_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/results/resultstest"
)

// sweepDir writes a sweep's description and runs as a directory.
func sweepDir(t *testing.T, name string, s *results.Sweep) string {
	t.Helper()
	dir := filepath.Join(tempDir(t), name)
	s.Meta.Schema = results.Schema
	w, err := results.Create(dir, &s.Meta)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Runs {
		run := s.Runs[i]
		run.Schema = results.Schema
		if err := w.Add(&run, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Finish(&s.Meta), w.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// inventedSweep is made once, since its histograms take a tenth of a second.
var inventedSweep = sync.OnceValue(func() *results.Sweep { return resultstest.Sweep(3) })

// copySweep copies all of a sweep that tests change.
func copySweep(s *results.Sweep) *results.Sweep {
	c := *s
	c.Meta.Workloads, c.Runs = slices.Clone(s.Meta.Workloads), slices.Clone(s.Runs)
	for i := range c.Runs {
		c.Runs[i].Metrics = maps.Clone(s.Runs[i].Metrics)
	}
	return &c
}

// alternating are two sweeps whose blocks take turns: the new one has so much of the old one's throughput.
func alternating(share float64) (old, new *results.Sweep) {
	old, new = copySweep(inventedSweep()), copySweep(inventedSweep())
	for i := range new.Runs {
		oldRun, newRun := &old.Runs[i], &new.Runs[i]
		oldRun.Start = oldRun.Start.Add(time.Duration(oldRun.Block) * time.Minute)
		newRun.Start = oldRun.Start.Add(30 * time.Second)
		for metric, v := range newRun.Metrics {
			if results.LowerIsBetter(metric) {
				newRun.Metrics[metric] = v / share * (1 + 0.001*float64(i%7))
			} else {
				newRun.Metrics[metric] = v * share * (1 + 0.001*float64(i%7))
			}
		}
	}
	return old, new
}

func compareDirs(t *testing.T, old, new *results.Sweep, o results.CompareOptions) (*results.Changes, error) {
	t.Helper()
	return results.Compare(sweepDir(t, "old", old), sweepDir(t, "new", new), o)
}

func mustCompareDirs(t *testing.T, old, new *results.Sweep, o results.CompareOptions) *results.Changes {
	t.Helper()
	c, err := compareDirs(t, old, new, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The comparison of two builds is the one that was planned, with the same numbers.
func TestCompareBuildsHasThePlannedEffects(t *testing.T) {
	for _, metric := range []string{results.MetricOps, results.LatencyMetric("produce", "p99")} {
		s := builds(metric)
		c, err := results.CompareBuilds(sweepDir(t, "builds", s), results.CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		effects := s.Effects()
		if len(c.Changes) != len(effects) || !c.Interleaved {
			t.Fatalf("%d changes, interleaved %v", len(c.Changes), c.Interleaved)
		}
		for i, e := range effects {
			if d := c.Changes[i]; d.Interval != e.Interval || d.Verdict != e.Verdict || d.Benchmark != "mix "+e.Strategy || d.Metric != metric {
				t.Errorf("%+v, want %+v", d, e)
			}
		}
	}
}

func TestCompareBuilds(t *testing.T) {
	s := builds(results.MetricOps) // the actor of the other build has 0.8 of the speed
	if c, err := results.CompareBuilds(sweepDir(t, "faster", s), results.CompareOptions{}); err != nil || c.Outcome() != results.NoRegression {
		t.Errorf("%v, %v", c, err)
	}
	for i := range s.Runs { // the other way round
		switch cell := &s.Runs[i].Cell; cell.Label() {
		case "actor":
			cell.Build = "old"
		case "actor@old":
			cell.Build = ""
		}
	}
	dir := sweepDir(t, "slower", s)
	c, err := results.CompareBuilds(dir, results.CompareOptions{Threshold: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	if c.Outcome() != results.Regression || len(c.Regressions()) != 1 || c.Regressions()[0].Benchmark != "mix actor" || math.Abs(c.Regressions()[0].Ratio-0.8) > 0.02 {
		t.Errorf("%s, %+v", c.Outcome(), c.Regressions())
	}
	if c, err := results.CompareBuilds(dir, results.CompareOptions{Threshold: 0.25}); err != nil || c.Outcome() != results.NoRegression || c.Changes[1].Verdict != results.Worse {
		t.Errorf("%v, %v", c, err)
	}
	// A wrong answer of this build is a violation, one of the other leaves nothing to compare with.
	for build, want := range map[string]results.Outcome{"": results.Regression, "old": results.Inconclusive} {
		failed := builds(results.MetricOps)
		for i := range failed.Runs {
			if run := &failed.Runs[i]; run.Cell.Strategy == "mutex" && run.Cell.Build == build && run.Cell.Arm == "" && run.Block == 2 {
				run.Verification.Error = "offset 17 follows offset 15"
			}
		}
		c, err := results.CompareBuilds(sweepDir(t, "failed", failed), results.CompareOptions{})
		if err != nil || c.Outcome() != want || (len(c.Violations) == 1) != (build == "") || c.Changes[0].Verdict != results.Undecided {
			t.Errorf("build %q: %+v, %v", build, c, err)
		}
	}
	// So is a sweep in which identical code differs.
	sick := builds(results.MetricOps)
	for i := range sick.Runs {
		if run := &sick.Runs[i]; run.Cell.Arm != "" {
			run.Metrics[results.MetricOps] *= 1.5
		}
	}
	if c, err := results.CompareBuilds(sweepDir(t, "sick", sick), results.CompareOptions{}); err != nil || c.Outcome() != results.Inconclusive || !strings.Contains(c.Changes[1].Reason, "A/A") {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := results.CompareBuilds(sweepDir(t, "one", copySweep(inventedSweep())), results.CompareOptions{}); !errors.Is(err, results.ErrOneBuild) {
		t.Errorf("one build: %v", err)
	}
}

func TestCompareSeesWhetherSweepsTookTurns(t *testing.T) {
	for name, c := range map[string]struct {
		change func(old, new *results.Sweep)
		want   bool
	}{
		"in turns": {func(_, _ *results.Sweep) {}, true},
		"one after the other": {func(_, new *results.Sweep) {
			for i := range new.Runs {
				new.Runs[i].Start = new.Runs[i].Start.Add(time.Hour)
			}
		}, false},
		"one block late": {func(_, new *results.Sweep) {
			for i := range new.Runs {
				if new.Runs[i].Block == 4 {
					new.Runs[i].Start = new.Runs[i].Start.Add(time.Hour)
				}
			}
		}, false},
		"a block less":     {func(old, _ *results.Sweep) { old.Runs = old.Runs[:80] }, false},
		"another machine":  {func(old, _ *results.Sweep) { old.Meta.Environment.Host = "elsewhere" }, false},
		"several machines": {func(old, _ *results.Sweep) { old.Runs[17].Host = "elsewhere" }, false},
		"no times": {func(old, new *results.Sweep) {
			for i := range new.Runs {
				old.Runs[i].Start, new.Runs[i].Start = time.Time{}, time.Time{}
			}
		}, false},
	} {
		old, new := alternating(0.8)
		c.change(old, new)
		got := mustCompareDirs(t, old, new, results.CompareOptions{})
		want := results.Inconclusive
		if c.want {
			want = results.Regression
		}
		if got.Interleaved != c.want || got.Outcome() != want {
			t.Errorf("%s: interleaved %v, %s", name, got.Interleaved, got.Outcome())
		}
	}
}

func TestCompareDirectories(t *testing.T) {
	old, new := alternating(1.25)
	new.Runs = slices.DeleteFunc(new.Runs, func(r results.Run) bool { return r.Cell.Workload == "durable" && r.Cell.Strategy == "actor" })
	c := mustCompareDirs(t, old, new, results.CompareOptions{})
	// 14 candidates of the sweep, less the one; neither raw nor the second arm.
	if len(c.Changes) != 13 || !slices.Equal(c.OnlyOld, []string{"durable actor"}) || len(c.OnlyNew) != 0 || c.Outcome() != results.Inconclusive {
		t.Errorf("%d changes, only old %q, only new %q, %s", len(c.Changes), c.OnlyOld, c.OnlyNew, c.Outcome())
	}
	for _, d := range c.Changes {
		if d.Verdict != results.Better || d.Old.Runs != 6 || strings.HasPrefix(d.Benchmark, "tail") != (d.Metric == "e2e-p99-sec") {
			t.Errorf("%+v", d)
		}
		if math.Abs(d.New.Value/d.Old.Value/d.Ratio-1) > 1e-9 {
			t.Errorf("%s: the ratio of %v to %v is not %v", d.Benchmark, d.New.Value, d.Old.Value, d.Ratio)
		}
	}
	c = mustCompareDirs(t, old, new, results.CompareOptions{Metrics: []string{"cpu-sec/op", "consume-op/s"}})
	consumed := 0
	for _, d := range c.Changes {
		if d.Metric == "consume-op/s" {
			consumed++
		}
	}
	if consumed != 8 || len(c.Changes) != 13+8 { // mix and tail have consumers
		t.Errorf("%d changes, %d of them of reads", len(c.Changes), consumed)
	}
	var unknown *results.UnknownMetricError
	if _, err := compareDirs(t, old, new, results.CompareOptions{Metrics: []string{"ops"}}); !errors.As(err, &unknown) || unknown.Metric != "ops" || !slices.Contains(unknown.Known, "op/s") {
		t.Errorf("%v", err)
	}
	// Latencies of runs that were overloaded have no ratio.
	for i := range new.Runs {
		if run := &new.Runs[i]; run.Cell.Workload == "tail" && run.Cell.Strategy == "mutex" && run.Block == 1 {
			run.Overloaded = true
			delete(run.Metrics, "e2e-p99-sec")
		}
	}
	c = mustCompareDirs(t, old, new, results.CompareOptions{})
	if c.Outcome() != results.Inconclusive || len(c.Undecided()) != 1 || !strings.Contains(c.Undecided()[0].Reason, "overloaded in 1 of 6 runs") {
		t.Errorf("%s: %+v", c.Outcome(), c.Undecided())
	}
}

func TestCompareRefusesWhatIsNotComparable(t *testing.T) {
	for name, c := range map[string]struct {
		change func(new *results.Sweep)
		want   string
	}{
		"CPU":        {func(s *results.Sweep) { s.Meta.Environment.CPUModel = "Other CPU" }, "CPU model is Invented CPU 3000 in "},
		"CPUs":       {func(s *results.Sweep) { s.Meta.Environment.CPUs = 4 }, "number of CPUs is 2 in "},
		"GOMAXPROCS": {func(s *results.Sweep) { s.Meta.Environment.GOMAXPROCS = 1 }, "gomaxprocs is 2 in "},
		"OS":         {func(s *results.Sweep) { s.Meta.Environment.OS = "plan9" }, "system is linux/amd64 in "},
		"prefill":    {func(s *results.Sweep) { s.Meta.Workloads[0].Prefill = 1 << 20 }, "the prefill of mix is 64 MiB in "},
		"workload": {func(s *results.Sweep) {
			for i := range s.Runs {
				s.Runs[i].Cell.RecordSize = 100
			}
		}, "no benchmark is in both"},
	} {
		old, new := alternating(1)
		c.change(new)
		if _, err := compareDirs(t, old, new, results.CompareOptions{}); !errors.Is(err, results.ErrIncomparable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestChangesAsJSON(t *testing.T) {
	old, new := alternating(0.8)
	c := mustCompareDirs(t, old, new, results.CompareOptions{Threshold: 0.05})
	var out bytes.Buffer
	if err := c.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Outcome     string
		Interleaved bool
		Threshold   float64
		Changes     []struct {
			Benchmark, Metric, Better, Verdict string
			Old, New                           struct {
				Runs  int
				Value float64
			}
			Ratio, Low, High float64
			Beyond           bool `json:"beyond_threshold"`
		}
		OnlyNew []string `json:"only_new"`
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Outcome != "regression" || !got.Interleaved || got.Threshold != 0.05 || len(got.Changes) != len(c.Changes) || got.OnlyNew == nil {
		t.Errorf("%+v", got)
	}
	for i, d := range got.Changes {
		want := c.Changes[i]
		if d.Benchmark != want.Benchmark || d.Ratio != want.Ratio || d.Low != want.Low || d.High != want.High || d.Old.Value != want.Old.Value || d.New.Runs != 6 || !d.Beyond || d.Verdict != "worse" {
			t.Errorf("%+v, want %+v", d, want)
		}
	}
}
