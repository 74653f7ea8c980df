package results_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"tailrace/results"
)

func hgrm(t *testing.T, h *results.Histogram) string {
	t.Helper()
	var out bytes.Buffer
	if err := h.WritePercentiles(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestPercentilesAreReadBack(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	spread := results.NewHistogram()
	for range 100_000 {
		spread.Record(int64(5000 * math.Exp(random.NormFloat64())))
	}
	beyond := results.NewHistogram() // of which a tenth lies above the range
	for i := range int64(1000) {
		beyond.Record(1000 + i)
		if i%9 == 0 {
			beyond.Record(61*second + i)
		}
	}
	ticks := results.PercentileTicks()
	for name, h := range map[string]*results.Histogram{
		"spread": spread, "above the range": beyond, "one": record(777), "equal": record(5, 5, 5, 5), "all above": record(70*second, 80*second),
	} {
		rows, footer := parseHgrm(t, hgrm(t, h))
		if len(rows) != len(ticks) {
			t.Fatalf("%s: %d rows, want %d", name, len(rows), len(ticks))
		}
		for i, row := range rows {
			if math.Abs(row.percentile-ticks[i]/100) > 1e-11 {
				t.Errorf("%s: row %d is of %v, want %v", name, i, row.percentile, ticks[i]/100)
			}
			ns := int64(math.Round(row.value * 1e6))
			var atMost, below int64 // values in the buckets up to the row's, and before it
			for b := range h.Buckets() {
				if b.Low <= ns {
					below, atMost = atMost, atMost+b.Count
				}
			}
			rank := row.percentile * float64(h.Count())
			if row.count != atMost || float64(atMost) < rank-1e-6 || i > 0 && float64(below) >= rank+1e-6 {
				t.Errorf("%s: %+v: %d values lie there or below, %d below, of %d", name, row, atMost, below, h.Count())
			}
		}
		first, last := rows[0], rows[len(rows)-1]
		if first.value != float64(h.Min())/1e6 && first.count == 1 || last.value != float64(h.Max())/1e6 || last.count != h.Count() {
			t.Errorf("%s: from %+v to %+v", name, first, last)
		}
		if math.Abs(footer[0]-h.Mean()/1e6) > 1e-6 || footer[2] != float64(h.Max())/1e6 || footer[3] != float64(h.Count()) {
			t.Errorf("%s: last lines %v", name, footer)
		}
	}
	want := `       Value     Percentile TotalCount 1/(1-Percentile)

    0.000000 1.000000000000          0
#[Mean    =     0.000000, StdDeviation   =     0.000000]
#[Max     =     0.000000, Total count    =            0]
#[Buckets =           26, SubBuckets     =         2048]
`
	if got := hgrm(t, results.NewHistogram()); got != want {
		t.Errorf("empty:\n%s", got)
	}
}
