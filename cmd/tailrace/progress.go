package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tailrace/harness"
	"tailrace/results"
)

const (
	// plainLines is how many lines a sweep gets where there is no terminal, failures apart.
	plainLines    = 10
	shownFailures = 5
)

// progress tells how far a sweep is: on a terminal in one line that is rewritten, elsewhere in a few
// plain lines. start comes first, stop last; the sweep may call update from another goroutine.
type progress struct {
	out     io.Writer
	quiet   bool
	columns int // of the terminal; 0 where there is none

	mu       sync.Mutex // guards what follows, and the line on the terminal
	now      harness.Progress
	since    time.Time // of now
	steps    int       // plain lines of the sweep
	step     int       // of these, printed
	failures int

	ticker   sync.WaitGroup
	stopping chan struct{}
}

func newProgress(out io.Writer, quiet bool) *progress {
	return &progress{out: out, quiet: quiet, columns: terminalColumns(out), stopping: make(chan struct{})}
}

// terminalColumns is the width of the terminal that w is; 0 if it is none.
func terminalColumns(w io.Writer) int {
	if p, ok := w.(printed); ok {
		w = p.to
	}
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
	p.steps = min(max(plan.Options.Blocks, 1), plainLines)
	p.line(fmt.Sprintf("%s, about %s; results go to %s", plan.Describe(), plan.Estimate.Round(time.Second), plan.Options.Out))
	p.say("preflight")
	p.ticker.Go(p.tick)
}

// tick counts the time left down, so that a long run is seen to go on.
func (p *progress) tick() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-p.stopping:
			return
		case <-ticker.C:
			p.mu.Lock()
			p.show()
			p.mu.Unlock()
		}
	}
}

// stop ends what start began.
func (p *progress) stop() {
	close(p.stopping)
	p.ticker.Wait()
	p.clear()
}

// update is called before the first run and after each.
func (p *progress) update(now harness.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.since = now, time.Now()
	if run := now.Run; run != nil && !run.Valid() {
		p.fail(run)
	}
	if step := now.Done * p.steps / max(now.Total, 1); p.columns == 0 && step > p.step {
		p.step = step
		p.line(fmt.Sprintf("%d/%d runs, about %s left", now.Done, now.Total, now.Left.Round(time.Second)))
	}
	p.show()
}

// show writes the line on the terminal.
func (p *progress) show() {
	now := p.now
	if now.Total == 0 {
		return // still in the preflight
	}
	left := max(now.Left-time.Since(p.since), 0).Round(time.Second)
	text := fmt.Sprintf("%d/%d runs · %d %% · about %s left", now.Done, now.Total, 100*now.Done/now.Total, left)
	if run := now.Run; run != nil {
		text += " · last " + run.Cell.Workload + " " + run.Cell.Label()
	}
	p.say(text)
}

func (p *progress) fail(run *results.Run) {
	p.failures++
	switch {
	case p.failures <= shownFailures:
		p.line(fmt.Sprintf("FAILED %s %s, block %d: %s", run.Cell.Workload, run.Cell.Label(), run.Block, plainText(run.Verification.Error)))
		for _, line := range indented(run.Verification.Said) {
			p.line(line)
		}
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
