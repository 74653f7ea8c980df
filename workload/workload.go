// Package workload describes load: who produces and consumes, how much, which records and which
// offsets. It is a pure description, deterministic from a seed: no clock, no goroutines, no I/O
// beyond reading workload files.
package workload

import "time"

// Pattern is the order in which consumers read offsets.
type Pattern string

const (
	// Tail follows the end of the log, blocking while there is nothing to read.
	Tail Pattern = "tail"
	// CatchUp reads from the first offset to the end as fast as it can, then begins again.
	CatchUp Pattern = "catch-up"
	// Random reads at offsets drawn uniformly from the prefilled range.
	Random Pattern = "random"
	// Zipfian reads at offsets of the prefilled range, the newest the most often: the record of rank k, from
	// 1 for the newest, in proportion to 1/k^Skew.
	Zipfian Pattern = "zipf"
	// ByTime asks where a moment drawn uniformly from the time of the prefill begins, and reads there.
	ByTime Pattern = "time"
)

// Workload is one load, complete: two runs of equal workloads and seeds ask for the same operations.
// As JSON it has the fields that are not zero, so that a build which does not know one yet can run the
// workloads that don't need it.
// The zero value of a field means what its comment says; Validate refuses what cannot be run.
type Workload struct {
	Name string `json:",omitzero"`
	// Title is what a workload file calls itself, in its own words; "" otherwise. Part of Describe.
	Title string `json:",omitzero"`
	// Source is the file that the workload was read from; "" for others.
	Source string `json:"-"`
	// SourceText is what it said.
	SourceText string `json:"-"`

	// Either roles: Producers goroutines that only append and Consumers that only read …
	Producers int `json:",omitzero"`
	Consumers int `json:",omitzero"`
	// … or a mix: Workers goroutines that draw each operation, ProducePercent of them appends.
	Workers        int     `json:",omitzero"`
	ProducePercent float64 `json:",omitzero"`

	Partitions int `json:",omitzero"` // logs; operations are spread over them evenly
	// Subscriptions is the number of times that the log is read: the consumers of one subscription
	// share the partitions among them, and every subscription reads everything.
	Subscriptions int `json:",omitzero"`
	// RecordSize is the bytes of a record's value, at least MinRecordSize; the largest one where Sizes draws
	// them.
	RecordSize int `json:",omitzero"`
	// Sizes is how the sizes of records are drawn; the zero value makes all of them RecordSize.
	Sizes        Sizes   `json:",omitzero"`
	BatchRecords int     `json:",omitzero"` // records per append
	FetchBytes   int     `json:",omitzero"` // size of a consumer's buffer; a read returns whole batches that fit it
	Pattern      Pattern `json:",omitzero"`
	Skew         float64 `json:",omitzero"` // of Zipfian, from 0, which is uniform; 0.99 in YCSB
	Prefill      int64   `json:",omitzero"` // bytes of log written before the ramp; Random, Zipfian and ByTime reads draw from these

	// Records per second of all producers together, and reads per second of all consumers together.
	// 0 is a closed loop: the next operation starts when the last one has returned.
	ProduceRate float64 `json:",omitzero"`
	ConsumeRate float64 `json:",omitzero"`
	// Operations per second of all workers of a mix together; 0 is a closed loop.
	Rate float64 `json:",omitzero"`
	// Arrivals is how the moments lie at which paced operations are due: ArrivalsConstant, at even
	// distances, or ArrivalsPoisson, independent of each other.
	Arrivals string `json:",omitzero"`
	// Burst is the number of paced operations of a role that are due at one moment; the rate is kept.
	Burst int `json:",omitzero"`
	// Think is what each goroutine of a closed loop pauses between two operations.
	Think time.Duration `json:",omitzero"`

	// Replicas is the number of followers of each partition. Each is a goroutine that fetches all that is
	// appended, up to the log end.
	Replicas    int    `json:",omitzero"`
	Acks        string `json:",omitzero"` // "none", "leader" or "all": once every follower has it
	Sync        string `json:",omitzero"` // when fdatasync is called, as ParseSync has it: "none", or "batch", before every acknowledgement
	SegmentSize int64  `json:",omitzero"` // bytes at which a segment is closed and the next begun

	Ramp     time.Duration `json:",omitzero"` // load before the measured window
	Duration time.Duration `json:",omitzero"` // measured window
	// MaxBytes bounds what one run may write, prefill included; the window closes early when that is nearly
	// written.
	MaxBytes int64 `json:",omitzero"`
	// Bounded says that MaxBytes was given, and is not to be replaced by what the load needs; see Bound.
	Bounded bool `json:"-"`

	// Backlog makes the run a sustained one, whose disk use is bounded: what all consumers have read is
	// verified and trimmed, and producers are held while more than so many bytes are unread. 0 keeps all.
	Backlog int64 `json:",omitzero"`
	// DrainRatio makes the prefill a backlog to be drained: consumers begin when the window opens, at the
	// first offset, and the window closes when they have read this share, 0 to 1, of what was there when
	// they began. 0 is no such run.
	DrainRatio float64 `json:",omitzero"`
	// Search asks for the highest rate of the producers that can be sustained, instead of running one.
	Search bool `json:",omitzero"`
	// Objectives are what must hold at a rate for a Search to call it sustained.
	Objectives []Objective `json:",omitzero"`

	// Payload is the filler of record values after the verification header (see the type Payload);
	// nil means generated bytes.
	Payload []byte `json:",omitzero"`

	// Primary is the metric whose comparison between strategies is planned, e.g. "op/s".
	Primary string `json:",omitzero"`
	// Strategies are the ones that the default sweep runs on this workload, baseline first.
	Strategies []string `json:",omitzero"`
	// Notes are sentences for whoever reads the result, e.g. a payload file that was not there.
	Notes []string `json:",omitzero"`
}

// OpenLoop reports whether a role is paced: whether operations have an intended start time. The producers of
// a Search are, at the rates that it tries.
func (w *Workload) OpenLoop() bool {
	return w.ProduceRate > 0 || w.ConsumeRate > 0 || w.Rate > 0 || w.Search
}
