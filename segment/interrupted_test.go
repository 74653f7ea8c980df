package segment_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
)

// crashed is an image that a crash has left, with what Open must make of it.
type crashed struct {
	checker
	seed       uint64
	disk       *segmenttest.Disk
	config     segment.Config
	log        *history
	start, end int64
}

// eachCrash runs a test on images of random logs: on one in so many that can be taken.
func eachCrash(t *testing.T, sequences uint64, every int, test func(crashed)) {
	t.Helper()
	if raceDetector || testing.Short() {
		sequences = 1
	}
	for _, policy := range policies {
		t.Run("sync="+policy.String(), func(t *testing.T) {
			t.Parallel()
			for seed := range sequences {
				o := newOwner(t, 100+seed, policy)
				o.onCall = func() {
					if o.calls%every == 0 {
						test(o.crashed())
					}
				}
				o.run(24)
			}
		})
	}
}

// crashed takes an image.
func (o *owner) crashed() crashed {
	c := crashed{
		checker: o.checker("image", 0), seed: o.seed<<32 | uint64(o.calls),
		disk: o.disk.Crash(newRand(o.seed, uint64(o.calls))), config: o.config, log: o.log,
	}
	undisturbed := c.disk.Crash(nil)
	p := c.open(c.config, undisturbed)
	c.start, c.end = views(p)[0].Base(), p.Active.End()
	c.close(undisturbed, p)
	return c
}

// recovers opens a disk, on which an Open of the image may have been at work, and checks the outcome.
func (c crashed) recovers(d *segmenttest.Disk) *segment.Partition {
	c.t.Helper()
	p := c.open(c.config, d)
	c.sound(d, p, c.config.Interval, c.log, c.start, c.end, p.Recovery.Clean)
	return p
}

// Opening a second time finds nothing to do and changes nothing, whether the process is killed in between or
// closes the log.
func TestRecoverTwice(t *testing.T) {
	eachCrash(t, 4, 5, func(c crashed) {
		c.where += ", killed"
		killed := c.disk.Crash(nil)
		p := c.recovers(killed)
		lazy := p.Recovery.Clean
		for range 2 {
			next := killed.Crash(nil)
			p = c.recovers(next)
			v := p.Active.Publish()
			if found := (segment.Point{Base: v.Base(), Position: v.Size, Offset: v.End}); p.Recovery.Point != found {
				c.fatalf("recovery point is %+v, want %+v", p.Recovery.Point, found)
			}
			if p.Recovery.Cut != nil || len(p.Recovery.Removed) > 0 {
				c.fatalf("something was left to do: %+v", p.Recovery)
			}
			if !lazy {
				c.sameFiles(next.Files(), killed.Files())
			}
			killed, lazy = next, false
		}
		c.where += " and closed"
		c.close(killed, p)
		closed := killed.Files()
		for range 2 {
			p = c.recovers(killed)
			if !p.Recovery.Clean || p.Recovery.Cut != nil || len(p.Recovery.Removed) > 0 {
				c.fatalf("a closed log was recovered: %+v", p.Recovery)
			}
			c.close(killed, p)
			c.sameFiles(killed.Files(), closed)
		}
	})
}

// A crash after any storage call of Open leaves something that Open recovers all the same.
func TestInterruptedRecovery(t *testing.T) {
	const images = 2
	eachCrash(t, 3, 29, func(c crashed) {
		d := c.disk.Crash(nil)
		calls, where := 0, c.where
		d.OnCall = func() {
			calls++
			for i := range images + 1 {
				c.where = fmt.Sprintf("%s, call %d of Open, image %d", where, calls, i)
				var r *rand.Rand
				if i > 0 {
					r = newRand(c.seed, uint64(calls<<8|i))
				}
				image := d.Crash(r)
				c.close(image, c.recovers(image))
			}
		}
		c.recovers(d)
	})
}

// A storage call of Open that fails makes it fail, with nothing left open, and the next Open succeeds.
func TestFailedRecovery(t *testing.T) {
	eachCrash(t, 3, 29, func(c crashed) {
		where := c.where
		for n := 1; ; n++ {
			d := c.disk.Crash(nil)
			faults := segmenttest.NewFaults(d)
			calls := 0
			var failed segmenttest.Op
			faults.Before = func(op segmenttest.Op, _ string) {
				if calls++; calls == n {
					failed = op
					faults.Fail(op, 1, 1, syscall.EIO)
				}
			}
			config := c.config
			config.Storage = faults
			_, err := segment.Open(config)
			c.where = fmt.Sprintf("%s, %v, call %d of Open, fails", where, failed, n)
			if calls < n {
				c.must("Open", err)
				return
			}
			if !errors.Is(err, syscall.EIO) {
				c.fatalf("Open gives %v", err)
			}
			c.released(d)
			c.close(d, c.recovers(d))
		}
	})
}
