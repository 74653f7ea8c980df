package harness

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tailrace/results"
)

// Calibration is what one operation costs on this machine. In Seen is the median in words.
type Calibration struct {
	Finding
	Unit    string  `json:"unit"`    // UnitSeconds or UnitRatio, of all the numbers
	Samples int     `json:"samples"` // repetitions; each is many operations, or one where P99 is set
	P10     float64 `json:"p10"`
	Median  float64 `json:"median"`
	P90     float64 `json:"p90"`
	// P99 and Max are 0 unless every sample is a single operation.
	P99 float64 `json:"p99,omitempty"`
	Max float64 `json:"max,omitempty"`
	// Usual is what to expect, in words.
	Usual string `json:"usual"`
	// Note is what follows from the numbers, where that is not a fault.
	Note string `json:"note,omitempty"`
}

// Units of a calibration.
const (
	UnitSeconds = "s"
	UnitRatio   = "ratio"
)

// Text is a number in the calibration's unit.
func (c *Calibration) Text(value float64) string {
	if c.Unit == UnitRatio {
		return results.FormatRatio(value)
	}
	return results.FormatDuration(value)
}

// judge says that a calibration is far off.
func (c *Calibration) judge(status Status, why, mend string) {
	c.Status, c.Why, c.Mend = status, why, mend
}

// summarize makes a calibration of samples, at least one.
func summarize(name, unit, usual string, samples []float64) Calibration {
	slices.Sort(samples)
	c := Calibration{
		Unit: unit, Samples: len(samples), Usual: usual,
		P10: nearestRank(samples, 0.10), Median: nearestRank(samples, 0.50), P90: nearestRank(samples, 0.90),
	}
	c.Finding = ok(name, "%s", c.Text(c.Median))
	return c
}

// summarizeCalls is summarize where each sample is one call, so that the worst ones tell something.
func summarizeCalls(name, usual string, samples []float64) Calibration {
	c := summarize(name, UnitSeconds, usual, samples)
	c.P99, c.Max = nearestRank(samples, 0.99), samples[len(samples)-1]
	return c
}

// nearestRank is a quantile of sorted samples: the smallest that a share q of them does not exceed.
func nearestRank(sorted []float64, q float64) float64 {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// bench measures for a bounded time each.
type bench struct {
	ctx        context.Context
	budget     time.Duration // of one calibration
	clock      clock
	processors int
	files      *scratch
}

// step is one or several calibrations that are measured together.
type step struct {
	name    string
	measure func(*bench) ([]Calibration, error)
}

func steps() []step {
	return []step{
		{"clock read", (*bench).clockRead},
		{"histogram record", (*bench).histogramRecord},
		{"publish", (*bench).publish},
		{"channel request and reply", (*bench).channel},
		{"mutex, alone", (*bench).mutexAlone},
		{"mutex, contended", (*bench).mutexContended},
		{"false sharing", (*bench).falseSharing},
		{"parallel computing", (*bench).parallel},
		{"sleep", (*bench).sleep},
		{"pause", (*bench).pause},
		{"pread", (*bench).pread},
		{"pwrite to memory", (*bench).pwriteMemory},
		{"pwrite to disk", (*bench).pwriteDisk},
		{"fdatasync", (*bench).fdatasync},
	}
}

// calibrate measures what the operations cost of which runs consist, each for a time. What can't be measured
// is unknown.
func calibrate(ctx context.Context, m *machine, budget time.Duration, say func(string)) (all []Calibration, err error) {
	files := newScratch(m)
	defer func() {
		if closeErr := files.close(); err == nil {
			err = closeErr
		}
	}()
	b := &bench{ctx: ctx, budget: budget, clock: newClock(), processors: m.processors, files: files}
	for _, s := range steps() {
		say("calibrating: " + s.name)
		found, err := s.measure(b)
		switch {
		case ctx.Err() != nil:
			return nil, ErrInterrupted
		case err != nil:
			all = append(all, Calibration{Finding: unknown(s.name, "%v", err), Unit: UnitSeconds})
		default:
			all = append(all, found...)
		}
	}
	return all, nil
}

// leastSamples are taken even if they need more time than there is.
const leastSamples = 5

// repeat samples until the time is up or the context ends. The first sample warms up, and counts only if it
// stays the only one.
func repeat[T any](b *bench, once func() T) []T {
	first := once()
	var samples []T
	for began := b.clock.now(); b.ctx.Err() == nil; {
		samples = append(samples, once())
		if len(samples) >= leastSamples && b.clock.now()-began > int64(b.budget) {
			break
		}
	}
	if len(samples) == 0 {
		return []T{first}
	}
	return samples
}

// each samples the seconds that one of n calls takes. It counts to n itself, so that a call is not made
// through a function value for each.
func (b *bench) each(n int, batch func(n int)) []float64 {
	return repeat(b, func() float64 {
		began := b.clock.now()
		batch(n)
		return float64(b.clock.now()-began) / float64(n) / 1e9
	})
}

// together calls body in n goroutines that begin at the same time, and returns the nanoseconds from the first
// beginning to the last end.
func (b *bench) together(n int, body func(i int)) int64 {
	began, ended := make([]int64, n), make([]int64, n)
	var ready atomic.Int32
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			for ready.Add(1); int(ready.Load()) < n; {
				runtime.Gosched()
			}
			began[i] = b.clock.now()
			body(i)
			ended[i] = b.clock.now()
		})
	}
	done.Wait()
	return max(1, slices.Max(ended)-slices.Min(began))
}

// two refuses what needs two goroutines at a time.
func (b *bench) two() error {
	if b.processors < 2 {
		return fmt.Errorf("it needs two processors, GOMAXPROCS is %d", b.processors)
	}
	return nil
}

func one(c Calibration) []Calibration { return []Calibration{c} }
