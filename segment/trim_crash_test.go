package segment_test

import (
	"fmt"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
)

// A power loss while a log start is made durable leaves this one or the one before, not one whose segments are
// gone, whether a trim or a close is what makes it durable.
func TestCrashWhileStartMoves(t *testing.T) {
	for _, end := range []string{"trim", "close"} {
		c := checker{t, end}
		d := segmenttest.NewDisk()
		faults := segmenttest.NewFaults(d)
		config := segment.Config{Size: 100, Interval: 64, Sync: segment.EveryBatch()}
		p := c.open(config, faults)
		for i := range 3 {
			if i > 0 {
				next, err := p.Active.Roll()
				c.must("Roll", err)
				p.Sealed, p.Active = append(p.Sealed, p.Active.Publish()), next
			}
			p.Active.Add(pair(byte(i), 0))
			c.must("Write", p.Active.Write())
			c.must("Sync", p.Checkpoint.Sync(p.Sealed, p.Active.Publish()))
		}
		trim := func() {
			dropped := p.Sealed[:1]
			p.Sealed = p.Sealed[1:]
			c.must("SetStart", p.Checkpoint.SetStart(dropped[0].End))
			c.must("Remove", segment.Remove(dropped))
		}
		trim()
		syncs := 0
		faults.Before = func(op segmenttest.Op, _ string) {
			if op != segmenttest.MapSync {
				return
			}
			syncs++
			for seed := range uint64(200) {
				c := checker{t, fmt.Sprintf("%s, before sync %d of a mapping, image %d", end, syncs, seed)}
				image := d.Crash(newRand(seed))
				c.close(image, c.open(config, image))
			}
		}
		if end == "trim" {
			trim()
		}
		c.close(d, p)
		if syncs == 0 {
			c.fatalf("no mapping was synced")
		}
	}
}
