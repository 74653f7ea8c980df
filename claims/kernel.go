package claims

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tailrace/harness"
	"tailrace/results"
	"tailrace/workload"
)

// contended is the load under which calls into the kernel are counted.
const contended = "mix-10"

// shortestWindow is one in which there are some ten thousand operations, also where each is traced.
const shortestWindow = 100 * time.Millisecond

// errNotRead says that a counter was not read at both ends of a window, as can be on a busy machine.
var errNotRead = errors.New("claims: the counter was not read during the window")

// futexCounter counts the futex calls of a run's process.
type futexCounter struct {
	means string // how, for readers
	// count returns the run with its calls within its window.
	count func(once func(child []string) (*results.Run, error), child []string) (*results.Run, float64, error)
}

// futexCalls is the experiment that counts futex calls per operation of strategies under the load of mix-10. Each
// strategy has a run in each block, in a process of its own. Where nothing can count them, the figure is NaN and its
// text says why.
func futexCalls(strategies ...string) func(*bench) ([]results.Figure, error) {
	return func(b *bench) ([]results.Figure, error) {
		counter, err := newFutexCounter(b)
		if errors.Is(err, errors.ErrUnsupported) {
			var figures []results.Figure
			for _, strategy := range strategies {
				figures = append(figures, unmeasured(strategy+"-futex", futexText+strategy, "per operation", err))
			}
			return figures, nil
		}
		if err != nil {
			return nil, err
		}
		return b.futexRuns(counter, strategies)
	}
}

// futexRuns counts the calls of each strategy in each block. A block in which the counter was not read lacks them.
func (b *bench) futexRuns(counter *futexCounter, strategies []string) ([]results.Figure, error) {
	calls := make(map[string][]float64)
	for range b.blocks {
		for _, i := range b.random.Perm(len(strategies)) {
			counted, err := b.futexRun(counter, strategies[i])
			if errors.Is(err, errNotRead) {
				counted, err = math.NaN(), nil
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", strategies[i], err)
			}
			calls[strategies[i]] = append(calls[strategies[i]], counted)
		}
	}
	var figures []results.Figure
	for _, strategy := range strategies {
		figures = append(figures, b.value(strategy+"-futex", futexText+strategy+", counted by "+counter.means, "per operation", calls[strategy]))
	}
	return figures, nil
}

const futexText = "futex calls per operation, "

// futexRun executes a run of a strategy, and returns its futex calls per operation. Of what never happened there was
// fewer than one.
func (b *bench) futexRun(counter *futexCounter, strategy string) (float64, error) {
	w := contendedLoad(max(b.turn, shortestWindow))
	run, calls, err := counter.count(func(child []string) (*results.Run, error) {
		run, err := harness.RunOnce(b.ctx, child, w, strategy, b.random.Uint64(), b.dir)
		if err == nil && run.Unmeasured != "" {
			err = fmt.Errorf("claims: %s", run.Unmeasured)
		}
		return run, err
	}, b.child)
	if err != nil {
		return 0, err
	}
	return countPerOperation(max(1, calls), run), nil
}

// contendedLoad is the load of mix-10 with a window of its own.
func contendedLoad(window time.Duration) workload.Workload {
	all := loads()
	w := all[slices.IndexFunc(all, func(w workload.Workload) bool { return w.Name == contended })]
	w.Ramp, w.Duration = window/4, window
	return w
}
