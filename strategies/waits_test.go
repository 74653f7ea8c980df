package strategies_test

import (
	"context"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

// Behind a write that is stuck, an append waits for its commit, and one that comes with too much for the ring.
func TestWaitsAreCounted(t *testing.T) {
	s, err := strategies.Find("atomics")
	if err != nil {
		t.Fatal(err)
	}
	storage := holdUp(segment.NewHeap())
	log, err := s.Open(strategies.Options{Storage: storage})
	if err != nil {
		t.Fatal(err)
	}
	stuck := begin(log, 0)
	<-storage.entered
	waiting, ahead := log.NewHandle(), log.NewHandle()
	for _, h := range []strategies.Handle{waiting, ahead} {
		h.(strategies.WaitCounter).TimeWaits()
	}
	appends := func(h strategies.Handle, producer, batches int, acks strategies.Acks) <-chan struct{} {
		m := newMaker(producer, 100)
		return inBackground(func() {
			for range batches {
				if _, err := h.Append(context.Background(), m.make(1, 150_000, 0), acks); err != nil {
					t.Error(err)
				}
			}
		})
	}
	first := appends(waiting, 1, 1, strategies.AcksLeader)
	eventually(t, "waiting for a commit", func() bool { return appending() == 2 })
	second := appends(ahead, 2, 8, strategies.AcksNone)
	eventually(t, "waiting for the ring", func() bool { return appending() == 3 })
	close(storage.release)
	finishes(t, "the stuck append", stuck.done)
	finishes(t, "the one behind it", first)
	finishes(t, "those ahead", second)

	got := waiting.(strategies.WaitCounter).Waits()
	if got.Parked == 0 {
		t.Errorf("an append that had to wait for long was not parked: %+v", got)
	}
	if got.CommitTime <= 0 || got.RollTime != 0 || got.RingTime != 0 {
		t.Errorf("the wait for a commit is timed as %+v", got)
	}
	got.Parked, got.CommitTime = 0, 0
	if want := (strategies.Waits{Commit: 1}); got != want {
		t.Errorf("behind the stuck append: %+v, want %+v", got, want)
	}
	got = ahead.(strategies.WaitCounter).Waits()
	if got.RingTime <= 0 {
		t.Errorf("the wait for the ring is timed as %+v", got)
	}
	got.RingTime = 0
	if want := (strategies.Waits{Ring: 1}); got != want {
		t.Errorf("ahead of the ring: %+v, want %+v", got, want)
	}
	// With nobody beside it, nothing waits.
	finishes(t, "an append alone", appends(waiting, 3, 1, strategies.AcksLeader))
	if again := waiting.(strategies.WaitCounter).Waits(); again.Commit != 1 {
		t.Errorf("an append alone is counted: %+v", again)
	}
	if err := log.Close(); err != nil {
		t.Error(err)
	}
}
