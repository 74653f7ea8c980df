package workload

import (
	"math/rand/v2"
	"time"
)

// Streams of random numbers that schedules draw from; those below belong to Draw, one a worker.
const (
	arrivalStreams = 1 << 32 // and a worker's number
	groupStream    = 1 << 33
)

// Schedule is when one worker of an open loop is meant to start its operations. The workers take turns:
// operation i of worker k of n is number i·n + k of all. It is used by one goroutine at a time and
// allocates nothing after NewSchedule.
//
// Constant arrivals lie at even distances, groups of Workload.Burst operations starting together:
// number g starts at (g / burst)·burst / rate, the division being that of whole numbers. The time is
// computed from g and not from the operation before, so that rounding never accumulates: it is right to
// a nanosecond in the first 52 days (2^52 ns), and to one part in 2^52 after.
//
// Poisson arrivals are independent of each other, exponentially distributed times apart. Without bursts
// each worker is a Poisson process of its part of the rate; their sum is one of the whole rate. With bursts
// the moments of the groups are one Poisson process of rate / burst, which every worker draws alike and
// of which it passes over the groups that have no operation of its own.
type Schedule struct {
	rate            float64 // operations a second of all workers; of the process that is drawn, if one is
	workers, worker int64
	burst           int64
	operation       int64 // number of the worker's next operation
	groups          int64 // number of group moments that were drawn
	moment          float64
	drawn           bool
	pcg             rand.PCG
	rng             rand.Rand
	// See Draw.
	_ [128 - 96]byte
}

// NewSchedule is the schedule of a worker, from 0, of workers that together do rate operations a
// second, with the arrivals and bursts of the workload. For producers that rate is Workload.ProduceRate
// over BatchRecords, an append being the operation. Equal arguments give equal schedules; workers of
// another role that is paced too need another seed to be independent of these.
func NewSchedule(w *Workload, rate float64, workers, worker int, seed uint64) *Schedule {
	s := &Schedule{
		rate:    rate,
		workers: int64(max(workers, 1)),
		worker:  int64(worker),
		burst:   int64(max(w.Burst, 1)),
		drawn:   w.Arrivals == ArrivalsPoisson,
	}
	if !s.drawn {
		return s
	}
	stream := uint64(groupStream)
	if s.burst == 1 {
		stream = arrivalStreams + uint64(worker)
		s.rate /= float64(s.workers)
		s.workers, s.worker = 1, 0 // the process is the worker's own
	} else {
		s.rate /= float64(s.burst)
	}
	s.pcg = *newPCG(seed, stream)
	s.rng = *rand.New(&s.pcg)
	return s
}

// Next is when the worker's next operation is meant to start, counted from the start of the load. It
// never decreases. A time that a Duration cannot hold is the longest that it can; without a rate, as in
// a closed loop, it is always 0.
func (s *Schedule) Next() time.Duration {
	if !(s.rate > 0) {
		return 0
	}
	number := s.operation*s.workers + s.worker
	s.operation++
	group := number / s.burst
	if !s.drawn {
		return seconds(float64(group*s.burst) / s.rate)
	}
	for ; s.groups <= group; s.groups++ {
		s.moment += s.rng.ExpFloat64() / s.rate
	}
	return seconds(s.moment)
}
