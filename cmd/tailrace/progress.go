package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"tailrace/harness"
)

const (
	// plainLines is how many lines a sweep gets where there is no terminal, failures apart.
	plainLines    = 10
	shownFailures = 5
)

// progress tells how far a sweep is: on a terminal in one line that is rewritten, elsewhere in a few
// plain lines. It is used by one goroutine at a time.
type progress struct {
	out     io.Writer
	quiet   bool
	columns int // of the terminal; 0 where there is none

	steps    int // plain lines of the sweep
	step     int // of these, printed
	failures int
}

func newProgress(out io.Writer, quiet bool) *progress {
	return &progress{out: out, quiet: quiet, columns: terminalColumns(out)}
}

// terminalColumns is the width of the terminal that w is; 0 if it is none.
func terminalColumns(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	switch {
	case err != nil:
		return 0
	case size.Col == 0: // a terminal that does not know
		return 80
	default:
		return int(size.Col)
	}
}

// start says what is about to run.
func (p *progress) start(plan *harness.Plan) {
	blocks := plan.Options.Blocks
	p.steps = min(blocks, plainLines)
	p.line(fmt.Sprintf("%d cells × %d blocks, about %s; results go to %s",
		len(plan.Cells), blocks, plan.Estimate.Round(time.Second), plan.Options.Out))
	p.say("preflight")
}

// update is called before the first run and after each.
func (p *progress) update(now harness.Progress) {
	last := ""
	if run := now.Run; run != nil {
		last = run.Cell.Workload + " " + run.Cell.Label()
		if !run.Valid() {
			p.fail(fmt.Sprintf("%s, block %d: %s", last, run.Block+1, run.Verification.Error))
		}
		last = " · " + last
	}
	left := now.Left.Round(time.Second)
	p.say(fmt.Sprintf("%d/%d runs · %d %% · %s left%s", now.Done, now.Total, 100*now.Done/now.Total, left, last))
	if step := now.Done * p.steps / now.Total; p.columns == 0 && step > p.step {
		p.step = step
		p.line(fmt.Sprintf("%d/%d runs, %s left", now.Done, now.Total, left))
	}
}

func (p *progress) fail(what string) {
	p.failures++
	switch {
	case p.failures <= shownFailures:
		p.line("FAILED " + what)
	case p.failures == shownFailures+1:
		p.line("more runs fail; runs.jsonl has all of them")
	}
}

// line prints a line that stays.
func (p *progress) line(text string) {
	p.clear()
	if !p.quiet {
		fmt.Fprintln(p.out, text)
	}
}

// say shows text in the line that is rewritten, if there is one.
func (p *progress) say(text string) {
	if p.quiet || p.columns == 0 {
		return
	}
	// A line as wide as the terminal would wrap, and could not be taken back.
	if runes := []rune(text); len(runes) >= p.columns {
		text = string(runes[:p.columns-1])
	}
	fmt.Fprintf(p.out, "\r%s\x1b[K", text)
}

// clear takes back what say showed.
func (p *progress) clear() {
	if !p.quiet && p.columns > 0 {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
