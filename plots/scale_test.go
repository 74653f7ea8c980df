package plots

import (
	"fmt"
	"path/filepath"
	"testing"

	"tailrace/results"
)

// BenchmarkWideReport writes the page of one workload in so many cells: four strategies and the A/A arm at each of its
// points, in six blocks. Its charts are empty, as drawing takes the same for each. Eight times as many cells should
// take eight times as long.
func BenchmarkWideReport(b *testing.B) {
	for _, cells := range []int{500, 2000, 8000} {
		s, charts := wideSweep(cells)
		path := filepath.Join(b.TempDir(), "report.html")
		b.Run(fmt.Sprintf("cells=%d", cells), func(b *testing.B) {
			for b.Loop() {
				if err := WriteReport(s, charts, path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func wideSweep(cells int) (*results.Sweep, []Chart) {
	strategies := []string{"mutex", "A/A", "rwmutex", "atomics", "actor"}
	s := &results.Sweep{Meta: fixtureMeta()}
	for i := range 6 * cells {
		at := i % cells
		strategy, arm := strategies[at%len(strategies)], ""
		if strategy == "A/A" {
			strategy, arm = "mutex", "A/A"
		}
		cell, point, speed := fixtureCell(strategy, arm), at/len(strategies), 1+float64((i*7919)%97)/1000
		cell.Workers, cell.ProducePercent = 1+point%20, float64(point/20)
		s.Runs = append(s.Runs, results.Run{
			Schema: results.Schema, Index: i, Block: i / cells, Cell: cell, Window: 0.4,
			Metrics: map[string]float64{results.MetricOps: 5e5 * speed, results.MetricCPU: 4e-6 / speed},
		})
	}
	var charts []Chart
	for _, section := range s.Sections() {
		for _, kind := range []ChartKind{KindMetric, KindFront, KindSteps, KindLatency, KindHistogram, KindTime} {
			charts = append(charts, Chart{Workload: section.Workload.Name, Point: section.Point, Kind: kind, SVG: []byte("<svg></svg>")})
		}
	}
	return s, charts
}
