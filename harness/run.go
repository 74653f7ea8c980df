package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/strategies"
	"tailrace/workload"
)

// Spec is all that one run needs to know; it crosses to the run's process as JSON.
type Spec struct {
	Protocol int               `json:"protocol"`
	Cell     results.Cell      `json:"cell"`
	Workload workload.Workload `json:"workload"`
	Seed     uint64            `json:"seed"`
	// Dir is where the run makes its data; it is the run's own and must be empty. "" means the heap.
	Dir string `json:"dir"`
	// Keep leaves the data when the run is over.
	Keep bool `json:"keep,omitempty"`
	// Profile is what is written while the load runs: paths by kind (ProfileCPU, …).
	Profile map[string]string `json:"profile,omitempty"`
}

// Outcome is what one run found.
type Outcome struct {
	Run       results.Run       `json:"run"`
	Intervals []EncodedInterval `json:"intervals"`
}

// EncodedInterval is the histograms of one interval of the window, by kind, in the text that
// results.Histogram reads. A run may have thousands, and each takes 220 KB once it is decoded.
type EncodedInterval struct {
	Start      float64           `json:"start_sec"` // from the window's start
	Length     float64           `json:"length_sec"`
	Histograms map[string]string `json:"histograms"`
}

// run is one run while it goes on. The workers read it; what they write is atomic.
type run struct {
	spec       Spec
	strategy   strategies.Strategy
	acks       strategies.Acks
	told       bool // offsets are told to producers, and mean something
	clock      clock
	payload    *workload.Payload
	partitions []*partition
	pausers    []*pauser
	ctx        context.Context // the workers', cancelled to end waiting
	cancel     context.CancelFunc
	patience   time.Duration  // with appends that do not return
	consumers  int            // goroutines that read and do nothing else
	followers  []func() error // each fetches what there is
	collector  *collector
	keeper     *keeper // of a sustained run; else nil

	start, open int64 // of the load, and of the window, on the clock
	interval    int64 // length of the intervals of the window
	// closing is when the window closes. It is set before the start; a byte bound may bring it
	// forward, and a wrong answer to 0.
	closing atomic.Int64

	// unwritten is the bytes that no worker has taken yet of those that the run may write. They are taken
	// in pieces of lease, so that workers seldom meet here and one that runs alone for a while may go on. It
	// has a cache line of its own: around it is what everybody reads at every operation.
	_         [64]byte
	unwritten atomic.Int64
	_         [64]byte
	lease     int64
	reserve   int64
	early     atomic.Bool // a byte bound closed the window
	// Readers of a backlog that have not drained it yet, and when the last one had, on the clock.
	draining  atomic.Int64
	drainedAt atomic.Int64
	// holding stops the producers of a sustained run, whose consumers are behind.
	holding atomic.Bool

	failure atomic.Pointer[violation]
	once    sync.Once
}

// partition is one log and where it is stored.
type partition struct {
	storage   segment.Storage
	stored    segment.Storage // the same, to look at when the log has closed it
	log       strategies.Log
	prefilled int64 // records
	batches   int64 // of the prefill; one a millisecond from firstTime on, in milliseconds since the epoch
	firstTime int64
	zipf      *workload.Zipf // over the prefill; nil for other patterns
	ledgers   []ledger
	walk      *walker
	// consumed are the offsets up to which each reader of a sustained run has read. Each is written by one
	// goroutine and read by the keeper.
	consumed []*paddedOffset
}

// paddedOffset has cache lines of its own.
type paddedOffset struct {
	_ [64]byte
	atomic.Int64
	_ [64]byte
}

// defaultPatience is longer than the slowest disk syncs.
const defaultPatience = 30 * time.Second

// afterWindow is how long the workers go on when the window has closed, so that it closes under load.
const afterWindow = int64(5 * time.Millisecond)

func (r *run) stopAt() int64 { return r.closing.Load() + afterWindow }

func (r *run) inWindow(at int64) bool { return at >= r.open && at < r.closing.Load() }

// fail records the first wrong answer and stops the run.
func (r *run) fail(err error) {
	var v *violation
	if !errors.As(err, &v) {
		v = &violation{text: err.Error()}
	}
	r.once.Do(func() {
		r.failure.Store(v)
		r.closing.Store(-afterWindow)
		if r.cancel != nil {
			r.cancel() // nobody need wait for followers, or for data, any more
		}
	})
}

// perform executes a run in this process. An error means that it could not be executed; a wrong answer
// is in the outcome.
func perform(spec Spec) (*Outcome, error) {
	r, err := newRun(spec)
	if err != nil {
		return nil, err
	}
	return r.perform(), nil
}

// perform executes the run and closes its logs.
func (r *run) perform() *Outcome {
	spec := r.spec
	outcome := &Outcome{Run: results.Run{Cell: spec.Cell, Seed: spec.Seed}}
	if err := r.prefill(); err != nil {
		r.fail(err)
	}
	workers, bodies := r.workers()
	if err := r.catchUp(r.followers); err != nil {
		r.fail(err)
	}
	stop, err := startProfile(spec.Profile)
	if err != nil {
		r.fail(err)
	}
	m := r.load(workers, bodies)
	if err := stop(); err != nil {
		r.fail(err)
	}
	for _, w := range workers {
		r.settle(w)
	}
	for _, p := range r.pausers {
		p.close()
	}
	for _, p := range r.partitions {
		if err := p.log.Close(); err != nil {
			r.fail(err)
		}
	}
	verification := r.verify(workers)
	for _, p := range r.partitions {
		if err := p.stored.Close(); err != nil {
			r.fail(err)
		}
	}
	r.report(outcome, workers, m, verification)
	return outcome
}

// newRun opens the logs.
func newRun(spec Spec) (*run, error) {
	strategy, err := strategies.Find(spec.Cell.Strategy)
	if err != nil {
		return nil, err
	}
	load := &spec.Workload
	r := &run{
		spec:     spec,
		strategy: strategy,
		acks:     strategies.AcksLeader,
		patience: defaultPatience,
		told:     load.Acks != workload.AcksNone,
		clock:    newClock(),
		payload:  workload.NewPayload(spec.Seed, load),
	}
	switch load.Acks {
	case workload.AcksNone:
		r.acks = strategies.AcksNone
	case workload.AcksAll:
		r.acks = strategies.AcksAll
	}
	options := strategies.Options{SegmentSize: load.SegmentSize, Replicas: load.Replicas}
	options.Sync.Bytes, options.Sync.Interval = load.SyncLimits()
	for i := range load.Partitions {
		p := &partition{ledgers: make([]ledger, ledgersOf(load))}
		if err := p.open(spec.Dir, i); err != nil {
			return nil, err
		}
		options.Storage = p.storage
		if p.log, err = strategy.Open(options); err != nil {
			return nil, err
		}
		p.walk = newWalker(r.payload, len(p.ledgers), r.told, strategy.PrivateFiles)
		r.partitions = append(r.partitions, p)
	}
	return r, nil
}

// open opens the storage of partition i: the heap, or below a directory.
func (p *partition) open(dir string, i int) error {
	if dir == "" {
		p.storage = segment.NewHeap()
		p.stored = p.storage
		return nil
	}
	d, err := segment.OpenDir(fmt.Sprintf("%s/%04d", dir, i))
	if err != nil {
		return err
	}
	p.storage = d
	p.stored, err = d.ReadOnly()
	return err
}

// client is an access to a partition by a role, whose reads follow each other or don't.
func (r *run) client(p *partition, does role, sequential bool) *client {
	c := &client{handle: p.log.NewHandle(), partition: p, last: -1}
	if does&roleConsume != 0 {
		c.checker = newChecker(r.payload, len(p.ledgers), sequential)
	}
	return c
}

// settle takes a worker's ledgers over, and closes its handles.
func (r *run) settle(w *worker) {
	for _, c := range w.clients {
		if c == nil {
			continue
		}
		if w.id > 0 {
			c.partition.ledgers[w.id] = c.ledger
		}
		if err := c.handle.Close(); err != nil {
			r.fail(err)
		}
	}
}

// verify walks over the logs, unless a wrong answer has been found already.
func (r *run) verify(workers []*worker) results.Verification {
	var v results.Verification
	checks := newTally()
	for _, w := range workers {
		for _, c := range w.clients {
			if c == nil || c.checker == nil {
				continue
			}
			v.RecordsRead += c.checker.records
			v.BatchesCRC += c.checker.checksums
		}
		if w.checks != nil {
			checks.add(w.checks)
		}
	}
	for _, p := range r.partitions {
		for _, l := range p.ledgers {
			v.RecordsAcked += l.records
		}
	}
	if h := checks.kept().histogram(); h != nil {
		// The median: a check during which its goroutine lost the processor took longer, but cost no more.
		v.SecondsPerRead = float64(h.Quantile(0.5)) / 1e9
	}
	switch {
	case r.strategy.StoresNothing:
		v.Skipped = r.strategy.Name + " stores nothing"
	case r.failure.Load() == nil:
		for _, p := range r.partitions {
			err := p.walk.finish(p.stored, p.ledgers)
			v.RecordsWalked += p.walk.records
			v.BatchesCRC += p.walk.batches
			if err != nil {
				r.fail(err)
				break
			}
		}
	}
	if f := r.failure.Load(); f != nil {
		v.Error = f.text
	}
	return v
}
