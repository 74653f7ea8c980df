package torture

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

const (
	// crashTime bounds a round's load, crashImages how often the power fails in it.
	crashTime   = 60 * time.Millisecond
	crashImages = 6
)

// crashRun is a log on a model of a disk, of which images are taken as a loss of power would leave them. What was promised
// before must be in them.
type crashRun struct {
	round   *round
	disk    *segmenttest.Disk
	options strategies.Options
	log     atomic.Pointer[strategies.Log]
	crew    *crew
	limit   time.Duration

	trimming atomic.Int64 // a trim below it may have begun
	trimmed  atomic.Int64 // the log starts there or later
	inTrim   atomic.Int64 // trims under way
	atTrims  bool         // the power fails in them, mostly

	mu     sync.Mutex // of all below
	random *rand.Rand
	acked  []segment.Batch
	images []crashImage
	often  int   // one call in so many is followed by a loss of power
	last   int64 // what had been synced at the last call
}

// crashImage is what is left, and what was promised before.
type crashImage struct {
	disk              *segmenttest.Disk
	killed            bool // the process alone: all that was written is there
	acked             []segment.Batch
	synced            int64
	trimmed, trimming int64
}

func (r *round) crash() error {
	if raceDetector {
		return nil // an image is taken by reading mapped memory that others write
	}
	c := &crashRun{round: r, disk: segmenttest.NewDisk(), options: r.settings(0), crew: newCrew(), limit: r.time(crashTime),
		random: newRandom(r.seed, 96), often: draw(r.random, 5, 20, 100), atTrims: r.random.IntN(2) == 0}
	defer c.crew.stop()
	c.disk.OnCall = c.lose
	c.options.Storage = newGuard(draw(r.random, 4, 16, 64)).over(c.disk)
	// Without a policy nothing is promised.
	c.options.Sync = draw(r.random, segment.EveryBatch(), segment.EveryBytes(1+r.random.Int64N(2000)), shortly(r.random), shortly(r.random))
	log, err := r.strategy.Open(c.options)
	if err != nil {
		return violationf("open: %v", err)
	}
	c.log.Store(&log)
	for id := range 1 + r.random.IntN(4) {
		c.crew.start(func() error { return c.produce(id) })
	}
	for id := range r.random.IntN(3) {
		c.crew.start(func() error { return c.trim(newRandom(r.seed, uint64(200+id))) })
	}
	if err := c.crew.wait("a call on a disk", c.limit+r.options.Patience); err != nil {
		return err
	}
	if err := r.close(log); err != nil {
		return err
	}
	for _, image := range c.images {
		if err := watched("a call after a crash", r.options.Patience, func() error { return c.check(image) }); err != nil {
			return err
		}
		r.counts.Crashes++
	}
	return nil
}

// shortly is a policy that syncs by the clock.
func shortly(random *rand.Rand) segment.SyncPolicy {
	return segment.EveryInterval(time.Duration(100+random.IntN(900)) * time.Microsecond)
}

// lose takes an image after some of the disk's calls. What must be in it is found out before, what may be gone after.
func (c *crashRun) lose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.log.Load()
	if log == nil || len(c.images) == crashImages {
		return
	}
	synced := (*log).LastSynced()
	often := c.often
	if synced != c.last || c.atTrims && c.inTrim.Load() > 0 { // a promise that is new, or about to be kept
		often = 2
	}
	c.last = synced
	if c.random.IntN(often) != 0 {
		return
	}
	image := crashImage{killed: c.random.IntN(8) == 0, acked: slices.Clone(c.acked), synced: synced, trimmed: c.trimmed.Load()}
	random := c.random
	if image.killed {
		random = nil
	}
	image.disk = c.disk.Crash(random)
	image.trimming = c.trimming.Load()
	c.images = append(c.images, image)
}

func (c *crashRun) produce(id int) error {
	h := (*c.log.Load()).NewHandle()
	defer h.Close()
	m := maker{producer: id, random: newRandom(c.round.seed, uint64(id)), shape: c.round.shape}
	for began := time.Now(); time.Since(began) < c.limit && c.crew.ctx.Err() == nil; {
		b := segment.Batch(bytes.Clone(m.next()))
		base, err := h.Append(context.Background(), b, strategies.AcksLeader)
		if err != nil || base != b.BaseOffset() {
			return violationf("an append gives %d, %v", base, err)
		}
		c.mu.Lock()
		c.acked = append(c.acked, b)
		c.mu.Unlock()
	}
	return nil
}

func (c *crashRun) trim(random *rand.Rand) error {
	log := *c.log.Load()
	h := log.NewHandle()
	defer h.Close()
	for began := time.Now(); time.Since(began) < c.limit && c.crew.ctx.Err() == nil; {
		o := h.Offsets()
		before := o.Start + random.Int64N(o.HighWatermark-o.Start+1)
		raise(&c.trimming, before)
		c.inTrim.Add(1)
		err := log.Trim(before)
		c.inTrim.Add(-1)
		if err != nil {
			return violationf("trim: %v", err)
		}
		raise(&c.trimmed, h.Offsets().Start)
		spin(random, 50*time.Microsecond)
	}
	return nil
}

// check opens an image, and compares it with what was promised.
func (c *crashRun) check(image crashImage) error {
	options := c.options
	options.Storage = image.disk
	log, err := c.round.strategy.Open(options)
	if err != nil {
		return violationf("open after a crash: %v", err)
	}
	h := log.NewHandle()
	defer h.Close()
	o := h.Offsets()
	if o.Start < image.trimmed || o.Start > image.trimming || o.HighWatermark < image.synced {
		return violationf("after a crash the offsets are %+v, and before it all below %d was synced, and a trim had come to %d, at most to %d",
			o, image.synced, image.trimmed, image.trimming)
	}
	stored, err := c.stored(h, o)
	if err != nil {
		return err
	}
	lost := int64(0) // bytes that were acknowledged
	for _, b := range image.acked {
		found := stored[b.BaseOffset()]
		switch {
		case found != nil && !bytes.Equal(found, b):
			return violationf("the batch at %d is not the one that was acknowledged there", b.BaseOffset())
		case found != nil || b.BaseOffset() < o.Start:
		case b.BaseOffset() < image.synced || image.killed:
			return violationf("the batch at %d is lost by a crash, and all below %d was synced", b.BaseOffset(), image.synced)
		default:
			lost += int64(len(b))
		}
	}
	if c.options.Sync.Due(lost) {
		return violationf("a crash loses %d bytes that were acknowledged, under the sync policy %v", lost, c.options.Sync)
	}
	return c.round.close(log)
}

// stored gives the batches of a log by their base offsets.
func (c *crashRun) stored(h strategies.Handle, o strategies.Offsets) (map[int64]segment.Batch, error) {
	stored := map[int64]segment.Batch{}
	buf := make([]byte, 64<<10)
	for next := o.Start; next < o.HighWatermark; {
		p, err := h.Read(next, buf)
		if err != nil || len(p) == 0 {
			return nil, violationf("a read at %d after a crash gives %d bytes, %v", next, len(p), err)
		}
		err = split(p, func(b segment.Batch) error {
			stored[b.BaseOffset()], next = bytes.Clone(b), b.NextOffset()
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return stored, nil
}
