package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"tailrace/results"
)

// savedPlan is what a sweep needs to go on: plan.json in the directory of its results.
type savedPlan struct {
	Schema   int             `json:"schema"`
	ID       string          `json:"id"`
	Meta     results.Meta    `json:"meta"`
	Cells    []PlannedCell   `json:"cells"`
	Searches []PlannedSearch `json:"searches,omitempty"`
	Blocks   int             `json:"blocks"`
	Seed     uint64          `json:"seed"`
	Shard    Shard           `json:"shard"`
	KeepData bool            `json:"keep_data,omitempty"`
	Against  string          `json:"against,omitempty"`
	Binaries []string        `json:"binaries"` // digests of the builds
	Profiles []string        `json:"profiles,omitempty"`
	Estimate time.Duration   `json:"estimate"`
}

func (p *Plan) saved() savedPlan {
	o := &p.Options
	return savedPlan{
		Schema: results.Schema, ID: p.id, Meta: p.Meta, Cells: p.Cells, Searches: p.Searches, Blocks: o.Blocks, Seed: o.Seed,
		Shard: o.Shard, KeepData: o.KeepData, Against: o.Against, Profiles: o.Profiles, Estimate: p.Estimate,
		Binaries: o.binaries(),
	}
}

// binaries are the digests of the binaries that a sweep uses; "" for one that can't be read.
func (o *Options) binaries() []string {
	digests := []string{fileDigest(o.Child[0])}
	if o.Against != "" {
		digests = append(digests, fileDigest(o.Against))
	}
	return digests
}

func fileDigest(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// planPart is a cell with the load that it runs under.
type planPart struct {
	Cell     results.Cell
	Workload any
}

func (p *Plan) parts() []planPart {
	var parts []planPart
	for _, c := range p.all() {
		parts = append(parts, planPart{c.Cell, c.Workload})
	}
	return parts
}

// digest identifies what is run, on whatever machine, storage apart: results of one plan are parts of one sweep.
func (p *Plan) digest() string {
	return digestOf(struct {
		Parts  []planPart
		Blocks int
		Seed   uint64
	}{p.parts(), p.Options.Blocks, p.Options.Seed})
}

// design identifies the cells and their loads alone, in whatever order: sweeps of one design differ in nothing but
// how often, in which order and on which occasion each cell runs.
func (p *Plan) design() string {
	var digests []string
	for _, part := range p.parts() {
		digests = append(digests, digestOf(part))
	}
	slices.Sort(digests)
	return digestOf(digests)
}

func digestOf(what any) string {
	text, err := json.Marshal(what)
	if err != nil {
		return "" // numbers that JSON can't hold, which no valid workload has
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// ResumePlan is the plan of the sweep in a directory, which was interrupted or killed: what it was, less
// what it has done. child and progress are as in Options. The sweep goes on only where it began and
// with the same build, since runs are compared within their block. Errors wrap ErrUsage.
func ResumePlan(ctx context.Context, dir string, child []string, progress func(Progress)) (*Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text, err := results.ReadPlan(dir)
	if err != nil {
		return nil, usagef("--resume %s: %w; give the --out directory of a sweep that was interrupted", dir, err)
	}
	var saved savedPlan
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, usagef("--resume %s: its plan.json can't be read: %w", dir, err)
	}
	if saved.Schema != results.Schema {
		return nil, usagef("--resume %s: its plan has schema %d, this version reads %d", dir, saved.Schema, results.Schema)
	}
	before, err := results.Load(dir)
	if err != nil {
		return nil, usagef("--resume %s: %w", dir, err)
	}
	p := &Plan{
		Options: Options{
			Blocks: saved.Blocks, Seed: saved.Seed, Shard: saved.Shard, KeepData: saved.KeepData, Against: saved.Against,
			Profiles: saved.Profiles, Out: dir, Child: child, Progress: progress, Command: saved.Meta.Command,
		},
		Cells: saved.Cells, Searches: saved.Searches, Meta: before.Meta, Estimate: saved.Estimate,
		id: saved.ID, resumed: true,
	}
	// What an earlier resumption has warned of stays true.
	p.Meta.Warnings = saved.Meta.Warnings
	for _, warning := range before.Meta.Warnings {
		if !slices.Contains(p.Meta.Warnings, warning) {
			p.Meta.Warnings = append(p.Meta.Warnings, warning)
		}
	}
	if p.digest() != before.Meta.Plan || len(p.all()) == 0 || !dataID.MatchString(p.id) {
		return nil, usagef("--resume %s: its plan.json is not the plan of these results", dir)
	}
	if err := p.has(before.Runs); err != nil {
		return nil, usagef("--resume %s: %w", dir, err)
	}
	if err := p.sameAs(before.Meta.Environment); err != nil {
		return nil, usagef("--resume %s: %w", dir, err)
	}
	if !slices.Equal(p.Options.binaries(), saved.Binaries) {
		return nil, usagef("--resume %s: tailrace, or the build that it is compared with, is another binary now; begin a new sweep", dir)
	}
	if !before.Meta.Interrupted && p.complete(before.Runs) {
		return nil, usagef("--resume %s: the sweep has been finished; to see it: tailrace report %[1]s", dir)
	}
	p.Meta.Resumed++
	return p, nil
}

// dataID is what names of data directories end in.
var dataID = regexp.MustCompile(`^[A-Z2-7]{10}$`)

// sameAs refuses a machine or a build other than those with which the sweep began.
func (p *Plan) sameAs(then results.Environment) error {
	now := environment()
	for _, f := range []struct{ what, then, now string }{
		{"host", then.Host, now.Host},
		{"CPU", then.CPUModel, now.CPUModel},
		{"number of CPUs", fmt.Sprint(then.Affinity), fmt.Sprint(now.Affinity)},
		{"commit of tailrace", then.Commit, now.Commit},
		{"Go version", then.GoVersion, now.GoVersion},
	} {
		if f.then != f.now {
			return fmt.Errorf("the %s was %s and is %s; what is compared must be measured alike, begin a new sweep", f.what, f.then, f.now)
		}
	}
	return nil
}

// has refuses runs that are not those of the plan. Which a search makes, only it knows.
func (p *Plan) has(runs []results.Run) error {
	planned := make(map[int]turn)
	for _, t := range p.turns() {
		planned[t.index] = t
	}
	for i := range runs {
		run := &runs[i]
		t, ok := planned[run.Index]
		switch {
		case ok && t.block == run.Block && t.cell.Cell == run.Cell:
		case run.Index >= p.Options.Blocks*len(p.Cells) && len(p.Searches) > 0:
		default:
			return fmt.Errorf("run %d in its runs.jsonl is not one of its plan", run.Index)
		}
	}
	return nil
}

// complete reports whether all runs of the blocks are done. A search may go on.
func (p *Plan) complete(runs []results.Run) bool {
	if len(p.Searches) > len(p.Meta.Searches) {
		return false
	}
	done := func(index int) bool {
		return slices.ContainsFunc(runs, func(r results.Run) bool { return r.Index == index })
	}
	return !slices.ContainsFunc(p.turns(), func(t turn) bool { return !done(t.index) })
}
