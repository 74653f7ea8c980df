package results_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"tailrace/results"
	"tailrace/results/resultstest"
)

// A log that lost lines, or is that of another run, is not taken for the latencies of a run.
func TestLatencyLogsWithoutAllSamples(t *testing.T) {
	s := written(t)
	s.Runs[0].Samples = map[string]int64{"produce": 3, "consume": 2}
	s.Runs[1].Samples = map[string]int64{"e2e": 1}
	want := s.Runs[0].Latency + " has 2 produce latencies, and the run had 3"
	if _, err := s.Histograms(&s.Runs[0]); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if err := s.WriteFiles(); err != nil {
		t.Fatal(err)
	}
	warnings := strings.Join(s.Warnings, "\n")
	for _, want := range []string{"run 0 are in no .hgrm file: ", "run 1 are in no .hgrm file: ", "e2e latencies, and the run had 1", "omb has no file for `mutex` of mix: "} {
		if !strings.Contains(warnings, want) {
			t.Errorf("no warning %q in %q", want, s.Warnings)
		}
	}
	if got := names(t, s, "latency"); len(got) != 3 { // the logs
		t.Errorf("latencies %q", got)
	}
	if got := names(t, s, "omb"); len(got) != 0 {
		t.Errorf("results %q", got)
	}
}

func TestLoadRefusesARunTwice(t *testing.T) {
	s := written(t)
	path := filepath.Join(s.Dir, "runs.jsonl")
	lines := read(t, path)
	first, _, _ := strings.Cut(lines, "\n")
	write(t, path, lines+strings.Replace(first, `"index":0`, `"index":100`, 1)+"\n")
	want := path + ": run 100 is run 0 once more, of the same host, start, seed and cell"
	if _, err := results.Load(s.Dir); err == nil || err.Error() != "results: "+want {
		t.Errorf("%v, want %s", err, want)
	}
}

// What was being written when a process was ended is removed, but not what another may be writing now.
func TestWriteFilesRemovesLeftovers(t *testing.T) {
	s := written(t)
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{".17.tmp", "latency/.18.tmp", "omb/.19.tmp", "latency/.mine.tmp"} {
		path := filepath.Join(s.Dir, name)
		write(t, path, "half")
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(s.Dir, "latency", ".20.tmp"), "half")
	if err := s.WriteFiles(); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, folder := range []string{"", "latency", "omb"} {
		for _, name := range names(t, s, folder) {
			if strings.HasSuffix(name, ".tmp") {
				left = append(left, name)
			}
		}
	}
	if want := []string{".20.tmp", ".mine.tmp"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

// Nothing waits for what is written into a pipe.
func TestNoFileIsRead(t *testing.T) {
	for _, name := range []string{"meta.json", "runs.jsonl", "latency/0000-mix-mutex-b1.hlog"} {
		s := written(t)
		path := filepath.Join(s.Dir, name)
		if err := syscall.Unlink(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o644); err != nil {
			t.Skip(err)
		}
		_, err := results.Load(s.Dir)
		if strings.HasSuffix(name, ".hlog") {
			_, err = s.Histograms(&s.Runs[0])
		}
		if want := "results: open " + path + ": not a regular file"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// What foreign results are named does not reach a terminal as a command.
func TestControlCharactersAreNotWritten(t *testing.T) {
	const nasty = "a\x1b[2J\u009b31m\nb\a"
	s := resultstest.Sweep(1)
	for i := range s.Runs {
		run := &s.Runs[i]
		run.Cell.Workload += nasty
		if run.Cell.Strategy == "actor" {
			run.Cell.Strategy += nasty
		}
	}
	for i := range s.Meta.Workloads {
		w := &s.Meta.Workloads[i]
		w.Name, w.Description = w.Name+nasty, w.Description+nasty
	}
	s.Meta.Environment.Host, s.Warnings = nasty, append(s.Warnings, nasty)
	bench := func(name string) string {
		path := filepath.Join(tempDir(t), name)
		write(t, path, "Benchmark\x1bA\u009b 1 5 ns/op\nBenchmark\x1bA\u009b 1 6 ns/op\n")
		return path
	}
	c, err := results.Compare(bench("old"), bench("new\a\nb"), results.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var table, summary, changes bytes.Buffer
	for _, err := range []error{s.WriteTable(&table, 0), s.WriteSummary(&summary), c.WriteText(&changes, 0)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"table": table.String(), "summary": summary.String(), "changes": changes.String()} {
		if at := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); at >= 0 {
			t.Errorf("%s has %q", name, text[at:min(at+20, len(text))])
		}
		if strings.Contains(text, "\nb ") {
			at := strings.Index(text, "\nb ")
			t.Errorf("a name breaks a line of the %s: %q", name, text[max(0, at-300):at+30])
		}
	}
}

func TestCompareOfWhatFailed(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	lines := strings.Repeat("BenchmarkA 1 5 ns/op\nBenchmarkA 1 5 ns/op\n", 5)
	old := file("old", "\ufeff"+lines)
	for mark, failed := range map[string]bool{
		"--- FAIL: BenchmarkB": true, "FAIL": true, "FAIL\tx\t1s": true, "panic: out of cheese": true, "exit status 2": true,
		"PASS": false, "a FAIL": false, "ok  \tx\t1s": false,
	} {
		after := file("new", lines+mark+"\n"+lines)
		c, err := results.Compare(old, after, results.CompareOptions{})
		if err != nil {
			t.Errorf("%s: %v", mark, err)
			continue
		}
		if c.Failed != failed || (c.Outcome() == results.Inconclusive) != failed || (len(c.Warnings) == 2) != failed || c.Changes[0].Old.Runs != 10 || c.Changes[0].New.Runs != 20 {
			t.Errorf("%s: %v, %q, %+v", mark, c.Outcome(), c.Warnings, c.Changes)
		}
	}
}

// A file of many names is compared within seconds, as the time to write the table does not grow with its square.
func TestCompareManyNames(t *testing.T) {
	write20 := func(name string) string {
		var text strings.Builder
		for i := range 20_000 {
			for value := range 3 {
				fmt.Fprintf(&text, "BenchmarkName%d 1 %d ns/op\n", i, 1000+value)
			}
		}
		path := filepath.Join(tempDir(t), name)
		write(t, path, text.String())
		return path
	}
	before, after := write20("old"), write20("new")
	done := make(chan error, 1)
	go func() {
		c, err := results.Compare(before, after, results.CompareOptions{})
		if err == nil {
			var out bytes.Buffer
			err = c.WriteText(&out, 0)
			if lines := strings.Count(out.String(), "\nName"); err == nil && lines != 20_000 {
				err = fmt.Errorf("%d lines", lines)
			}
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second): // twenty times what it takes
		t.Fatal("not done yet")
	}
}
