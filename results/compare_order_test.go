package results_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// compareTexts compares two files with these texts.
func compareTexts(t *testing.T, old, new string, o results.CompareOptions) (*results.Changes, error) {
	t.Helper()
	dir := tempDir(t)
	before, after := filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")
	write(t, before, old)
	write(t, after, new)
	defer os.RemoveAll(dir)
	return results.Compare(before, after, o)
}

func mustCompareTexts(t *testing.T, old, new string, o results.CompareOptions) *results.Changes {
	t.Helper()
	c, err := compareTexts(t, old, new, o)
	if err != nil {
		t.Fatalf("%v\nold\n%snew\n%s", err, old, new)
	}
	return c
}

// benchLines are six lines of a benchmark, about a value in ns/op, or in another unit.
func benchLines(name string, value float64, unit string) []string {
	var lines []string
	for i := range 6 {
		lines = append(lines, fmt.Sprintf("Benchmark%s 100 %.6g %s", name, value*(1+0.001*float64(i)), unit))
	}
	return lines
}

func joined(lines ...[]string) string { return strings.Join(slices.Concat(lines...), "\n") + "\n" }

// What a file of mixed metrics comes to hangs neither on the order of its lines nor on that of their metrics.
func TestCompareIsBlindToOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	line := func(values ...string) []string { return []string{"BenchmarkA 1 " + strings.Join(values, " ")} }
	late := func(digit int, micros string) []string {
		return line(fmt.Sprintf("%s%de-05 e2e-p90-sec", micros, digit), fmt.Sprintf("100%d op/s", digit))
	}
	var old, slow, times [][]string
	slow = append(slow, line("1000 op/s"))
	for i := range 6 {
		old = append(old, late(i, "1."))
		times = append(times, line(fmt.Sprintf("%d MB/s", 100+i), fmt.Sprintf("%d ns/op", 3000+i), "7 allocs/op"))
		if i > 0 {
			slow = append(slow, late(i, "3."))
		}
	}
	normal := joined(line("1000 ns/op", "100 MB/s"), line("1001 ns/op", "101 MB/s"), line("1002 ns/op", "102 MB/s"))
	for name, c := range map[string]struct {
		old  string
		new  [][]string
		want float64 // the ratio of what is worse
	}{
		"a run without the metric": {joined(old...), slow, 2.6},
		"go test":                  {normal, times, 3},
		"of a workload":            {strings.ReplaceAll(joined(old...), "A 1", "Run/workload=tail/strategy=actor 1"), slow, 2.6},
	} {
		o := results.CompareOptions{AllowSequential: true, Primaries: map[string]string{"tail": "e2e-p90-sec"}}
		var first []results.Change
		for range 20 {
			var lines []string
			for _, fields := range c.new {
				words := strings.Fields(fields[0])
				values := slices.Collect(slices.Chunk(words[2:], 2))
				random.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
				lines = append(lines, strings.Join(slices.Concat(words[:2], slices.Concat(values...)), " "))
			}
			random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			shuffled := joined(lines)
			if name == "of a workload" {
				shuffled = strings.ReplaceAll(shuffled, "A 1", "Run/workload=tail/strategy=actor 1")
			}
			got := mustCompareTexts(t, c.old, shuffled, o)
			if first == nil {
				first = got.Changes
			}
			worse := got.Regressions()
			if got.Outcome() != results.Regression || len(worse) != 1 || worse[0].Ratio < c.want-0.1 || worse[0].Ratio > c.want+0.1 {
				t.Fatalf("%s: %s, %+v\n%s", name, got.Outcome(), got.Changes, shuffled)
			}
			for i := range first {
				if got.Changes[i].Interval != first[i].Interval || got.Changes[i].Verdict != first[i].Verdict {
					t.Fatalf("%s: %+v, in another order %+v", name, got.Changes[i], first[i])
				}
			}
		}
	}
}

// junk is what stands between the results of benchmarks, and is none.
var junk = []string{
	"", "PASS", "ok  \texample.com/a\t1.0s", "warning: cache disabled, using slow path", "warning: again", "info: 12", "pkg: loaded",
	"time: 12:03:01", "key: value", "key: other", "key:", "2026/01/02 03:04:05 started", "=== RUN   TestA", "--- PASS: TestA (0.00s)",
	"BenchmarkA", "Benchmark of everything", "Unit tests passed", "\tlog.go:12: text", "panic: no", "gc: on", "goos: linux", "\x1b[31mred\x1b[0m",
	"BenchmarkB-8   \twarning: slow", "100\t1000 ns/op", "note: BenchmarkA-8 1 5 ns/op",
}

// sprinkle puts junk between lines.
func sprinkle(random *rand.Rand, lines []string) []string {
	var mixed []string
	for _, line := range lines {
		for range random.IntN(3) {
			mixed = append(mixed, junk[random.IntN(len(junk))])
		}
		mixed = append(mixed, line)
	}
	return mixed
}

// A benchmark that is three times slower, or that is not there, never passes, whatever stands between the lines.
func TestCompareNeverPassesWhatIsSlowOrGone(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 2))
	names := []string{"A-8", "B-8", "C/size=8-8", "D/size=16-8"}
	for try := range 50 {
		victim := random.IntN(len(names))
		var old, slow, gone []string
		for i, name := range names {
			lines := benchLines(name, 1000*float64(i+1), "ns/op")
			old = append(old, lines...)
			if i != victim {
				slow, gone = append(slow, lines...), append(gone, lines...)
			} else {
				slow = append(slow, benchLines(name, 3000*float64(i+1), "ns/op")...)
			}
		}
		if try%2 == 0 {
			old = sprinkle(random, old)
		}
		if try%3 > 0 {
			random.Shuffle(len(slow), func(i, j int) { slow[i], slow[j] = slow[j], slow[i] })
		}
		slow, gone = sprinkle(random, slow), sprinkle(random, gone)
		for _, c := range []struct {
			new  []string
			o    results.CompareOptions
			want string
		}{
			{slow, results.CompareOptions{}, "slow"}, {slow, results.CompareOptions{AllowSequential: true, Threshold: 0.5}, "slow"},
			{gone, results.CompareOptions{}, "gone"}, {gone, results.CompareOptions{RequireAll: true}, "gone"},
		} {
			got, err := compareTexts(t, joined(old), joined(c.new), c.o)
			if err != nil {
				t.Fatalf("%v\n%s", err, joined(c.new))
			}
			if got.Outcome() == results.NoRegression || c.o.RequireAll && got.Outcome() != results.Regression {
				t.Fatalf("%s is %s, with %+v: %s\nold\n%snew\n%s", names[victim], c.want, c.o, got.VerdictText(), joined(old), joined(c.new))
			}
		}
	}
}

// Lines of a log change nothing about benchmarks that are there on both sides.
func TestCompareTakesNoLogForConfiguration(t *testing.T) {
	a, b, slow := benchLines("A-8", 1000, "ns/op"), benchLines("B-8", 1000, "ns/op"), benchLines("B-8", 3000, "ns/op")
	one, other := []string{"warning: cache disabled, using slow path"}, []string{"warning: 1 of 2"}
	for name, c := range map[string]struct {
		old, new string
		want     results.Outcome
	}{
		"between benchmarks":  {joined(a, b), joined(a, one, slow), results.Regression},
		"within one":          {joined(a, b), joined(a, slow[:3], one, slow[3:]), results.Regression},
		"several within one":  {joined(a, b), joined(a, slow[:2], one, slow[2:4], other, slow[4:]), results.Regression},
		"in the old file":     {joined(a[:1], one, a[1:], other, b), joined(a, slow), results.Regression},
		"elsewhere in both":   {joined(a, one, b), joined(a, b[:2], one, b[2:]), results.NoRegression},
		"nothing slower":      {joined(a, b), joined(a[:1], one, a[1:], b[:2], other, b[2:]), results.NoRegression},
		"a date each":         {joined([]string{"date: 1"}, a[:3], []string{"date: 2"}, a[3:]), joined([]string{"date: 3"}, a[:2], []string{"date: 4"}, a[2:]), results.NoRegression},
		"fewer, and separate": {joined(a, b), joined(a, b[:2], one, b[2:5]), results.Inconclusive},
	} {
		got := mustCompareTexts(t, c.old, c.new, results.CompareOptions{AllowSequential: true, RequireAll: true})
		if got.Outcome() != c.want || len(got.OnlyOld)+len(got.OnlyNew) > 0 {
			t.Errorf("%s: %s, only old %q, only new %q, %+v", name, got.Outcome(), got.OnlyOld, got.OnlyNew, got.Changes)
		}
		if !slices.ContainsFunc(got.Warnings, func(w string) bool { return strings.HasPrefix(w, "lines that begin with ") }) {
			t.Errorf("%s: no warning on the lines: %q", name, got.Warnings)
		}
	}
}
