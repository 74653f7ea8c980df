package harness

import (
	"iter"
	"math"

	"tailrace/results"
)

// seriesQuantiles are those that a series has of each kind of latency.
var seriesQuantiles = []string{"p50", "p99"}

// intervals hands over what was measured in each interval, and returns the sums by kind.
func (r *run) intervals(o *Outcome, window float64) map[string]*results.Histogram {
	totals := make(map[string]*results.Histogram)
	length := float64(r.interval) / 1e9
	series := &results.Series{Interval: length, Operations: map[string][]int64{}, Quantiles: map[string][]*float64{}}
	for parts := range chunksOf(r.collector.kept) {
		e := EncodedInterval{Start: float64(parts[0].number) * length, Histograms: map[string]string{}}
		e.Length = max(0, min(length, window-e.Start)) // one that was closed early has a little beyond its end
		operations, histograms := together(parts)
		for kind, h := range histograms {
			if totals[kind] == nil {
				totals[kind] = results.NewHistogram()
			}
			totals[kind].Merge(h)
			text, err := h.MarshalText()
			if err != nil {
				o.Run.Warnings = append(o.Run.Warnings, "latencies of an interval are lost: "+err.Error())
				continue
			}
			e.Histograms[kind] = string(text)
		}
		o.Intervals = append(o.Intervals, e)
		addToSeries(series, parts[0].number, operations, histograms)
	}
	if len(o.Intervals) > 0 {
		fillSeries(series, int(math.Ceil(window/length)))
		o.Run.Series = series
	}
	return totals
}

// fillSeries gives a series an element for every interval of the window: nothing may have ended in the last ones.
func fillSeries(s *results.Series, intervals int) {
	for kind, operations := range s.Operations {
		for len(operations) < intervals {
			operations = append(operations, 0)
		}
		s.Operations[kind] = operations
	}
	for metric, values := range s.Quantiles {
		for len(values) < intervals {
			values = append(values, nil)
		}
		s.Quantiles[metric] = values
	}
}

// chunksOf are the kept parts of one interval after the other: what was handed over late stands apart.
func chunksOf(kept []keptInterval) iter.Seq[[]keptInterval] {
	return func(yield func([]keptInterval) bool) {
		for len(kept) > 0 {
			n := 1
			for n < len(kept) && kept[n].number == kept[0].number {
				n++
			}
			if !yield(kept[:n]) {
				return
			}
			kept = kept[n:]
		}
	}
}

// together adds up the parts of one interval.
func together(parts []keptInterval) (operations [2]int64, histograms map[string]*results.Histogram) {
	histograms = make(map[string]*results.Histogram)
	for _, p := range parts {
		for i, n := range p.operations {
			operations[i] += n
		}
		for kind, t := range p.tallies {
			h := t.histogram()
			if sum := histograms[kind]; sum != nil {
				sum.Merge(h)
			} else {
				histograms[kind] = h
			}
		}
	}
	return operations, histograms
}

// addToSeries appends one interval; intervals in which nothing ended have zeros before it.
func addToSeries(s *results.Series, number int64, done [2]int64, histograms map[string]*results.Histogram) {
	for i, kind := range []string{results.KindProduce, results.KindConsume} {
		operations := s.Operations[kind]
		for int64(len(operations)) < number {
			operations = append(operations, 0)
		}
		s.Operations[kind] = append(operations, done[i])
	}
	for _, kind := range []string{results.KindProduce, results.KindConsume, results.KindEndToEnd} {
		for _, name := range seriesQuantiles {
			metric := results.LatencyMetric(kind, name)
			values, known := s.Quantiles[metric]
			h := histograms[kind]
			if h == nil && !known {
				continue
			}
			for int64(len(values)) <= number {
				values = append(values, nil)
			}
			if h != nil && h.Carries(quantiles[name], histograms[results.LatenessOf(kind)]) {
				v := float64(h.Quantile(quantiles[name])) / 1e9
				values[number] = &v
			}
			s.Quantiles[metric] = values
		}
	}
}
