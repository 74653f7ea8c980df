package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tailrace/results"
	"tailrace/workload"
)

const compareLong = `Say what changed between two builds, and whether it is a regression.

DIR alone is the directory of a tailrace run --against BINARY: both builds ran there
in the same blocks, so that drift of the machine hits both alike. This is the way to
compare two versions, and the one for CI: docs/compare.md has a recipe.

OLD and NEW are results directories, or files in Go's benchmark format: bench.txt, or
what go test -bench printed, also from a pipe, or from standard input as "-". Of
directories and bench.txt each workload's primary metric is compared, of other files
ns/op, or, where there is none, all metrics of which it is known which way is better.
--metric names others.

Two sides that ran one after the other can't tell a change from drift: a difference
then is inconclusive, unless --allow-sequential takes it for a change. Directories
count as interleaved if their blocks took turns on one machine.

What only OLD has is inconclusive, and a failure with --require-all. What only NEW has
is new, and passes.

A regression is worse by more than the threshold within its whole interval; the
intervals hold together with 95 % confidence.

Exit codes: 0 no regression, 1 a regression, wrong answers of the new build, or
something missing with --require-all, 2 bad input, nothing that can be compared, or
output that can't be written, 3 inconclusive, also where a change of more than a half
could hide, or benchmarks of the new side failed or are missing, 130 interrupted.
(benchstat exits with 0 whatever it finds.)`

const compareExample = `  tailrace run --against ../before/bin/tailrace --blocks 12 --out cmp && tailrace compare cmp --threshold 5%
  tailrace compare before after --metric op/s,produce-p99-sec
  go test -bench . -count 10 >new.txt; tailrace compare old.txt new.txt --metric allocs/op
  go test -bench . -count 10 | tailrace compare old.txt - --require-all`

// errInconclusive: the comparison was made, and can't tell whether there is a regression.
var errInconclusive = errors.New("inconclusive")

// errRegression: the new side is worse.
var errRegression = errors.New("regression")

func newCompare() *cobra.Command {
	var options results.CompareOptions
	var asJSON bool
	options.Primaries = make(map[string]string)
	for _, w := range workload.Presets() {
		options.Primaries[w.Name] = w.Primary
	}
	cmd := &cobra.Command{
		Use:                   "compare [OLD NEW | DIR] [flags]",
		Short:                 "Say what changed between two builds, and whether it is a regression",
		Long:                  compareLong,
		Example:               compareExample,
		Args:                  oneOrTwoSides,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			options.Stdin = cmd.InOrStdin()
			return untilInterrupted(cmd.Context(), func() error {
				return printChanges(cmd.OutOrStdout(), args, options, asJSON)
			})
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(list(&options.Metrics, parseName), "metric", "`names` of the metrics to compare, with commas or repeated (default the primary one)")
	cmd.Flags().Var(single(&options.Threshold, "0%", parseThreshold), "threshold", "`percent` by which something may be worse, as in 5%; only what is worse by more is a regression")
	cmd.Flags().BoolVar(&options.AllowSequential, "allow-sequential", false, "take a difference for a change although it may be drift, since the sides were not interleaved")
	cmd.Flags().BoolVar(&options.RequireAll, "require-all", false, "fail if NEW lacks a benchmark of OLD, or a metric of one that is compared")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the changes as JSON instead of text")
	// It fails only for a flag that there is not.
	_ = cmd.RegisterFlagCompletionFunc("metric", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return completeList(typed, results.MetricNames()), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	return cmd
}

func printChanges(w io.Writer, args []string, options results.CompareOptions, asJSON bool) error {
	changes, err := compareArguments(args, options)
	if err != nil {
		return compareError(err)
	}
	if asJSON {
		err = changes.WriteJSON(w)
	} else {
		err = changes.WriteText(w, terminalColumns(w))
	}
	if err != nil {
		return outputError(err)
	}
	return judged(changes)
}

func oneOrTwoSides(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usagef("compare: nothing to compare; give OLD and NEW, or the directory of a tailrace run --against")
	case 1, 2:
		return nil
	}
	return usagef("compare: %d arguments; it compares two, OLD and NEW", len(args))
}

func compareArguments(args []string, options results.CompareOptions) (*results.Changes, error) {
	if len(args) == 1 {
		return results.CompareBuilds(args[0], options)
	}
	return results.Compare(args[0], args[1], options)
}

// compareError words what can't be compared, with what to do about it.
func compareError(err error) error {
	var unknown *results.UnknownMetricError
	var path *fs.PathError
	switch {
	case errors.As(err, &unknown) && unknown.Side != "":
		return usagef("--metric %s: only %s has this metric; both have %s", unknown.Metric, unknown.Side, strings.Join(unknown.Known, ", "))
	case errors.As(err, &unknown):
		return usagef("--metric %s: no such metric; there are %s%s", unknown.Metric, strings.Join(unknown.Known, ", "), workload.Suggestion(unknown.Metric, unknown.Known))
	case errors.Is(err, results.ErrOneBuild):
		return usagef("%w; give OLD and NEW, or the directory of a tailrace run --against", err)
	case errors.As(err, &path):
		return usagef("%w; give results directories, or files of benchmarks", err)
	}
	return usageError{err}
}

// errMissing: the new side lacks what it has to have.
var errMissing = errors.New("the new side lacks something")

// judged is an error for a comparison that is not free of regressions.
func judged(changes *results.Changes) error {
	switch outcome := changes.Outcome(); outcome {
	case results.Regression:
		if len(changes.Regressions())+len(changes.Violations) == 0 {
			return fmt.Errorf("compare: %w", errMissing)
		}
		return fmt.Errorf("compare: a %w", errRegression)
	case results.Inconclusive:
		return fmt.Errorf("compare: %w", errInconclusive)
	default:
		return nil
	}
}

// parseThreshold reads a number of percent, with its sign or without, as a share. From 100 % on, a rate could fall
// to nothing and be no regression.
func parseThreshold(text string) (float64, error) {
	number, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	if err != nil || strings.Contains(text, "_") || math.IsNaN(number) || number < 0 || number >= 100 {
		return 0, &workload.FieldError{Value: text, Problem: "not a number of percent, at least 0 and below 100, as in 5%"}
	}
	return number / 100, nil
}
