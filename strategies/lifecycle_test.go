package strategies_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

func TestReopen(t *testing.T) {
	forEach(t, shares, func(f *fixture) {
		m := newMaker(1, 40)
		var want []segment.Batch
		end := int64(0)
		for round := range 5 {
			log, err := f.tryOpen()
			if err != nil {
				f.t.Fatal(err)
			}
			h := log.NewHandle()
			if got := h.Offsets(); got != (strategies.Offsets{HighWatermark: end, LogEnd: end}) {
				f.t.Fatalf("offsets after reopen %d are %+v, want the end at %d", round, got, end)
			}
			sameBatches(f.t, contents(f.t, h, 0), want)
			added := fill(f.t, h, m, round*7) // none in the first round: an empty log reopens too
			for _, b := range added {
				if b.BaseOffset() != end {
					f.t.Fatalf("append after a reopen got offset %d, want %d", b.BaseOffset(), end)
				}
				end = b.NextOffset()
			}
			want = append(want, added...)
			sameBatches(f.t, contents(f.t, h, 0), want)
			for _, ts := range []int64{math.MinInt64, 500, 898, 2000} {
				if got, err := h.OffsetForTime(ts); got != firstSince(want, ts, end) || err != nil {
					f.t.Fatalf("offset for time %d is %d and %v, want %d", ts, got, err, firstSince(want, ts, end))
				}
			}
			if err := log.Close(); err != nil {
				f.t.Fatal(err)
			}
		}
	})
}

// What one strategy has closed, any other goes on with, whatever the segment size is by then.
func TestReopenUnderAnother(t *testing.T) {
	sharing := slices.DeleteFunc(slices.Clone(strategies.List), func(s strategies.Strategy) bool { return !shares(s) })
	dir, heap := scratchDir(t), segment.NewHeap()
	for _, storage := range []func() segment.Storage{
		func() segment.Storage { return openDir(t, dir) },
		func() segment.Storage { return heap },
	} {
		m := newMaker(1, 41)
		var want []segment.Batch
		for round := range 4 * len(sharing) {
			s := sharing[round*3%len(sharing)]
			log, err := s.Open(strategies.Options{
				Storage:       storage(),
				SegmentSize:   []int64{700, 5000, 1 << 20}[round%3],
				IndexInterval: 100,
			})
			if err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			h := log.NewHandle()
			want = append(want, fill(t, h, m, 10)...)
			sameBatches(t, contents(t, h, 0), want)
			if err := log.Close(); err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
		}
	}
}

// A follower has a number below that of the replicas; private logs have no followers.
func TestReplicaNumbers(t *testing.T) {
	for _, replicas := range []int{0, 1, 3} {
		forEachWith(t, strategies.Options{Replicas: replicas}, shares, func(f *fixture) {
			h := f.open().NewHandle()
			for _, replica := range []int{-1, replicas, 1 << 40} {
				if _, err := h.Fetch(replica, 0, nil); !errors.Is(err, strategies.ErrReplica) {
					f.t.Errorf("fetch of replica %d gives %v", replica, err)
				}
			}
		})
	}
	raw, err := strategies.Find("raw")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Open(strategies.Options{Storage: segment.NewHeap(), Replicas: 1}); !errors.Is(err, strategies.ErrUnsupported) {
		t.Errorf("raw opens with a replica: %v", err)
	}
	for _, replicas := range []int{-1, 65} {
		for _, s := range strategies.List {
			if shares(s) {
				if _, err := s.Open(strategies.Options{Storage: segment.NewHeap(), Replicas: replicas}); err == nil {
					t.Errorf("%s opens with %d replicas", s.Name, replicas)
				}
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, s := range strategies.List {
		if !shares(s) {
			continue
		}
		for _, o := range []strategies.Options{{SegmentSize: -1}, {SegmentSize: 10}, {SegmentSize: 1 << 40}, {IndexInterval: -1}, {IndexInterval: 1 << 40}} {
			o.Storage = segment.NewHeap()
			if _, err := s.Open(o); err == nil {
				t.Errorf("%s opens with %+v", s.Name, o)
			}
		}
	}
}

func TestFind(t *testing.T) {
	for _, s := range strategies.List {
		if got, err := strategies.Find(s.Name); err != nil || got.Name != s.Name {
			t.Errorf("find %s: %s, %v", s.Name, got.Name, err)
		}
	}
	if _, err := strategies.Find("mutexx"); err == nil {
		t.Error("an unknown strategy is found")
	}
}

// refuses checks that every call on a closed log or handle says so.
func refuses(t *testing.T, h strategies.Handle) {
	t.Helper()
	b := newMaker(1, 42).make(1, 30, 0)
	_, appendErr := h.Append(context.Background(), b, strategies.AcksLeader)
	_, noneErr := h.Append(context.Background(), b, strategies.AcksNone)
	_, readErr := h.Read(0, make([]byte, 1000))
	_, timeErr := h.OffsetForTime(0)
	for call, err := range map[string]error{
		"append": appendErr, "append without acks": noneErr, "read": readErr, "offset for time": timeErr,
		"wait": h.Wait(context.Background(), 1<<40), "wait for what is there": h.Wait(context.Background(), 0),
	} {
		if !errors.Is(err, strategies.ErrClosed) {
			t.Errorf("%s gives %v, want ErrClosed", call, err)
		}
	}
}

func TestClosedHandle(t *testing.T) {
	forEach(t, every, func(f *fixture) {
		log := f.open()
		h, other := log.NewHandle(), log.NewHandle()
		fill(f.t, h, newMaker(1, 43), 10)
		for range 2 {
			if err := h.Close(); err != nil {
				f.t.Fatal(err)
			}
			refuses(f.t, h)
		}
		fill(f.t, other, newMaker(1, 44), 10) // others go on
	})
}

func TestClosedLog(t *testing.T) {
	forEach(t, every, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		fill(f.t, h, newMaker(1, 45), 10)
		for range 2 {
			if err := log.Close(); err != nil {
				f.t.Fatal(err)
			}
			refuses(f.t, h)
			refuses(f.t, log.NewHandle())
		}
		if err := h.Close(); err != nil {
			f.t.Fatal(err)
		}
		refuses(f.t, h)
	})
}

// owned counts what a log does with the storage as a whole.
type owned struct {
	segment.Storage
	closed, created, uncovered atomic.Int32
}

func (s *owned) OpenLog(name string, create bool) (segment.LogFile, error) {
	if create {
		s.created.Add(1)
		s.uncovered.Add(1)
	}
	return s.Storage.OpenLog(name, create)
}

func (s *owned) SyncDir() error {
	s.uncovered.Store(0)
	return s.Storage.SyncDir()
}

func (s *owned) Close() error {
	s.closed.Add(1)
	return s.Storage.Close()
}

// Open takes ownership of the storage.
func TestCloseClosesStorage(t *testing.T) {
	forEachWith(t, strategies.Options{}, stores, func(f *fixture) {
		storage := &owned{Storage: f.options.Storage}
		f.options.Storage = storage
		log := f.open()
		fill(f.t, log.NewHandle(), newMaker(1, 46), 3)
		for range 2 {
			if err := log.Close(); err != nil {
				f.t.Fatal(err)
			}
		}
		if n := storage.closed.Load(); n != 1 {
			f.t.Errorf("storage was closed %d times, want once", n)
		}
	})
}

// With a sync for every batch, an acknowledged batch lies in a file whose name is durable too.
func TestSyncCoversNames(t *testing.T) {
	options := strategies.Options{SegmentSize: 700, Sync: segment.EveryBatch()}
	forEachWith(t, options, func(s strategies.Strategy) bool { return stores(s) && !s.Faulty }, func(f *fixture) {
		storage := &owned{Storage: f.options.Storage}
		f.options.Storage = storage
		h, m := f.open().NewHandle(), newMaker(1, 47)
		for storage.created.Load() < 5 {
			fill(f.t, h, m, 1)
			if n := storage.uncovered.Load(); n != 0 {
				f.t.Fatalf("append is acknowledged while the names of %d segments are not durable", n)
			}
		}
	})
}
