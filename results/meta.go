package results

import "time"

// Meta describes a sweep: meta.json.
type Meta struct {
	Schema  int       `json:"schema"`
	Version string    `json:"version"` // of tailrace
	Command []string  `json:"command"` // as typed
	Seed    uint64    `json:"seed"`
	Started time.Time `json:"started"`

	Blocks    int        `json:"blocks"`
	Cells     int        `json:"cells"`    // planned; each runs once a block
	Baseline  string     `json:"baseline"` // strategy that effects are relative to
	Workloads []Workload `json:"workloads"`
	// Planned are the comparisons that get a verdict, fixed before the first run, and Verdicts their
	// number at all points of their workloads: what the confidence is divided by.
	Planned  []Comparison `json:"planned"`
	Verdicts int          `json:"verdicts"`

	// Ideas are the steps between strategies that differ in one thing.
	Ideas []Idea `json:"ideas,omitempty"`

	// Sources are the files that workloads came from, with what they said.
	Sources []Source `json:"sources,omitempty"`

	// Against describes the other build, where two are compared: its version and commit.
	Against *Build `json:"against,omitempty"`
	// Runs is the number of runs that the blocks have here, if it is not cells × blocks, and SearchesPlanned
	// that of strategies whose highest rate is searched; 0 for neither.
	Runs            int `json:"runs,omitempty"`
	SearchesPlanned int `json:"searches_planned,omitempty"`
	// Shard says which part of the blocks this machine ran ("2/4"); "" for all.
	Shard string `json:"shard,omitempty"`
	// Plan identifies the cells, blocks and seed: results of one plan are parts of one sweep, and can be merged as
	// such. "" for what was merged of several sweeps.
	Plan string `json:"plan,omitempty"`
	// Design identifies the cells and their loads: sweeps of one design can be merged.
	Design string `json:"design,omitempty"`
	// Seeds are those of sweeps that were merged, ascending, if there are several; Seed is one of them.
	Seeds []uint64 `json:"seeds,omitempty"`
	// Parts are the results that were merged into these.
	Parts []Part `json:"parts,omitempty"`
	// Costs is what the harness itself costs under each workload.
	Costs []Cost `json:"costs,omitempty"`
	// Searches are those for the highest rate that can be sustained.
	Searches []Search `json:"searches,omitempty"`
	// Profiles were taken in runs of their own, which count for nothing else.
	Profiles []Profile `json:"profiles,omitempty"`

	Environment Environment `json:"environment"`
	Preflight   Preflight   `json:"preflight"`
	Warnings    []string    `json:"warnings,omitempty"`
	// Resumed is how many times the sweep was interrupted and went on.
	Resumed int `json:"resumed,omitempty"`
	// Interrupted says that the sweep was ended early, or is still under way; what had finished counts.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Source is a file that a workload was read from.
type Source struct {
	Path string `json:"path"` // as given
	Text string `json:"text"`
}

// Workload is what a reader of the results needs to know of a workload.
type Workload struct {
	Name        string   `json:"name"`
	Description string   `json:"description"` // "8 workers, 10 % produce, random reads, closed loop"
	Storage     string   `json:"storage"`     // "tmpfs at /dev/shm"
	Primary     string   `json:"primary"`     // metric of the planned comparisons
	Ramp        float64  `json:"ramp_sec"`
	Duration    float64  `json:"duration_sec"`
	Prefill     int64    `json:"prefill_bytes"`
	SegmentSize int64    `json:"segment_size"`
	MaxBytes    int64    `json:"max_bytes,omitempty"` // that a run may write; the largest of its points
	Notes       []string `json:"notes,omitempty"`     // what a reader must know, e.g. a payload file that was not there
	// Points describe the workload at each of its concurrencies, where it is run at several.
	Points []Point `json:"points,omitempty"`
}

// Point is a workload at one concurrency. The cell has no strategy, and no number of processors.
type Point struct {
	Cell        Cell   `json:"cell"`
	Description string `json:"description"`
}

// Comparison is a planned one: Strategy against Baseline on the primary metric of Workload.
type Comparison struct {
	Workload string `json:"workload"`
	Strategy string `json:"strategy"`
	Baseline string `json:"baseline"`
	// BaselineBuild is the build that the baseline is of, where two builds are compared.
	BaselineBuild string `json:"baseline_build,omitempty"`
	Metric        string `json:"metric"`
}

// Build is another binary that took part in a sweep.
type Build struct {
	Label   string `json:"label"` // as in Cell.Build
	Binary  string `json:"binary"`
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// Part is one of several results that were merged.
type Part struct {
	Dir         string      `json:"dir"`
	Shard       string      `json:"shard"`
	Command     []string    `json:"command"`
	Started     time.Time   `json:"started"`
	Environment Environment `json:"environment"`
	Preflight   Preflight   `json:"preflight"`
	Warnings    []string    `json:"warnings,omitempty"`
}

// Cost is what the harness costs an operation of a workload, measured with the strategy null: all that a
// worker does between two calls, but for the checks of answers, whose cost each run measures.
type Cost struct {
	Workload string `json:"workload"`
	// Processor time in seconds of an append, building its records included, and of a read.
	Append float64 `json:"sec_per_append"`
	Read   float64 `json:"sec_per_read"`
}

// Search is one for the highest rate at which a strategy meets objectives.
type Search struct {
	Workload   string   `json:"workload"`
	Strategy   string   `json:"strategy"`
	GOMAXPROCS int      `json:"gomaxprocs"`
	Objectives []string `json:"objectives,omitempty"` // "produce p99 < 2ms"; that it keeps up is always one
	// Closed is the records per second in a closed loop, where the search began.
	Closed float64 `json:"closed"`
	// Floor is the lowest rate that is worth a try: below it a window has too few samples for the objectives.
	Floor float64 `json:"floor,omitempty"`
	// Reason says why the search came to no end; "" if it did.
	Reason string `json:"reason,omitempty"`
	// Records per second: the highest rate that passed and was confirmed, and the lowest that failed; 0 if
	// there is none.
	Pass float64 `json:"pass"`
	Fail float64 `json:"fail"`
	// Probes in the order in which they were made.
	Probes []Probe `json:"probes"`
}

// Probe is one run of a search.
type Probe struct {
	Rate   float64 `json:"rate"`
	Passed bool    `json:"passed"`
	Reason string  `json:"reason,omitempty"` // why it did not
	// Measured are the latencies of the objectives, in words; those of a run whose load was late are at most so much.
	Measured []string `json:"measured,omitempty"`
	// Unknown says that it could not be judged, since the load itself was late, or samples were too few.
	Unknown bool `json:"unknown,omitempty"`
	Run     int  `json:"run"` // index
	// Confirms says that the rate had been tried before.
	Confirms bool `json:"confirms,omitempty"`
}

// Profile is a file with a profile of one cell.
type Profile struct {
	Cell Cell   `json:"cell"`
	Kind string `json:"kind"` // cpu, mutex, block or trace
	File string `json:"file"` // relative to the sweep directory
}

// LowerIsBetter reports whether less of a metric is better: latencies and costs, not rates.
func LowerIsBetter(metric string) bool {
	n := len(metric)
	return !(n > 2 && metric[n-2:] == "/s")
}

// Environment is the machine and the build that produced a sweep.
type Environment struct {
	Host       string  `json:"host"`
	OS         string  `json:"os"`
	Arch       string  `json:"arch"`
	Kernel     string  `json:"kernel"`
	CPUModel   string  `json:"cpu_model"`
	CPUs       int     `json:"cpus"`     // online
	Affinity   int     `json:"affinity"` // CPUs that this process may use
	Quota      string  `json:"quota"`    // cgroup CPU quota: "none" or in CPUs
	Governor   string  `json:"governor"` // or "unknown"
	Virtual    string  `json:"virtual"`  // "none", "hypervisor" or "unknown"
	Memory     int64   `json:"memory_bytes"`
	GoVersion  string  `json:"go_version"`
	Commit     string  `json:"commit"` // of tailrace, or "unknown"
	GOMAXPROCS int     `json:"gomaxprocs"`
	GOGC       string  `json:"gogc"`
	Load1      float64 `json:"load1"` // load average when the sweep began
	// Filesystems maps a storage kind to what holds it: "tmpfs" → "tmpfs at /dev/shm".
	Filesystems map[string]string `json:"filesystems"`
}

// Preflight is what was checked before the first run.
type Preflight struct {
	// BustedCaught is how long, in seconds, the negative control ran until the checks caught it.
	BustedCaught float64 `json:"busted_caught_sec"`
	// BustedError is the sentence with which it was caught.
	BustedError string `json:"busted_error"`
	// HarnessCost is the seconds per operation that the harness itself costs, measured with `null`.
	HarnessCost float64 `json:"harness_sec_per_op"`
	// ClockRead is the seconds that one reading of the monotonic clock costs.
	ClockRead float64 `json:"clock_read_sec"`
}
