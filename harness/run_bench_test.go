package harness

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/workload"
)

// BenchmarkRun is the default sweep as go test runs it: the same engine, the same metrics, one run of a cell
// for each iteration, but all in one process and cell after cell instead of block by block. To compare the
// two ways of running:
//
//	tailrace run --out sweep
//	go test -run '^$' -bench Run -benchtime 1x -count 6 ./harness > go.txt
//	go tool benchstat -ignore pkg -row /workload,/strategy -col .file sweep/bench.txt go.txt
func BenchmarkRun(b *testing.B) {
	for _, w := range workload.Presets() {
		for _, strategy := range w.Strategies {
			place := StorageTmpfs
			if w.Sync != workload.SyncNone {
				place = StorageDisk
			}
			b.Run(benchmarkName(&w, strategy, place), func(b *testing.B) { benchmarkRun(b, w, strategy, place) })
		}
	}
}

// benchmarkName has the keys of bench.txt.
func benchmarkName(w *workload.Workload, strategy, storage string) string {
	var name strings.Builder
	fmt.Fprintf(&name, "workload=%s/strategy=%s", w.Name, strategy)
	for _, role := range []struct {
		key   string
		count int
	}{{"producers", w.Producers}, {"consumers", w.Consumers}, {"workers", w.Workers}} {
		if role.count > 0 {
			fmt.Fprintf(&name, "/%s=%d", role.key, role.count)
		}
	}
	if w.Workers > 0 {
		fmt.Fprintf(&name, "/produce=%g%%", w.ProducePercent)
	}
	return name.String() + "/storage=" + storage
}

func benchmarkRun(b *testing.B, w workload.Workload, strategy, storage string) {
	in := "" // the temporary directory
	if storage == StorageTmpfs {
		in = sharedMemory
	}
	parent, err := os.MkdirTemp(in, "tailrace-bench-")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(parent)
	if paced := w.PacedBytes(); paced > 0 {
		w.MaxBytes = paced
	}
	sums, counts := map[string]float64{}, map[string]float64{}
	for i := 0; b.Loop(); i++ {
		spec := specOf(w, strategy, fmt.Sprintf("%s/%d", parent, i))
		spec.Seed = uint64(i)
		o, err := perform(spec)
		_ = os.RemoveAll(spec.Dir) // at the latest when the benchmark ends
		if err != nil {
			b.Fatal(err)
		}
		if !o.Run.Valid() {
			b.Fatal(o.Run.Verification.Error)
		}
		for metric, value := range o.Run.Metrics {
			sums[metric] += value
			counts[metric]++
		}
	}
	for metric, sum := range sums {
		unit, value := benchmarkUnit(metric, sum/counts[metric])
		b.ReportMetric(value, unit)
	}
	b.ReportMetric(0, "ns/op") // which would be the length of a run
}

// benchmarkUnit is a metric as go test should print it: with seven decimals, a time in seconds would be
// nothing. benchstat shows ns as sec.
func benchmarkUnit(metric string, value float64) (string, float64) {
	if stem, ok := strings.CutSuffix(metric, "-sec"); ok {
		return stem + "-ns", value * 1e9
	}
	if metric == results.MetricCPU {
		return "cpu-ns/op", value * 1e9
	}
	return metric, value
}
