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
	demand := demandOf(load)
	add := func(does role, sequential bool, partitions []*partition) *worker {
		w := &worker{
			run:        r,
			role:       does,
			sequential: sequential,
			draw:       workload.NewDraw(r.spec.Seed, len(workers)),
			partitions: partitions,
			clients:    make([]*client, len(partitions)),
		}
		if does&roleProduce != 0 {
			w.id = uint32(len(workers) + 1)
		}
		for i := range partitions {
			if !demand.lazily || len(partitions) == 1 {
				w.client(i)
			}
		}
		workers = append(workers, w)
		return w
	}
	sequential := !readsPrefill(load.Pattern)
	for i := range load.Workers {
		w := add(roleBoth, sequential, r.partitions)
		pace := r.pace(w, load.Rate, load.Workers, i)
		bodies = append(bodies, func() error { return w.mixed(pace) })
	}
	for i := range load.Producers {
		w := add(roleProduce, false, r.partitions)
		w.next = i % len(w.clients)
		pace := r.pace(w, load.ProduceRate/float64(load.BatchRecords), load.Producers, i)
		bodies = append(bodies, func() error { return w.producer(pace) })
	}
	r.consumers = demand.readers
	for i := range r.consumers {
		w := add(roleConsume, sequential, r.readBy(i))
		pace := r.pace(w, load.ConsumeRate, r.consumers, i)
		if readsPrefill(load.Pattern) {
			bodies = append(bodies, func() error { return w.reader(pace) })
		} else {
			bodies = append(bodies, func() error { return w.consumer(w.clients[0], pace) })
		}
	}
	r.allow()
	r.interval = intervalLength(len(workers), load.Duration)
	r.collector = newCollector(r, workers)
	for _, p := range r.partitions {
		for replica := range load.Replicas {
			w := add(roleConsume, true, []*partition{p})
			c := w.clients[0]
			r.followers = append(r.followers, func() error { return w.follow(c, replica) })
			bodies = append(bodies, func() error { return w.follower(c, replica) })
		}
	}
	for _, w := range workers {
		w.prepare()
	}
	return workers, bodies
}

// readBy are the partitions that a consuming goroutine reads: any of them when it draws its offsets, and one when it
// reads in sequence.
func (r *run) readBy(reader int) []*partition {
	if readsPrefill(r.spec.Workload.Pattern) {
		return r.partitions
	}
	i := reader % len(r.partitions)
	return r.partitions[i : i+1]
}

// pace is when a worker's operations are due, and its way to wait for that.
type pace struct {
	*pauser
	schedule *workload.Schedule
}

// pace is that of one of the workers who share a rate; nil for a closed loop, in which a worker may pause
// too.
func (r *run) pace(w *worker, rate float64, workers, worker int) *pace {
	load := &r.spec.Workload
	if rate == 0 && load.Think == 0 {
		return nil
	}
	p, err := newPauser(r.clock)
	if err != nil {
		r.fail(err)
		return nil
	}
	r.pausers = append(r.pausers, p)
	if rate == 0 {
		w.thinker = p
		return nil
	}
	// A seed for each role: with the same one, a producer and a consumer would be due at the same moments.
	return &pace{pauser: p, schedule: workload.NewSchedule(load, rate, workers, worker, r.spec.Seed+uint64(w.role)<<56)}
}

// load runs the workers through ramp and window, and measures the process meanwhile.
func (r *run) load(workers []*worker, bodies []func() error) measured {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.ctx, r.cancel = ctx, cancel
	r.placeReaders(workers)
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
			workers[i].handOver()
		}()
	}
	r.collector.done.Add(1)
	go r.collector.collect()
	ready.Wait()
	r.start = r.clock.now()
	r.open = r.start + int64(load.Ramp)
	for _, w := range workers {
		w.boundary = r.open
	}
	if r.failure.Load() == nil {
		r.closing.Store(r.open + int64(load.Duration))
	}
	close(barrier)
	if load.Backlog > 0 {
		r.keeper = newKeeper(r)
		go r.keeper.keep()
	}

	m := newMeter(r)
	r.pause(r.open)
	m.open()
	r.pause(r.open + int64(load.Duration))
	m.close()
	r.await(&producing)
	cancel() // consumers at the end of the log wait for nothing more
	done.Wait()
	r.collector.close()
	if r.keeper != nil {
		r.keeper.stop()
	}
	return m.measured
}

// await waits for the producers to end. Followers and consumers go on until then, since an append may wait
// for them; one that nobody answers is a wrong answer too.
func (r *run) await(producing *sync.WaitGroup) {
	ended := make(chan struct{})
	go func() {
		producing.Wait()
		close(ended)
	}()
	timer := time.NewTimer(r.patience)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		r.fail(violationf("an append had not returned %v after the window", r.patience))
		<-ended
	}
}

// placeReaders puts consumers where they begin, and says how far the keeper of a sustained run may trim.
func (r *run) placeReaders(workers []*worker) {
	load := &r.spec.Workload
	if load.Pattern != workload.Tail {
		return
	}
	for _, w := range workers[load.Workers+load.Producers:][:r.consumers] {
		if load.DrainRatio > 0 {
			r.draining.Add(1)
			continue
		}
		c := w.clients[0]
		c.position = c.partition.prefilled
		c.checker.sequences[0] = c.partition.prefilled
		if load.Backlog > 0 {
			c.consumed = new(paddedOffset)
			c.consumed.Store(c.position)
			c.partition.consumed = append(c.partition.consumed, c.consumed)
		}
	}
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
