package strategies_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

// files gives every file of a storage, byte for byte.
func files(t *testing.T, s segment.Storage) map[string][]byte {
	t.Helper()
	names, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		if name == "recovery-point" { // it counts how often it was written
			continue
		}
		size, err := s.Size(name)
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, size)
		switch {
		case strings.HasSuffix(name, ".log"):
			l, err := s.OpenLog(name, false)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := l.Pread(p, 0); err != nil || int64(n) != size {
				t.Fatalf("%s: read %d of %d bytes: %v", name, n, size, err)
			}
			l.Close()
		case size > 0:
			m, err := s.MapIndex(name, size, false)
			if err != nil {
				t.Fatal(err)
			}
			copy(p, m.Bytes())
			m.Close()
		}
		all[name] = p
	}
	return all
}

func sameFiles(t *testing.T, what string, got, want map[string][]byte) {
	t.Helper()
	if g, w := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(g, w) {
		t.Fatalf("%s: files are %v, want %v", what, g, w)
	}
	for name := range want {
		if !bytes.Equal(got[name], want[name]) {
			t.Fatalf("%s: %s differs: %d bytes, want %d", what, name, len(got[name]), len(want[name]))
		}
	}
}

// The same appends of one producer give the same bytes in every file, under every model, on either
// storage, while the log is open and after it was closed.
func TestSameAppendsSameFiles(t *testing.T) {
	for seed := range uint64(4) {
		for _, l := range append(layouts, layout{"middle", 20_000, 512}) {
			t.Run(fmt.Sprintf("seed=%d/layout=%s", seed, l.name), func(t *testing.T) {
				var open, closed map[string][]byte
				options := strategies.Options{SegmentSize: l.segment, IndexInterval: l.interval}
				forEachWith(t, options, isCore, func(f *fixture) {
					log := f.open()
					appendRandomly(f.t, log, seed)
					beforeClose := files(f.t, f.options.Storage)
					if err := log.Close(); err != nil {
						f.t.Fatal(err)
					}
					afterClose := files(f.t, f.stored())
					if open == nil {
						open, closed = beforeClose, afterClose
					}
					sameFiles(f.t, "open", beforeClose, open)
					sameFiles(f.t, "closed", afterClose, closed)
				})
			})
		}
	}
}

// appendRandomly appends the batches of a seed, some of them from a second handle and with other acks.
func appendRandomly(t *testing.T, log strategies.Log, seed uint64) {
	t.Helper()
	handles := []strategies.Handle{log.NewHandle(), log.NewHandle()}
	m, random := newMaker(1, seed), rand.New(rand.NewPCG(seed, 50))
	for range 150 {
		acks := strategies.Acks(random.IntN(3))
		if _, err := handles[random.IntN(2)].Append(context.Background(), m.next(), acks); err != nil {
			t.Fatal(err)
		}
	}
	appendOne(t, handles[0], strategies.AcksLeader) // nothing is on its way when the files are read
}

// After concurrent appends the files hold each acknowledged batch once, at its offset, and the indexes
// are those that the log alone gives.
func TestConcurrentAppendsInFiles(t *testing.T) {
	for _, l := range append(layouts, layout{"middle", 20_000, 512}) {
		options := strategies.Options{SegmentSize: l.segment, IndexInterval: l.interval}
		t.Run("layout="+l.name, func(t *testing.T) {
			forEachWith(t, options, isCore, func(f *fixture) {
				log := f.open()
				acked := appendConcurrently(f.t, log)
				if err := log.Close(); err != nil {
					f.t.Fatal(err)
				}
				written := files(f.t, f.stored())
				checkLogs(f.t, written, acked)
				rebuildIndexes(f)
				sameFiles(f.t, "rebuilt", files(f.t, f.stored()), written)
			})
		})
	}
}

// appendConcurrently returns the batches of all producers as they were acknowledged.
func appendConcurrently(t *testing.T, log strategies.Log) map[int64]segment.Batch {
	t.Helper()
	var mu sync.Mutex
	acked := map[int64]segment.Batch{}
	var wg sync.WaitGroup
	for id := range 8 {
		wg.Go(func() {
			h, m := log.NewHandle(), newMaker(id, 51)
			for range 60 {
				b := m.next()
				base, err := h.Append(context.Background(), b, strategies.AcksLeader)
				if err != nil {
					t.Error(err)
					return
				}
				stored := segment.Batch(bytes.Clone(b))
				stored.Stamp(base)
				mu.Lock()
				acked[base] = stored
				mu.Unlock()
			}
		})
	}
	finishes(t, "appending", inBackground(wg.Wait))
	return acked
}

func checkLogs(t *testing.T, written map[string][]byte, acked map[int64]segment.Batch) {
	t.Helper()
	found, next := 0, int64(0)
	for _, name := range slices.Sorted(maps.Keys(written)) {
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		if name != segment.Name(next) {
			t.Fatalf("%s follows a segment that ends at %d", name, next)
		}
		for rest := written[name]; len(rest) > 0; {
			var b segment.Batch
			var err error
			if b, rest, err = segment.NextBatch(rest); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if b.BaseOffset() != next || !bytes.Equal(b, acked[next]) {
				t.Fatalf("%s: batch at %d is not the one acknowledged there", name, next)
			}
			next = b.NextOffset()
			found++
		}
	}
	if found != len(acked) {
		t.Fatalf("log holds %d batches, %d were acknowledged", found, len(acked))
	}
}

// rebuildIndexes empties the index files, and has the store make them anew.
func rebuildIndexes(f *fixture) {
	f.t.Helper()
	storage := f.reopenStorage()
	names, err := storage.List()
	if err != nil {
		f.t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "index") {
			if err := storage.Create(name); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	opened, err := segment.Open(segment.Config{
		Storage: storage, Size: f.options.SegmentSize, Interval: f.options.IndexInterval,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	if err := opened.Checkpoint.Close(opened.Sealed, opened.Active.Publish(), false); err != nil {
		f.t.Fatal(err)
	}
}
