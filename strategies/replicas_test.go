package strategies_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"tailrace/segment"
	"tailrace/strategies"
)

// forEachReplicated runs a test on every candidate × storage × layout × sync policy × number of replicas.
func forEachReplicated(t *testing.T, test func(f *fixture)) {
	t.Helper()
	for replicas := 1; replicas <= 3; replicas++ {
		for _, l := range layouts {
			for _, sync := range []segment.SyncPolicy{{}, segment.EveryBatch()} {
				o := strategies.Options{SegmentSize: l.segment, IndexInterval: l.interval, Sync: sync, Replicas: replicas}
				t.Run(fmt.Sprintf("replicas=%d/layout=%s/sync=%v", replicas, l.name, sync), func(t *testing.T) {
					forEachWith(t, o, isCore, test)
				})
			}
		}
	}
}

// fetch is a follower's call that must succeed.
func fetch(t *testing.T, h strategies.Handle, replica int, offset int64) []byte {
	t.Helper()
	p, err := h.Fetch(replica, offset, make([]byte, 64<<10))
	if err != nil {
		t.Fatalf("fetch of replica %d at %d: %v", replica, offset, err)
	}
	return p
}

// fetchAll lets every follower say that it has all below an offset.
func (f *fixture) fetchAll(h strategies.Handle, offset int64) {
	f.t.Helper()
	for replica := range f.options.Replicas {
		fetch(f.t, h, replica, offset)
	}
}

// replicaModel is what a log must say that is used by one call after the other.
type replicaModel struct {
	batches   []segment.Batch
	followers []int64
	strategies.Offsets
}

func (m *replicaModel) appended(batches []segment.Batch) {
	m.batches = append(m.batches, batches...)
	m.LogEnd = m.batches[len(m.batches)-1].NextOffset()
}

func (m *replicaModel) fetched(replica int, offset int64) {
	m.followers[replica] = offset
	end := m.LogEnd
	for _, offset := range m.followers {
		end = min(end, offset)
	}
	m.HighWatermark = max(m.HighWatermark, end)
}

// boundary is an offset between two batches, or one of the ends of the log.
func (m *replicaModel) boundary(random *rand.Rand) int64 {
	if i := random.IntN(len(m.batches) + 1); i < len(m.batches) {
		return m.batches[i].BaseOffset()
	}
	return m.LogEnd
}

// visible are the batches below the high watermark.
func (m *replicaModel) visible() []segment.Batch {
	n := 0
	for n < len(m.batches) && m.batches[n].BaseOffset() < m.HighWatermark {
		n++
	}
	return m.batches[:n]
}

// check compares all that a consumer can see.
func (m *replicaModel) check(f *fixture, h strategies.Handle, random *rand.Rand) {
	f.t.Helper()
	if got := h.Offsets(); got != m.Offsets {
		f.t.Fatalf("offsets are %+v, want %+v with followers at %v", got, m.Offsets, m.followers)
	}
	visible, end := m.visible(), m.HighWatermark
	sameBatches(f.t, contents(f.t, h, 0), visible)
	if end > 0 {
		checkRead(f.t, h, visible, f.options.SegmentSize, random.Int64N(end), random.IntN(3000))
		if err := h.Wait(context.Background(), end-1); err != nil {
			f.t.Fatalf("wait for what is visible: %v", err)
		}
	}
	buf := make([]byte, 1<<12)
	if p, err := h.Read(end, buf); len(p) != 0 || err != nil {
		f.t.Fatalf("read at the high watermark gives %d bytes and %v", len(p), err)
	}
	if _, err := h.Read(end+1, buf); !errors.Is(err, strategies.ErrOutOfRange) {
		f.t.Fatalf("read beyond the high watermark gives %v", err)
	}
	for _, ts := range []int64{math.MinInt64, random.Int64N(1000) - 100, 895, math.MaxInt64} {
		if got, err := h.OffsetForTime(ts); got != firstSince(visible, ts, end) || err != nil {
			f.t.Fatalf("offset for time %d is %d and %v, want %d", ts, got, err, firstSince(visible, ts, end))
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Wait(cancelled, end); !errors.Is(err, context.Canceled) {
		f.t.Fatalf("wait for what only followers may see gives %v", err)
	}
	if err := h.WaitLogEnd(cancelled, m.LogEnd-1); m.LogEnd > 0 && err != nil {
		f.t.Fatalf("wait for what followers may see gives %v", err)
	}
}

// Followers fetch from anywhere, forwards and back: the high watermark is the least that all have had at
// once, consumers see what is below it and followers everything, and a reopen makes all of it visible.
func TestHighWatermark(t *testing.T) {
	forEachReplicated(t, func(f *fixture) {
		maker, random := newMaker(1, 200), rand.New(rand.NewPCG(200, uint64(f.options.Replicas)))
		m := &replicaModel{followers: make([]int64, f.options.Replicas)}
		for range 2 {
			log, err := f.tryOpen()
			if err != nil {
				f.t.Fatal(err)
			}
			for i := range m.followers {
				m.fetched(i, m.LogEnd)
			}
			h := log.NewHandle()
			m.check(f, h, random)
			for range 10 {
				if random.IntN(3) == 0 {
					m.appended(fill(f.t, h, maker, 1+random.IntN(3)))
				} else {
					replica, offset := random.IntN(len(m.followers)), m.boundary(random)
					var want []byte
					if offset < m.LogEnd {
						want, _ = expectedRead(m.batches, f.options.SegmentSize, offset, 64<<10)
					}
					if got := fetch(f.t, h, replica, offset); !bytes.Equal(got, want) {
						f.t.Fatalf("fetch at %d gives %d bytes, want %d", offset, len(got), len(want))
					}
					m.fetched(replica, offset)
				}
				m.check(f, h, random)
			}
			m.check(f, log.NewHandle(), random)
			if err := log.Close(); err != nil {
				f.t.Fatal(err)
			}
		}
	})
}

// The high watermark passes through the segments batch by batch; behind it lies more in the same segment
// and in later ones, which a handle has just fetched through.
func TestReadsEndAtHighWatermark(t *testing.T) {
	for _, l := range layouts {
		o := strategies.Options{SegmentSize: l.segment, IndexInterval: l.interval, Replicas: 1}
		t.Run("layout="+l.name, func(t *testing.T) {
			forEachWith(t, o, isCore, func(f *fixture) {
				h := f.open().NewHandle()
				m := &replicaModel{followers: make([]int64, 1)}
				m.appended(fill(f.t, h, newMaker(1, 201), 30))
				random := rand.New(rand.NewPCG(201, 0))
				for _, b := range m.batches {
					fetch(f.t, h, 0, b.BaseOffset())
					m.fetched(0, b.BaseOffset())
					m.check(f, h, random)
					for _, offset := range []int64{0, max(0, b.BaseOffset()-1), max(0, b.BaseOffset()-5)} {
						if offset < m.HighWatermark {
							checkRead(f.t, h, m.visible(), l.segment, offset, 1<<16)
						}
					}
				}
			})
		})
	}
}

func TestFetchBounds(t *testing.T) {
	forEachReplicated(t, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		maker := newMaker(1, 202)
		for range 12 {
			b := maker.make(2, 50, 0)
			if _, err := h.Append(context.Background(), b, strategies.AcksLeader); err != nil {
				f.t.Fatal(err)
			}
		}
		const end, size = 24, 1 << 16
		replicas := f.options.Replicas
		f.fetchAll(h, 18)
		if err := log.Trim(12); err != nil {
			f.t.Fatal(err)
		}
		before := h.Offsets()
		refused := func(replica int, offset int64, size int, want error) {
			f.t.Helper()
			_, err := h.Fetch(replica, offset, make([]byte, size))
			if _, short := errors.AsType[*segment.ShortBufferError](err); want == nil && !short || want != nil && !errors.Is(err, want) {
				f.t.Errorf("fetch of replica %d at %d into %d bytes gives %v, want %v", replica, offset, size, err, want)
			}
		}
		// Had one of these been noted, those that follow would raise the high watermark.
		for replica := range replicas {
			for _, offset := range []int64{-1, math.MinInt64, end + 1, math.MaxInt64} {
				refused(replica, offset, size, strategies.ErrOutOfRange)
			}
			refused(replica, 19, size, strategies.ErrOutOfRange)
			refused(replica, end-1, size, strategies.ErrOutOfRange)
			refused(replica, 20, 100, nil)
			refused(replica, 22, 0, nil)
			if before.Start > 0 {
				refused(replica, before.Start-2, size, strategies.ErrOutOfRange)
			}
		}
		for _, replica := range []int{-1, replicas, math.MaxInt} {
			refused(replica, end, size, strategies.ErrReplica)
		}
		if after := h.Offsets(); after != before {
			f.t.Fatalf("offsets went from %+v to %+v in refused fetches", before, after)
		}
		for replica := range replicas {
			for _, buf := range [][]byte{nil, make([]byte, size)} {
				if p, err := h.Fetch(replica, end, buf); len(p) != 0 || err != nil {
					f.t.Fatalf("fetch at the log end gives %d bytes and %v", len(p), err)
				}
			}
		}
		if hw := h.Offsets().HighWatermark; hw != end {
			f.t.Fatalf("high watermark is %d though all have fetched at %d", hw, end)
		}
		closedHandle := log.NewHandle()
		if err := errors.Join(closedHandle.Close(), log.Close()); err != nil {
			f.t.Fatal(err)
		}
		for name, h := range map[string]strategies.Handle{"closed": closedHandle, "open": h, "new": log.NewHandle()} {
			if _, err := h.Fetch(0, end, nil); !errors.Is(err, strategies.ErrClosed) {
				f.t.Errorf("fetch through a handle that was %s when the log closed gives %v", name, err)
			}
			if err := h.WaitLogEnd(context.Background(), 0); !errors.Is(err, strategies.ErrClosed) {
				f.t.Errorf("wait through a handle that was %s when the log closed gives %v", name, err)
			}
		}
	})
}

// What a follower still lacks is not dropped under it: the start stays at or below the high watermark.
func TestTrimStopsAtHighWatermark(t *testing.T) {
	trims := map[string]func(strategies.Log) error{
		"trim":   func(l strategies.Log) error { return l.Trim(math.MaxInt64) },
		"retain": func(l strategies.Log) error { return l.Retain(strategies.Retention{Bytes: 1}) },
		"age":    func(l strategies.Log) error { return l.Retain(strategies.Retention{Since: time.UnixMilli(10_000)}) },
	}
	for name, trim := range trims {
		o := strategies.Options{SegmentSize: 700, IndexInterval: 64, Replicas: 2}
		t.Run("by="+name, func(t *testing.T) {
			forEachWith(t, o, isCore, func(f *fixture) {
				log := f.open()
				h := log.NewHandle()
				want := fill(f.t, h, newMaker(1, 203), 30)
				fetch(f.t, h, 0, want[29].NextOffset())
				for _, b := range []segment.Batch{want[0], want[7], want[20]} {
					fetch(f.t, h, 1, b.BaseOffset())
					if err := trim(log); err != nil {
						f.t.Fatal(err)
					}
					o := h.Offsets()
					if o.Start > o.HighWatermark || o.HighWatermark != b.BaseOffset() {
						f.t.Fatalf("offsets are %+v after the trim, want the start at most at the high watermark %d", o, b.BaseOffset())
					}
					if p := fetch(f.t, h, 1, b.BaseOffset()); !bytes.HasPrefix(p, b) {
						f.t.Fatalf("fetch at %d after the trim gives %d bytes, not the batch", b.BaseOffset(), len(p))
					}
				}
			})
		})
	}
}

// What consumers may not see yet is made durable by the clock all the same.
func TestIntervalSyncBesideReplicas(t *testing.T) {
	o := strategies.Options{Replicas: 1, Sync: segment.EveryInterval(time.Millisecond)}
	forEachWith(t, o, isCore, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		for end := range int64(3) {
			appendOne(f.t, h, strategies.AcksLeader)
			fetch(f.t, h, 0, end) // the high watermark comes to where the last sync was
			eventually(f.t, "syncing by the clock", func() bool { return log.LastSynced() == end+1 })
		}
	})
}

// Followers wake on the append itself, while consumers wait for the followers.
func TestWaitLogEnd(t *testing.T) {
	for _, replicas := range []int{0, 2} {
		o := strategies.Options{SegmentSize: 400, Replicas: replicas}
		t.Run(fmt.Sprintf("replicas=%d", replicas), func(t *testing.T) {
			forEachWith(t, o, isCore, func(f *fixture) {
				log := f.open()
				waiter, consumer := log.NewHandle(), log.NewHandle()
				for end := range int64(2) {
					consumed := inBackground(func() {
						err := consumer.Wait(context.Background(), end)
						if o := consumer.Offsets(); err != nil || o.HighWatermark <= end {
							f.t.Errorf("wait for %d returns %v at %+v", end, err, o)
						}
					})
					woken := inBackground(func() {
						err := waiter.WaitLogEnd(context.Background(), end)
						if o := waiter.Offsets(); err != nil || o.LogEnd <= end {
							f.t.Errorf("wait for the log end %d returns %v at %+v", end, err, o)
						}
					})
					eventually(f.t, "blocking", func() bool { return waiting() == 1 && blockedIn("client).WaitLogEnd(") == 1 })
					appendOne(f.t, log.NewHandle(), strategies.AcksLeader)
					finishes(f.t, "a follower's wait", woken)
					if hw := log.NewHandle().Offsets().HighWatermark; replicas > 0 && hw != end {
						f.t.Fatalf("high watermark is %d before anybody has fetched, want %d", hw, end)
					}
					f.fetchAll(log.NewHandle(), end+1)
					finishes(f.t, "a consumer's wait", consumed)
				}
				ctx, cancel := context.WithCancel(context.Background())
				cancelled := inBackground(func() {
					if err := waiter.WaitLogEnd(ctx, 1<<40); !errors.Is(err, context.Canceled) {
						f.t.Errorf("cancelled wait gives %v", err)
					}
				})
				eventually(f.t, "blocking", func() bool { return blockedIn("client).WaitLogEnd(") == 1 })
				cancel()
				finishes(f.t, "a cancelled wait", cancelled)
				closed := inBackground(func() {
					if err := waiter.WaitLogEnd(context.Background(), 1<<40); !errors.Is(err, strategies.ErrClosed) {
						f.t.Errorf("wait beyond the close gives %v", err)
					}
				})
				eventually(f.t, "blocking", func() bool { return blockedIn("client).WaitLogEnd(") == 1 })
				if err := log.Close(); err != nil {
					f.t.Fatal(err)
				}
				finishes(f.t, "a wait for a log that closes", closed)
			})
		})
	}
}
