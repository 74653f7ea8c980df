package torture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"tailrace/segment"
	"tailrace/strategies"
)

// Options of the checks of one strategy.
type Options struct {
	// Duration is how long to go on; the round under way is finished, and each check is done at least once.
	Duration time.Duration
	// Seed is that of the first round.
	Seed uint64
	// Dir is an existing directory for the files of logs; none are used if it is empty.
	Dir string
	// Heap says whether to use logs on the heap.
	Heap bool
	// Processors is the GOMAXPROCS of the process that Run starts; 0 has each round draw one.
	Processors int
	// Patience is how long a round may take beyond its time before it hangs; default 10 s.
	Patience time.Duration
	// Progress, if it is set, is called before each round and after the last.
	Progress func(Progress) `json:"-"`
}

// Progress is how far the checks of a strategy are.
type Progress struct {
	Check  string // of the round that begins
	Seed   uint64
	Counts Counts // before it
}

// Counts is how much was checked.
type Counts struct {
	Rounds    int64 `json:"rounds"`
	Histories int64 `json:"histories"`
	// Operations are those of the histories.
	Operations int64 `json:"operations"`
	// Unknown are histories that could not be judged in their time.
	Unknown int64 `json:"unknown"`
	// Records were read and verified in long runs.
	Records   int64 `json:"records"`
	Handovers int64 `json:"handovers"`
	// Looks are the answers that were compared with the moments of their call.
	Looks  int64 `json:"looks"`
	Closes int64 `json:"closes"`
	// Cancelled are the appends that were given up beside a follower that stands still.
	Cancelled int64 `json:"cancelled"`
	// Crashes are the images of a disk that were opened.
	Crashes int64 `json:"crashes"`
	// Sequences are the runs of calls that were compared with mutex.
	Sequences int64 `json:"sequences"`
}

// Skip says why a strategy can't be checked; empty if it can.
func Skip(s strategies.Strategy) string {
	switch {
	case s.StoresNothing:
		return "it stores nothing, so that there is nothing to verify"
	case s.PrivateFiles:
		return "its handles have private logs, so that they promise each other nothing"
	default:
		return ""
	}
}

// check is one kind of round.
type check struct {
	name string
	run  func(*round) error
}

// checks are the kinds of rounds in their order. What handover looks for is so rare that it comes twice.
func checks() []check {
	return []check{
		{"linearizability", (*round).histories},
		{"long run", (*round).longRun},
		{"handover", (*round).handover},
		{"moments", (*round).moments},
		{"pending", (*round).pending},
		{"failing storage", (*round).failing},
		{"crash", (*round).crash},
		{"close", (*round).closing},
		{"handover", (*round).handover},
		{"differential", (*round).differential},
	}
}

// Check tortures a strategy. The error is a *Violation if it gave a wrong answer, else what kept the
// checks from going on, the context's end included. One at a time may run in a process, since it looks for
// leaks, and sets GOMAXPROCS for its rounds.
func Check(ctx context.Context, s strategies.Strategy, o Options) (Counts, error) {
	o.Patience = cmp.Or(o.Patience, defaultPatience)
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	var counts Counts
	if !o.Heap && o.Dir == "" {
		return counts, errors.New("torture: neither files nor heap to store a log in")
	}
	all := checks()
	for began := time.Now(); ; counts.Rounds++ {
		seed := o.Seed + uint64(counts.Rounds)
		c := all[seed%uint64(len(all))]
		o.Progress(Progress{Check: c.name, Seed: seed, Counts: counts})
		if err := ctx.Err(); err != nil {
			return counts, err
		}
		if counts.Rounds >= int64(len(all)) && time.Since(began) >= o.Duration {
			return counts, nil
		}
		err := (&round{strategy: s, options: o, seed: seed, random: newRandom(seed, 0), counts: &counts}).do(c)
		if err != nil {
			return counts, err
		}
	}
}

// round is one run of one check.
type round struct {
	strategy strategies.Strategy
	options  Options
	seed     uint64
	random   *rand.Rand
	counts   *Counts
	shape    shape // of its batches
	places   []*place
}

func (r *round) do(c check) error {
	if r.options.Processors == 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(r.drawProcessors()))
	}
	err := c.run(r)
	for _, p := range r.places {
		err = cmp.Or(p.misuse(), err) // which led to what else was seen
	}
	if v, ok := errors.AsType[*Violation](err); ok {
		v.Strategy, v.Check, v.Seed = r.strategy.Name, c.name, r.seed
		return v
	}
	if err != nil {
		return fmt.Errorf("torture: %s: %w", c.name, err)
	}
	return nil
}

// drawProcessors draws a GOMAXPROCS: one, two, as many as there are, or more. Where there are more than processors, the
// system takes one away from a goroutine between any two of its instructions.
func (r *round) drawProcessors() int {
	there := runtime.NumCPU()
	return draw(r.random, 1, 2, there, 4*there, 4*there)
}

// newRandom is a source of its own for each of a round's goroutines.
func newRandom(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// draw returns one of several values.
func draw[T any](random *rand.Rand, values ...T) T { return values[random.IntN(len(values))] }

// pause gives other goroutines a moment of random length.
func pause(random *rand.Rand) {
	if random.IntN(8) == 0 {
		runtime.Gosched()
	}
	if random.IntN(8) == 0 {
		spin(random, 3*time.Microsecond)
	}
}

// spin keeps the processor for a random time up to a limit, and every other time not at all.
func spin(random *rand.Rand, limit time.Duration) {
	if random.IntN(2) == 0 {
		return
	}
	d := time.Duration(random.Int64N(int64(limit)))
	for began := time.Now(); time.Since(began) < d; {
	}
}

// drawFollowers is a number of followers, none in every other round.
func (r *round) drawFollowers() int { return max(0, r.random.IntN(2*maxFollowers+1)-maxFollowers) }

// time draws how long a part of a round goes on, up to a limit: short rounds bring every check and every setting to its
// turn soon.
func (r *round) time(limit time.Duration) time.Duration {
	return draw(r.random, limit/8, limit/8, limit/4, limit)
}

// close closes a log at the end of a round.
func (r *round) close(log strategies.Log) error {
	return watched("Close", r.options.Patience, func() error {
		if err := log.Close(); err != nil {
			return violationf("close: %v", err)
		}
		return nil
	})
}

// settings draws the round's shape of batches, and options of a log with segments so small that it rolls all the time:
// some hold a single batch.
func (r *round) settings(replicas int) strategies.Options {
	r.shape = draw(r.random, shapes...)
	largest := int64(r.shape.largest())
	size := draw(r.random, largest, largest+r.random.Int64N(200), largest+r.random.Int64N(1000), 10*largest)
	return strategies.Options{
		SegmentSize:   size,
		IndexInterval: r.indexInterval(size),
		Sync: draw(r.random, segment.SyncPolicy{}, segment.SyncPolicy{}, segment.EveryBatch(), segment.EveryBytes(1+r.random.Int64N(2*largest)),
			shortly(r.random)),
		Replicas: replicas,
	}
}

// indexInterval draws one. With the smallest, an index entry for each byte, an append spends most of its time between its
// write and its publication.
func (r *round) indexInterval(segmentSize int64) int64 {
	return max(draw(r.random, 1, 16, 50+r.random.Int64N(250), 4096), segmentSize/5000)
}
