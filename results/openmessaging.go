package results

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// testResult is the outcome of a workload on a driver as OpenMessaging Benchmark writes it: its Java class
// TestResult as JSON (https://github.com/openmessaging/benchmark), which its create_charts.py and ResultsToCsv
// read. The latter refuses a key that the class has not, so that there is no place for anything of our own: which
// run it is stands in the name of the file. What has another meaning here than there is said in docs/results.md.
type testResult map[string]any

// testLatencies are the latencies of the class, by the beginning of their keys.
var testLatencies = []testLatency{
	{"publishLatency", KindProduce, 1e6, false},
	{"publishDelayLatency", KindProduceLateness, 1e3, true},
	{"endToEndLatency", KindEndToEnd, 1e6, false},
}

type testLatency struct {
	key, kind string
	unit      float64 // in nanoseconds
	whole     bool    // its quantiles are whole numbers
}

// testKinds are the kinds of testLatencies.
func testKinds() []string {
	var kinds []string
	for _, l := range testLatencies {
		kinds = append(kinds, l.kind)
	}
	return kinds
}

// testQuantiles are those of the class, by the end of their keys.
var testQuantiles = map[string]float64{
	"50pct": 0.5, "75pct": 0.75, "95pct": 0.95, "99pct": 0.99, "999pct": 0.999, "9999pct": 0.9999,
}

func (l *testLatency) value(ns int64) any {
	if l.whole {
		return int64(float64(ns) / l.unit)
	}
	return float64(ns) / l.unit
}

// statistics adds those of one latency, by key. Without values they are 0, as they are there.
func (l *testLatency) statistics(to map[string]any, h *Histogram) {
	if h == nil {
		h = NewHistogram()
	}
	to[l.key+"Avg"] = h.Mean() / l.unit
	to[l.key+"Max"] = l.value(h.Max())
	for end, q := range testQuantiles {
		to[l.key+end] = l.value(h.Quantile(q))
	}
}

// quantiles are the values of one latency by percentile; none without values.
func (l *testLatency) quantiles(h *Histogram) map[string]any {
	values := make(map[string]any)
	if h == nil || h.Count() == 0 {
		return values
	}
	for _, tick := range PercentileTicks() {
		values[formatNumber(tick)] = l.value(h.Quantile(tick / 100))
	}
	return values
}

func testStatistics(histograms map[string]*Histogram) map[string]any {
	statistics := make(map[string]any)
	for _, l := range testLatencies {
		l.statistics(statistics, histograms[l.kind])
	}
	return statistics
}

// aggregated is the key under which the class has the same of the whole run.
func aggregated(key string) string { return "aggregated" + strings.ToUpper(key[:1]) + key[1:] }

// newTestResult is the result of a run without its latencies.
func newTestResult(run *Run, workload string) testResult {
	c := &run.Cell
	return testResult{
		"workload":          workload,
		"driver":            c.Label(),
		"messageSize":       c.RecordSize,
		"topics":            1,
		"partitions":        c.Partitions,
		"producersPerTopic": c.Producers + c.Workers,
		"consumersPerTopic": c.Consumers + c.Workers,
		"publishRate":       run.recordRates(KindProduce, MetricProduceRecords, MetricProduceOps),
		"consumeRate":       run.recordRates(KindConsume, MetricConsumeRecords, MetricConsumeOps),
		// A run in which an append fails is not a verified one.
		"publishErrorRate": make([]float64, run.intervals()),
		"backlog":          make([]int64, run.intervals()),
	}
}

// intervals is the number of intervals of the run's window, 1 where they are not known.
func (r *Run) intervals() int {
	if r.Series == nil || !(r.Series.Interval > 0) {
		return 1
	}
	return max(1, len(r.Series.Operations[KindProduce]), len(r.Series.Operations[KindConsume]))
}

// recordRates are the records per second of a role in each interval: its operations there, at the records that an
// operation of the whole run had on average.
func (r *Run) recordRates(kind, recordsMetric, operationsMetric string) []float64 {
	rates := make([]float64, r.intervals())
	records, operations := r.Metrics[recordsMetric], r.Metrics[operationsMetric]
	if !isFinite(records) || records < 0 {
		return rates
	}
	if len(rates) == 1 {
		rates[0] = records
		return rates
	}
	for i, n := range r.Series.Operations[kind] {
		length := min(r.Series.Interval, r.Window-float64(i)*r.Series.Interval)
		if rate := float64(n) / length * (records / operations); length > 0 && isFinite(rate) && rate > 0 {
			rates[i] = rate
		}
	}
	return rates
}

// addLatencies adds the latencies of a run, given the lines of its latency log by their start. They are decoded
// one interval after the other: a long run has thousands.
func (r testResult) addLatencies(run *Run, lines map[float64][]*hlogLine) error {
	rows := slices.Repeat([]map[string]any{testStatistics(nil)}, run.intervals())
	total := make(map[string]*Histogram)
	for _, start := range slices.Sorted(maps.Keys(lines)) {
		interval := make(map[string]*Histogram)
		for _, line := range lines[start] {
			if err := cmp.Or(line.addTo(interval), line.addTo(total)); err != nil {
				return err
			}
		}
		if len(rows) == 1 {
			continue
		}
		if i := math.Round(start / run.Series.Interval); i < float64(len(rows)) {
			rows[int(i)] = testStatistics(interval)
		}
	}
	if err := run.checkSamples(total, testKinds()); err != nil {
		return err
	}
	whole := testStatistics(total)
	if len(rows) == 1 {
		rows[0] = whole
	}
	for key, value := range whole {
		list := make([]any, len(rows))
		for i, row := range rows {
			list[i] = row[key]
		}
		r[key], r[aggregated(key)] = list, value
	}
	for _, l := range testLatencies {
		r[aggregated(l.key)+"Quantiles"] = l.quantiles(total[l.kind])
	}
	return nil
}

// writeTestResults writes omb/….json, one for each cell, of the run that stands for it.
func (s *Sweep) writeTestResults() error {
	x := s.index()
	var cells []Cell
	var names []string
	for _, workload := range x.names {
		cells = append(cells, x.cellsOf(workload)...)
		names = append(names, pointNames(x.cellsOf(workload))...)
	}
	return s.fileSet(ombDir, testResultPattern).replaceAll(len(cells), func(i int) made { return x.testResult(cells[i], names[i]) })
}

// testResult is the file of a cell.
func (s *index) testResult(cell Cell, name string) (m made) {
	run := s.typicalRun(cell)
	if run == nil {
		return m
	}
	result := newTestResult(run, name)
	lines, err := s.latencyLines(run)
	if err == nil {
		err = result.addLatencies(run, lines)
	}
	if err != nil {
		m.warning = fmt.Sprintf("%s has no file for `%s` of %s: %v", ombDir, cell.Label(), cell.Workload, err)
		return m
	}
	m.err = m.add(testResultName(run), result.write)
	return m
}

func (r testResult) write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// testResultName begins as the names of OpenMessaging Benchmark do, and ends in the index of the run where those have
// the time.
func testResultName(run *Run) string {
	return safeName(fmt.Sprintf("%s-%s-%04d", run.Cell.Workload, run.Cell.Label(), run.Index)) + ".json"
}

var testResultPattern = regexp.MustCompile(`-[0-9]{4,}\.json$`)

// typicalRun is the run of a cell whose value of the primary metric is nearest to the median (of two, the one that was
// executed first), of those that were verified and not overloaded; nil if there is none.
func (s *index) typicalRun(cell Cell) *Run {
	var runs []*Run
	for _, run := range s.runs[cell] {
		if run.Valid() && !run.Overloaded && run.Unmeasured == "" {
			runs = append(runs, run)
		}
	}
	for _, metric := range []string{s.primary(cell.Workload), MetricOps} {
		var values []float64
		for _, run := range runs {
			if v, ok := run.Metrics[metric]; ok && isFinite(v) {
				values = append(values, v)
			}
		}
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		median := Median(values)
		distance := func(run *Run) float64 {
			v, ok := run.Metrics[metric]
			if !ok || !isFinite(v) {
				return math.Inf(1)
			}
			return math.Abs(v - median)
		}
		return slices.MinFunc(runs, func(a, b *Run) int { return cmp.Compare(distance(a), distance(b)) })
	}
	return nil
}

// pointNames are the names of the cells' workload, each with what distinguishes its point from others: results of
// one name are drawn in one chart.
func pointNames(cells []Cell) []string {
	names := make([]string, len(cells))
	keys := slices.DeleteFunc(differingKeys(cells), func(k cellKey) bool { return k.key == "strategy" || k.key == "build" })
	for i, cell := range cells {
		names[i] = cell.Workload
		for _, key := range keys {
			names[i] += fmt.Sprintf(" %s=%s", key.key, cmp.Or(key.value(cell), "0"))
		}
	}
	return names
}

// latencyLines reads the lines of a run's latency log that a testResult shows, by their start.
func (s *Sweep) latencyLines(run *Run) (map[float64][]*hlogLine, error) {
	lines := make(map[float64][]*hlogLine)
	err := s.latencies(run, func(file io.Reader, path string) error {
		kinds := testKinds()
		return scanHlog(file, path, func(line *hlogLine) error {
			if slices.Contains(kinds, line.tag) {
				lines[line.start] = append(lines[line.start], line)
			}
			return nil
		})
	})
	return lines, err
}
