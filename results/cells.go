package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// CellSummary is what the runs of one cell, one a block, found together. Only valid runs enter numbers.
type CellSummary struct {
	Cell       Cell
	Runs       int // executed
	Valid      int // of these, verified and found right
	Overloaded int // of the valid ones, those without bounded latency

	values  map[string][]float64 // of the valid runs by metric, ascending
	bounds  map[string][]float64 // the same with bounds where a run has no value
	ofRaw   float64              // NaN if unknown
	account accounting
}

// Values returns the values of a metric over the valid runs, ascending; nil if none has it.
func (c *CellSummary) Values(metric string) []float64 { return slices.Clone(c.values[metric]) }

// Median returns the median of a metric over the valid runs; false if none has it. A latency has one
// only if every run carries it: a median over those that do would be one of luck, and stand beside the
// medians of other runs. So the latency of a cell that was overloaded in some runs has none; how late
// the load was is known still.
func (c *CellSummary) Median(metric string) (float64, bool) {
	values := c.values[metric]
	kind, _, isLatency := latencyParts(metric)
	if len(values) == 0 || isLatency && !isLateness(kind) && (c.Overloaded > 0 || len(values) < c.Valid) {
		return 0, false
	}
	return Median(values), true
}

// Bound returns an upper bound of the median of a latency over the valid runs, where that has none because in
// some of them too much of it is the load's own lateness: the median of what was measured, that included.
func (c *CellSummary) Bound(metric string) (float64, bool) {
	bounds := c.bounds[metric]
	if _, ok := c.Median(metric); ok || c.Overloaded > 0 || len(bounds) == 0 || len(bounds) < c.Valid {
		return 0, false
	}
	return Median(bounds), true
}

// Min returns the smallest value of a metric over the valid runs; false if none has it.
func (c *CellSummary) Min(metric string) (float64, bool) {
	values := c.values[metric]
	if len(values) == 0 {
		return 0, false
	}
	return values[0], true
}

// Max returns the largest value of a metric over the valid runs; false if none has it.
func (c *CellSummary) Max(metric string) (float64, bool) {
	values := c.values[metric]
	if len(values) == 0 {
		return 0, false
	}
	return values[len(values)-1], true
}

// OfRaw returns the share of the limit, the strategy raw, that the cell reaches on its workload's
// primary metric: the median over blocks of the ratio to the run of raw in the same block. It is false
// for raw itself and where raw did not run.
func (c *CellSummary) OfRaw() (float64, bool) { return c.ofRaw, !math.IsNaN(c.ofRaw) }

// Notes says what of the cell's runs does not count, in sentences without an end; nil if all do.
func (c *CellSummary) Notes() []string {
	var notes []string
	if c.Overloaded > 0 {
		notes = append(notes, fmt.Sprintf("%s: latency unbounded, overloaded in %d of %d runs", c.Cell.Label(), c.Overloaded, c.Valid))
	}
	if failed := c.Runs - c.Valid; failed > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d of %d runs failed verification and count for nothing", c.Cell.Label(), failed, c.Runs))
	}
	return notes
}

// Median returns the median of ascending values; NaN if there are none.
func Median(ascending []float64) float64 {
	half := len(ascending) / 2
	switch {
	case len(ascending) == 0:
		return math.NaN()
	case len(ascending)%2 == 1:
		return ascending[half]
	}
	return ascending[half-1]/2 + ascending[half]/2 // the sum may be out of range
}

// limitStrategy is the strategy that others are a share of.
const limitStrategy = "raw"

// Cells summarises the cells that were run: workloads in the order of Meta.Workloads, and within one
// the points in the order of concurrency, at each the baseline first, then the strategies in the order
// of the planned comparisons, then others by name, and A/A arms last. The same strategy of another build
// comes right after that of this one.
func (s *Sweep) Cells() []CellSummary { return s.index().cells() }

func (s *index) cells() []CellSummary {
	var cells []CellSummary
	for _, name := range s.names {
		for _, cell := range s.cellsOf(name) {
			cells = append(cells, s.summarise(cell))
		}
	}
	return cells
}

func (s *index) summarise(cell Cell) CellSummary {
	c := CellSummary{Cell: cell, values: make(map[string][]float64), bounds: make(map[string][]float64), ofRaw: math.NaN(), account: s.newAccounting(cell.Workload)}
	for _, run := range s.runs[cell] {
		c.Runs++
		if !run.Valid() {
			continue
		}
		c.Valid++
		if run.Overloaded {
			c.Overloaded++
		}
		for metric, value := range run.Metrics {
			if isFinite(value) {
				c.values[metric] = append(c.values[metric], value)
				if isLatencyMetric(metric) {
					c.bounds[metric] = append(c.bounds[metric], value)
				}
			}
		}
		for metric, bound := range run.Bounds {
			if _, known := run.Metrics[metric]; !known && isFinite(bound) {
				c.bounds[metric] = append(c.bounds[metric], bound)
			}
		}
		c.account.add(run)
	}
	c.account.sort()
	for _, bounds := range c.bounds {
		slices.Sort(bounds)
	}
	for _, values := range c.values {
		slices.Sort(values)
	}
	if cell.Strategy != limitStrategy && cell.Arm == "" {
		logs, _ := s.logRatios(cell, cellAt(cell.Point(), limitStrategy, cell.Build), ofMetric(s.primary(cell.Workload)))
		if len(logs) > 0 {
			slices.Sort(logs)
			c.ofRaw = math.Exp(Median(logs))
		}
	}
	return c
}

// cellAt is the cell of a strategy of a build at a point.
func cellAt(point Cell, strategy, build string) Cell {
	point.Strategy, point.Build = strategy, build
	return point
}

// workload returns the description of a workload, which has only its name if Meta does not have it.
func (s *Sweep) workload(name string) Workload {
	for _, w := range s.Meta.Workloads {
		if w.Name == name {
			return w
		}
	}
	return Workload{Name: name}
}

// primary is the primary metric of a workload, operations per second if none is named.
func (s *Sweep) primary(workload string) string {
	return cmp.Or(s.workload(workload).Primary, MetricOps)
}

// comparePoints orders points by concurrency, then by the other dimensions that a sweep may have:
// the order of execution is drawn by chance.
func comparePoints(a, b Cell) int {
	return cmp.Or(
		cmp.Compare(a.Workload, b.Workload),
		cmp.Compare(a.GOMAXPROCS, b.GOMAXPROCS),
		cmp.Compare(a.Partitions, b.Partitions),
		cmp.Compare(a.Producers, b.Producers),
		cmp.Compare(a.Consumers, b.Consumers),
		cmp.Compare(a.Workers, b.Workers),
		cmp.Compare(a.ProducePercent, b.ProducePercent),
		cmp.Compare(a.Replicas, b.Replicas),
		cmp.Compare(a.RecordSize, b.RecordSize),
		cmp.Compare(a.RecordSizes, b.RecordSizes),
		cmp.Compare(a.BatchRecords, b.BatchRecords),
		cmp.Compare(a.FetchBytes, b.FetchBytes),
		cmp.Compare(a.ProduceRate, b.ProduceRate),
		cmp.Compare(a.ConsumeRate, b.ConsumeRate),
		cmp.Compare(a.Rate, b.Rate),
		cmp.Compare(a.Arrivals, b.Arrivals),
		cmp.Compare(a.Burst, b.Burst),
		cmp.Compare(a.Think, b.Think),
		cmp.Compare(a.Backlog, b.Backlog),
		cmp.Compare(a.Pattern, b.Pattern),
		cmp.Compare(a.Skew, b.Skew),
		cmp.Compare(a.Acks, b.Acks),
		cmp.Compare(a.Sync, b.Sync),
		cmp.Compare(a.Storage, b.Storage),
	)
}
