package harness

import (
	"context"
	"errors"
	"time"

	"tailrace/workload"
)

// consumer reads one partition in sequence, from an offset on, until the run stops: following the
// end, or from the start again once it has reached it.
func (w *worker) consumer(c *client, pace *pace) error {
	if w.run.spec.Workload.DrainRatio > 0 {
		w.beginDraining(c)
	}
	end := w.run.clock.now()
	for {
		intended, wait, stop := w.due(pace, end)
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
		if c.target > 0 && c.position >= c.target {
			c.target = 0
			w.run.drained(end)
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
	return waited(c.handle.Wait(w.run.ctx, c.position))
}

// waited judges what a wait for data returned: the run ends it through its context.
func waited(err error) (done bool, _ error) {
	if errors.Is(err, context.Canceled) {
		return true, nil
	}
	if err != nil {
		return true, violationf("wait: %v", err)
	}
	return false, nil
}

// beginDraining waits for the window to open, and finds how far it is to what is there then.
func (w *worker) beginDraining(c *client) {
	w.run.pause(w.run.open)
	there := c.handle.Offsets()
	c.position = there.Start
	c.target = max(1, int64(float64(there.HighWatermark)*w.run.spec.Workload.DrainRatio))
}

// reader reads what was there before the run until that stops.
func (w *worker) reader(pace *pace) error {
	end := w.run.clock.now()
	for {
		intended, wait, stop := w.due(pace, end)
		if stop {
			return nil
		}
		if err := w.readPrefill(intended, wait); err != nil {
			return err
		}
		end = w.readEnd
	}
}

// readMixed is a worker's read of a mix: from the prefill, or the next in sequence of some partition.
func (w *worker) readMixed(intended int64, wait *pauser) error {
	if readsPrefill(w.run.spec.Workload.Pattern) {
		return w.readPrefill(intended, wait)
	}
	c := w.client(w.draw.Partition(len(w.clients)))
	n, err := w.read(c, c.position, intended, wait, true)
	if err == nil && n == 0 {
		_, err = w.atEnd(c, false)
	}
	return err
}

// readsPrefill says of a pattern that it draws from what was written before the run.
func readsPrefill(p workload.Pattern) bool {
	return p == workload.Random || p == workload.Zipfian || p == workload.ByTime
}

// readPrefill reads at an offset drawn from the prefill, as the pattern has it.
func (w *worker) readPrefill(intended int64, wait *pauser) error {
	number := 0
	if len(w.clients) > 1 {
		number = w.draw.Partition(len(w.clients))
	}
	c := w.client(number)
	var n int
	var err error
	switch p := c.partition; w.run.spec.Workload.Pattern {
	case workload.ByTime:
		n, err = w.readByTime(c, intended, wait)
	case workload.Zipfian:
		n, err = w.read(c, p.prefilled-1-p.zipf.Rank(w.draw), intended, wait, false)
	default:
		n, err = w.read(c, w.draw.Offset(p.prefilled), intended, wait, false)
	}
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
	if err != nil {
		w.readEnd = end
		return 0, violationf("read: %v", err)
	}
	return w.answered(c, p, offset, intended, start, end, sequential)
}

// readByTime asks where a moment begins, and reads there: one operation of two calls. The batches of the
// prefill are a millisecond apart, so that every moment has one answer.
func (w *worker) readByTime(c *client, intended int64, wait *pauser) (n int, err error) {
	batch := w.draw.Offset(c.partition.batches)
	want := batch * int64(w.run.spec.Workload.BatchRecords)
	if wait != nil {
		wait.until(intended)
	}
	start := w.run.clock.now()
	offset, err := c.handle.OffsetForTime(c.partition.firstTime + batch)
	if err != nil {
		return 0, violationf("offset for time: %v", err)
	}
	p, err := c.handle.Read(offset, w.buf)
	end := w.run.clock.now()
	if err != nil {
		return 0, violationf("read: %v", err)
	}
	if offset != want && !w.run.strategy.StoresNothing {
		return 0, violationf("offset for the time of batch %d: %d instead of %d", batch, offset, want)
	}
	return w.answered(c, p, offset, intended, start, end, false)
}

// answered checks and records a read that returned p.
func (w *worker) answered(c *client, p []byte, offset, intended, start, end int64, sequential bool) (n int, err error) {
	w.readEnd = end
	late := w.late(intended, start, end)
	w.inWindow = w.measures(end)
	if len(p) == 0 && !w.run.strategy.StoresNothing {
		if w.inWindow {
			w.part.consume.empty++
		}
		return 0, nil
	}
	records := c.checker.records
	if err := w.check(c, p, offset, sequential); err != nil {
		return 0, err
	}
	if w.inWindow {
		w.part.consume.add(intended, start, end, late, c.checker.records-records, int64(len(p)))
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
		w.checks.record(int64(time.Since(began)))
	}
	if err != nil {
		return err
	}
	c.position = next
	if c.consumed != nil {
		c.consumed.Store(next)
	}
	return nil
}
