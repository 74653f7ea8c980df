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

// several puts the figures of experiments together, of which some may fail.
func several(experiments ...func(*bench) ([]results.Figure, error)) func(*bench) ([]results.Figure, error) {
	return func(b *bench) (figures []results.Figure, err error) {
		for _, experiment := range experiments {
			if b.ctx.Err() != nil {
				return figures, errors.Join(err, b.ctx.Err())
			}
			found, failed := experiment(b)
			figures, err = slices.Concat(figures, found), errors.Join(err, failed)
		}
		return figures, err
	}
}
