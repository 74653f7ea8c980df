package claims

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// Zero has no logarithm: the figure tells of the blocks that have it, and is open where those are many.
func TestBlocksWithoutAnyAreTold(t *testing.T) {
	b := tinyBench(t)
	for zeros, known := range map[int]bool{0: true, 1: true, 2: false, 8: false} {
		values, ones := make([]float64, 8), slices.Repeat([]float64{1}, 8)
		for i := zeros; i < len(values); i++ {
			values[i] = 2
		}
		for _, f := range []results.Figure{b.value("v", "it", "s", values), b.ratio("r", "it", values, ones), b.ratio("r", "it", ones, values)} {
			if (zeros > 0) != strings.Contains(f.Text, "; ") || zeros == 1 && f.Text != "it; 1 of 8 blocks lack it" {
				t.Errorf("%d of 8 have none: %q", zeros, f.Text)
			}
			if !math.IsNaN(f.Low) != known || f.Blocks != 8-zeros {
				t.Errorf("%d of 8 have none: %s of %d blocks", zeros, f.ValueText(), f.Blocks)
			}
		}
	}
}

// What an experiment has found is kept if another fails, and what one shares stays as it is.
func TestSeveral(t *testing.T) {
	broken, torn := errors.New("broken"), errors.New("torn")
	shared := make([]results.Figure, 1, 8)
	shared[0].Name = "a"
	first := func(*bench) ([]results.Figure, error) { return shared, broken }
	second := func(*bench) ([]results.Figure, error) { return []results.Figure{{Name: "b"}}, torn }
	figures, err := several(first, second)(tinyBench(t))
	if len(figures) != 2 || figures[0].Name != "a" || figures[1].Name != "b" || !errors.Is(err, broken) || !errors.Is(err, torn) {
		t.Errorf("%v, %v", figures, err)
	}
	b := tinyBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.ctx = ctx
	interrupted := func(*bench) ([]results.Figure, error) { cancel(); return shared, nil }
	if figures, err := several(interrupted, second)(b); len(figures) != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted in the first: %v, %v", figures, err)
	}
	if got := shared[:2][1].Name; got != "" {
		t.Errorf("%q was written behind the figures of the first", got)
	}
}
