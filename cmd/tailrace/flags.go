package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tailrace/harness"
	"tailrace/workload"
)

// runFlags are the flags of run as they were given.
type runFlags struct {
	strategies, workloads []string
	preset                string
	overrides             workload.Overrides

	gomaxprocs []int
	blocks     int
	seed       uint64
	baseline   string

	storage, dir string
	out          string
	keepData     bool
	quiet, json  bool
}

// flagGroup is a part of a command's flags with a title of its own in the help.
type flagGroup struct {
	title string
	*pflag.FlagSet
}

func (f *runFlags) groups() []flagGroup {
	return []flagGroup{
		{"What to compare", f.compared()},
		{"The load", f.load()},
		{"How to measure", f.measurement()},
		{"Where data and results go", f.places()},
	}
}

func (f *runFlags) compared() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Var(list(&f.strategies, parseName), "strategies", "`names` with commas between; core and all stand for several (default those of each workload)")
	flags.Var(list(&f.workloads, parseName), "workloads", "`names`, or OpenMessaging Benchmark files as FILE.yaml (default all of the preset)")
	flags.Var(single(&f.preset, f.preset, parseText), "preset", "`name` of a set of workloads")
	flags.StringVar(&f.baseline, "baseline", "", "`strategy` that the others are compared with (default the first)")
	return flags
}

func (f *runFlags) load() *pflag.FlagSet {
	base, mix := workload.Default(), workload.DefaultMix()
	size := workload.FormatSize
	o := &f.overrides
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Var(list(&o.Workers, parseCount), "workers", "goroutines that both append and read, drawing each operation; a `list` makes a sweep")
	flags.Var(list(&o.ProducePercent, workload.ParseMix), "mix", fmt.Sprintf("share of appends in percent, `produce=N` (default produce=%g)", mix.ProducePercent))
	flags.Var(list(&o.Producers, parseCount), "producers", "goroutines that only append; a `list` makes a sweep")
	flags.Var(list(&o.Consumers, parseCount), "consumers", "goroutines that only read, each of them everything; a `list` makes a sweep")
	flags.Var(optional(&o.Partitions, parseCount), "partitions", fmt.Sprintf("`number` of logs that the work is spread over (default %d)", base.Partitions))
	flags.Var(optional(&o.RecordSize, workload.ParseSize), "record-size", fmt.Sprintf("`size` of a record's value (default %s)", size(int64(base.RecordSize))))
	flags.Var(optional(&o.BatchRecords, parseCount), "batch-records", fmt.Sprintf("`number` of records in an append (default %d)", base.BatchRecords))
	flags.Var(optional(&o.FetchBytes, workload.ParseSize), "fetch-bytes",
		fmt.Sprintf("`size` of a reader's buffer (default %s, %s for workers)", size(int64(base.FetchBytes)), size(int64(mix.FetchBytes))))
	flags.Var(optional(&o.Pattern, parseText), "pattern",
		fmt.Sprintf("what is `read`: %s, the newest, waiting for it; %s, from the first on; %s, what was there before the run (default %s, %s for workers)",
			workload.Tail, workload.CatchUp, workload.Random, base.Pattern, mix.Pattern))
	flags.Var(optional(&o.Prefill, workload.ParseSize), "prefill",
		fmt.Sprintf("`size` of what is written before the run (default %s, %s for patterns that read it)", size(base.Prefill), size(mix.Prefill)))
	flags.Var(optional(&o.ProduceRate, workload.ParseRate), "produce-rate", "`records` per second of all producers together, as in 20000/s (default as many as they can)")
	flags.Var(optional(&o.ConsumeRate, workload.ParseRate), "consume-rate", "`reads` per second of all consumers together, as in 20000/s (default as many as they can)")
	flags.Var(optional(&o.Acks, parseText), "acks", fmt.Sprintf("`when` an append is answered: %s, once its bytes are taken; %s, once they are written (default %s)", workload.AcksNone, workload.AcksLeader, base.Acks))
	flags.Var(optional(&o.Sync, workload.ParseSync), "sync",
		fmt.Sprintf("`when` appends are made durable: %s, never; %s, each before its answer; after a number of bytes, as in 1MiB; in the background, as in 10ms (default %s)",
			workload.SyncNone, workload.SyncBatch, base.Sync))
	flags.Var(optional(&o.SegmentSize, workload.ParseSize), "segment-size", fmt.Sprintf("`size` at which a new segment is begun (default %s)", size(base.SegmentSize)))
	return flags
}

func (f *runFlags) measurement() *pflag.FlagSet {
	base := workload.Default()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Var(optional(&f.overrides.Ramp, parseTime), "ramp", fmt.Sprintf("`time` under load before a measurement (default %s, no longer than --duration if only that is given)", base.Ramp))
	flags.Var(optional(&f.overrides.Duration, parseTime), "duration", fmt.Sprintf("`time` that a measurement takes (default %s)", base.Duration))
	flags.Var(single(&f.blocks, fmt.Sprint(f.blocks), parseCount), "blocks",
		"`number` of times that everything runs, in random order; more tell smaller differences apart; also --count")
	flags.Var(list(&f.gomaxprocs, parseCount), "cpu", "`list` of numbers of processors to use, as GOMAXPROCS (default all)")
	flags.Var(single(&f.seed, fmt.Sprint(f.seed), parseSeed), "seed", "`number` that determines every random choice")
	return flags
}

func (f *runFlags) places() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Var(single(&f.storage, f.storage, parseText), "storage",
		fmt.Sprintf("`kind` of storage: %s, memory unless the load syncs; %s; %s; %s, without system calls",
			harness.StorageAuto, harness.StorageTmpfs, harness.StorageDisk, harness.StorageHeap))
	flags.StringVar(&f.dir, "dir", "", "existing `directory` for the data of the runs (default one that fits the storage)")
	flags.StringVar(&f.out, "out", "", "`directory` for the results (default out/TIME, linked from out/latest)")
	flags.Var(optional(&f.overrides.MaxBytes, workload.ParseSize), "max-bytes",
		fmt.Sprintf("`size` that a run may write, after which its window closes; a load with a rate has what that needs (default %s)", workload.FormatSize(workload.Default().MaxBytes)))
	flags.BoolVar(&f.keepData, "keep-data", false, "leave the segment files of the last block, a directory for each log; a warning says where")
	flags.BoolVar(&f.quiet, "quiet", false, "show no progress")
	flags.BoolVar(&f.json, "json", false, "print the results as JSON instead of tables")
	return flags
}

// sameFlag makes --count another name of --blocks, after the flag of go test.
func sameFlag(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "count" {
		name = "blocks"
	}
	return pflag.NormalizedName(name)
}

const helpWidth = 80

// groupedUsage is the usage of a command whose flags have groups.
func groupedUsage(groups []flagGroup) func(*cobra.Command) error {
	return func(cmd *cobra.Command) error {
		out := cmd.OutOrStdout()
		fmt.Fprintf(out, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
		for _, g := range groups {
			fmt.Fprintf(out, "\n%s:\n%s", g.title, g.FlagUsagesWrapped(helpWidth))
		}
		return nil
	}
}
