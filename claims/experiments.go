package claims

import (
	"errors"
	"runtime"
	"slices"

	"tailrace/results"
)

// processors counts those that goroutines run on at once.
func processors(*bench) ([]results.Figure, error) {
	return []results.Figure{counted("processors", "processors (GOMAXPROCS)", "", float64(runtime.GOMAXPROCS(0)))}, nil
}

// both puts the figures of two experiments together, of which one may fail.
func both(a, b func(*bench) ([]results.Figure, error)) func(*bench) ([]results.Figure, error) {
	return func(x *bench) ([]results.Figure, error) {
		first, err := a(x)
		second, other := b(x)
		return slices.Concat(first, second), errors.Join(err, other)
	}
}
