package claims

import (
	"errors"
	"slices"

	"tailrace/results"
)

// both puts the figures of two experiments together, of which one may fail.
func both(a, b func(*bench) ([]results.Figure, error)) func(*bench) ([]results.Figure, error) {
	return func(x *bench) ([]results.Figure, error) {
		first, err := a(x)
		second, other := b(x)
		return slices.Concat(first, second), errors.Join(err, other)
	}
}
