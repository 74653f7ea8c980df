package results_test

import (
	"math"
	"math/rand/v2"

	"tailrace/results"
)

// course is what a strategy truly reaches at a place on an axis.
type course struct {
	strategy string
	at       func(x float64) float64
}

// path describes sweeps along one axis with known answers: noise in each run, and a drift that hits all runs
// of a block alike. The baseline is the first of the courses.
type path struct {
	courses []course
	values  []float64
	place   func(cell *results.Cell, x float64) // puts a cell on the axis
	planned []string                            // compared with the baseline
	metric  string
	blocks  int
	drift   float64 // standard deviation of logarithms
	noise   noise
}

func workers(cell *results.Cell, x float64) { cell.Workers, cell.ProducePercent = int(x), 10 }

func share(cell *results.Cell, x float64) { cell.Workers, cell.ProducePercent = 8, x }

// processors are more than any simulated axis has clients.
const processors = 256

func (p path) sweep(random *rand.Rand) *results.Sweep {
	s := &results.Sweep{Meta: results.Meta{
		Blocks: p.blocks, Baseline: p.courses[0].strategy,
		Workloads:   []results.Workload{{Name: "mix", Primary: p.metric}},
		Environment: results.Environment{CPUs: processors, Affinity: processors},
	}}
	for _, strategy := range p.planned {
		s.Meta.Planned = append(s.Meta.Planned, results.Comparison{Workload: "mix", Strategy: strategy, Baseline: s.Meta.Baseline, Metric: p.metric})
	}
	for block := range p.blocks {
		drift := p.drift * random.NormFloat64()
		for _, x := range p.values {
			for _, c := range p.courses {
				cell := results.Cell{Workload: "mix", Strategy: c.strategy, GOMAXPROCS: processors}
				p.place(&cell, x)
				s.Runs = append(s.Runs, results.Run{
					Index: len(s.Runs), Block: block, Cell: cell,
					Metrics: map[string]float64{p.metric: c.at(x) * math.Exp(drift+p.noise(random))},
				})
			}
		}
	}
	return s
}
