package harness

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// Errors that callers decide on; test with errors.Is.
var (
	// ErrUsage: options that cannot be run, or a machine without what they need. Nothing was written.
	ErrUsage = errors.New("harness: cannot run")
	// ErrInterrupted: the context ended before the sweep did; what had finished is kept.
	ErrInterrupted = errors.New("harness: interrupted")
	// ErrNotCaught: the negative control gave wrong answers and the checks did not see it, so that no
	// result would be worth anything.
	ErrNotCaught = errors.New("harness: the checks did not catch the strategy that is wrong on purpose")
)

// Storage kinds of Options.Storage.
const (
	StorageAuto  = "auto"  // tmpfs where the workload never syncs and there is room, else disk
	StorageTmpfs = "tmpfs" // memory behind the file system calls
	StorageDisk  = "disk"
	StorageHeap  = "heap" // no system calls at all
)

// Options is a sweep.
type Options struct {
	// Workloads are what is run, in order. Several of one name are points of one workload at
	// different concurrency.
	Workloads []workload.Workload
	// Strategies to compare; nil means each workload's own. The controls raw (where it is a limit)
	// and the A/A arm are added by Plan.
	Strategies []string
	// Baseline is the strategy that the others are compared with; "" means the first of the
	// strategies, or of each workload's own.
	Baseline string
	// GOMAXPROCS are the numbers of processors to run each cell with; nil means that of this process.
	GOMAXPROCS []int
	Blocks     int
	Seed       uint64

	Storage string // StorageAuto, …
	// Dir is where data files go, an existing directory; "" means a place that fits the storage kind.
	Dir string
	// Out is the directory of the results.
	Out string
	// KeepData leaves the segment files of the last block, in a directory that a warning names.
	KeepData bool

	// Against is the binary of another build of tailrace, with which each cell runs too; "" for none.
	Against string
	other   string // where it is run from
	// Shard is the part of the blocks that is run here.
	Shard Shard
	// Profiles are the kinds of profiles to be taken of every cell, in runs of their own (ProfileCPU, …).
	Profiles []string

	// Child is the command that calls Execute in a new process: the program and its arguments.
	Child []string
	// Command and Version are recorded: what the user typed, and what this is.
	Command []string
	Version string

	// Progress, if set, is called before the first run and after each, from one goroutine.
	Progress func(Progress)
}

// Progress is how far a sweep is.
type Progress struct {
	Done, Total int
	Left        time.Duration // estimate
	Run         *results.Run  // the one that has just ended; nil before the first
	Preflight   *results.Preflight
}

// Plan is a sweep that has been checked and laid out, and has touched nothing yet.
type Plan struct {
	Options Options
	Cells   []PlannedCell
	Meta    results.Meta
	// Searches are those for the highest rate that can be sustained, each of one workload.
	Searches []PlannedSearch
	// Estimate is how long the runs will take.
	Estimate time.Duration

	id      string // names the directories of the data
	resumed bool
}

// Runs is the number of runs on this machine: those of the blocks, and about those of the searches, which
// can't be known before.
func (p *Plan) Runs() int {
	runs := len(p.Cells) * p.Options.Shard.blocks(p.Options.Blocks)
	for i := range p.Searches {
		runs += usualProbes * len(p.Searches[i].Cells)
	}
	return runs
}

// Describe says how much is run: "19 cells × 6 blocks", "2 searches".
func (p *Plan) Describe() string {
	var parts []string
	if len(p.Cells) > 0 {
		blocks := fmt.Sprintf("%d blocks", p.Options.Blocks)
		if p.Options.Blocks == 1 {
			blocks = "1 block"
		}
		if p.Options.Shard.Count > 0 {
			blocks = fmt.Sprintf("%d of %s", p.Options.Shard.blocks(p.Options.Blocks), blocks)
		}
		parts = append(parts, fmt.Sprintf("%d cells × %s", len(p.Cells), blocks))
	}
	for i := range p.Searches {
		parts = append(parts, fmt.Sprintf("search for the highest rate of %s", p.Searches[i].Cells[0].Workload.Name))
	}
	return strings.Join(parts, ", ")
}

// PlannedCell is one cell with all that a run of it needs.
type PlannedCell struct {
	Cell     results.Cell      `json:"cell"`
	Workload workload.Workload `json:"workload"`
	Place    Place             `json:"place"`
}

// PlannedSearch is the search of one workload, by several strategies in turn.
type PlannedSearch struct {
	Cells []PlannedCell `json:"cells"` // one a strategy, without a rate
}

// Place is where the data of a run lives.
type Place struct {
	Kind   string // StorageTmpfs, StorageDisk or StorageHeap
	Parent string // directory in which each run makes its own; "" for heap
	Text   string // "tmpfs at /dev/shm"
}
