package workload

import "time"

// Overrides are settings that take the place of a workload's own; nil leaves them as they are.
type Overrides struct {
	// Levels of concurrency: each combination of them is a workload of its own.
	Producers, Consumers, Workers []int
	ProducePercent                []float64

	Partitions   *int
	RecordSize   *int64
	BatchRecords *int
	FetchBytes   *int64
	Pattern      *string
	Prefill      *int64
	ProduceRate  *float64
	ConsumeRate  *float64
	Acks         *string
	Sync         *string
	SegmentSize  *int64
	MaxBytes     *int64
	Ramp         *time.Duration
	Duration     *time.Duration
}

// HasRoles reports whether the overrides say who does the work, and so can stand alone (see Custom).
func (o *Overrides) HasRoles() bool {
	return len(o.Producers)+len(o.Consumers)+len(o.Workers)+len(o.ProducePercent) > 0
}

// Custom returns the workloads that the overrides alone describe, on the base of Default, or of
// DefaultMix for workers. Consumers without producers read what was written before the run, because
// at the end of the log they would wait for ever.
func Custom(o Overrides) []Workload {
	w := Default()
	switch {
	case len(o.Workers)+len(o.ProducePercent) > 0:
		w = DefaultMix()
		w.Workers = 8
	case len(o.Producers) == 0:
		w.Pattern = CatchUp
	}
	return Grid(w, o)
}

// Grid returns the workload with the overrides: one for each combination of the levels of
// concurrency, all of the same name. What follows from an override is changed with it, unless it is
// overridden itself:
//
//   - consumers of whom each read everything still do, however many they are;
//   - a reader's buffer has room for two batches at least;
//   - the ramp is no longer than the measured window, if only that was given;
//   - patterns that read what was written before the run have a prefill;
//   - the primary metric is the suggested one when roles, rates or pattern were given.
//
// The workloads may be impossible to run; Validate tells.
func Grid(w Workload, o Overrides) []Workload {
	set(&w.Partitions, o.Partitions)
	setSize(&w.RecordSize, o.RecordSize)
	set(&w.BatchRecords, o.BatchRecords)
	setSize(&w.FetchBytes, o.FetchBytes)
	set((*string)(&w.Pattern), o.Pattern)
	set(&w.Prefill, o.Prefill)
	set(&w.ProduceRate, o.ProduceRate)
	set(&w.ConsumeRate, o.ConsumeRate)
	set(&w.Acks, o.Acks)
	set(&w.Sync, o.Sync)
	set(&w.SegmentSize, o.SegmentSize)
	set(&w.MaxBytes, o.MaxBytes)
	set(&w.Ramp, o.Ramp)
	set(&w.Duration, o.Duration)
	if o.Duration != nil && *o.Duration > 0 && o.Ramp == nil {
		w.Ramp = min(w.Ramp, w.Duration)
	}
	if o.FetchBytes == nil {
		w.FetchBytes = max(w.FetchBytes, (2*BatchBytes(&w)+4095)&^4095)
	}
	if o.Prefill == nil && w.Prefill == 0 && w.Pattern != Tail {
		w.Prefill = DefaultMix().Prefill
	}
	grid := combine(w, &o)
	if o.HasRoles() || o.ProduceRate != nil || o.ConsumeRate != nil || o.Pattern != nil {
		primary := grid[0].SuggestPrimary() // one for the workload, at whatever concurrency
		for i := range grid {
			grid[i].Primary = primary
		}
	}
	return grid
}

// combine returns the workload at each combination of the levels of concurrency.
func combine(w Workload, o *Overrides) []Workload {
	sharing := w.Subscriptions < w.Consumers
	var grid []Workload
	for _, w.Workers = range levels(o.Workers, w.Workers) {
		for _, w.ProducePercent = range levels(o.ProducePercent, w.ProducePercent) {
			for _, w.Producers = range levels(o.Producers, w.Producers) {
				for _, w.Consumers = range levels(o.Consumers, w.Consumers) {
					point := w
					if len(o.Consumers) > 0 && !sharing {
						point.Subscriptions = max(w.Consumers, 1)
					}
					grid = append(grid, point)
				}
			}
		}
	}
	return grid
}

func levels[T any](given []T, own T) []T {
	if len(given) == 0 {
		return []T{own}
	}
	return given
}

func set[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}

func setSize(to *int, given *int64) {
	if given != nil {
		*to = int(*given)
	}
}
