//go:build !race

package strategies_test

// Not under the race detector: an image of a disk is taken by reading mapped memory that others write.

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// crashLoad is parallel producers on a disk of which images are taken in the middle of its calls.
type crashLoad struct {
	t       *testing.T
	options strategies.Options
	trims   bool

	disk      *segmenttest.Disk
	log       atomic.Pointer[strategies.Log]
	requested atomic.Int64 // a trim before here may have begun
	completed atomic.Int64 // a trim up to here has returned

	mu     sync.Mutex // of what the producers and the images share
	random *rand.Rand
	acked  map[int64]segment.Batch // by base offset
	images []crashImage
}

// crashImage is what a crash leaves, and what it must.
type crashImage struct {
	disk   *segmenttest.Disk
	killed bool // only the process: all that was written is there
	acked  map[int64]segment.Batch
	synced int64
	// A trim had come to completed, and none had gone beyond requested.
	completed, requested int64
}

// take takes an image of some of the calls. What must be in it is found out before, what may be gone after.
func (l *crashLoad) take() {
	l.mu.Lock()
	defer l.mu.Unlock()
	log := l.log.Load()
	if log == nil || len(l.images) == 20 || l.random.IntN(40) != 0 {
		return
	}
	image := crashImage{
		killed:    l.random.IntN(3) == 0,
		acked:     maps.Clone(l.acked),
		synced:    (*log).LastSynced(),
		completed: l.completed.Load(),
	}
	if image.killed {
		image.disk = l.disk.Crash(nil)
	} else {
		image.disk = l.disk.Crash(l.random)
	}
	image.requested = l.requested.Load()
	l.images = append(l.images, image)
}

func (l *crashLoad) run(open func(strategies.Options) (strategies.Log, error)) {
	l.disk = segmenttest.NewDisk()
	l.disk.OnCall = l.take
	l.acked = map[int64]segment.Batch{}
	l.options.Storage = l.disk
	log, err := open(l.options)
	if err != nil {
		l.t.Fatal(err)
	}
	l.log.Store(&log)
	var producers, trims sync.WaitGroup
	var over atomic.Bool
	for id := range 4 {
		producers.Go(func() {
			h, m := log.NewHandle(), newMaker(id, 260)
			for range 40 {
				stored := put(l.t, h, m.next())
				l.mu.Lock()
				l.acked[stored.BaseOffset()] = stored
				l.mu.Unlock()
			}
		})
	}
	if l.trims {
		trims.Go(func() {
			for h := log.NewHandle(); !over.Load(); time.Sleep(100 * time.Microsecond) {
				before := h.Offsets().HighWatermark - 20
				l.requested.Store(before)
				if err := log.Trim(before); err != nil {
					l.t.Error(err)
				}
				l.completed.Store(h.Offsets().Start)
			}
		})
	}
	finishes(l.t, "appending", inBackground(producers.Wait))
	over.Store(true)
	finishes(l.t, "trimming", inBackground(trims.Wait))
	if err := log.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// check opens an image and compares it with what was appended in the whole run.
func (l *crashLoad) check(image crashImage, open func(strategies.Options) (strategies.Log, error)) (err error) {
	o := l.options
	o.Storage = image.disk
	var found segment.Recovery
	o.Recovered = func(r segment.Recovery) { found = r }
	log, err := open(o)
	if err != nil {
		return err
	}
	h := log.NewHandle()
	defer func() { err = errors.Join(err, log.Close()) }()
	at := h.Offsets()
	if at.Start < image.completed {
		return fmt.Errorf("the log starts at %d, trimmed up to %d", at.Start, image.completed)
	}
	stored := map[int64]bool{}
	for _, b := range contents(l.t, h, at.Start) {
		if !bytes.Equal(b, l.acked[b.BaseOffset()]) {
			return fmt.Errorf("the batch at %d is not the one that was appended there", b.BaseOffset())
		}
		stored[b.BaseOffset()] = true
	}
	if at.HighWatermark < image.synced || at.Start > max(image.requested, 0) {
		return fmt.Errorf("the log is %+v, synced up to %d, trims requested up to %d", at, image.synced, image.requested)
	}
	durable := image.synced
	if image.killed || o.Sync == segment.EveryBatch() {
		durable = 1 << 40
	}
	for base := range image.acked {
		if base < durable && base >= image.requested && !stored[base] {
			return fmt.Errorf("the batch at %d was acknowledged, and is missing in a log of %+v", base, at)
		}
	}
	if found.Cut != nil && (found.Cut.Offset != at.HighWatermark || found.Cut.Offset < found.Point.Offset) {
		return fmt.Errorf("the log is %+v after %+v, recovery point %+v", at, found.Cut, found.Point)
	}
	b := newMaker(9, 261).next()
	base, err := h.Append(l.t.Context(), b, strategies.AcksLeader)
	if err == nil && base != at.HighWatermark {
		err = fmt.Errorf("the next batch gets offset %d in a log of %+v", base, at)
	}
	return err
}

// What a crash leaves under parallel writers, and trims, is a prefix of the log that holds what was promised.
func TestCrash(t *testing.T) {
	policies := []segment.SyncPolicy{{}, segment.EveryBatch(), segment.EveryBytes(1500), segment.EveryInterval(200 * time.Microsecond)}
	for _, policy := range policies {
		for _, trims := range []bool{false, true} {
			for _, s := range strategies.List {
				if !isCore(s) {
					continue
				}
				t.Run(fmt.Sprintf("sync=%v/trims=%v/strategy=%s", policy, trims, s.Name), func(t *testing.T) {
					o := shortSegments
					o.Sync = policy
					for seed := range uint64(full(4) / 2) {
						l := crashLoad{t: t, options: o, trims: trims, random: rand.New(rand.NewPCG(262, seed))}
						l.run(s.Open)
						for i, image := range l.images {
							if err := l.check(image, s.Open); err != nil {
								t.Fatalf("seed %d, image %d (killed %v): %v", seed, i, image.killed, err)
							}
						}
						if len(l.images) == 0 {
							t.Fatal("no image was taken")
						}
					}
				})
			}
		}
	}
}
