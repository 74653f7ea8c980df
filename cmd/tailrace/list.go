package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tailrace/claims"
	"tailrace/plots"
	"tailrace/results"
	"tailrace/strategies"
	"tailrace/workload"
)

// listing is one thing that list lists, under a name of the command line.
type listing struct {
	name  string
	write func(io.Writer)
}

func listings() []listing {
	return []listing{
		{"strategies", listStrategies},
		{"workloads", listWorkloads},
		{"presets", listPresets},
		{"metrics", listMetrics},
		{"charts", listCharts},
		{"claims", listClaims},
	}
}

func newList() *cobra.Command {
	var names []string
	for _, l := range listings() {
		names = append(names, l.name)
	}
	return &cobra.Command{
		Use:                   "list [" + strings.Join(names, "|") + "]",
		Short:                 "List strategies, workloads, presets, metrics, charts and claims, with a line each",
		Example:               "  tailrace list\n  tailrace list strategies",
		ValidArgs:             names,
		DisableFlagsInUseLine: true,
		Args:                  oneListing,
		RunE: func(cmd *cobra.Command, args []string) error {
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for i, l := range listings() {
				switch {
				case len(args) > 0 && args[0] != l.name:
					continue
				case len(args) == 0 && i > 0:
					fmt.Fprintln(table)
				}
				l.write(table)
			}
			return table.Flush()
		},
	}
}

func oneListing(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return usagef("%s: list takes one name at most, or none for everything", args[1])
	case len(args) == 1 && !slices.Contains(cmd.ValidArgs, args[0]):
		return usagef("%s: nothing to list of this name; there are %s%s", args[0], strings.Join(cmd.ValidArgs, ", "),
			workload.Suggestion(args[0], cmd.ValidArgs))
	default:
		return nil
	}
}

func listStrategies(w io.Writer) {
	for _, group := range []struct {
		title string
		kind  strategies.Kind
	}{
		{"Strategies (--strategies; core stands for these, all for these and the variants)", strategies.Core},
		{"\nVariants, each of which changes one idea of a neighbour", strategies.Variant},
		{"\nControls, which are no candidates", strategies.Control},
	} {
		fmt.Fprintln(w, group.title)
		for _, s := range strategies.List {
			if s.Kind == group.kind {
				fmt.Fprintf(w, "  %s\t%s\n", s.Name, s.Summary)
			}
		}
	}
}

func listWorkloads(w io.Writer) {
	fmt.Fprintln(w, "Workloads (--workloads; OpenMessaging Benchmark files too, as FILE.yaml)")
	for _, p := range workload.Presets() {
		fmt.Fprintf(w, "  %s\t%s\n", p.Name, p.Describe())
	}
}

func listPresets(w io.Writer) {
	fmt.Fprintln(w, "Presets (--preset)")
	for _, p := range presets() {
		var names []string
		for _, group := range p.Groups {
			names = append(names, group[0].Name)
		}
		fmt.Fprintf(w, "  %s\t%s: %s; %d blocks\n", p.Name, strings.Join(names, ", "), p.Summary, p.Blocks)
	}
}

func listMetrics(w io.Writer) {
	fmt.Fprintln(w, "Metrics (--primary, --metric), their units, and whether more or less is better")
	for _, d := range results.DescribeMetrics() {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", d.Name, d.Unit, d.Better, d.Meaning)
	}
}

func listCharts(w io.Writer) {
	fmt.Fprintln(w, "Charts (in charts/ and in report.html)")
	for _, c := range []struct {
		kind plots.ChartKind
		what string
	}{
		{plots.KindMetric, "throughput, and what else a workload is judged by, of each run"},
		{plots.KindLatency, "latency by percentile, for appends, reads and end to end"},
		{plots.KindHistogram, "shares of latencies"},
		{plots.KindTime, "throughput and p99 in each interval of the window"},
		{plots.KindSteps, "what each idea bought, by strategies that differ in nothing else"},
		{plots.KindFront, "throughput against latency, or what else is weighed, and which strategies no other beats"},
		{plots.KindTrend, "the primary metric along a swept axis, with the fitted scaling law and where the ranking changes"},
		{plots.KindEffects, "ratios to the baseline with their intervals"},
	} {
		fmt.Fprintf(w, "  %s\t%s\n", c.kind, c.what)
	}
}

func listClaims(w io.Writer) {
	fmt.Fprintln(w, "Claims (tailrace claims --claim)")
	for _, c := range claims.Claims() {
		fmt.Fprintf(w, "  %s\t%s\n", c.Name, strings.ReplaceAll(c.Sentence, "`", ""))
	}
}
