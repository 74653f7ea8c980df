package claims

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"tailrace/harness"
	"tailrace/results"
	"tailrace/workload"
)

// ErrUnknown is wrapped by the error about a name that no claim has.
var ErrUnknown = errors.New("no such claim")

// Options say which claims to test, and how.
type Options struct {
	Names   []string // all if there are none
	Quick   bool     // two and a half minutes for all, instead of sixteen: shorter runs, fewer of them, and no figures that decide nothing
	Blocks  int      // of the sweep, and with it of the experiments; 0 for as many as Quick says
	Seed    uint64
	Out     string   // directory for the results; must not hold any
	Child   []string // the command of a run's process, see harness.Options
	Loops   []string // the command of the process that times loops, see ExecuteLoops
	Pressed []string // the command of an experiment's process that lacks memory or processors, see ExecutePressure
	Torture []string // the command of the checker's process, see torture.Execute
	Command []string // as typed
	Version string
	// Start is told of the sweep before it begins, Progress of its runs, and Say of what is done after it; they may be
	// nil.
	Start    func(*harness.Plan)
	Progress func(harness.Progress)
	Say      func(string)
	// Failed is told of an experiment whose process has failed, as by a panic, which also leaves its claim unsettled; it may
	// be nil.
	Failed func(claim string, failed *harness.FailedChild)
}

// Names are those of all claims, in their order.
func Names() []string {
	var names []string
	for _, c := range all() {
		names = append(names, c.Name)
	}
	return names
}

// Claims are all claims without outcomes: their sentences, experiments and rules.
func Claims() []results.Claim {
	var list []results.Claim
	for _, c := range all() {
		list = append(list, c.Claim)
	}
	return list
}

// Run puts claims to the test, and writes what came out into the directory: the sweep with all its files, and
// claims.json and claims.md. An experiment that fails leaves its claim unsettled, with the reason. The errors are
// ErrUnknown, those of harness.NewPlan and harness.Run, and of writing files, which comes with what came out.
func Run(ctx context.Context, o Options) (*results.Claims, error) {
	chosen, err := choose(o.Names)
	if err != nil {
		return nil, err
	}
	w := fullWindows
	if o.Quick {
		w = quickWindows
	}
	if o.Blocks != 0 {
		w.repetitions = max(2, w.repetitions*o.Blocks/w.blocks)
		w.blocks = o.Blocks
	}
	outcome := &results.Claims{
		Schema: results.Schema, Version: o.Version, Command: o.Command, Seed: o.Seed, Started: time.Now(), Quick: o.Quick, Level: level(),
	}
	// Before minutes of runs would be lost for want of it.
	place, warnings, err := scratch()
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	defer place.remove()
	if err := sweep(ctx, &o, w, chosen, outcome); err != nil {
		return nil, err
	}
	outcome.Warnings = append(outcome.Warnings, warnings...)
	warn := func(text string) { outcome.Warnings = append(outcome.Warnings, text) }
	if err := measure(ctx, &o, w, chosen, place, warn); err != nil {
		return nil, err
	}
	for i := range chosen {
		judge(&chosen[i].Claim)
		outcome.Claims = append(outcome.Claims, chosen[i].Claim)
	}
	return outcome, outcome.WriteFiles(o.Out)
}

// choose returns the claims of some names, in the order of all.
func choose(names []string) ([]claim, error) {
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("claims: %s: %w (there are %s)%s", name, ErrUnknown, strings.Join(Names(), ", "), workload.Suggestion(name, Names()))
		}
	}
	return slices.DeleteFunc(all(), func(c claim) bool { return len(names) > 0 && !slices.Contains(names, c.Name) }), nil
}

// level is the confidence of each interval: those of all conditions of all claims hold together with 95 %.
func level() float64 {
	conditions := 0
	for _, c := range all() {
		conditions += len(c.Conditions)
	}
	return 1 - 0.05/float64(conditions)
}

// sweep runs the loads that the claims need, and computes the figures that it gives.
func sweep(ctx context.Context, o *Options, w windows, chosen []claim, outcome *results.Claims) error {
	if w.deciding {
		for i := range chosen {
			chosen[i].ratios = chosen[i].deciding()
		}
	}
	loads := needed(chosen)
	if len(loads) == 0 {
		// The machine is that of a plan, which needs a load.
		loads = []workload.Workload{nothing()}
		plan, err := harness.NewPlan(ctx, o.harness(loads, 1))
		if err != nil {
			return err
		}
		outcome.Environment, outcome.Warnings = plan.Meta.Environment, plan.Meta.Warnings
		if err := os.MkdirAll(o.Out, 0o777); err != nil {
			return fmt.Errorf("claims: %w", err)
		}
		return nil
	}
	for i := range loads {
		loads[i].Ramp, loads[i].Duration = w.ramp, w.duration
		if loads[i].ConsumeRate > 0 {
			loads[i].Duration = w.paced
		}
	}
	plan, err := harness.NewPlan(ctx, o.harness(loads, w.blocks))
	if err != nil {
		return err
	}
	if o.Start != nil {
		o.Start(plan)
	}
	found, err := harness.Run(ctx, plan)
	if err != nil {
		return err
	}
	outcome.Environment = found.Meta.Environment
	outcome.Warnings = found.Summary().Warnings
	if distrust := found.Summary().Distrust; distrust != "" {
		outcome.Warnings = append(outcome.Warnings, "the sweep is not to be trusted: "+distrust)
	}
	for i := range chosen {
		c := &chosen[i]
		for j := range c.ratios {
			c.Figures = append(c.Figures, c.ratios[j].figureOf(found, level()))
		}
		if failed := failedRun(found, c.ratios); failed != "" {
			c.Reason = failed
		}
	}
	return nil
}

// nothing is a load that is not run, and needs no room.
func nothing() workload.Workload {
	w := workload.DefaultMix()
	w.Workers, w.Prefill, w.MaxBytes = 1, w.SegmentSize, 2*w.SegmentSize
	return w
}

func (o *Options) harness(loads []workload.Workload, blocks int) harness.Options {
	return harness.Options{
		Workloads: loads, Blocks: blocks, Seed: o.Seed, Out: o.Out, Child: o.Child, Command: o.Command, Version: o.Version, Progress: o.Progress,
	}
}

// failedRun is the first wrong answer in a run that figures come from.
func failedRun(s *results.Sweep, ratios []ratio) string {
	for i := range s.Runs {
		run := &s.Runs[i]
		from := func(p place) bool { return run.Cell.Workload == p.load && run.Cell.Strategy == p.strategy }
		if !run.Valid() && slices.ContainsFunc(ratios, func(r ratio) bool { return from(r.over) || from(r.under) }) {
			return fmt.Sprintf("a run of `%s` failed verification: %s", run.Cell.Strategy, run.Verification.Error)
		}
	}
	return ""
}

// measure makes the experiments beside the sweep.
func measure(ctx context.Context, o *Options, w windows, chosen []claim, place places, warn func(text string)) error {
	found := make(map[string][]results.Figure)
	for i := range chosen {
		c := &chosen[i]
		if c.measure == nil {
			continue
		}
		if o.Say != nil {
			o.Say("experiment " + c.Name)
		}
		b := &bench{
			ctx: ctx, blocks: w.repetitions, turn: w.turn, random: rand.New(rand.NewPCG(o.Seed, uint64(i))),
			dir: place.memory, disk: place.disk, level: level(), found: found,
			child: o.Child, looping: o.Loops, pressed: o.Pressed, torturing: o.Torture, warn: warn,
		}
		figures, err := c.measure(b)
		if ctx.Err() != nil {
			return harness.ErrInterrupted
		}
		c.Figures = append(c.Figures, figures...)
		if err != nil && c.Reason == "" {
			c.Reason = oneLine(err)
		}
		if failed, ok := errors.AsType[*harness.FailedChild](err); ok && o.Failed != nil {
			o.Failed(c.Name, failed)
		}
	}
	return nil
}

// places are directories for files of experiments.
type places struct {
	memory string
	disk   string // "" if there is none
}

// scratchBytes is the most that an experiment has in files: a log, and another that grows as long.
const scratchBytes = 2 * logBytes

// scratchPattern begins the names of these directories.
const scratchPattern = "tailrace-claims-"

// scratch makes a directory in memory, where there is room, and one on a disk. Files that are to be in memory may be on
// a disk, where there is no other place: a warning says so. Without a disk some figures can't be measured.
func scratch() (p places, warnings []string, err error) {
	disks := []string{"/var/tmp", os.TempDir()}
	if p.memory, err = harness.TempDir(scratchBytes, true, scratchPattern, "/dev/shm", os.TempDir()); err != nil {
		warnings = append(warnings, "files of experiments that are to be in memory are on a disk: "+oneLine(err))
		if p.memory, err = harness.TempDir(2*scratchBytes, false, scratchPattern, disks...); err != nil {
			return p, nil, err
		}
	}
	if p.disk, err = harness.TempDir(scratchBytes, false, scratchPattern, disks...); err != nil {
		warnings = append(warnings, "experiments have no disk: "+oneLine(err))
	}
	return p, warnings, nil
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

func (p places) remove() {
	for _, dir := range []string{p.memory, p.disk} {
		if dir != "" {
			_ = os.RemoveAll(dir) // of no worth
		}
	}
}
