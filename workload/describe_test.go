package workload

import (
	"testing"
	"time"
)

var lognormal = Sizes{Kind: SizesLognormal, Median: 1 << 10, Sigma: 0.8, Max: 16 << 10}

func TestDescribe(t *testing.T) {
	tests := []struct {
		change func(w *Workload)
		want   string
	}{
		{func(w *Workload) {}, "2 producers, 3 tail consumers, closed loop"},
		{func(w *Workload) { *w = mixed(); w.Pattern, w.RecordSize = CatchUp, 1000 }, "8 workers, 10 % produce, catch-up 8 KiB reads of 1000 B records, closed loop"},
		{func(w *Workload) { *w = mixed(); w.ProducePercent = 100 }, "8 workers, 100 % produce, 1 KiB records, closed loop"},
		{func(w *Workload) { w.Producers, w.Consumers = 1, 1; w.ProduceRate = 1234567 }, "1 producer at 1,234,567/s, 1 tail consumer, open loop"},
		{func(w *Workload) { w.ProduceRate, w.Pattern = 0.5, Random }, "2 producers at 0.5/s, 3 random consumers, open loop for producers only"},
		{func(w *Workload) { w.ConsumeRate = 100 }, "2 producers, 3 tail consumers at 100/s, open loop for consumers only"},
		{func(w *Workload) { w.ProduceRate, w.ConsumeRate, w.Pattern = 999, 1000, CatchUp },
			"2 producers at 999/s, 3 catch-up consumers at 1,000/s, open loop"},
		{func(w *Workload) {
			w.BatchRecords, w.Partitions, w.Subscriptions, w.RecordSize = 10, 4, 2, 100
			w.Acks, w.Sync, w.Title = AcksNone, SyncBatch, "All of it"
		}, "All of it: 2 producers, 3 tail consumers, 2 subscriptions, 100 B records, 10 records a batch, 4 partitions, closed loop, no acknowledgements, sync on every batch"},
		{func(w *Workload) { *w = mixed(); w.Rate, w.Pattern, w.Skew = 10000, Zipfian, 0.99 },
			"8 workers at 10,000/s, 10 % produce, zipf 0.99 8 KiB reads of 1 KiB records, open loop"},
		{func(w *Workload) { *w = mixed(); w.Pattern, w.Think = ByTime, time.Millisecond },
			"8 workers, 10 % produce, by-time 8 KiB reads of 1 KiB records, closed loop, thinking 1 ms"},
		{func(w *Workload) { *w = mixed(); w.Sizes, w.RecordSize = lognormal, 16<<10 },
			"8 workers, 10 % produce, random 8 KiB reads, record sizes lognormal around 1 KiB, closed loop"},
		{func(w *Workload) { *w = mixed(); w.Sizes, w.ProducePercent = Sizes{Kind: SizesLines}, 100 },
			"8 workers, 100 % produce, records are lines of the payload, closed loop"},
		{func(w *Workload) { w.Pattern, w.Skew = Zipfian, 0 }, "2 producers, 3 zipf 0 consumers, closed loop"},
		{func(w *Workload) { w.Sizes, w.RecordSize = Sizes{Kind: SizesUniform, Min: 100, Max: 4096}, 4096 },
			"2 producers, 3 tail consumers, record sizes uniform from 100 B to 4 KiB, closed loop"},
		{func(w *Workload) { w.Acks = AcksAll }, "2 producers, 3 tail consumers, closed loop, acknowledged by all, without followers"},
		{func(w *Workload) { w.Replicas, w.Acks = 2, AcksAll }, "2 producers, 3 tail consumers, 2 followers, closed loop, acknowledged by all"},
		{func(w *Workload) { w.Replicas = 1 }, "2 producers, 3 tail consumers, 1 follower, closed loop"},
		{func(w *Workload) {
			w.ProduceRate, w.Arrivals, w.Burst, w.Think = 10, ArrivalsPoisson, 50, 90*time.Second
		},
			"2 producers at 10/s, 3 tail consumers, open loop, Poisson arrivals, in bursts of 50, thinking 1m30s"},
		{func(w *Workload) { w.Backlog = 64 << 20 }, "2 producers, 3 tail consumers, closed loop, sustained, producers held at 64 MiB unread"},
		{func(w *Workload) { w.Prefill, w.DrainRatio = 1<<30, 1 }, "2 producers, 3 tail consumers, closed loop, drains a backlog of 1 GiB"},
		{func(w *Workload) { w.Prefill, w.DrainRatio = 1<<30, 0.29 }, "2 producers, 3 tail consumers, closed loop, drains 29 % of a backlog of 1 GiB"},
		{func(w *Workload) { w.Search = true }, "2 producers, 3 tail consumers, open loop, searching for the highest rate"},
		{func(w *Workload) {
			w.Search, w.Objectives = true, []Objective{{KindProduce, "p99", 2 * time.Millisecond}, {KindEndToEnd, "max", time.Second}}
		}, "2 producers, 3 tail consumers, open loop, searching for the highest rate with produce p99 < 2ms and e2e max < 1s"},
	}
	for _, test := range tests {
		w := roles()
		test.change(&w)
		if got := w.Describe(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
