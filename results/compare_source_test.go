package results_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tailrace/results"
)

// A side may come from a pipe, or from standard input, which is read once and bounded.
func TestCompareReadsPipes(t *testing.T) {
	dir := t.TempDir()
	file, fifo := filepath.Join(dir, "old.txt"), filepath.Join(dir, "fifo")
	lines := joined(benchLines("A", 1000, "ns/op"))
	write(t, file, lines)
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(fifo, []byte(lines+"\n"), 0o600) }()
	c, err := results.Compare(file, fifo, results.CompareOptions{})
	if err != nil || c.Outcome() != results.NoRegression || c.Changes[0].New.Runs != 6 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	c, err = results.Compare("-", file, results.CompareOptions{Stdin: strings.NewReader(lines)})
	if err != nil || c.Old.Path != "standard input" || c.Changes[0].Old.Runs != 6 || len(c.Warnings) < 2 {
		t.Errorf("%+v, %v", c, err)
	}
	input, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for want, refused := range map[string]struct {
		old, new string
		stdin    io.Reader
	}{
		"results: both sides are standard input, which can be read once: name a file for one of them": {"-", "-", input},
		"results: standard input is a directory: give its name instead":                               {"-", file, folder},
		"results: standard input is empty":                                                            {file, "-", strings.NewReader("")},
		"results: standard input has no results of benchmarks":                                        {file, "-", strings.NewReader("prose")},
		"results: - and " + file + " are the same results":                                            {"-", file, input},
		"results: /dev/zero is larger than 64 MiB, and no larger file of benchmarks is read":          {file, "/dev/zero", nil},
		"results: /dev/null is empty":                                                                 {file, "/dev/null", nil},
		"results: stat -: no such file or directory":                                                  {file, "-", nil},
	} {
		if _, err := results.Compare(refused.old, refused.new, results.CompareOptions{Stdin: refused.stdin}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
