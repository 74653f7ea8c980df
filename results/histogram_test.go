package results_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

const second = int64(1e9)

func record(values ...int64) *results.Histogram {
	h := results.NewHistogram()
	for _, v := range values {
		h.Record(v)
	}
	return h
}

func TestHistogramIsExactWhereItSaysSo(t *testing.T) {
	h := record(1_000_000, 3, -5, 0, 2_000_001, 90*second)
	if got := []int64{h.Count(), h.Min(), h.Max(), h.OverRange(), h.Sum()}; !slices.Equal(got,
		[]int64{6, 1, 90 * second, 1, 1_000_000 + 3 + 1 + 1 + 2_000_001 + 90*second}) {
		t.Errorf("count, min, max, over range, sum: %v", got)
	}
	if want := float64(h.Sum()) / 6; h.Mean() != want {
		t.Errorf("mean %v, want %v", h.Mean(), want)
	}
	if h := record(1_000_000); h.Max() != 1_000_000 || h.Quantile(0.5) != 1_000_000 {
		t.Errorf("1,000,000 ns recorded, max %d, p50 %d", h.Max(), h.Quantile(0.5))
	}
}

func TestHistogramQuantilesAgainstSortedValues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var values []int64
	h := results.NewHistogram()
	for range 10_000 {
		v := int64(math.Exp(10 + 2*random.NormFloat64()))
		values = append(values, v)
		h.Record(v)
	}
	slices.Sort(values)
	for _, q := range []float64{0, 0.001, 0.5, 0.9, 0.99, 0.999, 0.9999, 1} {
		want := values[max(0, int(math.Round(q*10_000))-1)]
		got := h.Quantile(q)
		if math.Abs(float64(got-want)) > 0.001*float64(want) || got > h.Max() || got < h.Min() {
			t.Errorf("quantile %v: %d, sorted values have %d", q, got, want)
		}
	}
	if h.Quantile(math.NaN()) != h.Min() || h.Quantile(-1) != h.Min() || h.Quantile(2) != h.Max() {
		t.Error("quantiles outside 0 to 1 are not the minimum and the maximum")
	}
}

func TestHistogramQuantileCountsWhatIsOverRange(t *testing.T) {
	h := results.NewHistogram()
	for range 90 {
		h.Record(1000)
	}
	for range 10 {
		h.Record(120 * second)
	}
	if got := h.Quantile(0.9); got != 1000 {
		t.Errorf("p90 %d, want 1000", got)
	}
	if got := h.Quantile(0.95); got != 120*second {
		t.Errorf("p95 %d, want the maximum: a tenth lies above the range", got)
	}
}

func TestHistogramMerge(t *testing.T) {
	all, a, b := results.NewHistogram(), results.NewHistogram(), results.NewHistogram()
	for i := range int64(1000) {
		v := 1 + i*i*i*100
		all.Record(v)
		[]*results.Histogram{a, b}[i%2].Record(v)
	}
	before := text(t, b)
	a.Merge(b)
	a.Merge(results.NewHistogram())
	if text(t, a) != text(t, all) {
		t.Error("the merged histogram is not that of all values")
	}
	if text(t, b) != before {
		t.Error("merging changed its argument")
	}
	sum := record(math.MaxInt64, math.MaxInt64)
	sum.Merge(sum)
	if sum.Sum() != math.MaxInt64 || sum.Count() != 4 {
		t.Errorf("sum %d of %d values wrapped around", sum.Sum(), sum.Count())
	}
}

func text(t *testing.T, h *results.Histogram) string {
	t.Helper()
	b, err := h.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestHistogramInJSON(t *testing.T) {
	for name, h := range map[string]*results.Histogram{
		"empty":      results.NewHistogram(),
		"values":     record(5, 1_000_000, 77_777_777),
		"over range": record(5, 61*second),
		"only over":  record(61*second, 62*second),
		"extremes":   record(math.MinInt64, 60*second, math.MaxInt64),
	} {
		encoded, err := json.Marshal(map[string]*results.Histogram{"produce": h})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var decoded map[string]*results.Histogram
		if err := json.Unmarshal(encoded, &decoded); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := decoded["produce"]
		if text(t, got) != text(t, h) || got.Quantile(0.5) != h.Quantile(0.5) || got.Count() != h.Count() {
			t.Errorf("%s: came back as %s", name, text(t, got))
		}
		// It goes on counting.
		got.Record(1)
		if got.Min() != 1 || got.Count() != h.Count()+1 {
			t.Errorf("%s: min %d of %d after another value", name, got.Min(), got.Count())
		}
	}
}

func TestHistogramRefusesText(t *testing.T) {
	good := text(t, record(5, 1_000_000))
	for name, bad := range map[string]string{
		"nothing":           "",
		"no exact values":   good[strings.LastIndex(good, " ")+1:],
		"other words":       strings.Replace(good, "min=5", "least=5", 1),
		"a sign":            strings.Replace(good, "min=5", "min=+5", 1),
		"more words":        strings.Replace(good, "over-range=0", "over-range=0 mean=7", 1),
		"min not in bucket": strings.Replace(good, "min=5", "min=6", 1),
		"max not in bucket": strings.Replace(good, "max=1000000", "max=2000000", 1),
		"min above max":     strings.Replace(good, "min=5", "min=1000001", 1),
		"sum below max":     strings.Replace(good, "sum=1000005", "sum=7", 1),
		"negative":          strings.Replace(good, "over-range=0", "over-range=-1", 1),
		"over, in range":    strings.Replace(good, "over-range=0", "over-range=1", 1),
		"cut":               good[:len(good)-9],
		"not base64":        good + "!",
	} {
		h := record(42)
		if err := h.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if h.Count() != 1 || h.Max() != 42 {
			t.Errorf("%s: the histogram changed although the text was refused", name)
		}
	}
}

func TestBucketsHoldEveryValue(t *testing.T) {
	h := record(1, 1, 5000, 5000, 5001, 1_000_000, 70*second)
	var total, last int64
	for b := range h.Buckets() {
		if b.Low <= last || b.High < b.Low || b.Count < 1 {
			t.Errorf("bucket %+v after %d", b, last)
		}
		last = b.High
		total += b.Count
	}
	if total != 7 || last != 70*second {
		t.Errorf("%d values up to %d", total, last)
	}
	for range h.Buckets() {
		break // must not go on
	}
}

func TestPercentileTicks(t *testing.T) {
	ticks := results.PercentileTicks()
	for _, want := range []float64{0, 10, 50, 55, 75, 87.5, 93.75, 100} {
		if !slices.Contains(ticks, want) {
			t.Errorf("no tick at %v", want)
		}
	}
	if !slices.IsSorted(ticks) || len(slices.Compact(slices.Clone(ticks))) != len(ticks) {
		t.Error("ticks do not ascend")
	}
	h := record(1000, 2000, 4000)
	given := []float64{100, 0, 50}
	if got := h.Percentiles(given); !slices.Equal(got, []float64{4e-6, 1e-6, 2e-6}) {
		t.Errorf("percentiles %v", got)
	}
	if !slices.Equal(given, []float64{100, 0, 50}) {
		t.Error("the ticks were changed")
	}
	if got := results.NewHistogram().Percentiles(ticks); got != nil {
		t.Errorf("percentiles of nothing: %v", got)
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	h := results.NewHistogram()
	if n := testing.AllocsPerRun(1000, func() { h.Record(1234); h.Record(61 * second) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	h := results.NewHistogram()
	b.ReportAllocs()
	v := int64(1)
	for b.Loop() {
		v = v*3%1_000_003 + 1
		h.Record(v)
	}
}

func FuzzHistogramText(f *testing.F) {
	h := results.NewHistogram()
	h.Record(5)
	seed, err := h.MarshalText()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(seed))
	f.Fuzz(func(t *testing.T, encoded string) {
		var h results.Histogram
		if h.UnmarshalText([]byte(encoded)) != nil {
			return
		}
		if h.Min() > h.Max() || h.Quantile(0.5) > h.Max() || h.Quantile(0.5) < h.Min() {
			t.Errorf("min %d, p50 %d, max %d", h.Min(), h.Quantile(0.5), h.Max())
		}
	})
}
