package strategies

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tailrace/segment"
)

// guards are ways to keep files open under readers while a trim may take them away: the one in use, and
// those that were not taken.
func guards() []struct {
	name  string
	enter func(reader int) (leave func())
} {
	var (
		g     gate
		pins  = [8]*pin{}
		count struct {
			_ [64]byte
			n atomic.Int64
			_ [56]byte
		}
		lock sync.RWMutex
	)
	leaves := [8]func(){}
	for i := range pins {
		pins[i] = &pin{}
		g.add(pins[i])
		leaves[i] = func() { g.leave(pins[i]) }
	}
	uncount := func() { count.n.Add(-1) }
	return []struct {
		name  string
		enter func(reader int) (leave func())
	}{
		{"none", func(int) func() { return func() {} }},
		{"pin", func(i int) func() { g.enter(pins[i]); return leaves[i] }},
		{"sharedCount", func(int) func() { count.n.Add(1); return uncount }},
		{"rwmutex", func(int) func() { lock.RLock(); return lock.RUnlock }},
	}
}

// BenchmarkGuard is what each way costs a reader alone, and several readers at once.
func BenchmarkGuard(b *testing.B) {
	for _, readers := range []int{1, 2} {
		for _, guard := range guards() {
			b.Run(fmt.Sprintf("guard=%s/readers=%d", guard.name, readers), func(b *testing.B) {
				var wg sync.WaitGroup
				for i := range readers {
					wg.Go(func() {
						for range b.N {
							guard.enter(i)()
						}
					})
				}
				wg.Wait()
			})
		}
	}
}

// BenchmarkGuardedRead is a read of 1 KiB behind each of them, on files and on the heap, in turns with the same
// reads unguarded: of-unguarded is the median share of their speed that is left.
func BenchmarkGuardedRead(b *testing.B) {
	const round = 256
	for _, storage := range []string{"dir", "heap"} {
		state := benchState(b, storage)
		unguarded := guards()[0].enter
		for _, guard := range guards() {
			b.Run(fmt.Sprintf("storage=%s/guard=%s", storage, guard.name), func(b *testing.B) {
				var c segment.Cursor
				buf := make([]byte, 8<<10)
				offset := int64(0)
				reads := func(n int, enter func(int) func()) time.Duration {
					start := time.Now()
					for range n {
						offset = (offset + 7919) % state.HighWatermark
						leave := enter(0)
						if _, err := state.read(offset, buf, &c); err != nil {
							b.Fatal(err)
						}
						leave()
					}
					return time.Since(start)
				}
				var ratios []float64
				var spent time.Duration
				for left := b.N; left > 0; left -= round {
					n := min(round, left)
					without := reads(n/2, unguarded)
					with := reads(n, guard.enter)
					without += reads(n-n/2, unguarded)
					spent += with
					ratios = append(ratios, float64(without)/float64(with))
				}
				slices.Sort(ratios)
				b.ReportMetric(float64(spent)/float64(b.N), "ns/op")
				b.ReportMetric(ratios[len(ratios)/2], "of-unguarded")
			})
		}
	}
}

// benchState is the picture of a log of 32 MiB.
func benchState(b *testing.B, storage string) partitionState {
	o := Options{Storage: segment.NewHeap()}
	if storage == "dir" {
		dir, err := os.MkdirTemp("/dev/shm", "tailrace-bench-")
		if err != nil {
			dir = b.TempDir()
		}
		b.Cleanup(func() { os.RemoveAll(dir) })
		if o.Storage, err = segment.OpenDir(dir); err != nil {
			b.Fatal(err)
		}
	}
	log, err := openActor(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { log.Close() })
	h := log.NewHandle()
	var builder segment.Builder
	for range 32 << 10 {
		builder.Reset()
		builder.Add(1, nil, make([]byte, 950))
		if _, err := h.Append(context.Background(), builder.Finish(), AcksLeader); err != nil {
			b.Fatal(err)
		}
	}
	return log.(*partitionActor).picture()
}
