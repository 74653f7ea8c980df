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
	Cell     results.Cell      `json:"cell"`
	Workload workload.Workload `json:"workload"`
	Seed     uint64            `json:"seed"`
	// Dir is where the run makes its data; it is the run's own and must be empty. "" means the heap.
	Dir string `json:"dir"`
	// Keep leaves the data when the run is over.
	Keep bool `json:"keep,omitempty"`
}

// Outcome is what one run found.
type Outcome struct {
	Run        results.Run                   `json:"run"`
	Histograms map[string]*results.Histogram `json:"histograms"`
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

	start, open int64 // of the load, and of the window, on the clock
	// closing is when the window closes. It is set before the start; a byte bound may bring it
	// forward, and a wrong answer to 0.
	closing atomic.Int64

	early   atomic.Bool
	failure atomic.Pointer[violation]
	once    sync.Once
}

// partition is one log and where it is stored.
type partition struct {
	storage   segment.Storage
	log       strategies.Log
	prefilled int64 // records
	ledgers   []ledger
}

// afterWindow is how long the workers go on when the window has closed, so that it closes under load.
const afterWindow = int64(5 * time.Millisecond)

func (r *run) stopAt() int64 { return r.closing.Load() + afterWindow }

func (r *run) inWindow(at int64) bool { return at >= r.open && at < r.closing.Load() }

// closeMargin is how far ahead of now a window is closed early. Whoever does not see it by then counts
// an operation too many.
const closeMargin = int64(3 * time.Millisecond)

// closeEarly closes the window a little after now, since a worker has almost used its bytes.
func (r *run) closeEarly(now int64) {
	for {
		at := r.closing.Load()
		if at <= now+closeMargin {
			return
		}
		if r.closing.CompareAndSwap(at, now+closeMargin) {
			r.early.Store(true)
			return
		}
	}
}

// fail records the first wrong answer and stops the run.
func (r *run) fail(err error) {
	var v *violation
	if !errors.As(err, &v) {
		v = &violation{text: err.Error()}
	}
	r.once.Do(func() {
		r.failure.Store(v)
		r.closing.Store(-afterWindow)
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
	m := r.load(workers, bodies)
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
		told:     load.Acks != workload.AcksNone,
		clock:    newClock(),
		payload:  workload.NewPayload(spec.Seed, load.RecordSize, load.Payload),
	}
	if !r.told {
		r.acks = strategies.AcksNone
	}
	options := strategies.Options{SegmentSize: load.SegmentSize}
	options.Sync.Bytes, options.Sync.Interval = load.SyncLimits()
	for i := range load.Partitions {
		p := &partition{ledgers: make([]ledger, r.producers())}
		if spec.Dir == "" {
			p.storage = segment.NewHeap()
		} else if p.storage, err = segment.OpenDir(fmt.Sprintf("%s/%04d", spec.Dir, i)); err != nil {
			return nil, err
		}
		options.Storage = p.storage
		if p.log, err = strategy.Open(options); err != nil {
			return nil, err
		}
		r.partitions = append(r.partitions, p)
	}
	return r, nil
}

// producers is the number of ledgers: 0 is the prefill, then the workers.
func (r *run) producers() int {
	return 1 + max(r.spec.Workload.Producers, r.spec.Workload.Workers)
}

// prefill writes the log that the run begins with, evenly over the partitions. Its handle is closed,
// so that a log which is private to its handles shows it to others.
func (r *run) prefill() error {
	load := &r.spec.Workload
	if load.Prefill == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.ctx = ctx
	share := load.Prefill / int64(len(r.partitions))
	for _, p := range r.partitions {
		w := &worker{run: r}
		c := r.client(p)
		batch := int64(workload.BatchBytes(load))
		for bytes := int64(0); bytes+batch <= share; {
			b := w.build(c, workload.NoTime)
			base, err := c.handle.Append(ctx, b, strategies.AcksLeader)
			if err != nil {
				return violationf("prefill: %v", err)
			}
			c.ledger.add(base, int64(load.BatchRecords), r.told)
			bytes += int64(len(b))
		}
		p.prefilled = c.ledger.records
		p.ledgers[0] = c.ledger
		if err := c.handle.Close(); err != nil {
			return violationf("prefill: %v", err)
		}
	}
	return nil
}

func (r *run) client(p *partition) *client {
	return &client{
		handle:    p.log.NewHandle(),
		partition: p,
		checker:   newChecker(r.payload, r.producers()),
		last:      -1,
	}
}

// settle takes a worker's ledgers over, and closes its handles.
func (r *run) settle(w *worker) {
	for _, c := range w.clients {
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
	var reads, checkTime, timed int64
	for _, w := range workers {
		for _, c := range w.clients {
			v.RecordsRead += c.checker.records
			v.BatchesCRC += c.checker.checksums
		}
		reads += w.reads
		checkTime += w.checkTime
		timed += w.timedChecks
	}
	for _, p := range r.partitions {
		for _, l := range p.ledgers {
			v.RecordsAcked += l.records
		}
	}
	if timed > 0 {
		v.SecondsPerRead = float64(checkTime) / float64(timed) / 1e9
	}
	switch {
	case r.strategy.StoresNothing:
		v.Skipped = r.strategy.Name + " stores nothing"
	case r.failure.Load() == nil:
		for _, p := range r.partitions {
			seen, err := walk(p.storage, r.payload, p.ledgers, r.told, r.strategy.PrivateFiles)
			v.RecordsWalked += seen.records
			v.BatchesCRC += seen.batches
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
