package results

import "iter"

// Assemble makes a histogram of values that were counted elsewhere: pairs of a value in nanoseconds, any of
// its bucket, and how often it was seen; the exact minimum, maximum and sum of all values; and how many of
// them lay above the range, which are not among the pairs.
func Assemble(counts iter.Seq2[int64, int64], minimum, maximum, sum, overRange int64) *Histogram {
	h := NewHistogram()
	for value, n := range counts {
		if h.buckets.RecordValues(value, n) != nil {
			overRange += n
		}
	}
	h.overRange = overRange
	if h.Count() > 0 {
		h.min, h.max, h.sum = minimum, maximum, sum
	}
	return h
}

// HistogramRange is the range of every Histogram in nanoseconds, both ends included.
func HistogramRange() (lowest, highest int64) { return histogramLowest, histogramHighest }
