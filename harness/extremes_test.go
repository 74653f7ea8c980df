package harness

import (
	"runtime"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// Loads at the ends of what can be asked for have sensible numbers, or none.
func TestExtremes(t *testing.T) {
	brief := tinyTail()
	brief.Ramp, brief.Duration = time.Nanosecond, time.Millisecond

	shortest := tinyMix()
	shortest.Ramp, shortest.Duration = time.Nanosecond, time.Nanosecond

	rare := tinyTail()
	rare.ProduceRate, rare.ConsumeRate = 1, 1

	rareMix := tinyMix()
	rareMix.Rate, rareMix.Arrivals = 1, workload.ArrivalsPoisson

	flood := tinyTail()
	flood.ProduceRate = 1e7

	floodMix := tinyMix()
	floodMix.Rate, floodMix.Arrivals, floodMix.Burst = 1e7, workload.ArrivalsPoisson, 1000

	crowd := tiny("crowd")
	crowd.Producers, crowd.SegmentSize = 2000, 64<<20

	pacedCrowd := crowd
	pacedCrowd.ProduceRate = 10_000

	for name, w := range map[string]workload.Workload{
		"1 ms": brief, "1 ns": shortest, "1/s": rare, "a mix at 1/s": rareMix, "10,000,000/s": flood, "a mix at 10,000,000/s": floodMix,
		"2000 producers": crowd, "2000 paced producers": pacedCrowd,
	} {
		for _, processors := range []int{1, 2} {
			t.Run(name, func(t *testing.T) {
				before := runtime.GOMAXPROCS(processors)
				t.Cleanup(func() { runtime.GOMAXPROCS(before) })
				r, err := newRun(specOf(w, "actor", ""))
				if err != nil {
					t.Fatal(err)
				}
				o := ends(t, r)
				if !o.Run.Valid() {
					t.Fatal(o.Run.Verification.Error)
				}
				wantFiniteMetrics(t, &o.Run)
				if o.Run.Window > 0 && o.Run.Series != nil {
					wantSeries(t, &o.Run, 1)
				}
				if v := o.Run.Verification; v.RecordsAcked != v.RecordsWalked {
					t.Errorf("%d records acknowledged, %d walked", v.RecordsAcked, v.RecordsWalked)
				}
				if rate := max(w.ProduceRate, w.Rate); rate >= 1e7 && o.Run.Samples[results.KindProduce] > 0 && !o.Run.Overloaded {
					t.Errorf("%v a second, and the run is not overloaded", rate)
				}
			})
		}
	}
}
