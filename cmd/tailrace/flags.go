package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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

	scale bool

	gomaxprocs []int
	blocks     int
	seed       uint64
	baseline   string
	primary    string
	against    string
	shard      string
	findRate   bool
	profiles   []string

	storage, dir string
	out          string
	resume       bool
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
		{"When operations are due", f.pacing()},
		{"How to measure", f.measurement()},
		{"Where data and results go", f.places()},
	}
}

func (f *runFlags) compared() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Var(list(&f.strategies, parseName), "strategies", "`names` with commas between; core and all stand for several (default those of each workload)")
	flags.Var(list(&f.workloads, parseName), "workloads", "`names`, or files as FILE.yaml, of tailrace or of OpenMessaging Benchmark (default all of the preset)")
	flags.BoolVar(&f.scale, "scale", false, "run a file that asks for more than fits here on a smaller scale, which the result tells")
	flags.Var(single(&f.preset, f.preset, parseGiven), "preset", "`name` of a set of workloads")
	flags.Var(single(&f.baseline, "", parseGiven), "baseline", "`strategy` that the others are compared with (default the first)")
	flags.Var(single(&f.against, "", parseGiven), "against", "`binary` of another build of tailrace: each strategy is compared with itself there, run by run")
	return flags
}

func (f *runFlags) load() *pflag.FlagSet {
	base, mix := workload.Default(), workload.DefaultMix()
	size := workload.FormatSize
	o := &f.overrides
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Var(list(&o.Workers, workload.ParseCount), "workers", "goroutines that both append and read, drawing each operation; a `list` makes a sweep")
	flags.Var(list(&o.ProducePercent, workload.ParseMix), "mix", fmt.Sprintf("share of appends in percent, `produce=N` (default produce=%g)", mix.ProducePercent))
	flags.Var(list(&o.Producers, workload.ParseCount), "producers", "goroutines that only append; a `list` makes a sweep")
	flags.Var(list(&o.Consumers, workload.ParseCount), "consumers", "goroutines that only read, each of them everything; a `list` makes a sweep")
	flags.Var(optional(&o.Partitions, workload.ParseCount), "partitions", fmt.Sprintf("`number` of logs that the work is spread over (default %d)", base.Partitions))
	flags.Var(optional(&o.RecordSize, workload.ParseRecordSize), "record-size",
		fmt.Sprintf("`size` of a record's value, or how sizes are drawn: uniform:100-4KiB; lognormal:1KiB,0.8, around a median; lines, those of --payload (default %s)", size(int64(base.RecordSize))))
	flags.Var(optional(&o.PayloadFile, parseText), "payload", "`file` whose bytes, or lines, the records hold (default random bytes)")
	flags.Var(optional(&o.BatchRecords, workload.ParseCount), "batch-records", fmt.Sprintf("`number` of records in an append (default %d)", base.BatchRecords))
	flags.Var(optional(&o.FetchBytes, workload.ParseSize), "fetch-bytes",
		fmt.Sprintf("`size` of a reader's buffer (default %s, %s for workers)", size(int64(base.FetchBytes)), size(int64(mix.FetchBytes))))
	flags.Var(optional(&o.Pattern, parseText), "pattern",
		fmt.Sprintf("what is `read`: %s, the newest, waiting for it; %s, from the first on; of what was there before the run %s, anything, %s, the newest most, or %s, what was written at a moment (default %s, %s for workers)",
			workload.Tail, workload.CatchUp, workload.Random, workload.Zipfian, workload.ByTime, base.Pattern, mix.Pattern))
	flags.Var(optional(&o.Skew, workload.ParseSkew), "skew", fmt.Sprintf("`exponent` of %s: 0 is uniform (default 0.99)", workload.Zipfian))
	flags.Var(optional(&o.Prefill, workload.ParseSize), "prefill",
		fmt.Sprintf("`size` of what is written before the run (default %s, %s for patterns that read it)", size(base.Prefill), size(mix.Prefill)))
	flags.Var(optional(&o.Acks, parseText), "acks", fmt.Sprintf("`when` an append is answered: %s, once its bytes are taken; %s, once they are written; %s, once every follower has them (default %s)",
		workload.AcksNone, workload.AcksLeader, workload.AcksAll, base.Acks))
	flags.Var(optional(&o.Replicas, workload.ParseCount), "replicas", "`number` of followers of each log, which fetch all that is appended (default 0)")
	flags.Var(optional(&o.Sync, workload.ParseSync), "sync",
		fmt.Sprintf("`when` appends are made durable: %s, never; %s, each before its answer; after a number of bytes, as in 1MiB; in the background, as in 10ms (default %s)",
			workload.SyncNone, workload.SyncBatch, base.Sync))
	flags.Var(optional(&o.SegmentSize, workload.ParseSize), "segment-size", fmt.Sprintf("`size` at which a new segment is begun (default %s)", size(base.SegmentSize)))
	flags.Var(optional(&o.Backlog, workload.ParseSize), "backlog",
		"`size` of what may be unread: producers are held there, and what is read is verified and trimmed, so that a run may be long (default no trimming)")
	flags.Var(optional(&o.DrainRatio, workload.ParseShare), "drain", "`share` of the prefill, up to 1, that consumers have to read: how long that takes is measured")
	return flags
}

func (f *runFlags) pacing() *pflag.FlagSet {
	o := &f.overrides
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Var(optional(&o.ProduceRate, workload.ParseRate), "produce-rate", "`records` per second of all producers together, as in 20000/s (default as many as they can)")
	flags.Var(optional(&o.ConsumeRate, workload.ParseRate), "consume-rate", "`reads` per second of all consumers together, as in 20000/s (default as many as they can)")
	flags.Var(optional(&o.Rate, workload.ParseRate), "rate", "`operations` per second of all workers of a mix together (default as many as they can)")
	flags.Var(optional(&o.Arrivals, parseText), "arrivals", fmt.Sprintf("`how` paced operations follow each other: %s, at even distances; %s, independently (default %[1]s)",
		workload.ArrivalsConstant, workload.ArrivalsPoisson))
	flags.Var(optional(&o.Burst, workload.ParseCount), "burst", "`number` of paced operations that are due at once, at the same rate (default 1)")
	flags.Var(optional(&o.Think, workload.ParseTime), "think", "`time` that each goroutine of a closed loop pauses between two operations (default 0s)")
	flags.BoolVar(&f.findRate, "find-max-rate", false, "search, for each strategy, for the highest rate of the producers that it sustains")
	flags.Var(list(&o.Objectives, workload.ParseObjective), "slo", "`limit` that a rate must hold to count as sustained, as in 'produce p99 < 2ms'; with commas, or repeated; implies --find-max-rate")
	return flags
}

func (f *runFlags) measurement() *pflag.FlagSet {
	base := workload.Default()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Var(optional(&f.overrides.Ramp, workload.ParseTime), "ramp", fmt.Sprintf("`time` under load before a measurement (default %s, no longer than --duration if only that is given)", base.Ramp))
	flags.Var(optional(&f.overrides.Duration, workload.ParseTime), "duration", fmt.Sprintf("`time` that a measurement takes (default %s)", base.Duration))
	flags.Var(single(&f.blocks, fmt.Sprint(f.blocks), workload.ParseCount), "blocks",
		"`number` of times that everything runs, in random order; more tell smaller differences apart; also --count")
	flags.Var(single(&f.primary, "", parseGiven), "primary", "`metric` that strategies are compared by, as in produce-p99-sec (default one that fits the load)")
	flags.Var(list(&f.gomaxprocs, workload.ParseCount), "cpu", "`list` of numbers of processors to use, as GOMAXPROCS (default all)")
	flags.Var(single(&f.seed, fmt.Sprint(f.seed), parseSeed), "seed", "`number` that determines every random choice")
	flags.Var(single(&f.shard, "", parseGiven), "shard", "`part` of the blocks to run here, as in 2/4; auto under a Slurm array, auto/4 under a Kubernetes Indexed Job")
	for _, kind := range harness.ProfileKinds {
		what := "a " + kind + " profile"
		if kind == harness.ProfileTrace {
			what = "an execution trace"
		}
		flags.BoolFunc(harness.ProfileFlag(kind), "take "+what+" of each cell, in a run of its own", func(text string) error {
			on, err := strconv.ParseBool(text)
			if err == nil && on && !slices.Contains(f.profiles, kind) {
				f.profiles = append(f.profiles, kind)
			}
			return err
		})
	}
	return flags
}

func (f *runFlags) places() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Var(single(&f.storage, f.storage, parseGiven), "storage",
		fmt.Sprintf("`kind` of storage: %s, memory unless the load syncs; %s; %s; %s, without system calls",
			harness.StorageAuto, harness.StorageTmpfs, harness.StorageDisk, harness.StorageHeap))
	flags.Var(single(&f.dir, "", parseGiven), "dir", "existing `directory` for the data of the runs (default one that fits the storage)")
	flags.Var(single(&f.out, "", parseGiven), "out", "`directory` for the results (default out/TIME, linked from out/latest)")
	flags.BoolVar(&f.resume, "resume", false, "go on with the sweep in --out that was interrupted (default the newest in out); all else is as it was")
	flags.Var(optional(&f.overrides.MaxBytes, workload.ParseSize), "max-bytes",
		fmt.Sprintf("`size` that a run may write, after which its window closes; a small one ends a load with a rate early, too (default %s, or what the rate needs)", workload.FormatSize(workload.Default().MaxBytes)))
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

// groupAnnotation is how a flag knows the title of its group.
const groupAnnotation = "group"

// addGroups gives a command its flags, in groups.
func addGroups(cmd *cobra.Command, groups []flagGroup) {
	cmd.Flags().SortFlags = false
	for _, g := range groups {
		g.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{groupAnnotation: {g.title}} })
		cmd.Flags().AddFlagSet(g.FlagSet)
	}
	cmd.SetUsageFunc(groupedUsage(groups))
}

// groupTitle is the title of the group that a flag is in; "" if it is in none.
func groupTitle(f *pflag.Flag) string {
	return strings.Join(f.Annotations[groupAnnotation], "")
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
