package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"tailrace/claims"
	"tailrace/harness"
	"tailrace/results"
	"tailrace/workload"
)

const claimsLong = `Put the claims of the article that tailrace implements to the test, each by an
experiment with a rule that was fixed beforehand: that readers under a mutex take
turns, that a read-write lock starves writers, that an actor's reads never wait, and
so on. The verdict is that the claim holds, does not hold, holds in part, is not
settled by this run, or can't be measured in Go.

It runs one sweep for all loads, and experiments beside it, each block of them in
a process, and leaves claims.md, claims.json and a chapter in report.html under
--out. What it does not settle, one claim with more blocks may:
--claim actor-reads --blocks 48.

Exit codes: 0 done and verified, whatever the verdicts are, 1 a run failed its
verification or an experiment crashed, 2 bad input, or data or output that can't be
written, 130 interrupted.`

// claimsFlags are the flags of claims as they were given.
type claimsFlags struct {
	names              []string
	quick, quiet, json bool
	blocks             int
	seed               uint64
	out                string
}

// newClaims is the command that tests the article's claims; command is what the user typed.
func newClaims(command []string) *cobra.Command {
	flags := &claimsFlags{seed: 1}
	cmd := &cobra.Command{
		Use:                   "claims [flags]",
		Short:                 "Put the article's claims to the test, each with a rule fixed beforehand",
		Long:                  claimsLong,
		Example:               "  tailrace claims --quick\n  tailrace claims --claim mutex-turns,actor-reads",
		Args:                  noArguments,
		DisableFlagsInUseLine: true,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return flags.run(cmd, command) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(list(&flags.names, parseName), "claim", "`names` of the claims to test (default all; tailrace list claims)")
	cmd.Flags().BoolVar(&flags.quick, "quick", false, "take two and a half minutes in place of sixteen, and leave more unsettled")
	cmd.Flags().Var(single(&flags.blocks, "", workload.ParseCount), "blocks", "`number` of times that all runs and experiments are repeated; more settle more (default 12, or 8 with --quick)")
	cmd.Flags().Var(single(&flags.seed, fmt.Sprint(flags.seed), parseSeed), "seed", "`number` that determines every random choice")
	cmd.Flags().Var(single(&flags.out, "", parseGiven), "out", "`directory` for the results (default out/TIME, linked from out/latest)")
	cmd.Flags().BoolVar(&flags.quiet, "quiet", false, "show no progress")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print the outcome as JSON instead of a table")
	// It fails only for a flag that there is not.
	_ = cmd.RegisterFlagCompletionFunc("claim", completeClaims)
	return cmd
}

func completeClaims(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var choices []string
	for _, c := range claims.Claims() {
		choices = append(choices, c.Name+"\t"+c.Sentence)
	}
	return completeList(typed, choices), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func (f *claimsFlags) run(cmd *cobra.Command, command []string) error {
	if cmd.Flags().Changed("blocks") && f.blocks < 2 {
		return usagef("--blocks %d: at least 2 are needed, for there to be an interval", f.blocks)
	}
	out, err := resultsDirectory(f.out, time.Now())
	if err != nil {
		return err
	}
	executable, err := ownBinary()
	if err != nil {
		return err
	}
	shown := newProgress(cmd.ErrOrStderr(), f.quiet)
	crashed := 0
	outcome, err := claims.Run(cmd.Context(), claims.Options{
		Names: f.names, Quick: f.quick, Blocks: f.blocks, Seed: f.seed, Out: out, Command: command, Version: version(),
		Child: []string{executable, "execute"}, Loops: []string{executable, "loops"}, Pressed: []string{executable, "pressure"}, Torture: []string{executable, "torture"},
		Start: shown.start, Progress: shown.update, Say: shown.line,
		Failed: func(claim string, failed *harness.FailedChild) {
			crashed++
			shown.line(fmt.Sprintf("FAILED experiment %s: %s", claim, plainText(failed.Error())))
			for _, line := range indented(failed.Said) {
				shown.line(line)
			}
		},
	})
	shown.stop()
	switch {
	case errors.Is(err, claims.ErrUnknown):
		return usagef("--claim: %w", err)
	case outcome == nil:
		return err
	}
	err = f.finish(cmd, outcome, out, err)
	if crashed > 0 {
		err = cmp.Or(err, fmt.Errorf("%w: %d", errCrashed, crashed))
	}
	return err
}

// errCrashed: an experiment has no figures, since its process has failed.
var errCrashed = errors.New("processes of experiments failed")

// finish draws the report and prints what came out, also if it could not be written. It is an error if that is so, or if
// a run gave wrong answers.
func (f *claimsFlags) finish(cmd *cobra.Command, outcome *results.Claims, dir string, unwritten error) error {
	failed, err := drawSweep(dir)
	unwritten = cmp.Or(unwritten, err)
	out := cmd.OutOrStdout()
	if f.json {
		err = outcome.WriteJSON(out)
	} else {
		err = outcome.WriteTable(out, terminalColumns(out))
	}
	switch {
	case unwritten != nil:
		return outputError(fmt.Errorf("%w; the outcome is printed", unwritten))
	case err != nil:
		return err
	case f.json:
		return failed
	}
	shortest, err := linkLatest(dir)
	if err != nil {
		shortest = dir
		fmt.Fprintln(cmd.ErrOrStderr(), "tailrace: warning: "+plainText(err.Error()))
	}
	fmt.Fprintln(out, filepath.Join(shortest, "claims.md"))
	return failed
}

// drawSweep draws the report of a directory, if it has a sweep, and says whether a run of it failed.
func drawSweep(dir string) (failed, unwritten error) {
	if _, err := os.Stat(filepath.Join(dir, "meta.json")); err != nil {
		return nil, nil
	}
	sweep, err := results.Load(dir)
	if err != nil {
		return nil, err
	}
	return verified(sweep), writeCharts(sweep, dir)
}
