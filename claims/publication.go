package claims

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"tailrace/harness/torture"
	"tailrace/results"
	"tailrace/strategies"
)

const (
	// attempts bound how often the copy without the order is given another chance.
	attempts = 20
	// enough times the time in which the checker finds a wrong answer where there is one is what it takes to say that there
	// is none.
	enough = 10
	// patience is how long a call may take before it counts as one that does not return.
	patience = 2 * time.Second
)

// publication is the experiment that has the checker judge atomics, and a copy that commits a batch before it has
// written it, on the heap and on files, with the same time for both. Each counts up to its first violation. That none is
// found tells something if the checker has looked for longer than it takes to find one where there is one: else how many
// there are is open.
func publication(b *bench) ([]results.Figure, error) {
	ordered, err := strategies.Find("atomics")
	if err != nil {
		return nil, err
	}
	with, err := b.torture(ordered)
	if err != nil {
		return nil, err
	}
	// A call that does not return within the patience may be one of a busy machine. A wrong answer to a follower can show
	// first as an append that waits for it for ever, too: that proves less than the answer itself.
	if with.hung() {
		return nil, with.violation
	}
	var without tortured
	for range attempts {
		if without, err = b.torture(strategies.Unordered()); err != nil {
			return nil, err
		}
		if !without.hung() {
			break
		}
	}
	if without.hung() {
		return nil, without.violation
	}
	return []results.Figure{
		orderedViolations(with, without),
		counted("unordered-violations", without.text("wrong answers, committed before it is written"), "", without.violations()),
		counted("ordered-rounds", "rounds of the checker, atomics", "", float64(with.counts.Rounds)),
		counted("ordered-histories", "concurrent histories found linearizable, atomics", "", float64(with.counts.Histories-with.counts.Unknown)),
		counted("ordered-records", "records verified in long runs, atomics", "", float64(with.counts.Records)),
		counted("unordered-seconds", "time of the checker up to the wrong answer, committed before it is written", "s", without.took.Seconds()),
	}, nil
}

// orderedViolations are those of atomics: none says nothing if the checker did not look for long enough.
func orderedViolations(with, without tortured) results.Figure {
	f := counted("ordered-violations", with.text("wrong answers, atomics"), "", with.violations())
	if with.violation == nil && with.took < enough*without.took {
		f.Text += fmt.Sprintf(", in less than %d times the time in which there is one without the order", enough)
		f.Low, f.High = math.NaN(), math.NaN()
	}
	return f
}

// tortured is what the checker has found.
type tortured struct {
	counts    torture.Counts
	violation *torture.Violation // nil if there was none
	took      time.Duration
}

// torture has the checker judge a strategy for the time of a few turns in each block.
func (b *bench) torture(s strategies.Strategy) (tortured, error) {
	if len(b.torturing) == 0 {
		return tortured{}, errNoChild
	}
	dir, err := os.MkdirTemp(b.dir, "publication-")
	if err != nil {
		return tortured{}, fmt.Errorf("claims: %w", err)
	}
	defer os.RemoveAll(dir)
	begun := time.Now()
	// In a process of its own, which leaves no call that hangs behind.
	counts, err := torture.Run(b.ctx, b.torturing, s, torture.Options{
		Duration: 4 * time.Duration(b.blocks) * b.unhurried().turn, Seed: b.random.Uint64(), Dir: dir, Heap: true, Patience: patience,
	})
	t := tortured{counts: counts, took: time.Since(begun)}
	if violation, ok := errors.AsType[*torture.Violation](err); ok {
		t.violation, err = violation, nil
	}
	return t, err
}

// hung reports whether what was found is a call that did not return.
func (t *tortured) hung() bool { return t.violation != nil && t.violation.Hung }

func (t *tortured) violations() float64 {
	if t.violation == nil {
		return 0
	}
	return 1
}

// text tells the violation, if there is one.
func (t *tortured) text(what string) string {
	if t.violation == nil {
		return what
	}
	return fmt.Sprintf("%s, at the first the checker stops: %s (%s, seed %d)", what, t.violation.What, t.violation.Check, t.violation.Seed)
}
