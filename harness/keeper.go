package harness

import (
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/strategies"
	"tailrace/workload"
)

// keeper bounds what a sustained run has on its storage. Behind the slowest consumer it verifies whole
// segments from their files, as the walk after other runs does, and trims them; and it holds the
// producers while more is unread than the load allows, or more is on the storage than that and what can't
// be trimmed yet.
type keeper struct {
	run     *run
	handles []strategies.Handle // one a partition
	// verified are the segments of each partition that may go, and have not gone yet, by their base offsets.
	verified [][]int64
	mean     float64 // bytes of a record in the log
	bound    int64   // bytes unread
	onDisk   int64   // bytes on the storage
	trimmed  atomic.Int64
	stopped  chan struct{}
	done     sync.WaitGroup

	heldSince int64 // on the clock; 0 if the producers are not held
	held      int64 // ns, inside the window
	sampled   int64 // when resources were looked at last
	found     results.Sustained
}

const (
	keeperPause    = 5 * time.Millisecond
	resourcesEvery = int64(100 * time.Millisecond)
)

func newKeeper(r *run) *keeper {
	load := &r.spec.Workload
	k := &keeper{
		run:     r,
		mean:    workload.MeanBatchBytes(load) / float64(load.BatchRecords),
		bound:   load.Backlog,
		onDisk:  load.Backlog + 2*load.SegmentSize*int64(load.Partitions),
		stopped: make(chan struct{}),
	}
	for _, p := range r.partitions {
		k.handles = append(k.handles, p.log.NewHandle())
	}
	k.verified = make([][]int64, len(r.partitions))
	k.done.Add(1)
	return k
}

// keep goes on until stop.
func (k *keeper) keep() {
	defer k.done.Done()
	ticker := time.NewTicker(keeperPause)
	defer ticker.Stop()
	for {
		select {
		case <-k.stopped:
			k.hold(false)
			return
		case <-ticker.C:
		}
		if err := k.turn(); err != nil {
			k.run.fail(err)
			k.hold(false)
			return
		}
	}
}

func (k *keeper) stop() {
	close(k.stopped)
	k.done.Wait()
	for _, h := range k.handles {
		if err := h.Close(); err != nil {
			k.run.fail(err)
		}
	}
}

// turn looks after all partitions once.
func (k *keeper) turn() error {
	var unread, stored float64
	for i, p := range k.run.partitions {
		read := p.consumed[0].Load()
		for _, c := range p.consumed[1:] {
			read = min(read, c.Load())
		}
		if err := k.trim(i, read); err != nil {
			return err
		}
		o := k.handles[i].Offsets()
		// The last of them may stay for now: while the next is being begun, it is the active one.
		gone := func(base int64) bool { return base < o.Start }
		before := len(k.verified[i])
		k.verified[i] = slices.DeleteFunc(k.verified[i], gone)
		k.trimmed.Add(int64(before - len(k.verified[i])))
		unread += float64(o.LogEnd-read) * k.mean
		stored += float64(o.LogEnd-o.Start) * k.mean
	}
	k.hold(unread > float64(k.bound) || stored > float64(k.onDisk))
	now := k.run.clock.now()
	if k.run.inWindow(now) {
		see(&k.found.Unread, int64(unread))
	}
	if now >= k.sampled+resourcesEvery && k.run.inWindow(now) {
		k.sampled = now
		k.sample(int64(stored))
	}
	return nil
}

// trim verifies and drops the segments of a partition that end at or below an offset.
func (k *keeper) trim(partition int, read int64) error {
	p := k.run.partitions[partition]
	bases, err := segment.Bases(p.storage)
	if err != nil {
		return err
	}
	for i := 0; i+1 < len(bases) && bases[i+1] <= read; i++ {
		if bases[i] < p.walk.next {
			continue
		}
		if err := p.walk.segment(p.storage, bases[i]); err != nil {
			return err
		}
		k.verified[partition] = append(k.verified[partition], bases[i])
	}
	if len(k.verified[partition]) == 0 {
		return nil
	}
	if err := p.log.Trim(p.walk.next); err != nil {
		return violationf("trim: %v", err)
	}
	return nil
}

// hold stops the producers or lets them go.
func (k *keeper) hold(hold bool) {
	if hold == (k.heldSince > 0) {
		return
	}
	now := k.run.clock.now()
	if !hold {
		from, to := max(k.heldSince, k.run.open), min(now, k.run.closing.Load())
		k.held += max(0, to-from)
		k.heldSince = 0
	} else {
		k.heldSince = now
	}
	k.run.holding.Store(hold)
}

// sample looks at what the process holds.
func (k *keeper) sample(stored int64) {
	see(&k.found.Bytes, stored)
	if names, err := os.ReadDir("/proc/self/fd"); err == nil {
		see(&k.found.Files, int64(len(names)))
	}
	see(&k.found.Maps, int64(strings.Count(readFile("/proc/self/maps"), "\n")))
	see(&k.found.RSS, residentMemory())
}

// see notes how a quantity goes.
func see(r *results.Range, value int64) {
	if r.Most == 0 {
		r.First = value
	}
	r.Last, r.Most = value, max(r.Most, value)
}

// result is what the run held, once the keeper has stopped.
func (k *keeper) result(window float64) *results.Sustained {
	k.found.Trimmed = k.trimmed.Load()
	k.found.Held = float64(k.held) / 1e9 / window
	return &k.found
}

// hold lets a producer wait while the keeper holds it; true if the run has ended meanwhile.
func (w *worker) hold() (stop bool) {
	for w.run.holding.Load() {
		if w.run.clock.now() >= w.run.stopAt() {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}
