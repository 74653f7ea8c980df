package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

// Close with 64 calls in flight, again and again: every call returns with a right result or with
// ErrClosed, what was acknowledged is there on the next open, and nothing is left over.
func TestCloseUnderLoad(t *testing.T) {
	rounds := full(50)
	options := strategies.Options{SegmentSize: 6000, IndexInterval: 256}
	forEachWith(t, options, isCore, func(f *fixture) {
		directory := ""
		if f.onDir() {
			directory = scratchDir(f.t)
		}
		goroutines := runtime.NumGoroutine()
		for range rounds {
			f.options.Storage = segment.NewHeap()
			if directory != "" {
				f.dir = mustMkdirTemp(f.t, directory)
				f.options.Storage, f.opened = openDir(f.t, f.dir), false
			}
			log, err := f.tryOpen()
			if err != nil {
				f.t.Fatal(err)
			}
			acked := closeUnderLoad(f, log)
			log, err = f.tryOpen()
			if err != nil {
				f.t.Fatal(err)
			}
			h := log.NewHandle()
			stored := map[int64]int{}
			for _, b := range contents(f.t, h, 0) {
				r := b.Records()
				r.Next()
				producer, _, err := parseMessage(r.Record.Value)
				if err != nil {
					f.t.Fatal(err)
				}
				stored[b.BaseOffset()] = producer
			}
			for base, producer := range acked {
				if p, ok := stored[base]; !ok || p != producer {
					f.t.Fatalf("batch of producer %d, acknowledged at %d, is missing", producer, base)
				}
			}
			if err := log.Close(); err != nil {
				f.t.Fatal(err)
			}
		}
		eventually(f.t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= goroutines })
		if n := openIn(f.t, directory); n != 0 {
			f.t.Errorf("%d descriptors or mappings are left open", n)
		}
	})
}

func mustMkdirTemp(t *testing.T, directory string) string {
	t.Helper()
	path, err := os.MkdirTemp(directory, "log-")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// openIn counts the process's descriptors and mappings of files in a directory, where the system
// tells.
func openIn(t *testing.T, directory string) int {
	t.Helper()
	return len(openFiles(t, directory))
}

// openFiles lists the paths of what openIn counts.
func openFiles(t *testing.T, directory string) (paths []string) {
	t.Helper()
	if runtime.GOOS != "linux" || directory == "" {
		return nil
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if i := strings.Index(line, directory); i >= 0 {
			paths = append(paths, strings.TrimSpace(line[i:]))
		}
	}
	descriptors, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range descriptors {
		if target, err := os.Readlink(d); err == nil && strings.HasPrefix(target, directory) {
			paths = append(paths, target)
		}
	}
	return paths
}

// closeUnderLoad closes a log while 64 goroutines call it, and returns the producer of each batch that
// was acknowledged, by offset.
func closeUnderLoad(f *fixture, log strategies.Log) map[int64]int {
	f.t.Helper()
	const clients = 64
	var mu sync.Mutex
	acked := map[int64]int{}
	var wg sync.WaitGroup
	var calls atomic.Int32
	inFull := make(chan struct{}) // closed after so many calls
	for id := range clients {
		wg.Go(func() {
			h, m, s := log.NewHandle(), newMaker(id, 90), newStream(clients, false)
			buf := make([]byte, 4096)
			for {
				base, err := callOnce(h, id, m, s, buf)
				if calls.Add(1) == 4*clients {
					close(inFull)
				}
				runtime.Gosched() // else whoever never blocks has the processor for 10 ms at a time
				if err != nil {
					if !errors.Is(err, strategies.ErrClosed) {
						f.t.Errorf("client %d: %v", id, err)
					}
					return
				}
				if base >= 0 {
					mu.Lock()
					acked[base] = id
					mu.Unlock()
				}
			}
		})
	}
	<-inFull
	for range 2 {
		wg.Go(func() {
			if err := log.Close(); err != nil {
				f.t.Errorf("close: %v", err)
			}
		})
	}
	finishes(f.t, "closing", inBackground(wg.Wait))
	return acked
}

// callOnce makes the call that is a client's part; base is −1 unless it was an acknowledged append.
func callOnce(h strategies.Handle, id int, m *maker, s *stream, buf []byte) (base int64, err error) {
	ctx := context.Background()
	switch id % 4 {
	case 0:
		return h.Append(ctx, m.next(), strategies.Acks(id/4%3))
	case 1:
		p, err := h.Read(s.next, buf)
		if err != nil {
			return -1, err
		}
		return -1, s.check(p)
	case 2:
		return -1, h.Wait(ctx, h.Offsets().HighWatermark)
	default:
		offset, err := h.OffsetForTime(500)
		if hw := h.Offsets().HighWatermark; err == nil && (offset < 0 || offset > hw) {
			err = fmt.Errorf("offset for time is %d, high watermark %d", offset, hw)
		}
		return -1, err
	}
}

// A handle's first append, new handles and Close meet.
func TestCloseBesideNewHandles(t *testing.T) {
	forEachWith(t, strategies.Options{SegmentSize: 10_000}, stores, func(f *fixture) {
		if f.onDir() {
			return // only the models' own locks are of interest
		}
		for range 300 {
			f.options.Storage = segment.NewHeap()
			log, err := f.tryOpen()
			if err != nil {
				f.t.Fatal(err)
			}
			var wg sync.WaitGroup
			for id := range 8 {
				h := log.NewHandle()
				wg.Go(func() {
					_, err := h.Append(context.Background(), newMaker(id, 91).next(), strategies.AcksLeader)
					if err != nil && !errors.Is(err, strategies.ErrClosed) {
						f.t.Error(err)
					}
					if err := h.Close(); err != nil {
						f.t.Error(err)
					}
				})
				wg.Go(func() {
					for range 3 {
						if err := log.NewHandle().Close(); err != nil {
							f.t.Error(err)
						}
					}
				})
			}
			wg.Go(func() {
				if err := log.Close(); err != nil {
					f.t.Error(err)
				}
			})
			finishes(f.t, "closing", inBackground(wg.Wait))
		}
	})
}
