package results_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// Settings and packages keep benchmarks of one name apart, and what of them is missing is found.
func TestCompareFindsMissingVariants(t *testing.T) {
	a, slow := benchLines("A-8", 1000, "ns/op"), benchLines("A-8", 3000, "ns/op")
	set := func(lines ...string) []string { return lines }
	on, off := set("gc: on"), set("gc: off")
	one, two := set("pkg: x/one"), set("pkg: x/two")
	for name, c := range map[string]struct {
		old, new         string
		want             results.Outcome
		onlyOld, onlyNew []string
	}{
		"both":              {joined(on, a, off, slow), joined(off, slow, on, a), results.NoRegression, nil, nil},
		"slower in one":     {joined(on, a, off, a), joined(on, a, off, slow), results.Inconclusive, nil, nil},
		"one setting less":  {joined(on, a, off, a), joined(on, a), results.Inconclusive, set("A-8 gc:off"), nil},
		"one more":          {joined(on, a), joined(on, a, off, slow), results.Inconclusive, nil, set("A-8 gc:off")},
		"a package less":    {joined(one, a, two, a), joined(one, a), results.Inconclusive, set("A-8 pkg:x/two"), nil},
		"a package more":    {joined(one, a), joined(one, a, two, slow), results.NoRegression, nil, set("A-8 pkg:x/two")},
		"half in a package": {joined(one, a), joined(one, a[:3], two, slow[3:]), results.Inconclusive, nil, set("A-8 pkg:x/two")},
		"no package":        {joined(one, a), joined(a), results.NoRegression, nil, nil},
		"which package":     {joined(one, a, two, a, benchLines("B-8", 9, "ns/op")), joined(a, two, benchLines("B-8", 9, "ns/op")), results.Inconclusive, set("A-8 pkg:x/one", "A-8 pkg:x/two"), set("A-8")},
		"processors":        {joined(a, benchLines("B-8", 9, "ns/op")), joined(benchLines("A-4", 3000, "ns/op"), benchLines("B-8", 9, "ns/op")), results.Inconclusive, set("A-8"), set("A-4")},
		"new, after a failure": {joined(a, set("--- FAIL: BenchmarkB")), joined(a, benchLines("B-8", 9, "ns/op")), results.Inconclusive,
			nil, set("B-8")},
		"new, after a loss": {joined(a, set("BenchmarkB-8 \twarning")), joined(a, benchLines("B-8", 9, "ns/op")), results.Inconclusive, nil, set("B-8")},
		"new":               {joined(a), joined(a, benchLines("B-8", 9, "ns/op")), results.NoRegression, nil, set("B-8")},
	} {
		got := mustCompareTexts(t, c.old, c.new, results.CompareOptions{})
		if got.Outcome() != c.want || !slices.Equal(got.OnlyOld, c.onlyOld) || !slices.Equal(got.OnlyNew, c.onlyNew) {
			t.Errorf("%s: %s, only old %q, only new %q, %+v", name, got.Outcome(), got.OnlyOld, got.OnlyNew, got.Changes)
		}
		got.Options.RequireAll = true
		if (got.Outcome() == results.Regression) != (len(c.onlyOld) > 0) {
			t.Errorf("%s: %s where all are required", name, got.Outcome())
		}
	}
}

// What is no measurement, or missing, leaves its benchmark without a verdict, and no other.
func TestCompareOfIncompleteBenchmarks(t *testing.T) {
	const line = "BenchmarkA-8 100 1000 ns/op 5 MB/s\n"
	good := strings.Repeat(line, 5) + joined(benchLines("B-8", 9, "ns/op"))
	for bad, want := range map[string]string{
		"BenchmarkA-8 100 NaN ns/op":                    "new.txt:12: NaN ns/op is no measurement",
		"BenchmarkA-8 100 +Inf ns/op":                   "new.txt:12: +Inf ns/op is no measurement",
		"BenchmarkA-8 100 -5 ns/op":                     "new.txt:12: -5 ns/op is no measurement",
		"BenchmarkA-8 100 1e999 ns/op":                  "new.txt:12: parsing measurement: value out of range",
		"BenchmarkA-8 100 fast ns/op":                   "new.txt:12: parsing measurement: invalid syntax",
		"BenchmarkA-8 100 15BenchmarkA-8 100 99 ns/op":  "new.txt:12: parsing measurement: invalid syntax",
		"BenchmarkA-8 100 1500":                         "new.txt:12: missing units",
		"BenchmarkA-8 100":                              "new.txt:12: missing measurements",
		"BenchmarkA-8   \t":                             "new.txt:12: missing iteration count",
		"BenchmarkA-8 100 1500 n":                       "new.txt have no sec/op",
		"BenchmarkA-8 100 5 MB/s":                       "new.txt have no sec/op",
		"BenchmarkA-8 0 1500 ns/op":                     "new.txt:12: 0 iterations are no measurement",
		"BenchmarkA-8 100 1000 ns/op 2000 ns/op 5 MB/s": "new.txt:12: there are two values of sec/op",
		// These are none of what is compared.
		"BenchmarkA-8 100 1000 ns/op NaN MB/s":       "",
		"BenchmarkA-8 100 1000 ns/op 1e308 MB/s":     "",
		"BenchmarkA-8 100 1000 ns/op -1 x":           "",
		"BenchmarkA-8 100 1000 ns/op 9 allocs/op":    "",
		"BenchmarkA-8 100 1000 ns/op 1000 ns/op":     "",
		"BenchmarkA-8 100 1000 ns/op 5 MB/s 5e6 B/s": "",
	} {
		c := mustCompareTexts(t, good, good+bad+"\n", results.CompareOptions{})
		byName := make(map[string]results.Change)
		for _, d := range c.Changes {
			byName[d.Benchmark] = d
		}
		d := byName["A-8"]
		if (d.Verdict == results.Undecided) != (want != "") || !strings.HasSuffix(d.Reason, want) || len(c.Undecided()) > 1 || byName["B-8"].Verdict != results.NoDifference {
			t.Errorf("%s: %+v", bad, c.Changes)
		}
		if bad := strings.Contains(want, "new.txt:12"); bad && !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("%s: no warning: %q", want, c.Warnings)
		}
	}
	// What is worse without it stays so.
	slow := strings.ReplaceAll(good, " 1000 ns", " 3000 ns") + "BenchmarkA-8 100 NaN ns/op\n"
	c := mustCompareTexts(t, good, slow, results.CompareOptions{AllowSequential: true})
	if c.Outcome() != results.Regression || c.Regressions()[0].Reason == "" {
		t.Errorf("%+v", c.Changes)
	}
}

// A metric that only one side has is no verdict where it is the one to judge by.
func TestCompareOfMetricsOfOneSide(t *testing.T) {
	rates, times := benchLines("A", 1000, "op/s"), benchLines("A", 1000, "ns/op")
	b := benchLines("B", 1000, "ns/op")
	both := func(values string) string {
		return strings.ReplaceAll(joined(rates), " op/s", " op/s "+values)
	}
	for name, c := range map[string]struct {
		old, new string
		want     results.Outcome
		missing  []string
	}{
		"another unit":       {joined(times, b), joined(rates, b), results.Inconclusive, []string{"A, sec/op"}},
		"the other way":      {joined(rates, b), joined(times, b), results.Inconclusive, nil},
		"one less":           {both("5 p99-ns"), joined(rates), results.Inconclusive, []string{"A, p99-sec"}},
		"one more":           {joined(rates), both("5 p99-ns"), results.NoRegression, nil},
		"unknown, and less":  {both("5 score"), joined(rates), results.NoRegression, nil},
		"NaN on both":        {both("NaN p99-ns"), both("NaN p99-ns"), results.NoRegression, nil},
		"NaN now":            {both("5 p99-ns"), both("NaN p99-ns"), results.Inconclusive, []string{"A, p99-sec"}},
		"allocations, anew":  {joined(times), strings.ReplaceAll(joined(times), "ns/op", "ns/op 5 B/op 7 allocs/op"), results.NoRegression, nil},
		"in one is a second": {both("100 p99-ns"), both("300 p99-ns"), results.Inconclusive, nil},
	} {
		got := mustCompareTexts(t, c.old, c.new, results.CompareOptions{})
		if got.Outcome() != c.want || !slices.Equal(got.Missing(), c.missing) {
			t.Errorf("%s: %s, missing %q, %+v", name, got.Outcome(), got.Missing(), got.Changes)
		}
	}
}

// The lines of a bench.txt say which metric a workload is judged by; presets are known without.
func TestComparePrimaryOfWorkloads(t *testing.T) {
	known := map[string]string{"tail": "e2e-p90-sec", "mix": "op/s"}
	for _, c := range []struct{ unit, workload, values, want string }{
		{"", "tail", "5 op/s 1 e2e-p90-sec", "e2e-p90-sec"},
		{"", "tail", "5 op/s 9 ns/op", "sec/op"},
		{"", "own", "5 op/s 1 e2e-p90-sec", "e2e-p90-sec op/s"},
		{"Unit op/s better=higher primary=own,tail\n", "own", "5 op/s 1 e2e-p90-sec", "op/s"},
		{"Unit op/s better=higher primary=own,tail\n", "tail", "5 op/s 1 e2e-p90-sec", "op/s"},
		{"Unit op/s primary=own\nUnit e2e-p90-sec primary=other\n", "mix", "5 op/s 1 e2e-p90-sec", "op/s"},
	} {
		file := c.unit + strings.Repeat("BenchmarkRun/workload="+c.workload+"/strategy=actor 1 "+c.values+"\n", 3)
		got := mustCompareTexts(t, file, file, results.CompareOptions{Primaries: known})
		metrics := make(map[string]bool)
		for _, d := range got.Changes {
			metrics[d.Metric] = true
		}
		if found := strings.Join(slices.Sorted(maps.Keys(metrics)), " "); found != c.want {
			t.Errorf("%+v: judged by %s", c, found)
		}
	}
}
