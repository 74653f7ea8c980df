package strategies_test

import (
	"context"
	"testing"

	"tailrace/strategies"
)

// Steady state allocates nothing, except the actor's snapshot per publication.
func TestAllocations(t *testing.T) {
	options := strategies.Options{SegmentSize: 1 << 30}
	forEachWith(t, options, every, func(f *fixture) {
		log := f.open()
		writer := log.NewHandle()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		m := newMaker(1, 95)
		b := m.make(1, 1000, 0)
		appendAllocs := testing.AllocsPerRun(2000, func() {
			if _, err := writer.Append(ctx, b, strategies.AcksLeader); err != nil {
				f.t.Fatal(err)
			}
		})
		limit := 0.0
		if publishes(f.strategy) {
			limit = 1
		}
		if appendAllocs > limit {
			f.t.Errorf("an append makes %v allocations, want at most %v", appendAllocs, limit)
		}
		reader := f.reader(log, writer)
		buf := make([]byte, 16<<10)
		offset := int64(0)
		for name, step := range map[string]int64{"sequential": 1, "random": 701} {
			allocs := testing.AllocsPerRun(2000, func() {
				if _, err := reader.Read(offset%2000, buf); err != nil {
					f.t.Fatal(err)
				}
				offset += step
			})
			if allocs != 0 {
				f.t.Errorf("a %s read makes %v allocations", name, allocs)
			}
		}
		if f.strategy.PrivateFiles || f.strategy.StoresNothing {
			return
		}
		if allocs := testing.AllocsPerRun(200, func() {
			if err := reader.Wait(ctx, 0); err != nil {
				f.t.Fatal(err)
			}
		}); allocs != 0 {
			f.t.Errorf("a wait for what is there makes %v allocations", allocs)
		}
		if allocs := testing.AllocsPerRun(20, func() {
			if _, err := reader.OffsetForTime(0); err != nil {
				f.t.Fatal(err)
			}
		}); allocs != 0 {
			f.t.Errorf("a lookup by time makes %v allocations", allocs)
		}
	})
}
