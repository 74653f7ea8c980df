// Package resultstest makes sweeps of invented numbers, for tests of what reads results. Their
// differences are those of no machine.
package resultstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"tailrace/results"
)

const (
	blocks = 6
	window = 0.4 // seconds
)

var started = time.Date(2026, time.November, 2, 9, 30, 0, 0, time.UTC)

// load is a workload with what its runs are made from.
type load struct {
	results.Workload
	cell results.Cell
	// ops are the operations per second of each strategy before drift and noise; "A/A" is the second
	// arm of the baseline.
	ops    []share
	roles  []string           // kinds of latency
	median map[string]float64 // of each kind, in seconds, at the rate of the baseline
	// equalLoad: the rate is given, and the strategies differ in latency only.
	equalLoad bool
}

// share is the capacity of one label.
type share struct {
	label string
	ops   float64
}

var loads = []load{
	{
		Workload: results.Workload{
			Name: "mix", Description: "8 workers, 10 % produce, random 1 KiB reads, closed loop",
			Storage: "tmpfs at /dev/shm", Primary: results.MetricOps,
			Ramp: 0.15, Duration: window, Prefill: 64 << 20, SegmentSize: 64 << 20,
		},
		cell: results.Cell{Workers: 8, ProducePercent: 10, Pattern: "random", Sync: "none", Storage: "tmpfs"},
		ops: []share{{"mutex", 520e3}, {"rwmutex", 560e3}, {"atomics", 1020e3}, {"actor", 1000e3},
			{"raw", 1090e3}, {"A/A", 520e3}},
		roles:  []string{results.KindProduce, results.KindConsume},
		median: map[string]float64{results.KindProduce: 6e-6, results.KindConsume: 2.5e-6},
	},
	{
		Workload: results.Workload{
			Name: "tail", Description: "2 producers at 10,000/s, 2 tail consumers, open loop",
			Storage: "tmpfs at /dev/shm", Primary: results.LatencyMetric(results.KindEndToEnd, "p99"),
			Ramp: 0.15, Duration: window, SegmentSize: 64 << 20,
		},
		cell: results.Cell{Producers: 2, Consumers: 2, Pattern: "tail", ProduceRate: 10000, Sync: "none", Storage: "tmpfs"},
		ops:  []share{{"mutex", 20e3}, {"rwmutex", 20e3}, {"atomics", 30e3}, {"actor", 45e3}},
		roles: []string{results.KindProduce, results.KindConsume, results.KindEndToEnd,
			results.KindProduceService, results.KindProduceLateness},
		median: map[string]float64{
			results.KindProduce: 9e-6, results.KindConsume: 3e-6, results.KindEndToEnd: 40e-6,
			results.KindProduceService: 5e-6, results.KindProduceLateness: 0.4e-6,
		},
		equalLoad: true,
	},
	{
		Workload: results.Workload{
			Name: "ingest", Description: "8 producers, 1 KiB records, closed loop",
			Storage: "tmpfs at /dev/shm", Primary: results.MetricProduceOps,
			Ramp: 0.15, Duration: window, SegmentSize: 64 << 20,
		},
		cell:   results.Cell{Producers: 8, Pattern: "tail", Sync: "none", Storage: "tmpfs"},
		ops:    []share{{"mutex", 570e3}, {"atomics", 1100e3}, {"actor", 420e3}},
		roles:  []string{results.KindProduce},
		median: map[string]float64{results.KindProduce: 7e-6},
	},
	{
		Workload: results.Workload{
			Name: "durable", Description: "16 producers, 1 KiB records, sync on every batch, closed loop",
			Storage: "disk (ext4) at /var/tmp", Primary: results.MetricProduceOps,
			Ramp: 0.15, Duration: window, SegmentSize: 64 << 20,
		},
		cell:   results.Cell{Producers: 16, Pattern: "tail", Sync: "batch", Storage: "disk"},
		ops:    []share{{"mutex", 3000}, {"atomics", 9000}, {"actor", 24000}},
		roles:  []string{results.KindProduce},
		median: map[string]float64{results.KindProduce: 4e-3},
	},
}

// Sweep returns a sweep of four workloads (mix, tail, ingest, durable) under the core strategies, with
// raw and an A/A arm in mix, in six blocks: 96 valid runs. It is the same for the same seed. Its runs
// have no latency files; see Write.
func Sweep(seed uint64) *results.Sweep {
	s := &results.Sweep{Meta: meta(seed)}
	each(seed, func(run *results.Run, _ map[string]*results.Histogram) error {
		s.Runs = append(s.Runs, *run)
		return nil
	})
	return s
}

// Write writes the sweep of a seed, with its histograms, as a complete sweep directory.
func Write(dir string, seed uint64) error {
	m := meta(seed)
	w, err := results.Create(dir, &m)
	if err != nil {
		return err
	}
	defer w.Close()
	err = each(seed, func(run *results.Run, hists map[string]*results.Histogram) error {
		return w.Add(run, []results.IntervalHistograms{{Length: run.Window, Histograms: hists}})
	})
	if err != nil {
		return err
	}
	return w.Finish(&m)
}

// each makes the runs of a sweep in the order of execution, until use fails.
func each(seed uint64, use func(*results.Run, map[string]*results.Histogram) error) error {
	random := rand.New(rand.NewPCG(seed, 0))
	type point struct {
		load  *load
		share share
	}
	var points []point
	for i := range loads {
		for _, c := range loads[i].ops {
			points = append(points, point{&loads[i], c})
		}
	}
	index := 0
	for block := range blocks {
		drift := math.Exp(0.1 * random.NormFloat64())
		random.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
		for _, p := range points {
			run, hists := p.load.run(p.share, drift, random)
			run.Index, run.Block, run.Seed = index, block, random.Uint64()
			run.Start = started.Add(time.Duration(index) * 700 * time.Millisecond)
			if err := use(run, hists); err != nil {
				return err
			}
			index++
		}
	}
	return nil
}

// run makes one run of a label.
func (l *load) run(c share, drift float64, random *rand.Rand) (*results.Run, map[string]*results.Histogram) {
	run := &results.Run{
		Schema:  results.Schema,
		Cell:    l.cell,
		Window:  window,
		Samples: make(map[string]int64),
		Metrics: make(map[string]float64),
		PerWorkerJain: map[string]float64{
			results.KindProduce: 0.97 + 0.02*random.Float64(),
		},
		StealPercent: 0.5 * random.Float64(),
		OtherPercent: 2 * random.Float64(),
	}
	cell := &run.Cell
	cell.Workload, cell.Strategy = l.Name, c.label
	if c.label == "A/A" {
		cell.Strategy, cell.Arm = "mutex", "A/A"
	}
	cell.Partitions, cell.RecordSize, cell.BatchRecords = 1, 1024, 1
	cell.FetchBytes, cell.Acks, cell.GOMAXPROCS = 64<<10, "leader", 2

	capacity := c.ops * drift * math.Exp(0.04*random.NormFloat64())
	rate := capacity
	if l.equalLoad {
		rate = 20e3
	}
	slowdown := l.ops[0].ops / capacity // of latencies, against the baseline
	l.fillRates(run, rate, slowdown)

	hists := make(map[string]*results.Histogram)
	for _, kind := range l.roles {
		h := results.NewHistogram()
		for range 12_000 {
			// A body and, one time in fifty, a tail ten times as wide.
			latency := l.median[kind] * slowdown * math.Exp(0.35*random.NormFloat64())
			if random.IntN(50) == 0 {
				latency *= 1 + 20*random.ExpFloat64()
			}
			h.Record(int64(latency * 1e9))
		}
		hists[kind] = h
		run.Samples[kind] = h.Count()
	}
	for kind, h := range hists {
		var lateness *results.Histogram
		if run.Cell.Paced(kind) {
			lateness = hists[results.KindProduceLateness]
		}
		fillLatency(run.Metrics, kind, h, lateness)
	}
	run.Verification = results.Verification{
		RecordsRead:    int64(0.9 * rate * window),
		RecordsWalked:  int64(rate * window),
		RecordsAcked:   int64(rate * window),
		BatchesCRC:     int64(rate * window),
		SecondsPerRead: 120e-9,
	}
	return run, hists
}

// fillRates sets the metrics that are no latencies.
func (l *load) fillRates(run *results.Run, rate, slowdown float64) {
	m := run.Metrics
	produce, consume := rate, 0.0
	switch {
	case run.Cell.Workers > 0:
		produce = rate * run.Cell.ProducePercent / 100
		consume = rate - produce
	case run.Cell.Consumers > 0:
		produce, consume = rate/2, rate/2
	}
	m[results.MetricOps] = rate
	m[results.MetricProduceOps] = produce
	m[results.MetricProduceRecords] = produce
	m[results.MetricProduceBytes] = produce * 1100
	if consume > 0 {
		m[results.MetricConsumeOps] = consume
		m[results.MetricConsumeRecords] = consume
		m[results.MetricConsumeBytes] = consume * 1100
	}
	m[results.MetricCPU] = 2e-6 * slowdown
	m[results.MetricSwitches] = 0.05 * slowdown
	m[results.MetricAllocs] = 0
	m[results.MetricAllocBytes] = 0
	if run.Cell.Strategy == "actor" {
		m[results.MetricAllocs] = 0.1
		m[results.MetricAllocBytes] = 6.4
	}
}

// fillLatency sets the latency metrics of one kind that its histogram carries.
func fillLatency(metrics map[string]float64, kind string, h, lateness *results.Histogram) {
	quantile := map[string]float64{"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
	for _, statistic := range results.Quantiles {
		var ns float64
		switch q, ok := quantile[statistic]; {
		case ok && !h.Carries(q, lateness):
			continue
		case ok:
			ns = float64(h.Quantile(q))
		case statistic == "max":
			ns = float64(h.Max())
		case statistic == "mean":
			ns = h.Mean()
		}
		metrics[results.LatencyMetric(kind, statistic)] = ns / 1e9
	}
}

// meta describes the sweep of a seed.
func meta(seed uint64) results.Meta {
	m := results.Meta{
		Schema:   results.Schema,
		Version:  "0.0.0-example",
		Command:  []string{"tailrace", "run", "--seed", fmt.Sprint(seed)},
		Seed:     seed,
		Started:  started,
		Blocks:   blocks,
		Baseline: "mutex",
		Environment: results.Environment{
			Host: "example", OS: "linux", Arch: "amd64", Kernel: "6.1.0", CPUModel: "Invented CPU 3000",
			CPUs: 2, Affinity: 2, Quota: "none", Governor: "unknown", Virtual: "hypervisor",
			Memory: 8 << 30, GoVersion: "go1.26.8", Commit: "unknown", GOMAXPROCS: 2, GOGC: "100", Load1: 0.2,
			Filesystems: map[string]string{
				"tmpfs": "tmpfs at /dev/shm, 3.9 GiB free",
				"disk":  "ext4 at /var/tmp, 40 GiB free",
			},
		},
		Preflight: results.Preflight{
			BustedCaught: 0.1, BustedError: "read at offset 17 returned a batch that was never written",
			HarnessCost: 84e-9, ClockRead: 36e-9,
		},
		Warnings: []string{"the numbers of this sweep are invented", "virtual machine"},
	}
	for i := range loads {
		l := &loads[i]
		m.Workloads = append(m.Workloads, l.Workload)
		for _, c := range l.ops {
			switch c.label {
			case "mutex", "raw", "A/A":
				continue
			}
			m.Planned = append(m.Planned, results.Comparison{
				Workload: l.Name, Strategy: c.label, Baseline: "mutex", Metric: l.Primary,
			})
		}
	}
	return m
}
