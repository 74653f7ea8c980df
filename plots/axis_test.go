package plots

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"

	"tailrace/results"
)

func labels(ticks []plot.Tick) string {
	var list []string
	for _, tick := range tidyLabels(ticks) {
		if tick.Label != "" {
			list = append(list, tick.Label)
		}
	}
	return strings.Join(list, " | ")
}

func TestLogTicks(t *testing.T) {
	tests := []struct {
		min, max float64
		labels   int
		want     string
	}{
		{1e-6, 1e-3, 4, "1 µs | 10 µs | 100 µs | 1 ms"},
		{1e-6, 1e-3, 7, "1 µs | 3 µs | 10 µs | 30 µs | 100 µs | 300 µs | 1 ms"},
		{2e-6, 9e-6, 7, "2 µs | 3 µs | 4 µs | 5 µs | 7 µs"},
		{2.1e-6, 2.9e-6, 7, "2.2 µs | 2.4 µs | 2.6 µs | 2.8 µs"},
		{1e-9, 60, 7, "10 ns | 1 µs | 100 µs | 10 ms | 1 s"},
	}
	for _, test := range tests {
		if got := labels(logTicks(test.min, test.max, test.labels, results.FormatDuration)); got != test.want {
			t.Errorf("%g to %g: %s, want %s", test.min, test.max, got, test.want)
		}
	}
}

func TestLinearTicks(t *testing.T) {
	tests := []struct {
		min, max float64
		want     string
	}{
		{0, 1.1e6, "0 | 200k | 400k | 600k | 800k | 1M"},
		{0, 7, "0 | 2 | 4 | 6"},
		{1.0001e6, 1.0002e6, "1M"}, // labels that round to one are written once
		{2.01e6, 2.19e6, "2.05M | 2.1M | 2.15M"},
	}
	for _, test := range tests {
		if got := labels(linearTicks(test.min, test.max, 6, results.FormatRate)); got != test.want {
			t.Errorf("%g to %g: %s, want %s", test.min, test.max, got, test.want)
		}
	}
}

func TestPercentileTicks(t *testing.T) {
	want := "0 % | 50 % | 90 % | 99 % | 99.9 % | 99.99 % | 99.999 %"
	if got := labels(percentileTicks(1e5)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestBoundsAreFiniteAndOrdered(t *testing.T) {
	for _, log := range []bool{false, true} {
		for _, values := range [][]float64{
			nil, {0}, {math.NaN()}, {math.Inf(1), math.Inf(-1)}, {1}, {1, 1}, {-5, 5}, {1e-300, 1e300}, {minLog, maxLog}, {5e-324},
			{-maxLog, maxLog},
		} {
			s := scale{log: log, format: results.FormatRate}
			for _, v := range values {
				s.cover(v)
			}
			min, max := s.bounds()
			if !(min < max) || math.IsInf(min, 0) || math.IsInf(max, 0) || log && min <= 0 {
				t.Errorf("log %v, %v: bounds %g and %g", log, values, min, max)
			}
			var axis plot.Axis
			s.apply(&axis, 7)
			if n := len(axis.Tick.Marker.Ticks(min, max)); n > 200 {
				t.Errorf("log %v, %v: %d ticks", log, values, n)
			}
		}
	}
}
