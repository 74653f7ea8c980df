package strategies_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

// busyLog is a log that several producers append to while it is trimmed.
type busyLog struct {
	t     *testing.T
	log   strategies.Log
	mu    sync.Mutex
	acked map[int64]segment.Batch
}

func openBusy(t *testing.T, s strategies.Strategy, dir string) *busyLog {
	t.Helper()
	log, err := s.Open(strategies.Options{Storage: openDir(t, dir), SegmentSize: 4096, IndexInterval: 128})
	if err != nil {
		t.Fatal(err)
	}
	return &busyLog{t: t, log: log, acked: map[int64]segment.Batch{}}
}

// produce appends, and now and then trims.
func (l *busyLog) produce(id int) {
	h, m := l.log.NewHandle(), newMaker(id, 310)
	for i := range 150 {
		b := segment.Batch(bytes.Clone(m.make(1, messageSize+m.random.IntN(300), 0)))
		base, err := h.Append(l.t.Context(), b, strategies.AcksLeader)
		if err == nil && i%40 == 39 {
			err = l.log.Trim(base / 2)
		}
		if err != nil {
			l.t.Error(err)
			return
		}
		b.Stamp(base)
		l.mu.Lock()
		l.acked[base] = b
		l.mu.Unlock()
	}
}

// check opens a log that was closed, and finds what was acknowledged and not trimmed, and nothing else.
func (l *busyLog) check(s strategies.Strategy, dir string) {
	l.t.Helper()
	found := openBusy(l.t, s, dir)
	h := found.log.NewHandle()
	start := h.Offsets().Start
	n := 0
	for _, b := range contents(l.t, h, start) {
		if !bytes.Equal(l.acked[b.BaseOffset()], b) {
			l.t.Fatalf("%s: the batch at %d is not the one that was appended", dir, b.BaseOffset())
		}
		n++
	}
	for base := range l.acked {
		if base >= start {
			n--
		}
	}
	if n != 0 || start == 0 {
		l.t.Errorf("%s: %d batches too many, from offset %d on", dir, n, start)
	}
	if err := found.log.Close(); err != nil {
		l.t.Error(err)
	}
}

// Two logs change their names all the time while they are appended to, trimmed and closed. Each keeps what is its
// own.
func TestRenamedLogs(t *testing.T) {
	for _, s := range strategies.List {
		if !isCore(s) {
			continue
		}
		t.Run("strategy="+s.Name, func(t *testing.T) {
			root := scratchDir(t)
			names := [2]string{filepath.Join(root, "a"), filepath.Join(root, "b")}
			logs := [2]*busyLog{openBusy(t, s, names[0]), openBusy(t, s, names[1])}
			stop, done := make(chan struct{}), make(chan error)
			swapped := false
			go func() {
				spare := filepath.Join(root, "spare")
				var err error
				for err == nil {
					select {
					case <-stop:
						done <- nil
						return
					default:
					}
					err = errors.Join(os.Rename(names[0], spare), os.Rename(names[1], names[0]), os.Rename(spare, names[1]))
					swapped = !swapped
				}
				done <- err
			}()
			var producers, closers sync.WaitGroup
			for _, l := range logs {
				for id := range 3 {
					producers.Go(func() { l.produce(id) })
				}
			}
			producers.Wait()
			for _, l := range logs {
				closers.Go(func() {
					if err := l.log.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			closers.Wait()
			close(stop)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if swapped {
				names[0], names[1] = names[1], names[0]
			}
			for i, l := range logs {
				l.check(s, names[i])
			}
		})
	}
}
