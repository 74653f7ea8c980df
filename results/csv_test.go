package results_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/results/resultstest"
)

// csvRows reads a sweep's table back: a row is a map by column.
func csvRows(t *testing.T, s *results.Sweep) (columns []string, rows []map[string]string) {
	t.Helper()
	var out bytes.Buffer
	if err := s.WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\r\n"); lines != strings.Count(out.String(), "\n") || lines != 1+len(s.Cells()) {
		t.Errorf("%d lines for %d cells", lines, len(s.Cells()))
	}
	for _, bad := range []string{"NaN", "Inf"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("there is %s in it", bad)
		}
	}
	all, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range all[1:] {
		row := make(map[string]string)
		for i, field := range fields {
			row[all[0][i]] = field
		}
		rows = append(rows, row)
	}
	return all[0], rows
}

func TestCSVIsReadBackWhole(t *testing.T) {
	s := resultstest.Sweep(3)
	p99 := results.LatencyMetric(results.KindEndToEnd, "p99")
	for i := range s.Runs {
		run := &s.Runs[i]
		switch {
		case run.Cell.Workload == "ingest" && run.Cell.Strategy == "actor" && run.Block == 2:
			run.Verification.Error = "offset 17 follows offset 15,\nand \"that\" is wrong"
		case run.Cell.Workload == "tail" && run.Cell.Strategy == "rwmutex":
			run.Bounds = map[string]float64{p99: 1.5 * run.Metrics[p99]} // the load itself was late
			delete(run.Metrics, p99)
		case run.Cell.Workload == "tail" && run.Cell.Strategy == "atomics" && run.Block < 2:
			run.Overloaded = true
			delete(run.Metrics, p99)
		case run.Cell.Workload == "mix" && run.Cell.Strategy == "raw":
			run.Metrics[results.MetricCPU], run.Metrics[results.MetricSwitches] = math.NaN(), math.Inf(1)
		}
	}
	columns, rows := csvRows(t, s)
	number := func(row map[string]string, column string) (float64, bool) {
		t.Helper()
		if !slices.Contains(columns, column) {
			t.Fatalf("no column %q", column)
		}
		if row[column] == "" {
			return 0, false
		}
		v, err := strconv.ParseFloat(row[column], 64)
		if err != nil {
			t.Errorf("%s: %v", column, err)
		}
		return v, true
	}
	want := func(row map[string]string, column string, v float64, known bool) {
		t.Helper()
		if math.IsNaN(v) {
			v, known = 0, false
		}
		if got, ok := number(row, column); ok != known || known && got != v {
			t.Errorf("%s of %s/%s: %q, want %v, %t", column, row["workload"], row["strategy"], row[column], v, known)
		}
	}
	bounds := 0
	for i, c := range s.Cells() {
		row := rows[i]
		if row["workload"] != c.Cell.Workload || row["strategy"] != c.Cell.Strategy || row["arm"] != c.Cell.Arm || row["storage"] != c.Cell.Storage {
			t.Fatalf("row %d is of %v, want %v", i, row, c.Cell)
		}
		if c.Cell.Workers > 0 {
			want(row, "workers", float64(c.Cell.Workers), true)
			want(row, "produce", c.Cell.ProducePercent, true)
		}
		want(row, "produce-rate", c.Cell.ProduceRate, true)
		want(row, "runs", float64(c.Runs), true)
		want(row, "valid", float64(c.Valid), true)
		want(row, "overloaded", float64(c.Overloaded), true)
		for _, metric := range results.MetricNames() {
			if !slices.Contains(columns, metric+"-median") {
				if len(c.Values(metric)) > 0 {
					t.Errorf("no column of %s", metric)
				}
				continue
			}
			v, ok := c.Median(metric)
			want(row, metric+"-median", v, ok)
			v, ok = c.Min(metric)
			want(row, metric+"-min", v, ok)
			v, ok = c.Max(metric)
			want(row, metric+"-max", v, ok)
			if v, ok = c.Bound(metric); ok || slices.Contains(columns, metric+"-bound") {
				want(row, metric+"-bound", v, ok)
			}
			if ok {
				bounds++
			}
		}
		v, ok := c.OfRaw()
		want(row, "of-raw", v, ok)
	}
	if bounds == 0 {
		t.Error("no bound was compared")
	}
	effects := s.Effects()
	compared := 0
	for _, row := range rows {
		if row["metric"] != "" {
			compared++
		}
	}
	if compared != len(effects) {
		t.Errorf("%d comparisons, want %d", compared, len(effects))
	}
	for _, e := range effects {
		at := slices.IndexFunc(rows, func(row map[string]string) bool {
			return row["workload"] == e.Workload && row["strategy"] == e.Strategy && row["arm"] == ""
		})
		row := rows[at]
		if row["metric"] != e.Metric || row["baseline"] != e.Baseline || row["verdict"] != e.Verdict.String() ||
			row["reason"] != strings.ReplaceAll(e.Reason, "\n", " ") {
			t.Errorf("row %v, want %+v", row, e)
		}
		want(row, "ratio", e.Ratio, true)
		want(row, "low", e.Low, true)
		want(row, "high", e.High, true)
		want(row, "level", e.Level, true)
		want(row, "blocks", float64(e.Blocks), true)
	}
}

// Names may come from files, and a spreadsheet would execute a formula.
func TestCSVHasNoFormulas(t *testing.T) {
	for name, want := range map[string]string{
		"=1+2": "'=1+2", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "' =1", "\r\n-1": "'  -1",
		"a=b": "a=b", `comma, "quote"`: `comma, "quote"`, "line\nbreak": "line break", "": "",
	} {
		run := testRun(0)
		run.Cell.Workload, run.Cell.Strategy, run.Cell.Build = name, name, name
		s := &results.Sweep{Runs: []results.Run{*run}}
		_, rows := csvRows(t, s)
		for _, column := range []string{"workload", "strategy", "build"} {
			if got := rows[0][column]; got != want {
				t.Errorf("%s %q is %q, want %q", column, name, got, want)
			}
		}
	}
}

func TestCSVOfNothing(t *testing.T) {
	if columns, rows := csvRows(t, &results.Sweep{}); len(rows) != 0 || columns[0] != "workload" || columns[len(columns)-1] != "of-raw" {
		t.Errorf("columns %q, rows %q", columns, rows)
	}
}
