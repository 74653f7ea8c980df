package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tailrace/harness"
	"tailrace/results"
)

// sweepProgress calls the progress as a sweep of one failing cell would.
func sweepProgress(p *progress, blocks int) {
	plan := &harness.Plan{
		Options:  harness.Options{Blocks: blocks, Out: "out/x"},
		Cells:    make([]harness.PlannedCell, 2),
		Estimate: 61 * time.Second,
	}
	p.start(plan)
	total := blocks * len(plan.Cells)
	p.update(harness.Progress{Total: total, Left: plan.Estimate})
	for i := range total {
		run := &results.Run{Block: i / 2, Cell: results.Cell{Workload: "mix", Strategy: "actor"}}
		if i%2 == 1 {
			run.Verification.Error = "harness: wrong"
		}
		p.update(harness.Progress{Done: i + 1, Total: total, Left: time.Duration(total-i-1) * time.Second, Run: run})
	}
	p.stop()
}

func TestPlainProgress(t *testing.T) {
	var out bytes.Buffer
	sweepProgress(newProgress(&out, false), 2)
	want := `2 cells × 2 blocks, about 1m1s; results go to out/x
FAILED mix actor, block 0: wrong
2/4 runs, about 2s left
FAILED mix actor, block 1: wrong
4/4 runs, about 0s left
`
	if got := out.String(); got != want {
		t.Errorf("printed\n%swant\n%s", got, want)
	}
}

func TestPlainProgressIsShort(t *testing.T) {
	var out bytes.Buffer
	sweepProgress(newProgress(&out, false), 500)
	if lines := strings.Count(out.String(), "\n"); lines > 1+plainLines+shownFailures+1 {
		t.Errorf("%d lines:\n%s", lines, &out)
	}
	if !strings.Contains(out.String(), "\n1000/1000 runs") {
		t.Errorf("no last line in\n%s", &out)
	}
}

// What a crashed process said stands below, up to some lines, and does not command the terminal.
func TestProgressQuotes(t *testing.T) {
	long := strings.Repeat("line\n", shownLines+7)
	for said, want := range map[string]string{
		"":                                "",
		"panic: wrong\n":                  "",
		"panic: wrong\n\n\tat 7\x1b[2J\n": "  panic: wrong\n  \n   at 7 [2J\n",
		long:                              strings.Repeat("  line\n", shownLines) + "  … and 7 more lines\n",
	} {
		var out bytes.Buffer
		p := newProgress(&out, false)
		p.fail(&results.Run{
			Cell:         results.Cell{Workload: "mix", Strategy: "actor"},
			Verification: results.Verification{Error: "harness: wrong", Said: said},
		})
		if want = "FAILED mix actor, block 0: wrong\n" + want; out.String() != want {
			t.Errorf("%.20q: printed\n%swant\n%s", said, &out, want)
		}
	}
}

func TestQuietProgress(t *testing.T) {
	for _, columns := range []int{0, 80} {
		var out bytes.Buffer
		p := newProgress(&out, true)
		p.columns = columns
		sweepProgress(p, 3)
		if out.Len() > 0 {
			t.Errorf("quiet on %d columns, and printed %q", columns, &out)
		}
	}
}

func TestTerminalProgress(t *testing.T) {
	const columns = 30
	var out bytes.Buffer
	p := newProgress(&out, false)
	p.columns = columns
	sweepProgress(p, 2)
	_, rewritten, _ := strings.Cut(out.String(), "\n") // the first line stays
	for shown := range strings.SplitSeq(rewritten, "\r") {
		shown = strings.TrimPrefix(strings.TrimSuffix(shown, "\x1b[K"), "\x1b[K")
		if n := len([]rune(shown)); n >= columns && !strings.HasPrefix(shown, "FAILED") {
			t.Errorf("%q has %d of %d columns", shown, n, columns)
		}
	}
	if want := fmt.Sprintf("\r%s\x1b[K", "0/4 runs · 0 % · about 1m1s l"); !strings.Contains(out.String(), want) {
		t.Errorf("no %q in %q", want, &out)
	}
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("the line is not taken back at the end: %q", &out)
	}
}

func TestTerminalProgressCountsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(&out, false)
		p.columns = 80
		p.start(&harness.Plan{Options: harness.Options{Blocks: 1}})
		time.Sleep(1500 * time.Millisecond) // of the test's own clock
		p.update(harness.Progress{Total: 2, Left: time.Minute})
		time.Sleep(2 * time.Second)
		p.stop()
		var shown []string
		for line := range strings.SplitSeq(out.String(), "\r") {
			shown = append(shown, strings.TrimSuffix(line, "\x1b[K"))
		}
		want := []string{"preflight", "0/2 runs · 0 % · about 1m0s left", "0/2 runs · 0 % · about 1m0s left", "0/2 runs · 0 % · about 59s left", ""}
		if got := shown[len(shown)-len(want):]; !slices.Equal(got, want) {
			t.Errorf("shown %q, want %q", got, want)
		}
	})
}
