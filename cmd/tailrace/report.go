package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"tailrace/harness"
	"tailrace/results"
)

const reportLong = `Write all that is made from the runs of a results directory (report.html, charts,
summaries, bench.txt, percentiles) again, from its runs.jsonl and latency histograms, and print the table: after an
interrupted sweep, or with a newer version of tailrace.

Of several directories it makes one under --out, histograms included. They are the
shards of one sweep, or sweeps of one design: the same cells and loads, run by the
same tailrace, on other days or on machines of a kind, with any seeds and any numbers
of blocks. Every comparison stays within its block, and so within its machine and
day. The report has the ratios of each, and warns where they differ by more than
chance. Results that can't be merged are refused, and so is a run that is in two of
the directories; what was merged can be merged with a further day.

Exit codes: 0 all runs verified, 1 a run gave a wrong answer, 2 bad input, or output
that can't be written, 3 a run could not be measured, 130 interrupted: every file is
then whole, an old one or a new one. Of a merge there is then nothing, or all runs and
the command that writes the rest.`

func newReport() *cobra.Command {
	var asJSON bool
	var out string
	cmd := &cobra.Command{
		Use:                   "report DIR... [flags]",
		Short:                 "Write the charts and reports of a results directory again",
		Long:                  reportLong,
		Example:               "  tailrace report out/latest\n  tailrace report shard-1 shard-2 shard-3 --out merged\n  tailrace report monday tuesday --out both",
		Args:                  someDirectories,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return reportMerged(cmd.Context(), cmd.OutOrStdout(), args, out, asJSON)
			}
			if out != "" {
				return usagef("--out %s: there is nothing to merge; give several directories, or leave --out out", out)
			}
			return untilInterrupted(cmd.Context(), func() error {
				sweep, err := results.Load(args[0])
				if err != nil {
					return usageError{fmt.Errorf("%w; give the --out directory of a tailrace run", err)}
				}
				return report(cmd.OutOrStdout(), sweep, asJSON)
			})
		},
		ValidArgsFunction: completeDirectories,
	}
	cmd.Flags().Var(single(&out, "", parseGiven), "out", "`directory` for what several are merged into (default out/TIME)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the results as JSON instead of tables")
	return cmd
}

// report writes everything that is made from the runs of a directory.
func report(w io.Writer, sweep *results.Sweep, asJSON bool) error {
	if err := sweep.WriteFiles(); err != nil {
		return outputError(err)
	}
	if err := writeCharts(sweep, sweep.Dir); err != nil {
		return outputError(err)
	}
	if err := printSweep(w, sweep, asJSON); err != nil {
		return outputError(err)
	}
	if !asJSON {
		if _, err := fmt.Fprintln(w, filepath.Join(sweep.Dir, reportFile)); err != nil {
			return outputError(err)
		}
	}
	return verified(sweep)
}

// reportMerged merges the results of several directories into another, and reports on that. The merge ends by itself
// when it is interrupted, since it has to take back what it wrote.
func reportMerged(ctx context.Context, w io.Writer, dirs []string, out string, asJSON bool) error {
	dir, err := resultsDirectory(out, time.Now())
	if err != nil {
		return err
	}
	if errors.Is(results.CheckPlace(dir), results.ErrForeign) {
		return usagef("--out %s: %w and no results; name a new directory, or an empty one", dir, results.ErrForeign)
	}
	sweep, err := results.Merge(ctx, dirs, dir)
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: nothing was merged", harness.ErrInterrupted)
	case errors.Is(err, results.ErrExists):
		return usagef("--out %s already holds results; name another directory, or remove it", dir)
	case errors.Is(err, fs.ErrNotExist):
		return usageError{fmt.Errorf("%w; give the --out directories of tailrace runs", err)}
	case err != nil:
		return usageError{err}
	}
	err = untilInterrupted(ctx, func() error { return report(w, sweep, asJSON) })
	if errors.Is(err, harness.ErrInterrupted) {
		return fmt.Errorf("%w: all runs are merged; to write the rest: tailrace report %s", err, dir)
	}
	return err
}

func someDirectories(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("report: no directory given; give the --out directory of a tailrace run, as in tailrace report out/latest")
	}
	return nil
}
