package plots

import (
	"fmt"
	"math"
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

// fixture writes the sweep to a directory and reads it again. edit, if not nil, changes meta and each
// run before they are written.
func fixture(t testing.TB, edit func(*results.Meta, *results.Run)) *results.Sweep {
	t.Helper()
	dir := t.TempDir() + "/sweep"
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
