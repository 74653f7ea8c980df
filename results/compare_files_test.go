package results_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/results/resultstest"
)

func TestCompareReadsWhatGoTestPrints(t *testing.T) {
	const old = `goos: linux
goarch: amd64
pkg: example.com/a
cpu: Some CPU
BenchmarkWrite/size=8-8   	     100	      1000 ns/op	  80.00 MB/s	      16 B/op	       2 allocs/op
BenchmarkWrite/size=8-8   	     100	      1010 ns/op	  79.00 MB/s	      16 B/op	       2 allocs/op
BenchmarkWrite/size=8-8   	     100	       990 ns/op	  81.00 MB/s	      16 B/op	       2 allocs/op
BenchmarkGone-8           	     100	       990 ns/op
PASS
ok  	example.com/a	1.0s
pkg: example.com/b
BenchmarkWrite/size=8-8   	     100	         0 ns/op	       0 B/op	       0 allocs/op
BenchmarkWrite/size=8-8   	     100	         0 ns/op	       0 B/op	       0 allocs/op
`
	dir := t.TempDir()
	before, after := filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")
	write(t, before, old)
	write(t, after, strings.NewReplacer("      1000 ns", "2000 ns", "1010", "2010", "     990 ns", "1990 ns", "BenchmarkGone", "BenchmarkAdded").Replace(old))
	c, err := results.Compare(before, after, results.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Changes) != 2 || c.Changes[0].Metric != "sec/op" || c.Changes[0].Verdict != results.Worse || math.Abs(c.Changes[0].Old.Value-1e-6) > 1e-9 ||
		c.Changes[1].Verdict != results.NoDifference || c.Outcome() != results.Inconclusive {
		t.Errorf("%+v", c)
	}
	if !slices.Equal(c.OnlyOld, []string{"Gone-8 pkg:example.com/a"}) || !slices.Equal(c.OnlyNew, []string{"Added-8 pkg:example.com/a"}) {
		t.Errorf("only old %q, only new %q", c.OnlyOld, c.OnlyNew)
	}
	for _, metric := range []string{"ns/op", "sec/op"} {
		again, err := results.Compare(before, after, results.CompareOptions{Metrics: []string{metric}})
		if err != nil || !reflect.DeepEqual(again.Changes, c.Changes) {
			t.Errorf("%s: %+v, %v", metric, again, err)
		}
	}
	if c, err := results.Compare(before, after, results.CompareOptions{Metrics: []string{"allocs/op", "MB/s"}}); err != nil || len(c.Changes) != 3 || len(c.Undecided()) != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// Two dates or commits do not keep files from being compared, and a setting that differs within one does.
func TestCompareKnowsWhatBelongsToAName(t *testing.T) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")
	line := "BenchmarkA 1 5 ns/op\nBenchmarkA 1 6 ns/op\n"
	write(t, before, "commit: abc\ngc: on\n"+line+"gc: off\n"+line)
	write(t, after, "commit: def\ngc: on\n"+line+"gc: off\n"+line)
	c, err := results.Compare(before, after, results.CompareOptions{})
	if err != nil || len(c.Changes) != 2 || c.Changes[0].Benchmark != "A gc:on" || c.Changes[0].Old.Runs != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestCompareDirections(t *testing.T) {
	dir := t.TempDir()
	compare := func(unit, oldLine, newLine string) (*results.Changes, error) {
		t.Helper()
		before, after := filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")
		file := func(line, values string) string {
			text := line + "\n"
			for _, v := range strings.Fields(values) {
				text += "BenchmarkA 1 " + v + " " + unit + "\n"
			}
			return text
		}
		write(t, before, file(oldLine, "10 11 10 11"))
		write(t, after, file(newLine, "20 21 20 21"))
		return results.Compare(before, after, results.CompareOptions{})
	}
	for _, c := range []struct {
		unit, old, new string
		want           results.Verdict
	}{
		{"ns/op", "", "", results.Worse}, {"MB/s", "", "", results.Better}, {"rows/s", "", "", results.Better}, {"p99-ns", "", "", results.Worse},
		{"hits/op", "", "", results.Worse}, {"score", "", "", results.Undecided}, {"score", "", "Unit score better=higher", results.Better},
		{"score", "Unit score better=lower", "", results.Worse}, {"hits/op", "Unit hits/op better=higher", "Unit hits/op better=higher", results.Better},
	} {
		got, err := compare(c.unit, c.old, c.new)
		if err != nil || got.Changes[0].Verdict != c.want {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	if _, err := compare("score", "Unit score better=lower", "Unit score better=higher"); !errors.Is(err, results.ErrIncomparable) {
		t.Errorf("%v", err)
	}
}

func TestCompareADirectoryWithAFile(t *testing.T) {
	old, new := alternating(0.8)
	dir := sweepDir(t, "new", new)
	file := filepath.Join(t.TempDir(), "bench.txt")
	write(t, file, bench(t, old))
	c, err := results.Compare(file, dir, results.CompareOptions{AllowSequential: true})
	if err != nil || c.Outcome() != results.Regression || c.Interleaved {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, d := range c.Changes {
		if strings.Contains(d.Benchmark, "workload=tail") != (d.Metric == "e2e-p99-sec") {
			t.Errorf("%s: %s is no primary metric", d.Benchmark, d.Metric)
		}
	}
}

func TestCompareRefusesBadInput(t *testing.T) {
	dir := t.TempDir()
	const good = "BenchmarkA 1 5 ns/op\n"
	path := func(name string) string { return filepath.Join(dir, name) }
	write(t, path("good.txt"), good)
	write(t, path("same.txt"), good)
	if err := errors.Join(os.Mkdir(path("empty-dir"), 0o755), os.Symlink("good.txt", path("link"))); err != nil {
		t.Fatal(err)
	}
	written := copySweep(inventedSweep())
	written.Dir = sweepDir(t, "sweep", written)
	sweep := written.Dir
	if err := written.WriteFiles(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"missing":         {want: "no such file or directory"},
		"empty":           {text: " ", want: "has no results of benchmarks"},
		"prose":           {text: "PASS\nok\n", want: "has no results of benchmarks"},
		"names":           {text: "BenchmarkA\nBenchmarkB\n", want: "has no results of benchmarks"},
		"binary":          {text: "\x7fELF\x00\x00" + good, want: "is binary, or not text in UTF-8"},
		"two CPUs":        {text: "cpu: A\n" + good + "cpu: B\n" + good, want: "has results of several machines: cpu is A and B"},
		"other benchmark": {text: "BenchmarkB 1 5 ns/op\n", want: "no benchmark is in both; the one has A, the other B"},
		"other unit":      {text: "BenchmarkA 1 5 op/s\n", want: "no benchmark has the same metric in both"},
		"GOMAXPROCS":      {text: "BenchmarkA-4 1 5 ns/op\n", want: "GOMAXPROCS is 1 in "},
		"long line":       {text: good + "BenchmarkA 1 5 " + strings.Repeat("x", 1<<17) + "\n", want: ":2: the line has more than 65535 bytes"},
		"empty-dir":       {want: "is not the directory of a sweep"},
		"link":            {want: "are the same results"},
		"good.txt":        {want: "are the same results"},
	} {
		if c.text != "" {
			write(t, path(name), c.text)
		}
		_, err := results.Compare(path("good.txt"), path(name), results.CompareOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(strings.TrimSpace(err.Error()), "\n") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for _, pair := range [][2]string{{sweep, sweep}, {sweep, filepath.Join(sweep, "bench.txt")}} {
		if _, err := results.Compare(pair[0], pair[1], results.CompareOptions{}); err == nil || !strings.Contains(err.Error(), "are the same results") {
			t.Errorf("%v: %v", pair, err)
		}
	}
	if c, err := results.Compare(path("good.txt"), path("same.txt"), results.CompareOptions{}); err != nil || c.Outcome() != results.Inconclusive {
		t.Errorf("one run on each side: %+v, %v", c, err)
	}
	write(t, path("torn.txt"), good+"BenchmarkA 1\nBenchmarkA-- some log\n"+good)
	c, err := results.Compare(path("good.txt"), path("torn.txt"), results.CompareOptions{})
	if err != nil || len(c.Changes) != 1 || c.Changes[0].New.Runs != 2 || !slices.ContainsFunc(c.Warnings, func(w string) bool {
		return strings.Contains(w, "torn.txt:2: missing measurements; the line is left out")
	}) {
		t.Errorf("%+v, %v", c, err)
	}
}

// A file that would take more memory to read than a machine may have is refused before it is read.
func TestCompareRefusesALargeFile(t *testing.T) {
	dir := tempDir(t)
	small, large := filepath.Join(dir, "small.txt"), filepath.Join(dir, "large.txt")
	write(t, small, "BenchmarkA 1 5 ns/op\n")
	write(t, large, "BenchmarkA 1 5 ns/op\n")
	if err := os.Truncate(large, 64<<20+1); err != nil {
		t.Fatal(err)
	}
	want := "results: " + large + " is larger than 64 MiB, and no larger file of benchmarks is read"
	for _, pair := range [][2]string{{small, large}, {large, small}} {
		if _, err := results.Compare(pair[0], pair[1], results.CompareOptions{}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A copy of a sweep is no second one, and one that ran at the same time has disturbed the first.
func TestCompareRefusesACopy(t *testing.T) {
	dir := tempDir(t)
	first, copied := filepath.Join(dir, "first"), filepath.Join(dir, "copied")
	if err := resultstest.Write(first, 1); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(copied, os.DirFS(first)); err != nil {
		t.Fatal(err)
	}
	if _, err := results.Compare(first, copied, results.CompareOptions{}); !errors.Is(err, results.ErrIncomparable) || !strings.Contains(err.Error(), "is in "+first+" and in "+copied) {
		t.Errorf("%v, want ErrIncomparable", err)
	}
}
