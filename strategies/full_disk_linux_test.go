package strategies_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tailrace/segment"
	"tailrace/strategies"
)

// smallDisk mounts a file system of 16 MiB, or skips the test where that is not allowed.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("a small file system can't be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// available is the number of bytes that can still be written below a directory.
func available(t *testing.T, dir string) int64 {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * s.Bsize
}

// stuff leaves a file system without a free block.
func stuff(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for page := make([]byte, 4096); err == nil; {
		_, err = f.Write(page)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// fullDisk is a log on a small file system.
type fullDisk struct {
	f     *fixture
	mount string
	acked map[int64]segment.Batch
}

// onSmallDisk runs a test on every core strategy with small and large segments.
func onSmallDisk(t *testing.T, test func(d *fullDisk)) {
	for _, size := range []int64{1 << 20, 8 << 20} {
		for _, s := range strategies.List {
			if !isCore(s) {
				continue
			}
			t.Run(fmt.Sprintf("segment=%dMiB/strategy=%s", size>>20, s.Name), func(t *testing.T) {
				mount := smallDisk(t)
				d := &fullDisk{mount: mount, acked: map[int64]segment.Batch{}}
				d.f = &fixture{t: t, strategy: s, dir: filepath.Join(mount, "log"), opened: true}
				d.f.options.SegmentSize = size
				test(d)
			})
		}
	}
}

// fill appends from several producers until the disk is full.
func (d *fullDisk) fill(log strategies.Log) {
	t := d.f.t
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for id := range 3 {
		wg.Go(func() {
			h, m := log.NewHandle(), newMaker(id, 290)
			batches := make([]segment.Batch, 8)
			for i := range batches {
				batches[i] = bytes.Clone(m.make(1, messageSize+m.random.IntN(60_000), 0))
			}
			for i := range 4000 {
				b := batches[i%len(batches)]
				base, err := h.Append(t.Context(), b, strategies.AcksLeader)
				if err != nil {
					if !errors.Is(err, strategies.ErrFailed) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no space left") {
						t.Errorf("append to a full disk gives %v", err)
					}
					return
				}
				b.Stamp(base)
				mu.Lock()
				d.acked[base] = bytes.Clone(b)
				mu.Unlock()
			}
			t.Error("the disk does not become full")
		})
	}
	finishes(t, "filling the disk", inBackground(wg.Wait))
}

// check reads all that a log has, and finds what was acknowledged.
func (d *fullDisk) check(h strategies.Handle) {
	t := d.f.t
	t.Helper()
	start := h.Offsets().Start
	stored := map[int64]segment.Batch{}
	for _, b := range contents(t, h, start) {
		stored[b.BaseOffset()] = b
	}
	for base, b := range d.acked {
		if base >= start && !bytes.Equal(stored[base], b) {
			t.Fatalf("the batch at %d was acknowledged, and is not there", base)
		}
	}
}

// A disk becomes full: appends say so, reads go on, a trim makes room for the next open.
func TestFullDisk(t *testing.T) {
	onSmallDisk(t, func(d *fullDisk) {
		log := d.f.open()
		d.fill(log)
		h := log.NewHandle()
		d.check(h)
		end := h.Offsets().HighWatermark
		free := available(d.f.t, d.mount)
		if err := log.Trim(end); err != nil {
			d.f.t.Fatal(err)
		}
		if got := available(d.f.t, d.mount); got < free+d.f.options.SegmentSize*3/4 {
			d.f.t.Errorf("%d bytes are free after a trim, %d were before", got, free)
		}
		d.check(h)
		b := newMaker(9, 291).make(1, 1000, 0)
		if _, err := h.Append(d.f.t.Context(), b, strategies.AcksLeader); !errors.Is(err, strategies.ErrFailed) {
			d.f.t.Errorf("append after the trim gives %v, want ErrFailed until a reopen", err)
		}
		log = d.f.reopened(log)
		h = log.NewHandle()
		d.check(h)
		for range 20 {
			put(d.f.t, h, newMaker(9, 291).make(1, 10_000, 0))
		}
	})
}

// A log is closed and opened on a disk without a free block, which either works or says so; nothing is lost.
func TestReopenOnFullDisk(t *testing.T) {
	onSmallDisk(t, func(d *fullDisk) {
		t := d.f.t
		ballast := filepath.Join(d.mount, "ballast")
		// With this the second of the large segments is the active one, and far from full.
		if err := os.WriteFile(ballast, make([]byte, 5<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		log := d.f.open()
		d.fill(log)
		stuff(t, ballast)
		d.check(log.NewHandle())
		if err := log.Close(); err != nil {
			t.Fatalf("close of a log that has failed: %v", err)
		}
		opens, closes := 0, 0
		for range 3 {
			stuff(t, ballast) // what the last close has cut
			log, err := d.f.tryOpen()
			if errors.Is(err, syscall.ENOSPC) {
				opens++
				err = d.f.options.Storage.Close() // Open has failed, so it is the caller's
			} else if err == nil {
				d.check(log.NewHandle())
				if err = log.Close(); errors.Is(err, syscall.ENOSPC) {
					closes, err = closes+1, nil
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("for want of space, %d opens of 3 are refused, and %d closes are not clean", opens, closes)
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		h := d.f.open().NewHandle()
		d.check(h)
		put(t, h, newMaker(9, 292).make(1, 1000, 0))
	})
}
