package harness

import (
	"testing"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// BenchmarkHarness is what the harness costs an operation, by a strategy that does nothing. Building
// records is timed apart and taken off, as harness-ns/op; clock-ns/op is the two readings of the clock
// that no measurement can do without.
//
//	go test -run '^$' -bench Harness ./harness
func BenchmarkHarness(b *testing.B) {
	w := workload.DefaultMix()
	w.Workers = 1
	w.Prefill = 1 << 20
	w.MaxBytes = 1 << 60

	b.Run("strategy=null/op=produce", func(b *testing.B) {
		r, worker := idle(b, w, "null")
		b.ReportAllocs()
		end := r.clock.now()
		for b.Loop() {
			var err error
			if end, err = worker.append(end, nil); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		began := time.Now()
		for range b.N {
			worker.build(worker.clients[0], r.clock.wall(end), end)
		}
		report(b, r, float64(time.Since(began)))
	})
	b.Run("strategy=null/op=consume", func(b *testing.B) {
		r, worker := idle(b, w, "null")
		b.ReportAllocs()
		for b.Loop() {
			if err := worker.readPrefill(0, nil); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		report(b, r, 0)
	})
}

// report adds the cost per operation without what building took, and that of two clock readings.
func report(b *testing.B, r *run, building float64) {
	n := float64(b.N)
	b.ReportMetric((float64(b.Elapsed())-building)/n, "harness-ns/op")
	began := time.Now()
	for range b.N {
		r.clock.now()
		r.clock.now()
	}
	b.ReportMetric(float64(time.Since(began))/n, "clock-ns/op")
}

// BenchmarkVerify is the check of an answer of 64 KiB, per read and outside of its latency.
func BenchmarkVerify(b *testing.B) {
	w := workload.Default()
	w.Producers, w.Consumers = 1, 1
	w.Prefill = 1 << 20
	r, _ := idle(b, w, "mutex")
	c := r.client(r.partitions[0], roleBoth, true)
	p, err := c.handle.Read(0, make([]byte, w.FetchBytes))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		c.checker.restart()
		if _, err := c.checker.answer(p, 0, true, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPacedEndToEnd is a paced load from append to consumer. The end-to-end latency is that of the
// append and of a wake-up: where it is much more, the pauses of the producers keep the consumers off
// the processors.
func BenchmarkPacedEndToEnd(b *testing.B) {
	w, err := workload.Find("tail")
	if err != nil {
		b.Fatal(err)
	}
	for _, strategy := range []string{"mutex", "actor"} {
		b.Run("strategy="+strategy+"/rate=10000", func(b *testing.B) {
			endToEnd, produce := results.NewHistogram(), results.NewHistogram()
			for b.Loop() {
				o, err := perform(specOf(w, strategy, ""))
				if err != nil {
					b.Fatal(err)
				}
				if !o.Run.Valid() {
					b.Fatal(o.Run.Verification.Error)
				}
				totals := histogramsOf(b, o)
				endToEnd.Merge(totals[results.KindEndToEnd])
				produce.Merge(totals[results.KindProduce])
			}
			b.ReportMetric(float64(endToEnd.Quantile(0.5)), "e2e-p50-ns")
			b.ReportMetric(float64(endToEnd.Quantile(0.99)), "e2e-p99-ns")
			b.ReportMetric(float64(produce.Quantile(0.5)), "produce-p50-ns")
		})
	}
}
