package harness

import (
	"context"
	"errors"
	"fmt"
	"runtime"
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
	if load.Sync == workload.SyncBatch {
		options.Sync = segment.SyncBatch
	}
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

// workers makes the workers of the run and what each of them does.
func (r *run) workers() (workers []*worker, bodies []func() error) {
	load := &r.spec.Workload
	add := func(producer bool, partitions []*partition) *worker {
		w := &worker{
			run:   r,
			draw:  workload.NewDraw(r.spec.Seed, len(workers)),
			share: (load.MaxBytes - load.Prefill) / int64(max(1, r.producers()-1)),
		}
		if producer {
			w.id = uint32(len(workers) + 1)
		}
		for _, p := range partitions {
			w.clients = append(w.clients, r.client(p))
		}
		w.prepare()
		workers = append(workers, w)
		return w
	}
	for range load.Workers {
		bodies = append(bodies, add(true, r.partitions).mixed)
	}
	for i := range load.Producers {
		w := add(true, r.partitions)
		w.next = i % len(w.clients)
		pace := r.pace(load.ProduceRate/float64(load.BatchRecords), load.Producers, i)
		bodies = append(bodies, func() error { return w.producer(pace) })
	}
	readers := r.readers()
	for i, partitions := range readers {
		w := add(false, partitions)
		pace := r.pace(load.ConsumeRate, len(readers), i)
		if load.Pattern == workload.Random {
			bodies = append(bodies, func() error { return w.reader(pace) })
		} else {
			bodies = append(bodies, func() error { return w.consumer(w.clients[0], pace) })
		}
	}
	return workers, bodies
}

// readers says which partitions each consuming goroutine reads: one partition each when it reads in
// sequence, so that a consumer of several is several goroutines; any of them when it reads at random.
func (r *run) readers() [][]*partition {
	load := &r.spec.Workload
	var readers [][]*partition
	if load.Consumers == 0 {
		return nil
	}
	if load.Pattern == workload.Random {
		for range load.Consumers {
			readers = append(readers, r.partitions)
		}
		return readers
	}
	for range load.Subscriptions {
		for _, p := range r.partitions {
			readers = append(readers, []*partition{p})
		}
	}
	return readers
}

// pace is when a worker's operations are due, and its way to wait for that.
type pace struct {
	*pauser
	schedule workload.Schedule
}

// pace is that of one of the workers who share a rate; nil for a closed loop.
func (r *run) pace(rate float64, workers, worker int) *pace {
	if rate == 0 {
		return nil
	}
	p, err := newPauser(r.clock)
	if err != nil {
		r.fail(err)
		return nil
	}
	r.pausers = append(r.pausers, p)
	return &pace{pauser: p, schedule: workload.NewSchedule(rate, workers, worker)}
}

// load runs the workers through ramp and window, and measures the process meanwhile.
func (r *run) load(workers []*worker, bodies []func() error) measured {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.ctx = ctx
	for _, w := range workers {
		for _, c := range w.clients {
			if r.spec.Workload.Pattern == workload.Tail {
				c.position = c.partition.prefilled
				c.checker.sequences[0] = c.partition.prefilled
			}
		}
	}
	runtime.GC() // every run begins its load with the heap of its own state alone

	load := &r.spec.Workload
	var ready, done, producing sync.WaitGroup
	barrier := make(chan struct{})
	for i, body := range bodies {
		ready.Add(1)
		done.Add(1)
		if workers[i].id > 0 {
			producing.Add(1)
		}
		go func() {
			defer done.Done()
			if workers[i].id > 0 {
				defer producing.Done()
			}
			ready.Done()
			<-barrier
			if err := body(); err != nil {
				r.fail(err)
			}
		}()
	}
	ready.Wait()
	r.start = r.clock.now()
	r.open = r.start + int64(load.Ramp)
	if r.failure.Load() == nil {
		r.closing.Store(r.open + int64(load.Duration))
	}
	close(barrier)

	m := newMeter(r)
	r.pause(r.open)
	m.open()
	r.pause(r.open + int64(load.Duration))
	m.close()
	producing.Wait()
	cancel() // consumers at the end of the log wait for nothing more
	done.Wait()
	return m.measured
}

// pause waits until the clock reads at, the window closes early, or the run fails.
func (r *run) pause(at int64) {
	const step = int64(20 * time.Millisecond)
	for r.failure.Load() == nil {
		now := r.clock.now()
		if now >= min(at, r.closing.Load()) {
			return
		}
		time.Sleep(time.Duration(min(at, r.closing.Load(), now+step) - now)) // late, but the meter reads the clock
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
