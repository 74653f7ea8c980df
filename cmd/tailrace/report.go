package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"tailrace/results"
)

const reportLong = `Write bench.txt, summary.md, the charts and report.html of a results directory
again, from its runs.jsonl and latency histograms, and print the table: after an
interrupted sweep, or with a newer version of tailrace.`

func newReport() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:                   "report DIR [flags]",
		Short:                 "Write the charts and reports of a results directory again",
		Long:                  reportLong,
		Example:               "  tailrace report out/latest",
		Args:                  oneDirectory,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			sweep, err := results.Load(dir)
			if err != nil {
				return usageError{fmt.Errorf("%w; give the --out directory of a tailrace run", err)}
			}
			if err := sweep.WriteFiles(); err != nil {
				return err
			}
			if err := writeCharts(sweep, dir); err != nil {
				return err
			}
			if err := printSweep(cmd.OutOrStdout(), sweep, asJSON); err != nil {
				return err
			}
			if !asJSON {
				fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(dir, reportFile))
			}
			return verified(sweep)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the results as JSON instead of tables")
	return cmd
}

func oneDirectory(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 1:
		return nil
	case 0:
		return usagef("report: no directory given; give the --out directory of a tailrace run, as in tailrace report out/latest")
	default:
		return usagef("report: %d directories given; several can't be merged yet, give one", len(args))
	}
}
