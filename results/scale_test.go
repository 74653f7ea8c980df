package results_test

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"tailrace/results"
)

// wideSweep is one workload in so many cells, a multiple of ten: nine strategies and the A/A arm at each point of a
// grid over workers and the share of appends, in six blocks.
func wideSweep(cells int) *results.Sweep {
	const blocks, mostWorkers = 6, 20
	labels := []string{"mutex", "A/A", "rwmutex", "atomics", "actor", "mutex-rcu", "mutex-group", "rbmutex", "raw", "null"}
	s := &results.Sweep{Meta: results.Meta{
		Blocks: blocks, Cells: cells, Baseline: "mutex", Workloads: []results.Workload{{Name: "mix", Primary: results.MetricOps}},
		Ideas: []results.Idea{{Name: "shared reads", From: "mutex", To: "rwmutex"}, {Name: "group commit", From: "mutex", To: "mutex-group"}},
	}}
	for _, strategy := range []string{"rwmutex", "atomics", "actor"} {
		s.Meta.Planned = append(s.Meta.Planned, results.Comparison{Workload: "mix", Strategy: strategy, Baseline: "mutex", Metric: results.MetricOps})
	}
	random := rand.New(rand.NewPCG(1, 8000))
	for block := range blocks {
		for _, at := range random.Perm(cells) {
			point := at / len(labels)
			cell := results.Cell{
				Workload: "mix", Strategy: labels[at%len(labels)], Workers: 1 + point%mostWorkers, ProducePercent: float64(point / mostWorkers),
				Partitions: 1, RecordSize: 1024, BatchRecords: 1, FetchBytes: 8192, Pattern: "random", Storage: "tmpfs", GOMAXPROCS: 2,
			}
			if cell.Strategy == "A/A" {
				cell.Strategy, cell.Arm = "mutex", "A/A"
			}
			ratio := (1 + float64(at%len(labels))/10) * math.Exp(random.NormFloat64()/30)
			s.Runs = append(s.Runs, results.Run{
				Schema: results.Schema, Index: len(s.Runs), Block: block, Cell: cell, Window: 1, Host: "h",
				Metrics: map[string]float64{
					results.MetricOps: 5e5 * ratio, results.MetricProduceOps: 1e5 * ratio, results.MetricConsumeOps: 4e5 * ratio, results.MetricCPU: 1e-6 / ratio,
					results.LatencyMetric(results.KindProduce, "p99"): 1e-5 / ratio, results.LatencyMetric(results.KindConsume, "p99"): 1e-6 / ratio,
				},
			})
		}
	}
	return s
}

// BenchmarkWideSweep writes what is made from the runs alone. Eight times as many cells should take eight times as long.
func BenchmarkWideSweep(b *testing.B) {
	for _, cells := range []int{500, 2000, 8000} {
		s := wideSweep(cells)
		for name, write := range map[string]func(io.Writer) error{
			"summary": s.WriteSummary, "csv": s.WriteCSV, "json": s.WriteJSON, "bench": s.WriteBench,
		} {
			b.Run(fmt.Sprintf("%s/cells=%d", name, cells), func(b *testing.B) {
				for b.Loop() {
					if err := write(io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
