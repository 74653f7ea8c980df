package results_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// ombClass returns the fields of OpenMessaging Benchmark's class TestResult (January 2026) with their types. Its
// ResultsToCsv refuses an object that has any other.
func ombClass() map[string]string {
	class := map[string]string{
		"workload": "String", "driver": "String", "messageSize": "long", "topics": "int", "partitions": "int",
		"producersPerTopic": "int", "consumersPerTopic": "int",
		"publishRate": "List<Double>", "publishErrorRate": "List<Double>", "consumeRate": "List<Double>", "backlog": "List<Long>",
		"aggregatedPublishLatencyQuantiles": "Map<Double, Double>", "aggregatedPublishDelayLatencyQuantiles": "Map<Double, Long>",
		"aggregatedEndToEndLatencyQuantiles": "Map<Double, Double>",
	}
	for latency, number := range map[string]string{"PublishLatency": "double", "PublishDelayLatency": "long", "EndToEndLatency": "double"} {
		for _, statistic := range []string{"Avg", "50pct", "75pct", "95pct", "99pct", "999pct", "9999pct", "Max"} {
			single, list := number, map[string]string{"double": "List<Double>", "long": "List<Long>"}[number]
			if statistic == "Avg" {
				single, list = "double", "List<Double>"
			}
			class["aggregated"+latency+statistic] = single
			class[strings.ToLower(latency[:1])+latency[1:]+statistic] = list
		}
	}
	return class
}

// hasJavaType reports whether a value of JSON is one of a Java type, lists being of so many elements.
func hasJavaType(v any, java string, elements int) bool {
	number, isNumber := v.(float64)
	switch java {
	case "String":
		_, ok := v.(string)
		return ok
	case "int", "long", "Long":
		return isNumber && number == math.Trunc(number)
	case "double", "Double":
		return isNumber
	}
	_, inner, _ := strings.Cut(strings.TrimSuffix(java, ">"), "<")
	switch v := v.(type) {
	case []any:
		return strings.HasPrefix(java, "List<") && len(v) == elements &&
			!slices.ContainsFunc(v, func(v any) bool { return !hasJavaType(v, inner, 0) })
	case map[string]any:
		for key, value := range v {
			if !regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`).MatchString(key) || !hasJavaType(value, strings.TrimPrefix(inner, "Double, "), 0) {
				return false
			}
		}
		return strings.HasPrefix(java, "Map<")
	}
	return false
}

// ombFiles reads the results in OpenMessaging Benchmark's form, by file.
func ombFiles(t *testing.T, s *results.Sweep) map[string]map[string]any {
	t.Helper()
	found := make(map[string]map[string]any)
	paths, err := filepath.Glob(filepath.Join(s.Dir, "omb", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		var v map[string]any
		if err := json.Unmarshal([]byte(read(t, path)), &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		found[filepath.Base(path)] = v
	}
	return found
}

// paced is a run in four intervals whose last is half as long, with its latencies.
func paced(index, block int, strategy string, p99 float64) (*results.Run, []results.IntervalHistograms) {
	run := testRun(index)
	run.Block, run.Window = block, 0.35
	run.Samples = map[string]int64{results.KindProduce: 3000, results.KindEndToEnd: 3000, results.KindProduceLateness: 3000}
	run.Cell = results.Cell{Workload: "tail", Strategy: strategy, Producers: 2, Consumers: 3, ProduceRate: 4000, Partitions: 1, RecordSize: 100, BatchRecords: 4}
	run.Metrics = map[string]float64{
		results.MetricProduceOps: 1000, results.MetricProduceRecords: 4000, results.MetricConsumeOps: 500, results.MetricConsumeRecords: 12000,
		results.LatencyMetric("e2e", "p99"): p99,
	}
	run.Series = &results.Series{Interval: 0.1, Operations: map[string][]int64{"produce": {100, 50, 0, 50}, "consume": {50, 50, 50, 25}}}
	var intervals []results.IntervalHistograms
	for i := range 4 {
		if i == 2 {
			continue // nothing ended in it
		}
		h := func(from int64) *results.Histogram {
			h := results.NewHistogram()
			for n := range int64(1000) {
				h.Record(from + n*1000*int64(i+1))
			}
			return h
		}
		intervals = append(intervals, results.IntervalHistograms{Start: float64(i) / 10, Length: 0.1, Histograms: map[string]*results.Histogram{
			results.KindProduce: h(5000), results.KindEndToEnd: h(90_000), results.KindProduceLateness: h(1),
		}})
	}
	return run, intervals
}

func TestOpenMessagingResults(t *testing.T) {
	dir := filepath.Join(tempDir(t), "sweep")
	meta := testMeta()
	meta.Workloads = []results.Workload{{Name: "tail", Primary: results.LatencyMetric("e2e", "p99")}}
	w, err := results.Create(dir, meta)
	if err != nil {
		t.Fatal(err)
	}
	index := 0
	add := func(strategy string, p99 float64, edit func(*results.Run)) {
		run, intervals := paced(index, index, strategy, p99)
		index++
		if edit != nil {
			edit(run)
		}
		if err := w.Add(run, intervals); err != nil {
			t.Fatal(err)
		}
	}
	add("mutex", 0.009, nil)
	add("mutex", 0.002, nil)
	add("mutex", 0.001, nil)
	add("mutex", 0.0001, func(r *results.Run) { r.Verification.Error = "wrong" })
	add("actor/2", 0.002, func(r *results.Run) { r.Cell.Producers = 4 })
	add("raw", 0.002, func(r *results.Run) { r.Overloaded = true })
	if err := w.Finish(meta); err != nil {
		t.Fatal(err)
	}
	s := load(t, dir)
	files := ombFiles(t, s)
	// The run in the middle of those that count; none that was overloaded.
	if len(files) != 2 || files["tail-mutex-0001.json"] == nil || files["tail-actor_2-0004.json"] == nil {
		t.Fatalf("files %v", files)
	}
	class := ombClass()
	for name, result := range files {
		for key, java := range class {
			if v, ok := result[key]; !ok || !hasJavaType(v, java, 4) {
				t.Errorf("%s: %s is %v, want a %s", name, key, v, java)
			}
		}
		for key := range result {
			if class[key] == "" {
				t.Errorf("%s: the class has no %s", name, key)
			}
		}
	}
	result := files["tail-mutex-0001.json"]
	intervals, err := s.Intervals(&s.Runs[1])
	if err != nil {
		t.Fatal(err)
	}
	total := results.Total(intervals)
	last := intervals[2].Histograms
	for key, want := range map[string]any{
		"workload": "tail producers=2", "driver": "mutex", "messageSize": 100.0, "topics": 1.0, "partitions": 1.0,
		"producersPerTopic": 2.0, "consumersPerTopic": 3.0, "aggregatedEndToEndLatency99pct": float64(total["e2e"].Quantile(0.99)) / 1e6,
		"aggregatedPublishLatencyAvg": total["produce"].Mean() / 1e6, "aggregatedPublishLatencyMax": float64(total["produce"].Max()) / 1e6,
		"aggregatedPublishDelayLatency9999pct": float64(total["produce-lateness"].Quantile(0.9999) / 1000),
	} {
		if result[key] != want {
			t.Errorf("%s: %v, want %v", key, result[key], want)
		}
	}
	for key, want := range map[string][]float64{
		"publishRate": {4000, 2000, 0, 4000}, "consumeRate": {12000, 12000, 12000, 12000}, "publishErrorRate": {0, 0, 0, 0}, "backlog": {0, 0, 0, 0},
	} {
		for i, v := range result[key].([]any) {
			if math.Abs(v.(float64)-want[i]) > 1e-6 {
				t.Errorf("%s: %v, want %v", key, result[key], want)
			}
		}
	}
	p50 := result["endToEndLatency50pct"].([]any)
	if p50[2] != 0.0 || p50[3] != float64(last["e2e"].Quantile(0.5))/1e6 {
		t.Errorf("end to end p50 %v", p50)
	}
	if quantiles := result["aggregatedPublishLatencyQuantiles"].(map[string]any); len(quantiles) != len(results.PercentileTicks()) ||
		quantiles["97.5"] != float64(total["produce"].Quantile(0.975))/1e6 || quantiles["100"] != float64(total["produce"].Max())/1e6 {
		t.Errorf("quantiles %v", quantiles)
	}
}

// Runs without a series, latencies or anything at all, and series that make no sense.
func TestOpenMessagingResultsOfOddRuns(t *testing.T) {
	for name, edit := range map[string]func(*results.Run){
		"nothing":     func(r *results.Run) { r.Metrics, r.Series = nil, nil },
		"no series":   func(r *results.Run) { r.Series = nil },
		"no interval": func(r *results.Run) { r.Series.Interval = 0 },
		"no window":   func(r *results.Run) { r.Window = 0 },
		"negative":    func(r *results.Run) { r.Series.Operations["produce"][0] = -5 },
		"infinite": func(r *results.Run) {
			r.Metrics[results.MetricProduceOps], r.Metrics[results.MetricConsumeRecords] = math.Inf(1), math.NaN()
		},
	} {
		run, _ := paced(0, 0, "mutex", 0.002)
		run.Metrics[results.MetricOps] = 1500
		edit(run)
		s := &results.Sweep{Dir: tempDir(t), Runs: []results.Run{*run}}
		if err := s.WriteFiles(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		files := ombFiles(t, s)
		if want := 1; name != "nothing" && len(files) != want || name == "nothing" && len(files) != 0 {
			t.Errorf("%s: %d files", name, len(files))
		}
		for _, result := range files {
			rates := result["publishRate"].([]any)
			for key, java := range ombClass() {
				if !hasJavaType(result[key], java, len(rates)) {
					t.Errorf("%s: %s is %v, want a %s", name, key, result[key], java)
				}
			}
			if name == "no series" && (len(rates) != 1 || rates[0] != 4000.0) {
				t.Errorf("%s: rates %v", name, rates)
			}
		}
	}
}
