package results

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Compare compares an old and a new side, each a results directory or a file in Go's benchmark format. Of two
// directories, whole runs are compared, and they count as interleaved if their blocks took turns on one machine; a
// directory beside a file is compared as the bench.txt that it would have.
//
// A change is the ratio of geometric means with Student's t interval on the logarithms, paired by block where the
// sides were interleaved, else Welch's. The intervals hold together with 95 % confidence (Bonferroni). Sides that
// can't be compared give ErrIncomparable, and a metric that is not there an *UnknownMetricError.
func Compare(old, new string, o CompareOptions) (*Changes, error) {
	if old == standardInput && new == standardInput {
		return nil, errors.New("results: both sides are standard input, which can be read once: name a file for one of them")
	}
	a, err := openSource(old, o.Stdin)
	if err != nil {
		return nil, err
	}
	b, err := openSource(new, o.Stdin)
	if err != nil {
		return nil, err
	}
	if a.sameAs(b) {
		return nil, fmt.Errorf("results: %s and %s are the same results", old, new)
	}
	if a.sweep != nil && b.sweep != nil {
		return compareSweeps(a.sweep, b.sweep, o)
	}
	before, err := a.benchSide()
	if err != nil {
		return nil, err
	}
	after, err := b.benchSide()
	var c *Changes
	if err == nil {
		if bytes.Equal(a.text, b.text) {
			after.warnings = append(after.warnings, fmt.Sprintf("%s and %s have the same contents", old, new))
		}
		if err = joinBench(before, after); err == nil {
			c, err = compareSides(&before.side, &after.side, false, 0, o)
		}
	}
	if b.sweep != nil && (errors.Is(err, errNoBenchmarks) || errors.Is(err, errNothingInCommon)) {
		// What has only wrong answers to show has shown enough.
		if wrong := onlyWrong(&before.side, b.sweep, o); wrong != nil {
			return wrong, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// onlyWrong is the outcome where all that the new side has are wrong answers; nil if it has none.
func onlyWrong(old *side, new *Sweep, o CompareOptions) *Changes {
	x := new.index()
	whole := x.side("", x.keys)
	if len(whole.violations) == 0 {
		return nil
	}
	return &Changes{
		Old: old.origin, New: whole.origin, Options: o, Level: confidence,
		Violations: whole.violations, Warnings: slices.Concat(old.warnings, whole.warnings),
	}
}

// CompareBuilds compares the two builds of a sweep that ran with both, block by block: the build that ran the
// sweep is the new one. Errors are those of Compare.
func CompareBuilds(dir string, o CompareOptions) (*Changes, error) {
	s, err := openSource(dir, o.Stdin)
	if err != nil {
		return nil, err
	}
	if s.sweep == nil {
		return nil, fmt.Errorf("results: %s is a file, of %w", dir, ErrOneBuild)
	}
	return compareBuilds(s.sweep, o)
}
