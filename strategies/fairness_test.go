package strategies_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// commitsForOthers: an append may be made to write and sync those of others.
func commitsForOthers(s strategies.Strategy) bool {
	return slices.Contains([]string{"atomics", "actor", "actor-mailbox", "mutex-group"}, s.Name)
}

// On a slow disk nobody serves the others for ever: each producer gets a share of what all append together.
func TestFairBesideSlowSyncs(t *testing.T) {
	const producers, each = 16, 40
	for _, policy := range []segment.SyncPolicy{segment.EveryBatch(), segment.EveryBytes(400), segment.EveryBytes(4000)} {
		for acks, name := range map[strategies.Acks]string{strategies.AcksNone: "none", strategies.AcksLeader: "leader"} {
			t.Run("sync="+policy.String()+"/acks="+name, func(t *testing.T) {
				forEachWith(t, strategies.Options{Sync: policy}, commitsForOthers, func(f *fixture) {
					faults, _ := f.faulty()
					faults.Before = func(op segmenttest.Op, _ string) {
						if op == segmenttest.Sync {
							time.Sleep(200 * time.Microsecond)
						}
					}
					log := f.open()
					var total atomic.Int64
					var appended [producers]int
					var wg sync.WaitGroup
					for id := range producers {
						wg.Go(func() {
							h, b := log.NewHandle(), newMaker(id, 300).make(1, 500, 0)
							for total.Add(1) <= producers*each {
								if _, err := h.Append(context.Background(), b, acks); err != nil {
									f.t.Error(err)
									return
								}
								appended[id]++
							}
						})
					}
					finishes(f.t, "appending", inBackground(wg.Wait))
					for id, n := range appended {
						if n < each/5 {
							f.t.Errorf("producer %d has appended %d batches, %d on average", id, n, each)
						}
					}
				})
			})
		}
	}
}
