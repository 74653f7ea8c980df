package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tailrace/harness"
	"tailrace/results"
	"tailrace/strategies"
	"tailrace/workload"
)

const runLong = `Run a sweep: each strategy under each workload, again and again in random order,
each run in a process of its own and verified afterwards. It prints a table, and
leaves everything that was measured, the charts and report.html under --out.

Without flags it runs the default sweep. Flags of who does the work (--workers with
--mix, or --producers and --consumers) make a workload of your own; with --workloads,
and for all other flags of the load, they change the workloads that run. Lists make
a sweep: with commas, or the flag repeated.

Exit codes: 0 done and verified, 1 a run failed its verification, 2 bad input, or data
or output that can't be written, 3 a run could not be measured, 130 interrupted.
Ctrl-C keeps what has finished, and --resume goes on from there, after a crash too.`

const runExample = `  tailrace run --workers 8 --mix produce=25
  tailrace run --producers 1,4,16 --sync batch --strategies mutex,actor
  tailrace run --producers 2 --consumers 8 --produce-rate 20000/s --duration 2s
  tailrace run --workloads mix,simple-workload.yaml --duration 1s --blocks 25
  tailrace run --producers 4 --consumers 4 --slo 'e2e p99 < 5ms' --duration 1s
  tailrace run --against ../before/bin/tailrace --blocks 25`

// newRun is the command that runs a sweep; command is what the user typed.
func newRun(command []string) *cobra.Command {
	flags := &runFlags{preset: defaultPreset, blocks: 6, seed: 1, storage: harness.StorageAuto}
	cmd := &cobra.Command{
		Use:                   "run [flags]",
		Short:                 "Run a sweep: presets, flags or workload files in, results and a table out",
		Long:                  runLong,
		Example:               runExample,
		Args:                  noArguments,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			shown := newProgress(cmd.ErrOrStderr(), flags.quiet)
			plan, err := flags.plan(cmd, command, shown)
			if err != nil {
				return err
			}
			return runSweep(cmd, flags, plan, shown)
		},
	}
	cmd.Flags().SetNormalizeFunc(sameFlag)
	addGroups(cmd, flags.groups())
	for name, complete := range map[string]cobra.CompletionFunc{
		"strategies": completeStrategies,
		"baseline":   cobra.FixedCompletions(strategies.Names(), cobra.ShellCompDirectiveNoFileComp),
		"workloads":  completeWorkloads,
		"preset":     completePresets,
		"pattern": completeOneOf(string(workload.Tail), string(workload.CatchUp), string(workload.Random),
			string(workload.Zipfian), string(workload.ByTime)),
		"acks":     completeOneOf(workload.AcksNone, workload.AcksLeader, workload.AcksAll),
		"arrivals": completeOneOf(workload.ArrivalsConstant, workload.ArrivalsPoisson),
		"sync":     completeOneOf(workload.SyncNone, workload.SyncBatch),
		"dir":      completeDirectories,
		"out":      completeDirectories,
		"primary":  completeOneOf(results.MetricNames()...),
		"storage":  completeOneOf(harness.StorageAuto, harness.StorageTmpfs, harness.StorageDisk, harness.StorageHeap),
	} {
		// It fails only for a flag that there is not.
		_ = cmd.RegisterFlagCompletionFunc(name, complete)
	}
	return cmd
}

// plan is the sweep that the flags ask for: a new one, or one that was interrupted.
func (f *runFlags) plan(cmd *cobra.Command, command []string, shown *progress) (*harness.Plan, error) {
	if !f.resume {
		options, err := f.options(cmd)
		if err != nil {
			return nil, err
		}
		options.Command, options.Progress = command, shown.update
		return harness.NewPlan(cmd.Context(), options)
	}
	if err := aloneWithResume(cmd); err != nil {
		return nil, err
	}
	dir, err := interruptedDirectory(f.out)
	if err != nil {
		return nil, err
	}
	executable, err := ownBinary()
	if err != nil {
		return nil, err
	}
	return harness.ResumePlan(cmd.Context(), dir, []string{executable, "execute"}, shown.update)
}

// aloneWithResume refuses flags that would change a sweep that has begun.
func aloneWithResume(cmd *cobra.Command) error {
	var other string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"resume", "out", "quiet", "json"}, f.Name) {
			other = f.Name
		}
	})
	if other != "" {
		return usagef("--%s: --resume goes on with the sweep as it was planned; leave one of the two out", other)
	}
	return nil
}

// options are the sweep that the flags ask for.
func (f *runFlags) options(cmd *cobra.Command) (harness.Options, error) {
	if f.findRate || len(f.overrides.Objectives) > 0 && !cmd.Flags().Changed("find-max-rate") {
		f.findRate = true
		f.overrides.Search = &f.findRate
	}
	shard, err := f.chosenShard()
	if err != nil {
		return harness.Options{}, err
	}
	workloads, err := chosenWorkloads(cmd, f)
	if err != nil {
		return harness.Options{}, err
	}
	for i := range workloads {
		workloads[i].Primary = cmp.Or(f.primary, workloads[i].Primary)
	}
	out, err := resultsDirectory(f.out, time.Now())
	if err != nil {
		return harness.Options{}, err
	}
	executable, err := ownBinary()
	if err != nil {
		return harness.Options{}, err
	}
	return harness.Options{
		Workloads:  workloads,
		Strategies: expandStrategies(f.strategies),
		Baseline:   f.baseline,
		Against:    f.against,
		Shard:      shard,
		Profiles:   f.profiles,
		GOMAXPROCS: f.gomaxprocs,
		Blocks:     f.blocks,
		Seed:       f.seed,
		Storage:    f.storage,
		Dir:        f.dir,
		Out:        out,
		KeepData:   f.keepData,
		Child:      []string{executable, "execute"},
		Version:    version(),
	}, nil
}

// chosenShard is the part of the blocks that --shard names.
func (f *runFlags) chosenShard() (harness.Shard, error) {
	if f.shard == "" {
		return harness.Shard{}, nil
	}
	return harness.ParseShard(f.shard, os.LookupEnv)
}

// runSweep runs the sweep and writes and prints what it found.
func runSweep(cmd *cobra.Command, f *runFlags, plan *harness.Plan, shown *progress) error {
	shown.start(plan)
	sweep, err := harness.Run(cmd.Context(), plan)
	shown.stop()
	interrupted := errors.Is(err, harness.ErrInterrupted)
	if err != nil && !interrupted {
		return err
	}
	if interrupted && (sweep == nil || len(sweep.Runs) == 0) {
		return fmt.Errorf("%w before the first run had finished", harness.ErrInterrupted)
	}
	if interrupted {
		if err := printSweep(cmd.OutOrStdout(), sweep, f.json); err != nil {
			return err
		}
		return fmt.Errorf("%w: %d of %d runs kept; to go on: tailrace run --resume --out %s; to see them: tailrace report %[4]s",
			harness.ErrInterrupted, len(sweep.Runs), plan.Runs(), plan.Options.Out)
	}
	return finishSweep(cmd, f, sweep, plan.Options.Out, shown)
}

// finishSweep writes and prints a sweep that ran to its end.
func finishSweep(cmd *cobra.Command, f *runFlags, sweep *results.Sweep, dir string, shown *progress) error {
	shown.say("drawing charts")
	unwritten := writeCharts(sweep, dir)
	shown.clear()
	if err := printSweep(cmd.OutOrStdout(), sweep, f.json); err != nil {
		return err
	}
	if unwritten != nil {
		return outputError(fmt.Errorf("%w; all runs are kept; to draw them: tailrace report %s", unwritten, dir))
	}
	shortest, err := linkLatest(dir)
	if err != nil {
		shortest = dir
		fmt.Fprintln(cmd.ErrOrStderr(), "tailrace: warning: "+plainText(err.Error()))
	}
	if !f.json {
		hint := ""
		if len(f.workloads) == 0 && !f.overrides.HasRoles() && !f.resume {
			hint = " · your own mix: tailrace run --workers 8 --mix produce=25"
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s%s\n", filepath.Join(shortest, reportFile), hint)
	}
	return verified(sweep)
}

// searched reports whether a run is a probe of a search: one without a measurement has not passed, which is
// all that a search wants to know.
func searched(sweep *results.Sweep, run *results.Run) bool {
	return slices.ContainsFunc(sweep.Meta.Searches, func(s results.Search) bool { return s.Workload == run.Cell.Workload })
}

// verified is an error if a run of the sweep gave wrong answers.
func verified(sweep *results.Sweep) error {
	failed, unmeasured := 0, 0
	why := ""
	for i := range sweep.Runs {
		if run := &sweep.Runs[i]; !run.Valid() {
			failed++
		} else if run.Unmeasured != "" && !searched(sweep, run) {
			unmeasured, why = unmeasured+1, run.Unmeasured
		}
	}
	for _, search := range sweep.Meta.Searches {
		if search.Pass == 0 && search.Fail == 0 {
			unmeasured, why = unmeasured+1, search.Strategy+": "+search.Reason
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d runs %w; their numbers count for nothing", failed, len(sweep.Runs), errFailedRuns)
	}
	if unmeasured > 0 {
		return fmt.Errorf("%d of %d runs were %w: %s", unmeasured, len(sweep.Runs), errUnmeasured, why)
	}
	return nil
}
