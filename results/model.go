// Package results holds what a sweep found, every format it is written in, and the statistics on it.
//
// A sweep directory holds
//
//	meta.json          what was run, where, and how (Meta)
//	runs.jsonl         one Run a line, written as each run ends
//	plan.json          what is to be run, for the harness to go on after an interruption
//	bench.txt          the runs in Go's benchmark format, for benchstat
//	latency/*.hlog     one HdrHistogram log (V2) a run, one tagged line for each interval and kind of latency
//	latency/*.hgrm     its percentiles over the whole run, one file each for produce, consume and e2e
//	omb/*.json         one result a cell, of its median run, as OpenMessaging Benchmark writes them
//	summary.md         the answer and its tables, to paste into a document
//	summary.csv        one row a cell: its metrics and its planned comparison
//	charts/*.svg|png   written by package plots
//	report.html        written by package plots
//
// What is in each file, and which tool reads it, is in docs/results.md.
//
// The package reads no clock and starts no goroutine. Values of its types may be read by several
// goroutines at once as long as nobody changes them.
package results

import "time"

// Schema is the version of the layout of meta.json and runs.jsonl. A reader refuses any other.
const Schema = 1

// Cell is one point of a sweep: a strategy under a workload at one concurrency. Two runs of equal
// cells are repetitions of each other. Cell is comparable and may be a map key.
type Cell struct {
	Workload string `json:"workload"`
	Strategy string `json:"strategy"`
	// Arm is "" for an ordinary cell and "A/A" for the second label of the baseline, the health
	// check of the sweep: the same code measured twice must not differ.
	Arm string `json:"arm,omitempty"`

	// Build is "" for the tailrace that ran the sweep, else the label of the other binary that it was
	// compared with.
	Build string `json:"build,omitempty"`

	Producers int `json:"producers,omitempty"` // goroutines that only append
	Consumers int `json:"consumers,omitempty"` // goroutines that only read
	Workers   int `json:"workers,omitempty"`   // goroutines that draw each operation; then the two above are 0
	// ProducePercent is the share of a worker's operations that append, in percent.
	ProducePercent float64 `json:"produce_percent,omitempty"`

	Partitions   int     `json:"partitions"`
	RecordSize   int     `json:"record_size"`            // bytes of a record's value; of the largest if they differ
	RecordSizes  string  `json:"record_sizes,omitempty"` // how sizes are drawn ("uniform:100-1000"); "" if all are equal
	BatchRecords int     `json:"batch_records"`
	FetchBytes   int     `json:"fetch_bytes"`            // size of a reader's buffer
	Pattern      string  `json:"pattern"`                // tail, catch-up, random, zipf or time
	Skew         float64 `json:"skew,omitempty"`         // of zipf
	ProduceRate  float64 `json:"produce_rate,omitempty"` // records/s of all producers together; 0 is closed loop
	ConsumeRate  float64 `json:"consume_rate,omitempty"` // reads/s of all consumers together; 0 is closed loop
	Rate         float64 `json:"rate,omitempty"`         // operations/s of all workers together; 0 is closed loop
	Arrivals     string  `json:"arrivals,omitempty"`     // poisson; "" is constant
	Burst        int     `json:"burst,omitempty"`        // paced operations that are due at once, where more than one
	Think        float64 `json:"think_sec,omitempty"`    // pause between the operations of a closed loop
	Replicas     int     `json:"replicas,omitempty"`     // followers
	Backlog      int64   `json:"backlog,omitempty"`      // bytes unread at which producers are held, in a sustained run
	Acks         string  `json:"acks"`                   // none, leader or all
	Sync         string  `json:"sync"`                   // none, batch, a size or a time
	Storage      string  `json:"storage"`                // tmpfs, disk or heap
	GOMAXPROCS   int     `json:"gomaxprocs"`
}

// Label is the name under which a cell's strategy stands in tables and charts: the strategy, or
// "A/A" for the second arm of the baseline, and behind "@" the build, if it is another one.
func (c Cell) Label() string {
	label := c.Strategy
	if c.Arm != "" {
		label = c.Arm
	}
	if c.Build != "" {
		label += "@" + c.Build
	}
	return label
}

// Point is the cell without its strategy, arm and build: what those are compared at.
func (c Cell) Point() Cell {
	c.Strategy, c.Arm, c.Build = "", "", ""
	return c
}

// anywhere is the point without the number of processors.
func (c Cell) anywhere() Cell {
	c = c.Point()
	c.GOMAXPROCS = 0
	return c
}

// Paced reports whether latencies of a kind are measured from an intended time: those of a role with a
// given rate, and end to end where producers have one.
func (c Cell) Paced(kind string) bool {
	switch kind {
	case KindProduce:
		return c.ProduceRate > 0 || c.Rate > 0
	case KindEndToEnd:
		return c.ProduceRate > 0
	case KindConsume:
		return c.ConsumeRate > 0 || c.Rate > 0
	}
	return false
}

// Metric names, the same in runs.jsonl, bench.txt, tables and charts. Rates are per second of the
// measured window; latencies are in seconds. A metric that a run cannot carry (a quantile with too
// few samples beyond it, say) is absent from Run.Metrics, never zero or NaN.
const (
	MetricOps            = "op/s" // produce and consume operations together
	MetricProduceOps     = "produce-op/s"
	MetricConsumeOps     = "consume-op/s"
	MetricProduceRecords = "produce-rec/s"
	MetricConsumeRecords = "consume-rec/s"
	MetricProduceBytes   = "produce-B/s"
	MetricConsumeBytes   = "consume-B/s"
	MetricCPU            = "cpu-sec/op" // user and system time of the process over operations in the window
	MetricSwitches       = "switches/op"
	MetricAllocs         = "allocs/op"
	MetricAllocBytes     = "B/op"
	// Seconds from the moment at which consumers began until they had read a backlog.
	MetricDrain = "drain-sec"
)

// The kinds of latency, each a prefix of the metrics LatencyMetric names and the tag of a histogram.
// Under open loop "produce" and "consume" are measured from the intended time, and the -service
// kinds from the actual start of the call; in a closed loop only the plain kinds exist and are
// service times.
const (
	KindProduce        = "produce"
	KindConsume        = "consume"
	KindEndToEnd       = "e2e"
	KindProduceService = "produce-service"
	KindConsumeService = "consume-service"
	// How much later than they could the calls of an open loop began, through the load's own fault.
	KindProduceLateness = "produce-lateness"
	KindConsumeLateness = "consume-lateness"
)

// LatenessOf is the kind of lateness that is part of a latency in an open loop: records arrive late when
// they were sent late.
func LatenessOf(kind string) string {
	if kind == KindConsume {
		return KindConsumeLateness
	}
	return KindProduceLateness
}

func isLateness(kind string) bool { return kind == KindProduceLateness || kind == KindConsumeLateness }

// Quantiles are the statistics of a latency kind that become metrics, in the order of tables.
var Quantiles = []string{"p50", "p90", "p99", "p999", "max", "mean"}

// LatencyMetric names a latency metric: LatencyMetric("produce", "p99") is "produce-p99-sec".
func LatencyMetric(kind, statistic string) string { return kind + "-" + statistic + "-sec" }

// Run is one execution of a cell: one line of runs.jsonl.
type Run struct {
	Schema int       `json:"schema"`
	Index  int       `json:"index"` // position in the order of execution, from 0
	Block  int       `json:"block"` // every cell runs once in every block
	Cell   Cell      `json:"cell"`
	Seed   uint64    `json:"seed"`
	Start  time.Time `json:"start"` // of the measured window

	// Window is the length of the measured window in seconds, and Samples the operations of each
	// latency kind that completed inside it.
	Window  float64          `json:"window_sec"`
	Samples map[string]int64 `json:"samples"`

	Metrics map[string]float64 `json:"metrics"`
	// Bounds are quantiles that are no metrics, because too much of them is the load's own lateness: the
	// system was at least as fast.
	Bounds map[string]float64 `json:"bounds,omitempty"`
	// Latency is the path of the run's histograms relative to the sweep directory
	// (latency/….hlog), a line for each interval of the window and kind, the kind being its tag; "" when the
	// run has none.
	Latency string `json:"latency,omitempty"`
	// OverRange counts the latencies of each kind that lay above the histogram's range. They count
	// in the mean and the maximum, and a quantile that falls among them is the maximum.
	OverRange map[string]int64 `json:"over_range,omitempty"`

	Verification Verification `json:"verification"`
	// Overloaded says that an open loop could not keep its rate; its latency metrics are absent.
	Overloaded bool `json:"overloaded,omitempty"`
	// Unmeasured says why the run, although nothing was wrong with its answers, has no window and so no
	// metrics; "" for all others.
	Unmeasured string `json:"unmeasured,omitempty"`
	// ByteBound says that the run ended its window early because it had written all that it may.
	ByteBound bool `json:"byte_bound,omitempty"`
	Rolls     int  `json:"rolls"` // segments begun inside the window

	// StealPercent and OtherPercent are the shares of the machine's CPU time inside the window that
	// the hypervisor took, and that other processes used.
	StealPercent float64 `json:"steal_percent"`
	OtherPercent float64 `json:"other_percent"`
	// PerWorkerJain is Jain's fairness index over the operations of the workers of each role
	// ("produce", "consume"): 1 when all did the same, 1/n when one did everything.
	PerWorkerJain map[string]float64 `json:"per_worker_jain,omitempty"`
	Warnings      []string           `json:"warnings,omitempty"`

	// Host is the machine that executed the run.
	Host string `json:"host,omitempty"`
	// Session is when the sweep began on Host that the run is of, where several sweeps were merged; zero
	// otherwise. Host and session together are a factor: what was run on one occasion has more in common.
	Session time.Time `json:"session,omitzero"`
	// Runtime is what Go and the kernel did inside the window.
	Runtime Runtime `json:"runtime"`
	// Inside is the share of the window that the clients of each role ("produce", "consume") spent inside
	// calls, on average. By Little's law it is throughput × mean service time / number of clients, and it
	// can't be above 1 by more than what overlaps the window's ends.
	Inside map[string]float64 `json:"inside,omitempty"`
	// Achieved is the share of what was asked for, that the run did: the rates of an open loop
	// ("produce-rate", "consume-rate", "rate") and the share of appends of a mix ("produce-share").
	Achieved map[string]float64 `json:"achieved,omitempty"`
	// Series is how throughput and latency went inside the window.
	Series *Series `json:"series,omitempty"`
	// Sustained is what a sustained run held and gave back; nil for others.
	Sustained *Sustained `json:"sustained,omitempty"`
}

// Runtime is what the Go runtime and the kernel did in the measured window of one run (runtime/metrics,
// getrusage). Times are in seconds.
type Runtime struct {
	VoluntarySwitches   int64   `json:"voluntary_switches"`
	InvoluntarySwitches int64   `json:"involuntary_switches"`
	UserCPU             float64 `json:"user_cpu_sec"`
	SystemCPU           float64 `json:"system_cpu_sec"`
	GCCycles            int64   `json:"gc_cycles"`
	GCPauses            int64   `json:"gc_pauses"`        // stops of the world for the collector
	GCPauseMax          float64 `json:"gc_pause_max_sec"` // upper edge of the bucket that holds the longest
	// How long goroutines were ready before they ran, upper edges of buckets.
	SchedulerP50 float64 `json:"scheduler_p50_sec"`
	SchedulerP99 float64 `json:"scheduler_p99_sec"`
	SchedulerMax float64 `json:"scheduler_max_sec"`
	MutexWait    float64 `json:"mutex_wait_sec"` // of all goroutines together, for sync.Mutex and sync.RWMutex
	HeapBytes    int64   `json:"heap_bytes"`     // in use when the window closed
	Goroutines   int64   `json:"goroutines"`     // when the window closed
}

// Series has one element for each interval of a run's window. The histograms of the intervals are in
// the run's latency file.
type Series struct {
	Interval float64 `json:"interval_sec"` // length; the last may be shorter
	// Operations by kind of operation: "produce", "consume".
	Operations map[string][]int64 `json:"operations"`
	// Quantiles by metric ("produce-p99-sec"); null where the interval does not carry them.
	Quantiles map[string][]*float64 `json:"quantiles"`
}

// Sustained is what a run held whose consumed segments are trimmed.
type Sustained struct {
	Trimmed  int64 `json:"trimmed"`  // segments, each verified before
	Verified int64 `json:"verified"` // records, before they were trimmed
	// Held is the share of the window in which producers were held because consumers were behind.
	Held float64 `json:"held"`
	// The most and, where it means something, the first and last value seen in the window of: bytes of log
	// on the storage, open descriptors, memory maps, resident memory in bytes.
	Bytes Range `json:"bytes"`
	// Unread is the bytes that some consumer had not read, when the producers were looked after.
	Unread Range `json:"unread"`
	Files  Range `json:"files"`
	Maps   Range `json:"maps"`
	RSS    Range `json:"rss"`
}

// Range is how a quantity went.
type Range struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
	Most  int64 `json:"most"`
}

// Valid reports whether the run was verified and found right, so that its numbers count. Only valid
// runs enter statistics, tables and charts. A control whose answers cannot be checked is valid with
// Verification.Skipped set.
func (r *Run) Valid() bool { return r.Verification.Error == "" }

// Verification is what the checks of one run saw.
type Verification struct {
	// Error is the first wrong answer, in a sentence; "" when there was none.
	Error string `json:"error,omitempty"`
	// Said is what the process of a run that crashed wrote to its standard error, the stacks of a panic say: its first 64
	// KiB.
	Said string `json:"said,omitempty"`
	// Skipped says why nothing could be checked ("null stores nothing"); "" otherwise.
	Skipped        string  `json:"skipped,omitempty"`
	RecordsRead    int64   `json:"records_read"`   // checked by consumers during the run
	RecordsWalked  int64   `json:"records_walked"` // checked by the walk over the whole log afterwards
	RecordsAcked   int64   `json:"records_acked"`  // acknowledged to producers, or sent where nothing is; prefill included
	BatchesCRC     int64   `json:"batches_crc"`    // batches whose CRC was computed, in both
	SecondsPerRead float64 `json:"sec_per_read"`   // median cost of the in-run check of a read, outside the latencies
}
