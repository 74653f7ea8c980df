package claims

import (
	"fmt"
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

// futexCounter counts the futex calls of a run's process.
type futexCounter struct {
	means string // how, for readers
	slows bool   // whether the process is slower for it
	// count returns the run with its calls within its window.
	count func(once func(child []string) (*results.Run, error), child []string) (*results.Run, float64, error)
}

// futexCalls is the experiment that counts futex calls per operation of strategies under the load of mix-10. Each
// strategy has a run in each block, in a process of its own. Where nothing can count them, the figure is NaN and its
// text says why. Beside it stand involuntary context switches per operation and how long goroutines that were ready
// waited for a processor, from runs that nothing slowed down.
func futexCalls(strategies ...string) func(*bench) ([]results.Figure, error) {
	return func(b *bench) ([]results.Figure, error) {
		counter, reason := newFutexCounter(b)
		seen := make(map[string]*kernelUse)
		for _, strategy := range strategies {
			seen[strategy] = new(kernelUse)
		}
		for range b.blocks {
			for _, i := range b.random.Perm(len(strategies)) {
				if err := b.kernelRun(counter, strategies[i], seen[strategies[i]]); err != nil {
					return nil, fmt.Errorf("%s: %w", strategies[i], err)
				}
			}
		}
		var figures []results.Figure
		for _, strategy := range strategies {
			use, text := seen[strategy], "futex calls per operation, "+strategy
			calls := b.value(strategy+"-futex", text, "per operation", use.futex)
			if counter == nil {
				calls.Text = text + ": not measured, " + reason
			} else {
				calls.Text = text + ", counted by " + counter.means
			}
			figures = append(figures, calls,
				b.value(strategy+"-involuntary", "involuntary context switches per operation, "+strategy, "per operation", use.involuntary),
				b.value(strategy+"-scheduler", "wait of a ready goroutine for a processor, p99, "+strategy, "s", use.scheduler))
		}
		return figures, nil
	}
}

// kernelUse is what the runs of a strategy showed.
type kernelUse struct{ futex, involuntary, scheduler []float64 }

// kernelRun executes a run of a strategy, or two where counting slows it down.
func (b *bench) kernelRun(counter *futexCounter, strategy string, use *kernelUse) error {
	w := contendedLoad(max(b.turn, shortestWindow))
	once := func(child []string) (*results.Run, error) {
		run, err := harness.RunOnce(b.ctx, child, w, strategy, b.random.Uint64(), b.dir)
		if err == nil && run.Unmeasured != "" {
			err = fmt.Errorf("claims: %s", run.Unmeasured)
		}
		return run, err
	}
	var counted *results.Run
	if counter != nil {
		run, calls, err := counter.count(once, b.child)
		if err != nil {
			return err
		}
		use.futex = append(use.futex, perOperation(calls, run))
		counted = run
	}
	if counted == nil || counter.slows {
		var err error
		if counted, err = once(b.child); err != nil {
			return err
		}
	}
	use.involuntary = append(use.involuntary, perOperation(float64(counted.Runtime.InvoluntarySwitches), counted))
	// Zero where the runtime, which samples the waits, saw none: value leaves such a run out.
	use.scheduler = append(use.scheduler, counted.Runtime.SchedulerP99)
	return nil
}

// perOperation divides what a run counted by its operations. Of what never happened there was fewer than one.
func perOperation(count float64, run *results.Run) float64 {
	return max(1, count) / (run.Metrics[results.MetricOps] * run.Window)
}

// contendedLoad is the load of mix-10 with a window of its own.
func contendedLoad(window time.Duration) workload.Workload {
	all := loads()
	w := all[slices.IndexFunc(all, func(w workload.Workload) bool { return w.Name == contended })]
	w.Ramp, w.Duration = window/4, window
	return w
}
