package harness

import (
	"maps"
	"math"
	"slices"
	"testing"

	"tailrace/results"
	"tailrace/workload"
)

// histogramOf has n values, from 1 to n microseconds, each times factor.
func histogramOf(n int, factor int64) *results.Histogram {
	h := results.NewHistogram()
	for i := range int64(n) {
		h.Record((i + 1) * 1000 * factor)
	}
	return h
}

// statistics are those of a kind that latencies has given, in the order of results.Quantiles.
func statistics(h, lateness *results.Histogram) (given []string, metrics map[string]float64) {
	metrics = map[string]float64{}
	latencies(&results.Run{Metrics: metrics, Bounds: map[string]float64{}}, results.KindProduce, h, lateness)
	for _, q := range results.Quantiles {
		if _, ok := metrics[results.LatencyMetric(results.KindProduce, q)]; ok {
			given = append(given, q)
		}
	}
	return given, metrics
}

// A quantile of which too much is the load's own lateness is a bound and no metric; one with too few samples
// is neither.
func TestLatenciesBounds(t *testing.T) {
	run := &results.Run{Metrics: map[string]float64{}, Bounds: map[string]float64{}}
	latencies(run, results.KindProduce, histogramOf(200, 10), histogramOf(200, 5))
	p50, p99 := results.LatencyMetric(results.KindProduce, "p50"), results.LatencyMetric(results.KindProduce, "p99")
	if _, ok := run.Metrics[p50]; ok || !(run.Bounds[p50] > 0.9e-3 && run.Bounds[p50] < 1.1e-3) {
		t.Errorf("metrics %v, bounds %v", run.Metrics, run.Bounds)
	}
	if bound, ok := run.Bounds[p99]; ok {
		t.Errorf("two samples beyond p99 bound it to %v", bound)
	}
}

func TestQuantileNames(t *testing.T) {
	for _, name := range results.Quantiles {
		if _, ok := quantiles[name]; !ok && name != "max" && name != "mean" {
			t.Errorf("%s is neither a quantile nor the maximum nor the mean", name)
		}
	}
	for name := range quantiles {
		if !slices.Contains(results.Quantiles, name) {
			t.Errorf("%s is no statistic of the results", name)
		}
	}
	_, metrics := statistics(histogramOf(100_000, 1), nil)
	if len(metrics) != len(results.Quantiles) {
		t.Errorf("a long run has %v, want all of %v", slices.Sorted(maps.Keys(metrics)), results.Quantiles)
	}
}

// At least ten samples lie beyond a quantile that is told.
func TestLatenciesNeedSamples(t *testing.T) {
	for _, c := range []struct {
		samples int
		want    []string
	}{
		{1, []string{"max", "mean"}},
		{19, []string{"max", "mean"}},
		{20, []string{"p50", "max", "mean"}},
		{99, []string{"p50", "max", "mean"}},
		{101, []string{"p50", "p90", "max", "mean"}},
		{999, []string{"p50", "p90", "max", "mean"}},
		{1001, []string{"p50", "p90", "p99", "max", "mean"}},
		{9999, []string{"p50", "p90", "p99", "max", "mean"}},
		{10_010, results.Quantiles},
	} {
		if got, _ := statistics(histogramOf(c.samples, 1), nil); !slices.Equal(got, c.want) {
			t.Errorf("%d samples give %v, want %v", c.samples, got, c.want)
		}
	}
}

// A round number of samples has ten beyond its quantile, whatever 1−q is in binary.
func TestLatenciesRoundCounts(t *testing.T) {
	for samples, quantile := range map[int]string{20: "p50", 100: "p90", 1000: "p99", 10_000: "p999"} {
		if got, _ := statistics(histogramOf(samples, 1), nil); !slices.Contains(got, quantile) {
			t.Errorf("%d samples give %v, want %s too", samples, got, quantile)
		}
	}
}

// A quantile is told where the generator's own lateness is at most a tenth of it.
func TestLatenciesNeedPunctuality(t *testing.T) {
	late := func(values map[int64]int) *results.Histogram {
		h := results.NewHistogram()
		for ns, n := range values {
			for range n {
				h.Record(ns)
			}
		}
		return h
	}
	h := histogramOf(100_000, 1) // p50 50 ms, p99 99 ms
	for _, c := range []struct {
		name     string
		lateness *results.Histogram
		want     []string
	}{
		{"never late", late(map[int64]int{0: 1000}), results.Quantiles},
		{"nobody was free", results.NewHistogram(), results.Quantiles},
		{"late by less than a tenth", late(map[int64]int{4_000_000: 1000}), results.Quantiles},
		{"late by more than a tenth", late(map[int64]int{20_000_000: 1000}), []string{"max", "mean"}},
		{"late in the tail alone", late(map[int64]int{1000: 985, 50_000_000: 15}), []string{"p50", "p90", "max", "mean"}},
		{"late by a tenth of the larger ones", late(map[int64]int{7_000_000: 1000}), []string{"p90", "p99", "p999", "max", "mean"}},
	} {
		if got, _ := statistics(h, c.lateness); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Latencies are in seconds.
func TestLatenciesValues(t *testing.T) {
	_, metrics := statistics(histogramOf(100_000, 1), nil)
	for name, want := range map[string]float64{"p50": 0.05, "p90": 0.09, "p99": 0.099, "p999": 0.0999, "max": 0.1, "mean": 0.0500005} {
		if got := metrics[results.LatencyMetric(results.KindProduce, name)]; math.Abs(got-want) > 0.002*want {
			t.Errorf("%s is %v s, want about %v", name, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		done         int64
		rate, window float64
		want         bool
	}{
		{0, 0, 1, false}, // a closed loop
		{1000, 1000, 1, false},
		{980, 1000, 1, false},
		{978, 1000, 1, false}, // two over the ends
		{977, 1000, 1, true},
		{0, 1000, 1, true},
		{390, 1000, 0.4, false},
		{389, 1000, 0.4, true},
		{1100, 1000, 1, false},
		{0, 1, 0.4, false}, // less than an operation is due
		{98, 100, 1, false},
	} {
		if got := short(c.done, c.rate, c.window, &workload.Workload{}); got != c.want {
			t.Errorf("%v done at %v/s in %v s: short is %t", c.done, c.rate, c.window, got)
		}
	}
}

func TestJain(t *testing.T) {
	for _, c := range []struct {
		shares []int64
		want   float64
		ok     bool
	}{
		{nil, 0, false},
		{[]int64{0, 0}, 0, false},
		{[]int64{7}, 1, true},
		{[]int64{5, 5, 5, 5}, 1, true},
		{[]int64{9, 0, 0}, 1. / 3, true},
		{[]int64{1, 2, 3}, 36. / 42, true},
		{[]int64{1 << 40, 1 << 40}, 1, true},
	} {
		got, ok := jain(c.shares)
		if ok != c.ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Jain's index of %v is %v, %t; want %v, %t", c.shares, got, ok, c.want, c.ok)
		}
	}
}

func TestRecorder(t *testing.T) {
	closed := newRecorder(false)
	closed.add(0, 100, 300, 0, 2, 50)
	if counted(closed.latency).Max() != 200 || closed.service != nil || closed.lateness != nil {
		t.Error("a closed loop measures from the actual start and nothing else")
	}
	open := newRecorder(true)
	open.add(50, 100, 300, 0, 2, 50)  // the delay is the system's
	open.add(60, 100, 300, 40, 2, 50) // the delay is the load's own
	latency, service, lateness := counted(open.latency), counted(open.service), counted(open.lateness)
	if latency.Max() != 250 || service.Max() != 200 || lateness.Count() != 2 || lateness.Max() != 40 {
		t.Errorf("latency %d, service %d, lateness %d of %d", latency.Max(), service.Max(), lateness.Max(), lateness.Count())
	}
	other := newRecorder(true)
	other.add(0, 0, 1000, 0, 3, 7)
	open.merge(&other)
	if open.operations != 3 || open.records != 7 || open.bytes != 107 || counted(open.latency).Count() != 3 || counted(open.lateness).Count() != 3 {
		t.Errorf("merged: %+v", open)
	}
}

// Chance, and bursts that the ends of the window cut, make nobody short.
func TestShortAllowsForChance(t *testing.T) {
	for _, c := range []struct {
		arrivals string
		burst    int
		done     int64
		want     bool
	}{
		{workload.ArrivalsConstant, 1, 9798, false},
		{workload.ArrivalsConstant, 1, 9797, true},
		{workload.ArrivalsPoisson, 1, 9498, false}, // three times the root of 10,000 below
		{workload.ArrivalsPoisson, 1, 9497, true},
		{workload.ArrivalsConstant, 100, 9600, false},
		{workload.ArrivalsConstant, 100, 9599, true},
		{workload.ArrivalsPoisson, 100, 6600, false}, // 100 arrivals of 100 each differ more than 10,000 of one
		{workload.ArrivalsPoisson, 100, 6599, true},
	} {
		load := &workload.Workload{Arrivals: c.arrivals, Burst: c.burst}
		if got := short(c.done, 5000, 2, load); got != c.want {
			t.Errorf("%d of 10,000 operations, %s in bursts of %d: short is %t", c.done, c.arrivals, c.burst, got)
		}
	}
}

// The counters of the process were read over a little more than the window, and count per time.
func TestReportCosts(t *testing.T) {
	w := tinyMix()
	w.Workers = 1
	r := &run{spec: specOf(w, "mutex", "")}
	r.open = 1e9
	r.closing.Store(2e9)
	alone := &worker{run: r, id: 1, role: roleBoth, part: newPart(&r.spec.Workload, roleBoth)}
	for range 100 {
		alone.part.produce.add(0, 0, 1000, 0, 1, 10)
		alone.part.consume.add(0, 0, 1000, 0, 1, 10)
	}
	collect(r, alone)
	var o Outcome
	m := measured{cpu: 2e9, switches: 400, allocs: 1200, bytes: 2400, elapsed: 2e9}
	r.report(&o, []*worker{alone}, m, results.Verification{})
	for name, want := range map[string]float64{
		results.MetricOps: 200, results.MetricProduceOps: 100, results.MetricConsumeRecords: 100, results.MetricProduceBytes: 1000,
		results.MetricCPU: 0.005, results.MetricSwitches: 1, results.MetricAllocs: 3, results.MetricAllocBytes: 6,
	} {
		wantMetric(t, &o.Run, name, want)
	}
	for _, role := range []string{results.KindProduce, results.KindConsume} {
		if o.Run.PerWorkerJain[role] != 1 {
			t.Errorf("Jain's index of one worker, %s: %v", role, o.Run.PerWorkerJain[role])
		}
	}
}
