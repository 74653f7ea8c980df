package results

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// WriteBench writes the valid runs in Go's benchmark format (golang.org/design/14313), one line a run,
// for benchstat:
//
//	benchstat -col "/strategy@(mutex rwmutex atomics actor)" bench.txt
//
// The second arm of the baseline is strategy=aa; where two builds are compared, build=this is the one that
// ran the sweep. The primary metric of the run's workload stands first on its line, as ns/op does on those
// of go test, and the line "Unit METRIC primary=WORKLOAD,..." names the workloads that it is the primary one of.
// Configuration lines are those that go test writes
// too, because benchstat makes a table of its own of everything else that differs between files.
func (s *Sweep) WriteBench(w io.Writer) error {
	out := bufio.NewWriter(w)
	env := &s.Meta.Environment
	for _, line := range [][2]string{{"goos", env.OS}, {"goarch", env.Arch}, {"cpu", env.CPUModel}} {
		if value := strings.Join(strings.Fields(line[1]), " "); value != "" {
			fmt.Fprintf(out, "%s: %s\n", line[0], value)
		}
	}
	metrics := s.benchMetrics()
	for _, metric := range metrics {
		better := "higher"
		if LowerIsBetter(metric) {
			better = "lower"
		}
		fmt.Fprintf(out, "Unit %s better=%s\n", metric, better)
	}
	primaries := s.workloadsByPrimary()
	for _, metric := range MetricNames() {
		if workloads := primaries[metric]; len(workloads) > 0 {
			fmt.Fprintf(out, "Unit %s %s=%s\n", metric, unitPrimary, strings.Join(workloads, ","))
		}
	}
	varying := s.varyingKeys()
	for _, run := range s.runsByCell() {
		var values strings.Builder
		for _, metric := range benchOrder(metrics, s.primary(run.Cell.Workload)) {
			if value, ok := run.Metrics[metric]; ok && isBenchValue(metric, value) {
				fmt.Fprintf(&values, "\t%s %s", strconv.FormatFloat(value, 'g', -1, 64), metric)
			}
		}
		if values.Len() > 0 { // a line without values is not one of the format
			fmt.Fprintf(out, "%s\t%d%s\n", benchName(run.Cell, varying), iterations(run), values.String())
		}
	}
	return out.Flush()
}

// workloadsByPrimary are the workloads that ran, by their primary metric, as benchmarks are named after them.
func (s *Sweep) workloadsByPrimary() map[string][]string {
	ran := make(map[string]bool)
	for i := range s.Runs {
		ran[s.Runs[i].Cell.Workload] = true
	}
	primaries := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(ran)) {
		metric := s.primary(name)
		primaries[metric] = append(primaries[metric], withoutCommas(benchValue(name)))
	}
	return primaries
}

// withoutCommas is the name of a workload as it stands in a list.
func withoutCommas(name string) string { return strings.ReplaceAll(name, ",", "_") }

// benchOrder is the order of metrics on the line of a run: the primary one, then the others as they are.
func benchOrder(metrics []string, primary string) []string {
	at := slices.Index(metrics, primary)
	if at < 0 {
		return metrics
	}
	return slices.Concat(metrics[at:at+1], metrics[:at], metrics[at+1:])
}

// runsByCell returns the valid runs, those of a cell together and cells in the order of tables: the
// first strategy that benchstat meets is its base.
func (s *Sweep) runsByCell() []*Run {
	var runs []*Run
	x := s.index()
	for _, name := range x.names {
		for _, cell := range x.cellsOf(name) {
			runs = append(runs, x.runs[cell]...)
		}
	}
	return slices.DeleteFunc(runs, func(r *Run) bool { return !r.Valid() })
}

// benchMetrics returns the known metrics that a valid run has, in their order.
func (s *Sweep) benchMetrics() []string {
	var metrics []string
	for _, metric := range MetricNames() {
		for i := range s.Runs {
			value, ok := s.Runs[i].Metrics[metric]
			if ok && s.Runs[i].Valid() && isBenchValue(metric, value) {
				metrics = append(metrics, metric)
				break
			}
		}
	}
	return metrics
}

// MetricNames are the names of all metrics in the order of files.
func MetricNames() []string {
	metrics := []string{
		MetricOps, MetricProduceOps, MetricConsumeOps, MetricProduceRecords, MetricConsumeRecords,
		MetricProduceBytes, MetricConsumeBytes, MetricCPU, MetricSwitches, MetricAllocs, MetricAllocBytes, MetricDrain,
	}
	for _, kind := range Kinds {
		for _, statistic := range Quantiles {
			metrics = append(metrics, LatencyMetric(kind, statistic))
		}
	}
	return metrics
}

// isBenchValue reports whether benchstat can use a value. A NaN in a sample makes its test allocate
// without bound. No time or rate is 0, but the allocations of an operation may be, and so may the
// context switches.
func isBenchValue(metric string, value float64) bool {
	switch metric {
	case MetricAllocs, MetricAllocBytes, MetricSwitches:
		return isFinite(value) && value >= 0
	}
	return isFinite(value) && value > 0
}

// iterations is the number of operations in the window, at least 1.
func iterations(run *Run) int64 {
	operations := run.Metrics[MetricOps] * run.Window
	if !(operations >= 1) || operations >= math.MaxInt64 {
		return 1
	}
	return int64(operations)
}

// cellKey is a part of a benchmark's name. A key that is not named always is named in a sweep whose
// workloads have cells that differ in it.
type cellKey struct {
	key    string
	always bool
	value  func(Cell) string
}

// gomaxprocsKey names the number of processors in benchmark names and descriptions.
const gomaxprocsKey = "gomaxprocs"

var cellKeys = []cellKey{
	{"workload", true, func(c Cell) string { return c.Workload }},
	{"strategy", true, func(c Cell) string {
		if c.Arm == "A/A" {
			return "aa"
		}
		return c.Strategy
	}},
	{"build", false, func(c Cell) string { return cmp.Or(c.Build, "this") }},
	{"producers", true, func(c Cell) string { return positive(c.Producers) }},
	{"consumers", true, func(c Cell) string { return positive(c.Consumers) }},
	{"workers", true, func(c Cell) string { return positive(c.Workers) }},
	{"produce", true, func(c Cell) string {
		if c.Workers == 0 {
			return ""
		}
		return formatNumber(c.ProducePercent) + "%"
	}},
	{"replicas", false, func(c Cell) string { return strconv.Itoa(c.Replicas) }},
	{"partitions", false, func(c Cell) string { return strconv.Itoa(c.Partitions) }},
	{"record-size", false, func(c Cell) string { return strconv.Itoa(c.RecordSize) }},
	{"record-sizes", false, func(c Cell) string { return cmp.Or(c.RecordSizes, "equal") }},
	{"batch-records", false, func(c Cell) string { return strconv.Itoa(c.BatchRecords) }},
	{"fetch-bytes", false, func(c Cell) string { return strconv.Itoa(c.FetchBytes) }},
	{"pattern", false, func(c Cell) string { return c.Pattern }},
	{"skew", false, func(c Cell) string { return formatNumber(c.Skew) }},
	{"produce-rate", false, func(c Cell) string { return formatNumber(c.ProduceRate) }},
	{"consume-rate", false, func(c Cell) string { return formatNumber(c.ConsumeRate) }},
	{"rate", false, func(c Cell) string { return formatNumber(c.Rate) }},
	{"arrivals", false, func(c Cell) string { return cmp.Or(c.Arrivals, "constant") }},
	{"burst", false, func(c Cell) string { return strconv.Itoa(max(1, c.Burst)) }},
	{"think", false, func(c Cell) string { return time.Duration(math.Round(1e9 * c.Think)).String() }},
	{"backlog", false, func(c Cell) string { return strconv.FormatInt(c.Backlog, 10) }},
	{"acks", false, func(c Cell) string { return c.Acks }},
	{"sync", false, func(c Cell) string { return c.Sync }},
	{gomaxprocsKey, true, func(c Cell) string { return positive(c.GOMAXPROCS) }},
	// The last value is a word: a number after "-" at the end of a name is read as GOMAXPROCS.
	{"storage", true, func(c Cell) string { return c.Storage }},
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// varyingKeys finds the keys in which cells of one workload differ.
func (s *Sweep) varyingKeys() map[string]bool {
	varying := make(map[string]bool)
	first := make(map[[2]string]string) // value by workload and key
	for i := range s.Runs {
		cell := s.Runs[i].Cell
		for _, key := range cellKeys {
			at := [2]string{cell.Workload, key.key}
			value := key.value(cell)
			if seen, ok := first[at]; !ok {
				first[at] = value
			} else if seen != value {
				varying[key.key] = true
			}
		}
	}
	return varying
}

func benchName(c Cell, varying map[string]bool) string {
	var name strings.Builder
	name.WriteString("BenchmarkRun")
	for _, key := range cellKeys {
		if value := key.value(c); value != "" && (key.always || varying[key.key]) {
			fmt.Fprintf(&name, "/%s=%s", key.key, benchValue(value))
		}
	}
	return name.String()
}

var trailingNumber = regexp.MustCompile(`-([0-9]+)$`)

// benchValue replaces what has a meaning in the format: white space ends a name, a slash begins the
// next key, and a number after "-" at the end is GOMAXPROCS.
func benchValue(value string) string {
	safe := strings.Map(func(r rune) rune {
		if r == '/' || r == '=' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, value)
	return trailingNumber.ReplaceAllString(safe, "_$1")
}
