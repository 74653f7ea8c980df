package plots

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"tailrace/results"
)

// The fixture is a small sweep of invented numbers, given by formulas so that golden files depend on
// nothing else.
var fixtureSpeeds = []struct {
	strategy, arm string
	speed         float64
}{
	{"mutex", "", 1}, {"mutex", "A/A", 1.01}, {"rwmutex", "", 1.1}, {"atomics", "", 2}, {"actor", "", 1.9}, {"raw", "", 2.2},
}

const fixtureBlocks = 6

func fixtureMeta() results.Meta {
	return results.Meta{
		Schema: results.Schema, Version: "0.0.0-test", Command: []string{"tailrace", "run", "--seed", "7", "--dir", "/a b"},
		Seed: 7, Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Blocks: fixtureBlocks, Baseline: "mutex",
		Workloads: []results.Workload{{
			Name: "mix", Description: "8 workers, 10 % produce, closed loop", Storage: "tmpfs at /dev/shm",
			Primary: results.MetricOps, Ramp: 0.15, Duration: 0.4, Prefill: 64 << 20, SegmentSize: 64 << 20,
		}},
		Planned: []results.Comparison{
			{Workload: "mix", Strategy: "rwmutex", Baseline: "mutex", Metric: results.MetricOps},
			{Workload: "mix", Strategy: "atomics", Baseline: "mutex", Metric: results.MetricOps},
			{Workload: "mix", Strategy: "actor", Baseline: "mutex", Metric: results.MetricOps},
		},
		Environment: results.Environment{Host: "example", OS: "linux", Arch: "amd64", CPUModel: "Invented CPU", CPUs: 2},
		Preflight:   results.Preflight{BustedCaught: 0.1, BustedError: "offset 17 has other bytes", HarnessCost: 84e-9},
		Warnings:    []string{"virtual machine"},
	}
}

func fixtureCell(strategy, arm string) results.Cell {
	return results.Cell{
		Workload: "mix", Strategy: strategy, Arm: arm, Workers: 8, ProducePercent: 10, Partitions: 1, RecordSize: 1024,
		BatchRecords: 1, FetchBytes: 64 << 10, Pattern: "random", Acks: "leader", Sync: "none", Storage: "tmpfs", GOMAXPROCS: 2,
	}
}

// fixtureRun is one run with its histograms: latencies rise with their rank and fall with the speed.
func fixtureRun(index, block int, strategy, arm string, speed float64) (*results.Run, map[string]*results.Histogram) {
	wobble := 1 + 0.05*math.Sin(float64(7*index))
	run := &results.Run{
		Schema: results.Schema, Index: index, Block: block, Cell: fixtureCell(strategy, arm), Seed: uint64(index), Window: 0.4,
		Start:   time.Date(2026, 1, 2, 3, 5, index, 0, time.UTC),
		Samples: map[string]int64{}, Metrics: map[string]float64{results.MetricOps: 5e5 * speed * wobble, results.MetricCPU: 4e-6 / speed},
	}
	histograms := make(map[string]*results.Histogram)
	for i, kind := range []string{results.KindProduce, results.KindConsume} {
		h := results.NewHistogram()
		const samples = 2000
		for rank := range samples {
			q := (float64(rank) + 0.5) / samples
			h.Record(int64(float64(6000-3000*i) / speed / wobble * math.Pow(1/(1-q), 0.4)))
		}
		histograms[kind] = h
		run.Samples[kind] = h.Count()
		for _, statistic := range []string{"p50", "p99"} {
			q := map[string]float64{"p50": 0.5, "p99": 0.99}[statistic]
			run.Metrics[results.LatencyMetric(kind, statistic)] = float64(h.Quantile(q)) / 1e9
		}
	}
	return run, histograms
}

// tempDir is a directory for one test, in memory where that can be, so that no test waits for a disk.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "plots-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// fixture writes the sweep to a directory and reads it again. edit, if not nil, changes meta and each
// run before they are written.
func fixture(t testing.TB, edit func(*results.Meta, *results.Run)) *results.Sweep {
	t.Helper()
	dir := tempDir(t) + "/sweep"
	meta := fixtureMeta()
	if edit != nil {
		edit(&meta, nil)
	}
	w, err := results.Create(dir, &meta)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	index := 0
	for block := range fixtureBlocks {
		for _, f := range fixtureSpeeds {
			run, histograms := fixtureRun(index, block, f.strategy, f.arm, f.speed)
			if edit != nil {
				edit(&meta, run)
			}
			if err := w.Add(run, []results.IntervalHistograms{{Length: run.Window, Histograms: histograms}}); err != nil {
				t.Fatal(err)
			}
			index++
		}
	}
	if err := w.Finish(&meta); err != nil {
		t.Fatal(err)
	}
	s, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inMemory is the same sweep without files, with room for values that no file can hold.
func inMemory(strategies int, edit func(*results.Run)) *results.Sweep {
	s := &results.Sweep{Meta: fixtureMeta()}
	for block := range fixtureBlocks {
		for i := range strategies {
			name, arm, speed := fmt.Sprintf("invented-%d", i), "", 1+float64(i)/4
			if i < len(fixtureSpeeds) {
				name, arm, speed = fixtureSpeeds[i].strategy, fixtureSpeeds[i].arm, fixtureSpeeds[i].speed
			}
			run, _ := fixtureRun(len(s.Runs), block, name, arm, speed)
			if edit != nil {
				edit(run)
			}
			s.Runs = append(s.Runs, *run)
		}
	}
	return s
}

// addSeries gives a run ten intervals and an eleventh of a third of their length, over which throughput falls to
// half after a stall in which no interval carries a p99.
func addSeries(run *results.Run) {
	const intervals = 11
	run.Window = 1 + 0.1/3
	s := &results.Series{Interval: 0.1, Operations: map[string][]int64{}, Quantiles: map[string][]*float64{}}
	for i := range intervals {
		share := 1 - 0.05*float64(i)
		length := 0.1
		if i == intervals-1 {
			length /= 3
		}
		operations := int64(run.Metrics[results.MetricOps] * share * length)
		stalled := i == 4 && run.Cell.Strategy == "mutex"
		if stalled {
			operations = 0
		}
		for _, kind := range []string{results.KindProduce, results.KindConsume} {
			metric := results.LatencyMetric(kind, "p99")
			p99 := run.Metrics[metric] / share
			quantile := &p99
			if stalled {
				quantile = nil
			}
			s.Quantiles[metric] = append(s.Quantiles[metric], quantile)
		}
		s.Operations[results.KindProduce] = append(s.Operations[results.KindProduce], operations/10)
		s.Operations[results.KindConsume] = append(s.Operations[results.KindConsume], operations-operations/10)
	}
	run.Series = s
}

// fixturePanel is the panel of a sweep in memory.
func fixturePanel(strategies int, edit func(*results.Run)) *panel {
	return &panels(inMemory(strategies, edit))[0]
}

func fixtureSteps() []results.Step {
	interval := func(low, ratio, high float64) results.Interval {
		return results.Interval{Blocks: 6, Ratio: ratio, Low: low, High: high, Level: 0.98}
	}
	step := func(name, from, to string, i results.Interval) results.Step {
		return results.Step{Idea: results.Idea{Name: name, From: from, To: to}, Metric: results.MetricOps, Interval: i}
	}
	steps := []results.Step{
		step("brief critical section", "mutex", "mutex-brief", interval(1.1, 1.25, 1.4)),
		step("snapshot reads", "mutex-brief", "mutex-rcu", interval(1.5, 1.62, 1.8)),
		step("group commit", "mutex-rcu", "mutex-group", interval(0.92, 1.01, 1.1)),
		step("channel", "mutex-group", "actor", interval(0.2, 0.95, 1e6)),
		step("mailbox", "actor", "actor-mailbox", interval(1.3, 1.5, 1.8)),
	}
	steps[4].Reason = "a run of `actor-mailbox` failed verification: offset 3 has other bytes"
	return steps
}

func fixtureFront() *results.Front {
	return &results.Front{
		Metrics: []string{results.MetricOps, results.LatencyMetric(results.KindConsume, "p99"), results.MetricCPU},
		Members: []results.Member{
			{Label: "mutex", Values: []float64{5.2e5, 9.5e-6, 3.9e-6}, DominatedBy: "atomics"},
			{Label: "rwmutex", Values: []float64{6.1e5, 6.1e-6, 3.2e-6}, DominatedBy: "atomics"},
			{Label: "atomics", Values: []float64{1.02e6, 2.2e-6, 1.9e-6}, BestAt: []string{results.MetricOps}},
			{Label: "actor", Values: []float64{9.6e5, 1.8e-6, 2.1e-6}},
			{Label: "mutex-rcu", Values: []float64{8.7e5, 1.5e-6, 1.7e-6}, BestAt: []string{results.MetricCPU}},
			{Label: "raw", Values: []float64{1.1e6, math.NaN(), 1.8e-6}},
		},
	}
}

// fixtureTrend is op/s by workers on eight processors: mutex and actor follow a scaling law up to there, and queue
// beyond.
func fixtureTrend() *results.Trend {
	t := &results.Trend{Axis: results.Axis{Workload: "mix", Key: "workers", Values: []float64{1, 2, 3, 4, 6, 8, 16, 32}}, Metric: results.MetricOps}
	for range t.Values {
		t.Points = append(t.Points, results.Cell{Workload: "mix", GOMAXPROCS: 8})
	}
	laws := []struct {
		label string
		fit   results.Fit
	}{
		{"mutex", fixtureFit(4e5, 0.4, 0.02)}, {"rwmutex", fixtureFit(3.5e5, 0.3, 0.004)}, {"actor", fixtureFit(2e5, 0.05, 0.001)},
	}
	for i, law := range laws {
		line := results.Line{Label: law.label, Fit: &law.fit}
		for n, v := range t.Values {
			median := law.fit.At(min(v, 10)) * (1 + 0.03*math.Sin(float64(5*i+7*n)))
			line.Levels = append(line.Levels, results.Level{Value: v, Values: []float64{0.93 * median, median, 1.06 * median}, Median: median})
		}
		t.Lines = append(t.Lines, line)
	}
	t.Lines[1].Fit, t.Lines[1].Unfitted = nil, "its throughput at one client is not known"
	t.Crossovers = []results.Crossover{{Before: "mutex", After: "actor", Low: 1, High: 3, Planned: true}, {Before: "rwmutex", After: "actor", Low: 3, High: 4}}
	return t
}

func fixtureFit(rate, contention, coherency float64) results.Fit {
	about := func(v float64) results.Coefficient { return results.Coefficient{Value: v, Low: 0.9 * v, High: 1.1 * v} }
	return results.Fit{
		Rate: about(rate), Contention: about(contention), Coherency: about(coherency),
		Peak: math.Sqrt((1 - contention) / coherency), Levels: []float64{1, 2, 3, 4, 6, 8}, Misses: 0.03,
	}
}
