package harness

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"tailrace/results"
	"tailrace/strategies"
	"tailrace/workload"
)

// NewPlan checks options and lays the sweep out. It writes nothing but a probe in the directories
// where data will go. Errors wrap ErrUsage, or workload.ErrInvalid.
func NewPlan(ctx context.Context, o Options) (*Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkOptions(&o); err != nil {
		return nil, err
	}
	p := &Plan{Options: o, id: rand.Text()[:10]}
	p.Meta = results.Meta{
		Schema:      results.Schema,
		Version:     o.Version,
		Command:     o.Command,
		Seed:        o.Seed,
		Blocks:      o.Blocks,
		Shard:       o.Shard.String(),
		Environment: environment(),
	}
	if o.Against != "" {
		other, err := otherBinary(o.Against)
		if err != nil {
			return nil, err
		}
		p.Options.Against, p.Meta.Against = other.Binary, other
	}
	placer := &placer{storage: o.Storage, dir: o.Dir, out: o.Out, runs: 1}
	for i := range o.Workloads {
		w := &o.Workloads[i]
		if err := p.add(w, placer); err != nil && w.Source != "" {
			return nil, fmt.Errorf("%s: %w", w.Source, err)
		} else if err != nil {
			return nil, err
		}
	}
	p.Meta.Warnings = append(judge(p.Meta.Environment), placer.warnings...)
	if most := slices.Max(o.GOMAXPROCS); most > runtime.NumCPU() {
		p.Meta.Warnings = append(p.Meta.Warnings,
			fmt.Sprintf("--cpu %d on %d CPUs: more threads than processors, so that the kernel's scheduler takes part", most, runtime.NumCPU()))
	}
	if len(p.Cells) == 0 && len(o.Profiles) > 0 {
		return nil, usagef("--%s: a profile is taken of cells at a given rate, and a search has none; leave it out, or give --produce-rate", ProfileFlag(o.Profiles[0]))
	}
	p.Meta.Cells = len(p.Cells)
	if o.Shard.Count > 0 {
		p.Meta.Runs = len(p.Cells) * o.Shard.blocks(o.Blocks)
	}
	for i := range p.Searches {
		p.Meta.SearchesPlanned += len(p.Searches[i].Cells)
	}
	p.Meta.Verdicts = p.verdicts()
	p.Meta.Ideas = p.ideas()
	p.Meta.Plan = p.digest()
	for _, search := range p.Searches {
		p.Estimate += search.estimate()
	}
	for _, c := range p.Cells {
		p.Estimate += time.Duration(o.Shard.blocks(o.Blocks)) * c.estimate()
		if c.Place.Kind != StorageHeap {
			p.Meta.Environment.Filesystems[c.Place.Kind] = c.Place.Text
		}
	}
	p.Meta.Design = p.design()
	return p, nil
}

// Bounds that keep a slip of the finger from running for days.
const (
	maxBlocks     = 10_000
	maxProcessors = 1024
)

func checkOptions(o *Options) error {
	switch {
	case len(o.Workloads) == 0:
		return usagef("no workload")
	case o.Blocks < 1:
		return usagef("--blocks %d: at least 1 is needed (6 for a confidence interval worth the name)", o.Blocks)
	case o.Blocks > maxBlocks:
		return usagef("--blocks %d: at most %d", o.Blocks, maxBlocks)
	case o.Out == "":
		return usagef("no directory for the results; name one with --out")
	case len(o.Child) == 0:
		return usagef("no command for the process of a run")
	}
	if o.Storage == "" {
		o.Storage = StorageAuto
	}
	if s := o.Shard; s.Count > o.Blocks {
		return usagef("--shard %s: there are %d blocks, fewer than shards; raise --blocks", s, o.Blocks)
	}
	for _, kind := range o.Profiles {
		if !slices.Contains(ProfileKinds, kind) {
			return usagef("profile %s: there are %s", kind, strings.Join(ProfileKinds, ", "))
		}
	}
	if len(o.GOMAXPROCS) == 0 {
		o.GOMAXPROCS = []int{runtime.GOMAXPROCS(0)}
	}
	for _, n := range o.GOMAXPROCS {
		if n < 1 || n > maxProcessors {
			return usagef("--cpu %d: outside 1 to %d", n, maxProcessors)
		}
	}
	if o.Baseline != "" {
		if err := checkStrategy("--baseline", o.Baseline); err != nil {
			return err
		}
	}
	return checkOut(o.Out)
}

// checkStrategy refuses a name that no strategy has.
func checkStrategy(flag, name string) error {
	if _, err := strategies.Find(name); err == nil {
		return nil
	}
	names := strategies.Names()
	return usagef("%w", &workload.FieldError{Field: flag, Value: name, Problem: fmt.Sprintf(
		"no such strategy (there are %s)%s", strings.Join(names, ", "), workload.Suggestion(name, names))})
}

// add lays out the cells of one workload. The first that has any gets the A/A arm.
func (p *Plan) add(w *workload.Workload, placer *placer) error {
	o := &p.Options
	first := len(p.Cells) == 0
	w.MaxBytes = w.Bound()
	if err := w.Validate(); err != nil {
		if len(o.Workloads) > 1 && w.Source == "" {
			return fmt.Errorf("workload %s: %w", w.Name, err)
		}
		return err
	}
	if err := checkPrimary(w.Primary); err != nil {
		return err
	}
	names, baseline, err := o.compared(w)
	if err != nil {
		return err
	}
	if err := fitting(w, names); err != nil {
		return err
	}
	if rawIsLimit(w) && !slices.Contains(names, "raw") {
		names = append(names, "raw")
	}
	if o.KeepData { // of every cell, with an A/A arm and the other build
		placer.runs = int64(len(o.Workloads) * len(o.GOMAXPROCS) * (len(names)*(1+min(len(o.Against), 1)) + 1))
	}
	place, err := placer.place(w)
	if err != nil {
		return err
	}
	if err := checkResources(w, place, slices.Contains(names, "raw")); err != nil {
		return err
	}
	fresh := p.describe(w, place)
	if source := (results.Source{Path: w.Source, Text: w.SourceText}); w.Source != "" && !slices.Contains(p.Meta.Sources, source) {
		p.Meta.Sources = append(p.Meta.Sources, source)
	}
	if p.Meta.Baseline == "" {
		p.Meta.Baseline = baseline
	}
	if w.Search {
		return p.addSearch(w, place, names)
	}
	if fresh {
		p.compare(w, names, baseline)
	}
	for _, procs := range o.GOMAXPROCS {
		for _, name := range names {
			p.cell(w, place, name, "", "", procs)
			if o.Against != "" && !isControl(name) {
				p.cell(w, place, name, "", otherBuild, procs)
			}
		}
		if first {
			p.cell(w, place, baseline, "A/A", "", procs)
		}
	}
	return nil
}

// describe enters a workload into the sweep's description, unless another point of it is there.
func (p *Plan) describe(w *workload.Workload, place Place) bool {
	bound := w.MaxBytes
	if w.Backlog > 0 && !w.Bounded {
		bound = 0 // what is on the storage is bounded, not what is written
	}
	for i := range p.Meta.Workloads {
		if known := &p.Meta.Workloads[i]; known.Name == w.Name {
			known.Points = append(known.Points, point(w, place))
			known.MaxBytes = max(known.MaxBytes, bound)
			return false
		}
	}
	p.Meta.Workloads = append(p.Meta.Workloads, results.Workload{
		Name:        w.Name,
		Description: w.Describe(),
		Storage:     place.Text,
		Primary:     w.Primary,
		Ramp:        w.Ramp.Seconds(),
		Duration:    w.Duration.Seconds(),
		Prefill:     w.Prefill,
		SegmentSize: w.SegmentSize,
		MaxBytes:    bound,
		Notes:       append(slices.Clip(w.Notes), caveats(w)...),
		Points:      []results.Point{point(w, place)},
	})
	return true
}

// caveats say what a kind of load cannot show.
func caveats(w *workload.Workload) []string {
	if w.Producers > 0 && w.Consumers > 0 && !w.OpenLoop() {
		return []string{"closed loops of separate roles: who gets the processors decides how much each role does; " +
			"compare capacity with --workers and --mix, latency with paced roles"}
	}
	return nil
}

func (p *Plan) cell(w *workload.Workload, place Place, strategy, arm, build string, procs int) {
	cell := point(w, place).Cell
	cell.Strategy, cell.Arm, cell.Build, cell.GOMAXPROCS = strategy, arm, build, procs
	p.Cells = append(p.Cells, PlannedCell{Workload: *w, Place: place, Cell: cell})
}

func point(w *workload.Workload, place Place) results.Point {
	arrivals, burst, skew := w.Arrivals, w.Burst, w.Skew
	if arrivals == workload.ArrivalsConstant {
		arrivals = ""
	}
	if burst == 1 {
		burst = 0
	}
	if w.Pattern != workload.Zipfian {
		skew = 0
	}
	return results.Point{
		Description: w.Describe(),
		Cell: results.Cell{
			Workload:       w.Name,
			Producers:      w.Producers,
			Consumers:      w.Consumers,
			Workers:        w.Workers,
			ProducePercent: w.ProducePercent,
			Partitions:     w.Partitions,
			RecordSize:     w.RecordSize,
			RecordSizes:    w.Sizes.String(),
			Skew:           skew,
			Rate:           w.Rate,
			Arrivals:       arrivals,
			Burst:          burst,
			Think:          w.Think.Seconds(),
			Replicas:       w.Replicas,
			Backlog:        w.Backlog,
			BatchRecords:   w.BatchRecords,
			FetchBytes:     w.FetchBytes,
			Pattern:        string(w.Pattern),
			ProduceRate:    w.ProduceRate,
			ConsumeRate:    w.ConsumeRate,
			Acks:           w.Acks,
			Sync:           w.Sync,
			Storage:        place.Kind,
		},
	}
}

// estimate is how long one run of a cell takes: load, prefill at a rate that every model reaches, and
// start and verification.
func (c *PlannedCell) estimate() time.Duration {
	const prefillRate = 500 << 20
	return c.Workload.Ramp + c.Workload.Duration + 100*time.Millisecond +
		time.Duration(float64(c.Workload.Prefill)/prefillRate*float64(time.Second))
}
