package workload

import "time"

// Overrides are settings that take the place of a workload's own; nil leaves them as they are.
type Overrides struct {
	// Levels of concurrency: each combination of them is a workload of its own.
	Producers, Consumers, Workers []int
	ProducePercent                []float64

	Partitions    *int
	Subscriptions *int
	RecordSize    *RecordSize
	PayloadFile   *string // read when the overrides are applied
	BatchRecords  *int
	FetchBytes    *int64
	Pattern       *string
	Skew          *float64
	Prefill       *int64
	ProduceRate   *float64
	ConsumeRate   *float64
	Rate          *float64
	Arrivals      *string
	Burst         *int
	Think         *time.Duration
	Replicas      *int
	Acks          *string
	Sync          *string
	SegmentSize   *int64
	MaxBytes      *int64
	Ramp          *time.Duration
	Duration      *time.Duration
	Backlog       *int64
	DrainRatio    *float64
	Search        *bool
	Objectives    []Objective
}

// HasRoles reports whether the overrides say who does the work, and so can stand alone (see Custom).
func (o *Overrides) HasRoles() bool {
	return len(o.Producers)+len(o.Consumers)+len(o.Workers)+len(o.ProducePercent) > 0
}

// shapes reports whether the overrides change what a comparison is best planned on.
func (o *Overrides) shapes() bool {
	return o.HasRoles() || o.ProduceRate != nil || o.ConsumeRate != nil || o.Rate != nil || o.Pattern != nil ||
		o.DrainRatio != nil || o.Search != nil
}

// Custom returns the workloads that the overrides alone describe, on the base of Default, or of
// DefaultMix for workers. Consumers without producers read what was written before the run, because
// at the end of the log they would wait for ever. The error is a *FieldError about the payload file.
func Custom(o Overrides) ([]Workload, error) { return Grid(customBase(&o), o) }

func customBase(o *Overrides) Workload {
	w := Default()
	switch {
	case len(o.Workers)+len(o.ProducePercent) > 0:
		w = DefaultMix()
		w.Workers = 8
	case len(o.Producers) == 0 && o.DrainRatio == nil:
		w.Pattern = CatchUp
		w.Prefill = DefaultMix().Prefill
	}
	return w
}

// Grid returns the workload with the overrides: one for each combination of the levels of
// concurrency, all of the same name. What follows from an override is changed with it, unless it is
// overridden itself:
//
//   - consumers of whom each read everything still do, however many they are;
//   - a reader's buffer has room for two of the largest batches at least;
//   - the ramp is no longer than the measured window, if only that was given;
//   - patterns that read what was written before the run have a prefill;
//   - the zipf pattern has the skew of YCSB, 0.99, and others have none;
//   - a rate of the producers ends a search for it, and a search is without one;
//   - the primary metric is the suggested one when roles, rates, pattern or kind of run were given.
//
// The workloads may be impossible to run; Validate tells. The error is a *FieldError about the payload
// file.
func Grid(w Workload, o Overrides) ([]Workload, error) {
	if err := w.apply(&o); err != nil {
		return nil, err
	}
	grid := combine(w, &o)
	if o.shapes() {
		setPrimary(grid, grid[0].SuggestPrimary()) // one for the workload, at whatever concurrency
	}
	return grid, nil
}

func setPrimary(grid []Workload, primary string) {
	for i := range grid {
		grid[i].Primary = primary
	}
}

// apply sets what was given, but for the levels of concurrency and the primary metric.
func (w *Workload) apply(o *Overrides) error {
	set(&w.Partitions, o.Partitions)
	set(&w.Subscriptions, o.Subscriptions)
	set(&w.BatchRecords, o.BatchRecords)
	set(&w.ConsumeRate, o.ConsumeRate)
	set(&w.Rate, o.Rate)
	set(&w.Arrivals, o.Arrivals)
	set(&w.Burst, o.Burst)
	set(&w.Think, o.Think)
	set(&w.Replicas, o.Replicas)
	set(&w.Acks, o.Acks)
	set(&w.Sync, o.Sync)
	set(&w.SegmentSize, o.SegmentSize)
	set(&w.MaxBytes, o.MaxBytes)
	w.Bounded = w.Bounded || o.MaxBytes != nil
	set(&w.Backlog, o.Backlog)
	set(&w.DrainRatio, o.DrainRatio)
	w.applyTimes(o)
	w.applyPattern(o)
	w.applySearch(o)
	if err := w.applyRecords(o); err != nil {
		return err
	}
	switch sized := o.RecordSize != nil || o.PayloadFile != nil || o.BatchRecords != nil; {
	case o.FetchBytes != nil:
		w.FetchBytes = int(*o.FetchBytes)
	case sized:
		w.FetchBytes = max(w.FetchBytes, roomForTwo(w))
	}
	return nil
}

// roomForTwo is a buffer for two of the largest batches, in whole pages; one that an int cannot hold is for
// Validate to refuse.
func roomForTwo(w *Workload) int { return (2*BatchBytes(w) + 4095) &^ 4095 }

func (w *Workload) applyTimes(o *Overrides) {
	set(&w.Ramp, o.Ramp)
	set(&w.Duration, o.Duration)
	if o.Duration != nil && *o.Duration > 0 && o.Ramp == nil {
		w.Ramp = min(w.Ramp, w.Duration)
	}
}

func (w *Workload) applyPattern(o *Overrides) {
	before := w.Pattern
	set((*string)(&w.Pattern), o.Pattern)
	set(&w.Skew, o.Skew)
	if o.Skew == nil && w.Pattern != before {
		w.Skew = 0
		if w.Pattern == Zipfian {
			w.Skew = defaultSkew
		}
	}
	set(&w.Prefill, o.Prefill)
	if o.Pattern != nil && o.Prefill == nil && w.Prefill == 0 && w.Pattern != Tail {
		w.Prefill = DefaultMix().Prefill
	}
}

func (w *Workload) applySearch(o *Overrides) {
	set(&w.ProduceRate, o.ProduceRate)
	set(&w.Search, o.Search)
	switch {
	case o.Search == nil && o.ProduceRate != nil:
		w.Search, w.Objectives = false, nil
	case o.Search != nil && *o.Search && o.ProduceRate == nil:
		w.ProduceRate = 0
	}
	if o.Objectives != nil {
		w.Objectives = o.Objectives
	}
}

// combine returns the workload at each combination of the levels of concurrency.
func combine(w Workload, o *Overrides) []Workload {
	sharing := w.Subscriptions < w.Consumers || o.Subscriptions != nil
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
