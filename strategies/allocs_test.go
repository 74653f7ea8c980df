package strategies_test

import (
	"context"
	"testing"

	"tailrace/strategies"
)

// allocates fails the test if a call makes more allocations than a limit.
func (f *fixture) allocates(what string, limit float64, call func() error) {
	f.t.Helper()
	allocs := testing.AllocsPerRun(500, func() {
		if err := call(); err != nil {
			f.t.Fatal(err)
		}
	})
	if allocs > limit {
		f.t.Errorf("%s makes %v allocations, want at most %v", what, allocs, limit)
	}
}

// Steady state allocates nothing, except one picture for each publication.
func TestAllocations(t *testing.T) {
	options := strategies.Options{SegmentSize: 1 << 30}
	forEachWith(t, options, every, func(f *fixture) {
		log := f.open()
		writer := log.NewHandle()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		b := newMaker(1, 95).make(1, 1000, 0)
		for name, acks := range map[string]strategies.Acks{"none": strategies.AcksNone, "leader": strategies.AcksLeader, "all": strategies.AcksAll} {
			f.allocates("an append with acks "+name, f.pictures(), func() error {
				_, err := writer.Append(ctx, b, acks)
				return err
			})
		}
		reader := f.reader(log, writer)
		buf := make([]byte, 16<<10)
		offset := int64(0)
		for name, step := range map[string]int64{"sequential": 1, "random": 701} {
			f.allocates("a "+name+" read", 0, func() error {
				_, err := reader.Read(offset%1500, buf)
				offset += step
				return err
			})
		}
		f.allocates("a look at the offsets", 0, func() error { reader.Offsets(); return nil })
		f.allocates("a lookup by time", 0, func() error {
			_, err := reader.OffsetForTime(0)
			return err
		})
		f.allocates("a wait for what is there", 0, func() error { return reader.Wait(ctx, 0) })
	})
}

// So it is with followers: a fetch that tells of no progress allocates nothing; one that does allocates a list of the
// followers beside the picture, and that only where pictures are published.
func TestAllocationsBesideReplicas(t *testing.T) {
	options := strategies.Options{SegmentSize: 1 << 30, Replicas: 2}
	forEachWith(t, options, shares, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		b := newMaker(1, 95).make(1, 1000, 0)
		f.allocates("an append", f.pictures(), func() error {
			_, err := h.Append(ctx, b, strategies.AcksLeader)
			return err
		})
		buf := make([]byte, 16<<10)
		f.fetchAll(h, 100)
		f.allocates("a fetch without progress", 0, func() error {
			_, err := h.Fetch(0, 100, buf)
			return err
		})
		offset := int64(0)
		f.allocates("a fetch with progress", 2*f.pictures(), func() error {
			offset = (offset + 7) % 400 // goes back, too
			_, err := h.Fetch(1, offset, buf)
			return err
		})
		f.allocates("a follower's wait for what is there", 0, func() error { return h.WaitLogEnd(ctx, 0) })
		f.allocates("a look at the offsets", 0, func() error { h.Offsets(); return nil })
	})
}

// pictures is how many pictures the model makes for an append, or for the progress of a follower.
func (f *fixture) pictures() float64 {
	if publishes(f.strategy) {
		return 1
	}
	return 0
}
