package segment_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
)

// policies of the crash matrix. The clock of an interval is one of the random operations.
var policies = []segment.SyncPolicy{segment.EveryBatch(), segment.EveryBytes(600), segment.EveryInterval(1), {}}

// TestCrashMatrix takes the power away, in several ways, after every storage call of random operations and before
// those that make something durable, and opens what is left.
func TestCrashMatrix(t *testing.T) {
	const operations, images = 24, 3
	sequences := uint64(4)
	if raceDetector || testing.Short() {
		sequences = 1
	}
	for _, policy := range policies {
		t.Run("sync="+policy.String(), func(t *testing.T) {
			t.Parallel()
			for seed := range sequences {
				o := newOwner(t, seed, policy)
				o.onCall = func() { o.images(images) }
				o.run(operations)
			}
		})
	}
}

// owner is a single owner of a log, who does random things.
type owner struct {
	t      testing.TB
	seed   uint64
	random *rand.Rand
	config segment.Config
	disk   *segmenttest.Disk
	faults *segmenttest.Faults // around the disk: sees calls before they happen
	onCall func()
	step   string
	calls  int

	log        *history
	partition  *segment.Partition // nil while it is being opened
	closed     bool
	active     *segment.LogSegment
	sealed     []segment.View
	positioned int64 // bytes of the active log that are synced

	// What has been promised.
	written             int64 // offset up to which writes have returned
	durable             int64 // offset up to which they are synced
	trimmed, trimmingTo int64 // log start for good, and as it may be by now
}

func newOwner(t testing.TB, seed uint64, policy segment.SyncPolicy) *owner {
	r := newRand(seed)
	o := &owner{t: t, seed: seed, random: r, log: newHistory(), onCall: func() {}}
	o.config = segment.Config{Size: 700 + r.Int64N(2300), Interval: 64, Sync: policy}
	o.use(segmenttest.NewDisk())
	return o
}

func (o *owner) use(d *segmenttest.Disk) {
	o.disk, o.faults = d, segmenttest.NewFaults(d)
	d.OnCall = o.called
	o.faults.Before = func(op segmenttest.Op, _ string) {
		if op == segmenttest.Sync || op == segmenttest.SyncDir || op == segmenttest.MapSync {
			o.called()
		}
	}
}

func (o *owner) called() {
	o.calls++
	if o.partition != nil {
		o.durable = max(o.durable, o.partition.Checkpoint.LastSynced())
	}
	o.onCall()
}

func (o *owner) checker(what string, i int) checker {
	return checker{o.t, fmt.Sprintf("seed %d, %s, storage call %d, %s %d", o.seed, o.step, o.calls, what, i)}
}

// run opens the log, does n random things, and closes it.
func (o *owner) run(n int) {
	o.step = "first open"
	o.open()
	for i := range n {
		o.step = fmt.Sprintf("operation %d", i)
		switch k := o.random.IntN(20); {
		case k < 11:
			o.append(1 + o.random.IntN(4))
		case k < 13:
			o.step += " (roll)"
			if o.active.Publish().Size > 0 {
				o.roll()
			}
		case k < 15:
			o.step += " (trim)"
			o.trim()
		case k < 16:
			o.step += " (close)"
			o.close()
			o.open()
		case k < 18:
			o.step += " (crash)"
			o.crash()
		default:
			o.step += " (sync)"
			o.tick()
		}
	}
	o.step = "last close"
	o.close()
}

func (o *owner) open() {
	c := o.checker("open", 0)
	p := c.open(o.config, o.faults)
	end := p.Active.End()
	if end < o.durable || end < o.written || end > o.log.end() {
		c.fatalf("log ends at %d, want %d or %d to %d", end, o.durable, o.written, o.log.end())
	}
	o.log = o.log.until(end)
	o.partition, o.sealed, o.active = p, p.Sealed, p.Active
	o.positioned = p.Active.Publish().Size
	o.written, o.durable = end, end
	start := views(p)[0].Base()
	o.trimmed, o.trimmingTo = start, start
}

func (o *owner) close() {
	p := o.partition
	o.checker("close", 0).must("Close", p.Checkpoint.Close(o.sealed, o.active.Publish(), false))
	o.durable, o.closed = o.log.end(), true
	o.called()
	o.partition, o.closed = nil, false
}

// crash goes on with an image.
func (o *owner) crash() {
	o.partition = nil
	o.written = o.durable
	o.use(o.disk.Crash(newRand(o.seed, uint64(o.calls))))
	o.open()
}

func (o *owner) append(batches int) {
	c := o.checker("append", 0)
	for range batches {
		b := randomBatch(o.random, 4, 90)
		if _, ok := o.active.Add(b); !ok {
			o.commit()
			o.roll()
			if _, ok := o.active.Add(b); !ok {
				c.fatalf("a batch of %d bytes does not fit an empty segment", len(b))
			}
		}
		o.log.append(b)
	}
	o.commit()
}

// commit writes what is queued, and syncs it if the policy says so.
func (o *owner) commit() {
	o.checker("write", 0).must("Write", o.active.Write())
	v := o.active.Publish()
	o.written = v.End
	if o.config.Sync.Due(v.Size - o.positioned) {
		o.sync(v)
	}
}

func (o *owner) sync(v segment.View) {
	if v.Size == o.positioned {
		return
	}
	o.checker("sync", 0).must("Sync", v.Files.Sync())
	o.positioned = v.Size
	o.partition.Checkpoint.Advance(v)
}

func (o *owner) roll() {
	if o.config.Sync.Bytes > 0 {
		o.sync(o.active.Publish())
	}
	next, err := o.active.Roll()
	o.checker("roll", 0).must("Roll", err)
	o.sealed = append(o.sealed, o.active.Publish())
	o.active, o.positioned = next, 0
}

// tick is the clock of a policy that has one.
func (o *owner) tick() {
	if o.config.Sync.Interval > 0 {
		o.checker("tick", 0).must("Sync", o.partition.Checkpoint.Sync(o.sealed, o.active.Publish()))
	}
}

// trim drops some of the sealed segments, and then no more has them.
func (o *owner) trim() {
	if len(o.sealed) == 0 {
		return
	}
	c := o.checker("trim", 0)
	n := 1 + o.random.IntN(len(o.sealed))
	dropped := o.sealed[:n]
	o.sealed = o.sealed[n:]
	o.trimmingTo = dropped[n-1].End
	c.must("SetStart", o.partition.Checkpoint.SetStart(o.trimmingTo))
	o.trimmed = o.trimmingTo
	c.must("Remove", segment.Remove(dropped))
}

// images takes some images of a power loss, and one of a killed process, and opens them.
func (o *owner) images(n int) {
	for i := range n + 1 {
		var r *rand.Rand
		if i > 0 {
			r = newRand(o.seed, uint64(o.calls<<8|i))
		}
		o.recovers(o.disk.Crash(r), i)
	}
}

// recovers opens an image and compares it with what was appended and promised. Image 0 is that of a process
// that was killed: nothing of it may be lost.
func (o *owner) recovers(d *segmenttest.Disk, image int) {
	c := o.checker("image", image)
	before := d.Files()
	p := c.open(o.config, d)
	start, end := views(p)[0].Base(), p.Active.End()
	if start < o.trimmed || start > o.trimmingTo {
		c.fatalf("log starts at %d, want %d to %d", start, o.trimmed, o.trimmingTo)
	}
	if end < o.durable || image == 0 && end < o.written {
		c.fatalf("log ends at %d, was synced to %d and written to %d", end, o.durable, o.written)
	}
	if point := p.Recovery.Point.Offset; point > end || o.partition != nil && point > max(o.durable, start) {
		c.fatalf("recovery point is at %d, log ends at %d and was synced to %d", point, end, o.durable)
	}
	if o.closed && !p.Recovery.Clean {
		c.fatalf("a closed log was recovered")
	}
	want := o.log.judge(before, start, segment.Point{Base: start})
	if len(logs(before)) == 0 {
		want = judgement{end: start}
	}
	c.report(p, before, want, start)
	c.sound(d, p, o.config.Interval, o.log, start, want.end, p.Recovery.Clean)
	c.readable(p, o.log)
	c.goesOn(d, o.config, p, o.log)
}
