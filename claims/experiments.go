package claims

import "tailrace/results"

// both puts the figures of two experiments together.
func both(a, b func(*bench) ([]results.Figure, error)) func(*bench) ([]results.Figure, error) {
	return func(x *bench) ([]results.Figure, error) {
		first, err := a(x)
		if err != nil {
			return first, err
		}
		second, err := b(x)
		return append(first, second...), err
	}
}
