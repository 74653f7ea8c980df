package results_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"tailrace/results"
	"tailrace/results/resultstest"
)

func bench(t *testing.T, s *results.Sweep) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.WriteBench(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestBenchIsReadBackWhole(t *testing.T) {
	s := resultstest.Sweep(3)
	s.Runs[5].Verification.Error = "wrong"
	valid := make(map[string][]float64) // op/s by workload and label
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Valid() {
			key := run.Cell.Workload + " " + strings.Replace(run.Cell.Label(), "A/A", "aa", 1)
			valid[key] = append(valid[key], run.Metrics[results.MetricOps])
		}
	}
	reader := benchfmt.NewReader(strings.NewReader(bench(t, s)), "bench.txt")
	primaries := map[string]string{results.MetricOps: "mix", results.MetricProduceOps: "durable,ingest", "e2e-p99-sec": "tail"}
	units := make(map[string]bool)
	got := make(map[string][]float64)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.UnitMetadata:
			want := "higher"
			if results.LowerIsBetter(record.Unit) {
				want = "lower"
			}
			if record.Key == "primary" {
				want = primaries[record.Unit]
			}
			if record.Key != "better" && record.Key != "primary" || record.Value != want {
				t.Errorf("unit %s: %s=%s", record.Unit, record.Key, record.Value)
			}
			units[record.Unit] = true
		case *benchfmt.Result:
			_, parts := record.Name.Parts()
			keys := make(map[string]string)
			for _, part := range parts {
				key, value, ok := strings.Cut(strings.TrimPrefix(string(part), "/"), "=")
				if !ok {
					t.Errorf("%s: %q is not key=value", record.Name, part)
				}
				keys[key] = value
			}
			key := keys["workload"] + " " + keys["strategy"]
			for _, value := range record.Values {
				if !units[value.Unit] || value.OrigUnit != "" {
					t.Errorf("%s: unit %s has no line, or was tidied from %q", key, value.Unit, value.OrigUnit)
				}
				if value.Unit == results.MetricOps {
					got[key] = append(got[key], value.Value)
				}
			}
			if record.GetConfig("cpu") != "Invented CPU 3000" || len(record.Config) != 3 {
				t.Errorf("configuration %v", record.Config)
			}
		default:
			t.Errorf("%v", record)
		}
	}
	if err := reader.Err(); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(valid) {
		t.Errorf("%d cells, want %d", len(got), len(valid))
	}
	for key, values := range valid {
		if !slices.Equal(got[key], values) {
			t.Errorf("%s: %v, want %v", key, got[key], values)
		}
	}
}

// TestBenchstatPrintsOurMedians has benchstat itself compare the strategies, and its medians of every metric with
// ours.
func TestBenchstatPrintsOurMedians(t *testing.T) {
	s := resultstest.Sweep(3)
	path := filepath.Join(tempDir(t), "bench.txt")
	write(t, path, bench(t, s))
	var stderr bytes.Buffer
	command := exec.Command("go", "tool", "benchstat", "-col", "/strategy", "-row", "/workload", "-format", "csv", path)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	if strings.Contains(stderr.String(), "need >= ") {
		t.Errorf("too few runs for an interval:\n%s", &stderr)
	}
	medians := readBenchstat(t, out)
	compared := make(map[string]bool)
	for _, c := range s.Cells() {
		name := strings.Replace(c.Cell.Label(), "A/A", "aa", 1)
		for _, metric := range results.MetricNames() {
			want, ok := c.Median(metric)
			if !ok {
				continue
			}
			compared[metric] = true
			got, ok := medians[[3]string{metric, c.Cell.Workload, name}]
			if !ok || math.Abs(got-want) > 1e-12*want {
				t.Errorf("%s of %s in %s: benchstat has %v, %t, want %v", metric, name, c.Cell.Workload, got, ok, want)
			}
		}
	}
	for _, metric := range []string{
		results.MetricOps, results.MetricCPU, results.MetricAllocs, results.MetricSwitches, results.MetricProduceBytes,
		results.LatencyMetric(results.KindEndToEnd, "p999"), results.LatencyMetric(results.KindProduce, "mean"),
	} {
		if !compared[metric] {
			t.Errorf("%s was not compared", metric)
		}
	}
}

// readBenchstat returns the medians in benchstat's tables, by unit, workload and strategy. In each the strategies
// are to stand in the order of the file, the baseline first.
func readBenchstat(t *testing.T, out []byte) map[[3]string]float64 {
	t.Helper()
	reader := csv.NewReader(bytes.NewReader(out))
	reader.FieldsPerRecord = -1
	reader.LazyQuotes = true
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	medians := make(map[[3]string]float64)
	var strategies, units []string // by column
	for _, row := range rows {
		switch {
		case len(row) < 2 || row[0] == "geomean":
		case row[0] != "":
			for column, name := range strategies {
				if name == "" || column >= len(row) || row[column] == "" {
					continue
				}
				v, err := strconv.ParseFloat(row[column], 64)
				if err != nil {
					t.Errorf("%q: %v", row, err)
				}
				medians[[3]string{units[column], row[0], name}] = v
			}
		case slices.Contains(row, "CI"):
			units = row
		default:
			strategies = row
			if row[1] != "mutex" {
				t.Errorf("the baseline is not benchstat's base: %q", row)
			}
		}
	}
	return medians
}

func TestBenchNamesAndValues(t *testing.T) {
	run := func(index int, change func(*results.Run)) results.Run {
		r := testRun(index)
		r.Cell.Workload, r.Cell.Storage = "my load/50=1-8", "disk-4"
		change(r)
		return *r
	}
	s := &results.Sweep{Runs: []results.Run{
		run(0, func(r *results.Run) { r.Cell.RecordSize = 100 }),
		run(1, func(r *results.Run) {
			r.Cell.RecordSize = 1024
			r.Metrics = map[string]float64{
				results.MetricOps: math.NaN(), results.MetricProduceOps: math.Inf(1), results.MetricCPU: 0,
				results.LatencyMetric("produce", "p50"): 0, results.MetricAllocs: 0, "invented-metric": 4,
			}
		}),
		run(2, func(r *results.Run) { r.Metrics = nil }),
		run(3, func(r *results.Run) { r.Verification.Error = "wrong" }),
	}}
	s.Meta.Environment.CPUModel = "A  CPU\n of two lines"
	want := `cpu: A CPU of two lines
Unit op/s better=higher
Unit allocs/op better=lower
Unit op/s primary=my_load_50_1_8
BenchmarkRun/workload=my_load_50_1_8/strategy=mutex/record-size=100/storage=disk_4	400	1000 op/s
BenchmarkRun/workload=my_load_50_1_8/strategy=mutex/record-size=1024/storage=disk_4	1	0 allocs/op
`
	if got := bench(t, s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for line := range strings.Lines(bench(t, resultstest.Sweep(1))) {
		if name, _, _ := strings.Cut(line, "\t"); regexp.MustCompile(`-\d+$`).MatchString(name) {
			t.Errorf("%s ends in what is read as GOMAXPROCS", name)
		}
	}
}
