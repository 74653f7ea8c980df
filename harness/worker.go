package harness

import (
	"context"
	"errors"
	"time"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/strategies"
	"tailrace/workload"
)

// worker is one goroutine of a run and everything that it owns. While it runs it writes nothing that
// another goroutine reads, except when it has found a wrong answer.
type worker struct {
	run     *run
	id      uint32 // as a producer; 0 is the prefill
	clients []*client
	draw    *workload.Draw
	builder segment.Builder
	buf     []byte
	next    int   // client of the next append
	written int64 // bytes, of the worker's share
	share   int64
	batch   int64 // upper bound of the bytes of one append

	produce, consume recorder
	endToEnd         *results.Histogram
	// readEnd is when the read whose records are being checked ended, and inWindow whether that was
	// inside the window; 0 and false outside of a check.
	readEnd  int64
	inWindow bool
	visit    func(time int64) // records an end-to-end latency; made once, since making it allocates; or nil

	reads       int64
	checkTime   int64 // ns, of timedChecks reads
	timedChecks int64
}

// client is a worker's access to one partition.
type client struct {
	handle    strategies.Handle
	partition *partition
	checker   *checker
	ledger    ledger
	last      int64 // base offset of the last append, −1 before the first
	position  int64 // offset of the next read in sequence
}

// timeCheckEvery is how rarely the cost of checking an answer is measured.
const timeCheckEvery = 61

func (w *worker) prepare() {
	load := &w.run.spec.Workload
	w.batch = int64(workload.BatchBytes(load))
	w.buf = make([]byte, load.FetchBytes)
	w.produce = newRecorder(load.ProduceRate > 0)
	w.consume = newRecorder(load.ConsumeRate > 0)
	w.endToEnd = results.NewHistogram()
	if load.Pattern != workload.Tail {
		return // the age of a record that is read later says nothing
	}
	w.visit = func(time int64) {
		if w.inWindow && time >= 0 {
			w.endToEnd.Record(w.readEnd - time)
		}
	}
}

// due says when operation i is meant to start. In a closed loop that is when the last one has ended. A
// worker that is free before that time gets what to wait with; it is nil if there is no time to wait.
func (w *worker) due(pace *pace, i, end int64) (intended int64, wait *pauser, stop bool) {
	if pace == nil {
		return end, nil, end >= w.run.stopAt()
	}
	intended = w.run.start + int64(pace.schedule.Intended(i))
	if max(end, intended) >= w.run.stopAt() {
		return intended, nil, true
	}
	if end < intended {
		wait = pace.pauser
	}
	return intended, wait, false
}

// spent reports whether the worker's share of bytes has no room for another append.
func (w *worker) spent() bool { return w.written+w.batch > w.share }

// producer appends until the run stops.
func (w *worker) producer(pace *pace) error {
	end := w.run.clock.now()
	for i := int64(0); ; i++ {
		intended, wait, stop := w.due(pace, i, end)
		if stop || w.spent() {
			return nil
		}
		var err error
		if end, err = w.append(intended, wait); err != nil {
			return err
		}
	}
}

// append does one append. No run asks for anything that may fail, so that an error is a violation. In a closed loop the record was meant to be sent when the last call ended. In
// an open one the batch is ready before it is due.
func (w *worker) append(intended int64, wait *pauser) (end int64, err error) {
	load := &w.run.spec.Workload
	c := w.clients[w.next]
	if w.next++; w.next == len(w.clients) {
		w.next = 0
	}
	b := w.build(c, intended)
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
	if w.written+w.batch > w.share-w.share/64 {
		w.run.closeEarly(w.run.clock.now())
	}
	if w.run.inWindow(end) {
		w.produce.add(intended, start, end, wait != nil, int64(load.BatchRecords), int64(len(b)))
	}
	return end, nil
}

// build encodes the next batch of a partition.
func (w *worker) build(c *client, intended int64) segment.Batch {
	load := &w.run.spec.Workload
	timestamp := w.run.clock.wall(intended)
	w.builder.Reset()
	for i := range int64(load.BatchRecords) {
		value := w.builder.Value(timestamp, load.RecordSize)
		w.run.payload.Fill(value, w.id, uint64(c.ledger.records+i), intended)
	}
	return w.builder.Finish()
}

// consumer reads one partition in sequence, from an offset on, until the run stops: following the
// end, or from the start again once it has reached it.
func (w *worker) consumer(c *client, pace *pace) error {
	end := w.run.clock.now()
	for i := int64(0); ; i++ {
		intended, wait, stop := w.due(pace, i, end)
		if stop {
			return nil
		}
		n, err := w.read(c, c.position, intended, wait, true)
		if err != nil {
			return err
		}
		end = w.readEnd
		if n == 0 {
			if done, err := w.atEnd(c, pace != nil); done || err != nil {
				return err
			}
			end = w.run.clock.now()
		}
	}
}

// atEnd is what a consumer does that has read everything; true ends it. The wait for more data is not
// a read and is in no latency but the end-to-end one.
func (w *worker) atEnd(c *client, paced bool) (done bool, err error) {
	switch {
	case w.run.spec.Workload.Pattern == workload.CatchUp:
		c.position = c.handle.Offsets().Start
		c.checker.restart()
		return false, nil
	case paced:
		return false, nil
	}
	err = c.handle.Wait(w.run.ctx, c.position)
	if errors.Is(err, context.Canceled) {
		return true, nil
	}
	if err != nil {
		return true, violationf("wait: %v", err)
	}
	return false, nil
}

// reader reads at random offsets of the prefill until the run stops.
func (w *worker) reader(pace *pace) error {
	end := w.run.clock.now()
	for i := int64(0); ; i++ {
		intended, wait, stop := w.due(pace, i, end)
		if stop {
			return nil
		}
		if err := w.readRandom(intended, wait); err != nil {
			return err
		}
		end = w.readEnd
	}
}

// mixed draws each operation until the run stops.
func (w *worker) mixed() error {
	end := w.run.clock.now()
	for end < w.run.stopAt() {
		if w.draw.Produce(w.run.spec.Workload.ProducePercent) {
			if w.spent() {
				return nil
			}
			var err error
			if end, err = w.append(end, nil); err != nil {
				return err
			}
			continue
		}
		if err := w.readMixed(end); err != nil {
			return err
		}
		end = w.readEnd
	}
	return nil
}

// readMixed is a worker's read of a mix: at random, or the next in sequence of some partition.
func (w *worker) readMixed(intended int64) error {
	if w.run.spec.Workload.Pattern == workload.Random {
		return w.readRandom(intended, nil)
	}
	c := w.clients[w.draw.Partition(len(w.clients))]
	n, err := w.read(c, c.position, intended, nil, true)
	if err == nil && n == 0 {
		_, err = w.atEnd(c, false)
	}
	return err
}

func (w *worker) readRandom(intended int64, wait *pauser) error {
	c := w.clients[0]
	if len(w.clients) > 1 {
		c = w.clients[w.draw.Partition(len(w.clients))]
	}
	n, err := w.read(c, w.draw.Offset(c.partition.prefilled), intended, wait, false)
	if err == nil && n == 0 && !w.run.strategy.StoresNothing {
		err = violationf("read inside the prefill found nothing")
	}
	return err
}

// read does one read and checks the answer. It leaves in readEnd when the call returned. A read that
// finds nothing is no operation.
func (w *worker) read(c *client, offset, intended int64, wait *pauser, sequential bool) (n int, err error) {
	if wait != nil {
		wait.until(intended)
	}
	start := w.run.clock.now()
	p, err := c.handle.Read(offset, w.buf)
	end := w.run.clock.now()
	w.readEnd = end
	if err != nil {
		return 0, violationf("read: %v", err)
	}
	w.inWindow = w.run.inWindow(end)
	if len(p) == 0 && !w.run.strategy.StoresNothing {
		if w.inWindow {
			w.consume.empty++
		}
		return 0, nil
	}
	records := c.checker.records
	if err := w.check(c, p, offset, sequential); err != nil {
		return 0, err
	}
	if w.inWindow {
		w.consume.add(intended, start, end, wait != nil, c.checker.records-records, int64(len(p)))
	}
	return len(p), nil
}

func (w *worker) check(c *client, p []byte, offset int64, sequential bool) error {
	if len(p) == 0 {
		return nil
	}
	w.reads++
	timed := w.reads%timeCheckEvery == 0
	var began time.Time
	if timed {
		began = time.Now()
	}
	next, err := c.checker.answer(p, offset, sequential, w.visit)
	if timed {
		w.checkTime += int64(time.Since(began))
		w.timedChecks++
	}
	if err != nil {
		return err
	}
	c.position = next
	return nil
}
