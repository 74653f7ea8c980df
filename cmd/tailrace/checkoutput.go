package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"tailrace/harness"
	"tailrace/harness/torture"
)

// checked is what a check found of one strategy.
type checked struct {
	Strategy string         `json:"strategy"`
	Result   string         `json:"result"`
	Skipped  string         `json:"skipped,omitempty"`
	Seconds  float64        `json:"seconds"`
	Counts   torture.Counts `json:"counts"`
	// Violation is set if there was one.
	Violation *found `json:"violation,omitempty"`
}

// Results of a check.
const (
	resultPassed   = "passed"
	resultViolated = "violated"
	resultSkipped  = "skipped"
	resultCaught   = "caught" // the control is
	resultMissed   = "missed" // and should have been
)

// found is a violation for whoever wants to see it again.
type found struct {
	Check  string   `json:"check"`
	What   string   `json:"what"`
	Hung   bool     `json:"hung"`
	Seed   uint64   `json:"seed"`
	Repeat string   `json:"repeat"` // a command
	Files  []string `json:"files"`
}

func (c *checking) found(v *torture.Violation) *found {
	return &found{Check: v.Check, What: plainText(v.What), Hung: v.Hung, Seed: v.Seed, Repeat: c.repeat(v)}
}

// repeat is the command that begins with the round that found a violation.
func (c *checking) repeat(v *torture.Violation) string {
	f := c.flags
	words := []string{"tailrace check --strategies", v.Strategy, "--seed", fmt.Sprint(v.Seed), "--duration", f.duration.String()}
	if c.options.Processors > 0 {
		words = append(words, "--cpu", fmt.Sprint(c.options.Processors))
	}
	if f.storage != harness.StorageAuto {
		words = append(words, "--storage", f.storage)
	}
	if f.dir != "" {
		words = append(words, "--dir", f.dir)
	}
	return strings.Join(words, " ")
}

// print writes the results.
func (c *checking) print(w io.Writer) error {
	if c.flags.json {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			Seed            uint64    `json:"seed"`
			SecondsEach     float64   `json:"seconds_each"`
			GOMAXPROCS      int       `json:"gomaxprocs,omitempty"`
			Storage         string    `json:"storage"`
			StrategyResults []checked `json:"strategies"`
		}{c.options.Seed, c.options.Duration.Seconds(), c.options.Processors, c.where, c.results})
	}
	fmt.Fprintf(w, "seed %d · %v for each strategy · %s\n\n", c.options.Seed, c.options.Duration, c.where)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "strategy\thistories\toperations\tunknown\trecords\thandovers\tcloses\tsequences\tresult")
	for _, r := range c.results {
		n := r.Counts
		switch r.Result {
		case resultSkipped:
			fmt.Fprintf(table, "%s\t–\t–\t–\t–\t–\t–\t–\tskipped: %s\n", r.Strategy, r.Skipped)
			continue
		case resultCaught:
			fmt.Fprintf(table, "%s\t–\t–\t–\t–\t–\t–\t–\tcaught in %.2f s, as it must be\n", r.Strategy, r.Seconds)
			continue
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", r.Strategy,
			n.Histories, n.Operations, n.Unknown, n.Records, n.Handovers, n.Closes, n.Sequences, r.Result)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, r := range c.results {
		if v := r.Violation; v != nil && (r.Result == resultViolated || len(v.Files) > 0) {
			fmt.Fprintf(w, "\n%s, %s: %s\nagain: %s\nfiles: %s\n", r.Strategy, v.Check, v.What, v.Repeat, strings.Join(v.Files, " "))
		}
	}
	return nil
}
