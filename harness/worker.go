package harness

import (
	"tailrace/segment"
	"tailrace/strategies"
	"tailrace/workload"
)

// worker is one goroutine of a run and everything that it owns. While it runs it writes nothing that
// another goroutine reads, except when it has found a wrong answer; what it has measured in an interval it
// hands over when the interval has ended.
type worker struct {
	run  *run
	id   uint32 // as a producer; 0 is the prefill
	role role
	// sequential says that its reads follow each other in each partition.
	sequential bool
	// clients are the worker's, of partitions in their order. Those of very many are nil until they are used.
	clients    []*client
	partitions []*partition
	draw       *workload.Draw
	builder    segment.Builder
	buf        []byte
	next       int   // client of the next append
	written    int64 // bytes
	allowed    int64 // bytes that it may have written, until it takes more
	batch      int64 // upper bound of the bytes of one append
	thinker    *pauser

	// onTime is when the last call would have ended, had the load never been late itself.
	onTime int64

	part       *part    // of the current interval
	boundary   int64    // at which that ends, on the clock
	operations [2]int64 // appends and reads, of the parts handed over
	// readEnd is when the read whose records are being checked ended, and inWindow whether that was
	// inside the window; 0 and false outside of a check.
	readEnd  int64
	inWindow bool
	visit    func(time int64) // records an end-to-end latency; made once, since making it allocates; or nil

	reads  int64
	checks *tally // times of some checks of answers

	// The neighbours of a worker on the heap are other workers, whose fields are written at every
	// operation too.
	_ [128]byte
}

// client is a worker's access to one partition.
type client struct {
	handle    strategies.Handle
	partition *partition
	checker   *checker
	ledger    ledger
	last      int64 // base offset of the last append, −1 before the first
	position  int64 // offset of the next read in sequence
	target    int64 // offset at which this reader of a backlog has drained it
	// consumed tells the keeper of a sustained run how far this reader is; else nil.
	consumed *paddedOffset

	_ [128]byte // as in worker
}

// timeCheckEvery is how rarely the cost of checking an answer is measured.
const timeCheckEvery = 61

// client is the worker's access to its partition of a number.
func (w *worker) client(i int) *client {
	if w.clients[i] == nil {
		w.clients[i] = w.run.client(w.partitions[i], w.role, w.sequential)
	}
	return w.clients[i]
}

func (w *worker) prepare() {
	load := &w.run.spec.Workload
	w.batch = int64(workload.BatchBytes(load))
	w.part = newPart(load, w.role)
	if w.role&roleConsume == 0 {
		return
	}
	w.buf = make([]byte, load.FetchBytes)
	w.checks = newTally()
	if w.part.endToEnd == nil {
		return
	}
	w.visit = func(time int64) {
		if w.inWindow && time >= 0 {
			w.part.endToEnd.record(w.readEnd - time)
		}
	}
}

// turn begins the interval that a time lies in, and hands over what was measured in the last one.
func (w *worker) turn(now int64) {
	r := w.run
	number := (now - r.open) / r.interval
	w.boundary = r.open + (number+1)*r.interval
	if w.part.interval != number {
		w.handOver()
		w.part.interval = number
	}
}

// handOver gives the part to the collector, and takes an empty one.
func (w *worker) handOver() {
	if p := w.part; p.produce.operations+p.consume.operations+p.consume.empty == 0 {
		return
	}
	c := w.run.collector
	w.operations[0] += w.part.produce.operations
	w.operations[1] += w.part.consume.operations
	c.given <- w.part
	select {
	case w.part = <-c.spare[w.role]:
	default:
		w.part = newPart(&w.run.spec.Workload, w.role)
	}
}

// measures reports whether an operation that ended at a time belongs to the window.
func (w *worker) measures(end int64) bool {
	if !w.run.inWindow(end) {
		return false
	}
	if end >= w.boundary {
		w.turn(end)
	}
	return true
}

// due says when the next operation is meant to start, and is called once for each. In a closed loop that
// is when the last one has ended, or later by the time to think. A worker that is free before that time
// gets what to wait with; it is nil if there is no time to wait.
func (w *worker) due(pace *pace, end int64) (intended int64, wait *pauser, stop bool) {
	if pace == nil {
		if w.thinker != nil {
			end, wait = end+int64(w.run.spec.Workload.Think), w.thinker
		}
		return end, wait, end >= w.run.stopAt()
	}
	intended = saturatingSum(w.run.start, int64(pace.schedule.Next()))
	if max(end, intended) >= w.run.stopAt() {
		return intended, nil, true
	}
	if end < intended {
		wait = pace.pauser
	}
	return intended, wait, false
}

// late is how much later than it could a call began that was meant to begin at intended, through the load's
// own fault: the worker woke too late, or had to build a record or check an answer first. It compares
// with a worker that is never late and whose calls take the same time: its calls begin when they are due,
// or when the one before has ended. What a late wake-up makes later after it counts too; what a slow call
// makes later does not.
func (w *worker) late(intended, start, end int64) int64 {
	could := max(intended, w.onTime)
	w.onTime = could + end - start
	return start - could
}

// spent reports whether there is no room for another append in what the run may write.
func (w *worker) spent() bool {
	return w.written+w.batch > w.allowed && !w.run.more(w)
}

// producer appends until the run stops.
func (w *worker) producer(pace *pace) error {
	end := w.run.clock.now()
	for {
		if w.run.holding.Load() {
			if w.hold() {
				return nil
			}
			end = w.run.clock.now()
			w.onTime = max(w.onTime, end) // the wait is for the consumers, not for the load
		}
		intended, wait, stop := w.due(pace, end)
		if stop || w.spent() {
			return nil
		}
		var err error
		if end, err = w.append(intended, wait); err != nil {
			return err
		}
	}
}

// append does one append. No run asks for anything that may fail, so that an error is a violation. In a
// closed loop the record was meant to be sent when the last call ended. In an open one the batch is ready
// before it is due.
func (w *worker) append(intended int64, wait *pauser) (end int64, err error) {
	load := &w.run.spec.Workload
	c := w.client(w.next)
	if w.next++; w.next == len(w.clients) {
		w.next = 0
	}
	b := w.build(c, w.run.clock.wall(intended), intended)
	if wait != nil {
		wait.until(intended)
	}
	start := w.run.clock.now()
	base, err := c.handle.Append(w.run.ctx, b, w.run.acks)
	end = w.run.clock.now()
	if err != nil {
		return end, violationf("append: %v", err)
	}
	if w.run.told {
		if base <= c.last {
			return end, violationf("producer %d: append at offset %d after one at %d", w.id, base, c.last)
		}
		c.last = base
	}
	c.ledger.add(base, int64(load.BatchRecords), w.run.told)
	w.written += int64(len(b))
	late := w.late(intended, start, end)
	if w.measures(end) {
		w.part.produce.add(intended, start, end, late, int64(load.BatchRecords), int64(len(b)))
	}
	return end, nil
}

// build encodes the next batch of a partition, with a timestamp in milliseconds since the epoch and the
// time at which it is meant to be sent.
func (w *worker) build(c *client, timestamp, intended int64) segment.Batch {
	w.builder.Reset()
	for i := range int64(w.run.spec.Workload.BatchRecords) {
		sequence := uint64(c.ledger.records + i)
		value := w.builder.Value(timestamp, w.run.payload.Size(w.id, sequence))
		w.run.payload.Fill(value, w.id, sequence, intended)
	}
	return w.builder.Finish()
}

// mixed draws each operation until the run stops.
func (w *worker) mixed(pace *pace) error {
	end := w.run.clock.now()
	for {
		intended, wait, stop := w.due(pace, end)
		if stop {
			return nil
		}
		if w.draw.Produce(w.run.spec.Workload.ProducePercent) {
			if w.spent() {
				return nil
			}
			var err error
			if end, err = w.append(intended, wait); err != nil {
				return err
			}
			continue
		}
		if err := w.readMixed(intended, wait); err != nil {
			return err
		}
		end = w.readEnd
	}
}
