package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tailrace/harness"
	"tailrace/harness/torture"
	"tailrace/results"
	"tailrace/strategies"
	"tailrace/workload"
)

const checkLong = `Look for wrong answers of the strategies on this machine: short concurrent
histories that must be linearizable, long runs, producers and consumers in lockstep,
one client that changes a log while others look at every moment of it, appends that
are cancelled, storage that fails or loses power, logs that are closed under load and
opened again, and calls that must leave the same files as those of mutex. It begins with a strategy that is wrong on purpose and must
be caught.

What is done follows from the seed, but for how the scheduler interleaves it. For a
violation it prints the command that begins with what has found it, and leaves the
history in --out; history.html shows it in a browser.

Exit codes: 0 no violation found, 1 a violation, 2 bad input, or data or output that
can't be written, 130 interrupted.`

const checkExample = `  tailrace check
  tailrace check --strategies all --duration 1m
  tailrace check --strategies atomics --cpu 1 --seed 42`

// controlTime is within which the strategy that is wrong on purpose must be caught.
const controlTime = time.Second

// checkFlags are the flags of check as they were given.
type checkFlags struct {
	strategies   []string
	duration     time.Duration
	seed         *uint64
	processors   *int
	storage, dir string
	out          string
	quiet, json  bool
}

func newCheck() *cobra.Command {
	f := &checkFlags{duration: 10 * time.Second, storage: harness.StorageAuto}
	cmd := &cobra.Command{
		Use:                   "check [flags]",
		Short:                 "Look for wrong answers of strategies: linearizability, close, trim and more",
		Long:                  checkLong,
		Example:               checkExample,
		Args:                  noArguments,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.plan()
			if err != nil {
				return err
			}
			c.progress = newProgress(cmd.ErrOrStderr(), f.quiet)
			return c.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().SortFlags = false
	f.add(cmd.Flags())
	// They fail only for flags that there are not.
	_ = cmd.RegisterFlagCompletionFunc("strategies", completeStrategies)
	_ = cmd.RegisterFlagCompletionFunc("storage",
		completeOneOf(harness.StorageAuto, harness.StorageTmpfs, harness.StorageDisk, harness.StorageHeap))
	return cmd
}

func (f *checkFlags) add(flags *pflag.FlagSet) {
	flags.Var(list(&f.strategies, parseName), "strategies", "`names` with commas between; core and all stand for several (default core)")
	flags.Var(single(&f.duration, f.duration.String(), workload.ParseTime), "duration", "`time` for each strategy")
	flags.Var(optional(&f.seed, parseSeed), "seed", "`number` that determines what is done (default a random one, which is printed)")
	flags.Var(optional(&f.processors, workload.ParseCount), "cpu", "`number` of processors to use, as GOMAXPROCS (default drawn for each round)")
	flags.Var(single(&f.storage, f.storage, parseGiven), "storage",
		fmt.Sprintf("`kind` of storage: %s, files in memory and the heap in turn; %s; %s; %s",
			harness.StorageAuto, harness.StorageTmpfs, harness.StorageDisk, harness.StorageHeap))
	flags.Var(single(&f.dir, "", parseGiven), "dir", "existing `directory` for the data (default one that fits the storage)")
	flags.Var(single(&f.out, "", parseGiven), "out", "`directory` for the histories of violations (default out/check-TIME)")
	flags.BoolVar(&f.quiet, "quiet", false, "show no progress")
	flags.BoolVar(&f.json, "json", false, "print the results as JSON instead of a table")
}

// checking is a run of check.
type checking struct {
	strategies []strategies.Strategy
	options    torture.Options
	where      string // in words
	flags      *checkFlags
	out        string
	child      []string
	progress   *progress
	results    []checked
	unwritten  error // of what there is to see of violations
}

// plan refuses what can't be done.
func (f *checkFlags) plan() (*checking, error) {
	c := &checking{flags: f, out: f.out}
	names := expandStrategies(f.strategies)
	if len(names) == 0 {
		names = expandStrategies([]string{coreStrategies})
	}
	for _, name := range names {
		s, err := strategies.Find(name)
		if err != nil {
			return nil, unknownStrategy(name)
		}
		c.strategies = append(c.strategies, s)
	}
	skipped := func(s strategies.Strategy) bool { return torture.Skip(s) != "" }
	switch {
	case !slices.ContainsFunc(c.strategies, func(s strategies.Strategy) bool { return !skipped(s) }):
		return nil, usagef("--strategies %s: nothing to check; %s", strings.Join(names, ","), torture.Skip(c.strategies[0]))
	case f.duration <= 0:
		return nil, usagef("--duration %v: checks need some time; give more than 0, as in 10s", f.duration)
	case f.processors != nil && (*f.processors < 1 || *f.processors > maxProcessors):
		return nil, usagef("--cpu %d: outside 1 to %d", *f.processors, maxProcessors)
	}
	seed := rand.Uint64N(1 << 48)
	if f.seed != nil {
		seed = *f.seed
	}
	c.options = torture.Options{Duration: f.duration, Seed: seed}
	if f.processors != nil {
		c.options.Processors = *f.processors
	}
	if err := c.place(); err != nil {
		return nil, err
	}
	if c.out == "" {
		c.out = unusedDirectory(filepath.Join(outParent, "check-"+time.Now().Format("20060102-150405")))
	} else if info, err := os.Stat(c.out); err == nil && !info.IsDir() {
		return nil, usagef("--out %s: not a directory; name another", c.out)
	} else if results.CheckForeign(c.out, "*-violation.txt") != nil {
		return nil, usagef("--out %s: %w and no violations; name a new directory, or an empty one", c.out, results.ErrForeign)
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c.child = []string{executable, "torture"}
	return c, nil
}

const maxProcessors = 1024

func unknownStrategy(name string) error {
	there := strings.Join(strategies.Names(), ", ")
	if near := workload.Nearest(name, strategies.Names()); near != "" {
		return usagef("--strategies %s: no such strategy (there are %s); did you mean %s?", name, there, near)
	}
	return usagef("--strategies %s: no such strategy (there are %s)", name, there)
}

// newTorture is the command with which check starts the process for each strategy.
func newTorture() *cobra.Command {
	return &cobra.Command{
		Use:    "torture",
		Short:  "Check one strategy, as standard input says",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return torture.Execute(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

var (
	// errViolated: a strategy gave wrong answers.
	errViolated = errors.New("gave wrong answers")
	// errWorthless: the strategy that is wrong on purpose was not caught.
	errWorthless = errors.New("the checks are worth nothing here")
)

// run checks the control and then each strategy, and prints what was found.
func (c *checking) run(ctx context.Context, out io.Writer) error {
	c.progress.line(fmt.Sprintf("seed %d · %v for each strategy · %s", c.options.Seed, c.options.Duration, c.where))
	err := c.checkAll(ctx)
	c.progress.clear()
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted && !errors.Is(err, errWorthless) {
		return err
	}
	if printErr := c.print(out); printErr != nil {
		return printErr
	}
	violated := 0
	for _, r := range c.results {
		if r.Result == resultViolated {
			violated++
		}
	}
	switch {
	case errors.Is(err, errWorthless):
		return err
	case violated > 0 && c.unwritten != nil:
		return fmt.Errorf("%d of %d strategies %w; what they did cannot be written: %w", violated, len(c.strategies), errViolated, c.unwritten)
	case violated > 0:
		return fmt.Errorf("%d of %d strategies %w; what they did is in %s", violated, len(c.strategies), errViolated, c.out)
	case interrupted:
		return fmt.Errorf("%w: %d of %d strategies were checked", harness.ErrInterrupted, max(0, len(c.results)-1), len(c.strategies))
	}
	return c.unwritten
}

func (c *checking) checkAll(ctx context.Context) error {
	all := slices.DeleteFunc(slices.Clone(c.strategies), func(s strategies.Strategy) bool { return s.Faulty })
	var controls []strategies.Strategy
	for _, s := range strategies.List {
		if s.Faulty {
			controls = append(controls, s)
		}
	}
	for _, s := range append(controls, all...) {
		r, err := c.check(ctx, s)
		if err != nil {
			return err
		}
		c.results = append(c.results, r)
		if r.Result == resultMissed {
			return fmt.Errorf("%s, which is wrong on purpose, was not caught in %.1f s: %w", s.Name, r.Seconds, errWorthless)
		}
	}
	return nil
}

// check checks one strategy.
func (c *checking) check(ctx context.Context, s strategies.Strategy) (checked, error) {
	r := checked{Strategy: s.Name, Result: resultPassed}
	if why := torture.Skip(s); why != "" {
		r.Result, r.Skipped = resultSkipped, why
		c.progress.line(s.Name + " is skipped: " + why)
		return r, nil
	}
	options := c.options
	if s.Faulty {
		options.Duration, options.Patience = controlTime, controlTime
	}
	began := time.Now()
	options.Progress = func(p torture.Progress) {
		c.progress.say(fmt.Sprintf("%s · %v of %v · %s", s.Name, time.Since(began).Round(time.Second), options.Duration, p.Check))
	}
	counts, err := torture.Run(ctx, c.child, s, options)
	r.Counts, r.Seconds = counts, time.Since(began).Seconds()
	v, violated := errors.AsType[*torture.Violation](err)
	what := err
	if violated {
		what = errors.New(v.What)
	}
	switch {
	case err != nil && c.full(what.Error()):
		return r, outputError(fmt.Errorf("%s: %w; free some or raise the limit of file sizes, or choose another directory with --dir", c.options.Dir, what))
	case !violated && err != nil:
		return r, err
	case s.Faulty:
		return c.control(s, r, v)
	case !violated:
		c.progress.line(fmt.Sprintf("%s passed %d rounds", s.Name, counts.Rounds))
		return r, nil
	}
	r.Result, r.Violation = resultViolated, c.found(v)
	c.progress.line(fmt.Sprintf("VIOLATED %s, %s: %s\n  again: %s", s.Name, v.Check, plainText(v.What), r.Violation.Repeat))
	c.keep(&r, v)
	return r, nil
}

// keep writes what there is to see of a violation. Where that fails, the violation is no less one.
func (c *checking) keep(r *checked, v *torture.Violation) {
	files, err := v.Write(c.out)
	r.Violation.Files, c.unwritten = files, cmp.Or(c.unwritten, err)
}

// control judges the strategy that is wrong on purpose. Its history is kept if it was asked for by name.
func (c *checking) control(s strategies.Strategy, r checked, v *torture.Violation) (checked, error) {
	if v == nil {
		r.Result = resultMissed
		return r, nil
	}
	r.Result, r.Violation = resultCaught, c.found(v)
	c.progress.line(fmt.Sprintf("%s, which is wrong on purpose, was caught in %.2f s", s.Name, r.Seconds))
	if slices.Contains(c.flags.strategies, s.Name) {
		c.keep(&r, v)
	}
	return r, nil
}
