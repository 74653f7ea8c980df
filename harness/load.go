package harness

import (
	"context"
	"runtime"
	"sync"
	"time"

	"tailrace/workload"
)

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
