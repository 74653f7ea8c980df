package results

import (
	"encoding"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range and precision of every Histogram: 1 ns to 60 s, three significant decimal digits.
const (
	histogramLowest  = 1
	histogramHighest = 60_000_000_000
	histogramDigits  = 3
)

// Histogram counts latencies in nanoseconds: an HdrHistogram from 1 ns to 60 s with three significant
// digits, and beside it what its buckets can't tell: the exact minimum, maximum and sum, and how many
// values lay above the range. Those are part of Count, Max and Mean, and a quantile that falls among
// them is the maximum.
//
// A Histogram takes 220 KB and is used by one goroutine at a time: record into private ones, and merge
// those when their goroutines have ended. Reading methods may run concurrently with each other.
type Histogram struct {
	buckets   *hdrhistogram.Histogram
	min, max  int64
	sum       int64
	overRange int64
}

var (
	_ encoding.TextMarshaler   = (*Histogram)(nil)
	_ encoding.TextUnmarshaler = (*Histogram)(nil)
)

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram {
	return &Histogram{
		buckets: hdrhistogram.New(histogramLowest, histogramHighest, histogramDigits),
		min:     math.MaxInt64,
	}
}

// Record counts one latency in nanoseconds. A value below 1, which a clock of coarse resolution can
// give, is recorded as 1. It does not allocate.
func (h *Histogram) Record(ns int64) {
	if ns < histogramLowest {
		ns = histogramLowest
	}
	if ns > histogramHighest || h.buckets.RecordValue(ns) != nil {
		h.overRange++
		h.sum = saturatingAdd(h.sum, ns)
	} else {
		h.sum += ns
	}
	h.min = min(h.min, ns)
	h.max = max(h.max, ns)
}

// Merge adds the values of another histogram, which stays as it is.
func (h *Histogram) Merge(from *Histogram) {
	// All histograms have the same buckets, so none of their values is refused.
	h.overRange += from.overRange + h.buckets.Merge(from.buckets)
	h.sum = saturatingAdd(h.sum, from.sum)
	h.min = min(h.min, from.min)
	h.max = max(h.max, from.max)
}

func saturatingAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Count is the number of values, those above the range included.
func (h *Histogram) Count() int64 { return h.buckets.TotalCount() + h.overRange }

// OverRange is the number of values above 60 s.
func (h *Histogram) OverRange() int64 { return h.overRange }

// Min is the exact smallest value in nanoseconds, 0 if there is none.
func (h *Histogram) Min() int64 {
	if h.Count() == 0 {
		return 0
	}
	return h.min
}

// Max is the exact largest value in nanoseconds, 0 if there is none.
func (h *Histogram) Max() int64 { return h.max }

// Sum is the exact sum of the values in nanoseconds. It stops at math.MaxInt64, 292 years.
func (h *Histogram) Sum() int64 { return h.sum }

// Mean is the mean in nanoseconds, computed from the exact sum; 0 if there is no value.
func (h *Histogram) Mean() float64 {
	if h.Count() == 0 {
		return 0
	}
	return float64(h.sum) / float64(h.Count())
}

// Quantile returns the value, to the histogram's precision, at rank q·Count of the sorted values, the
// rank rounded to the nearest whole one as HdrHistogram does: Quantile(0.99) is the p99 in nanoseconds.
// It never lies outside the exact minimum and maximum, which are the answers for q ≤ 0 and q ≥ 1. It
// is 0 if there is no value.
func (h *Histogram) Quantile(q float64) int64 {
	count := h.Count()
	switch {
	case count == 0:
		return 0
	case !(q > 0): // NaN too
		return h.min
	case q >= 1:
		return h.max
	}
	percentile := 100 * q
	if h.overRange > 0 {
		// The buckets hold only a part of the values: ask them for the same rank.
		rank := math.Round(q * float64(count))
		inRange := float64(h.buckets.TotalCount())
		if rank > inRange {
			return h.max
		}
		percentile = 100 * rank / inRange
	}
	return min(max(h.buckets.ValueAtPercentile(percentile), h.min), h.max)
}

// What a quantile of a run needs to be reported, see Carries.
const (
	SamplesBeyond = 10  // samples
	LatenessShare = 0.1 // of the quantile
)

// Carries reports whether a run with these values may report its quantile q: at least SamplesBeyond of
// them lie beyond it, and in an open loop the lateness of the load itself, at the same quantile, is
// at most LatenessShare of it. lateness is nil where the load is not paced.
func (h *Histogram) Carries(q float64, lateness *Histogram) bool {
	const rounding = 1e-9 // 1 − 0.9 is a little less than 0.1
	if float64(h.Count())*(1-q) < SamplesBeyond-rounding {
		return false
	}
	return lateness == nil || lateness.Count() == 0 || float64(lateness.Quantile(q)) <= LatenessShare*float64(h.Quantile(q))
}

// Percentiles returns the values, in seconds, at the given percentiles (0 to 100, see
// PercentileTicks). It is nil if the histogram is empty.
func (h *Histogram) Percentiles(ticks []float64) []float64 {
	if h.Count() == 0 {
		return nil
	}
	values := make([]float64, len(ticks))
	for i, tick := range ticks {
		values[i] = float64(h.Quantile(tick/100)) / 1e9
	}
	return values
}

// PercentileTicks are the percentiles at which a latency curve is drawn, the same for every histogram
// so that curves line up: 0 to 99.999 in steps that halve with each halving of the distance to 100,
// five steps a half, as HdrHistogram reports them; and 100 at the end.
func PercentileTicks() []float64 {
	const stepsPerHalf, halves = 5, 17 // 100 − 100/2¹⁷ is 99.9992
	ticks := make([]float64, 0, stepsPerHalf*halves+1)
	low, distance := 0.0, 100.0
	for range halves {
		for step := range stepsPerHalf {
			ticks = append(ticks, low+distance/2*float64(step)/stepsPerHalf)
		}
		distance /= 2
		low = 100 - distance
	}
	return append(ticks, 100)
}

// Bucket is a range of latencies in nanoseconds, both ends included, and the number of values in it.
type Bucket struct {
	Low, High int64
	Count     int64
}

// Buckets iterates over the buckets that hold values, in ascending order. The values above the
// histogram's range, if any, are the last one.
func (h *Histogram) Buckets() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		for i, count := range h.buckets.Export().Counts {
			if index := int64(i); count > 0 && !yield(Bucket{Low: lowestOf(index), High: lowestOf(index+1) - 1, Count: count}) {
				return
			}
		}
		if h.overRange > 0 {
			yield(Bucket{Low: histogramHighest + 1, High: h.max, Count: h.overRange})
		}
	}
}

// MarshalText encodes the histogram, exact values included, in one line of text: how one process
// hands it to another inside JSON.
func (h *Histogram) MarshalText() ([]byte, error) {
	payload, err := h.encode()
	if err != nil {
		return nil, err
	}
	return []byte(h.exact() + " " + payload), nil
}

// UnmarshalText replaces the histogram by one that MarshalText encoded. It refuses text of another
// range or precision, and text that contradicts itself.
func (h *Histogram) UnmarshalText(text []byte) error {
	at := strings.LastIndexByte(string(text), ' ')
	if at < 0 {
		return errors.New("results: histogram: no exact values before the buckets")
	}
	decoded := NewHistogram()
	if err := decoded.addEncoded(string(text[:at]), string(text[at+1:]), &inflater{}); err != nil {
		return fmt.Errorf("results: histogram: %w", err)
	}
	*h = *decoded
	return nil
}

// encode returns the buckets in HdrHistogram's compressed V2 encoding, base64.
func (h *Histogram) encode() (string, error) {
	payload, err := h.buckets.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("results: encode histogram: %w", err)
	}
	return string(payload), nil
}
