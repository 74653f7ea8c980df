package torture

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tailrace/strategies"
)

// follower is one of a long run. Some go back to what they have had, as who has lost it, or stand still for a while.
type follower struct {
	*longRun
	*longClient
	replica int
	random  *rand.Rand
	stream  *stream
	recent  []int64 // where batches begin that it has had
	buf     []byte
}

// follow replicates the log to its end.
func (l *longRun) follow(replica int) error {
	f := &follower{longRun: l, longClient: l.newClient(), replica: replica, buf: make([]byte, 2*maxBatch),
		random: newRandom(l.round.seed, uint64(400+replica)), stream: l.newStream()}
	defer f.longClient.close()
	// How often, in so many fetches.
	back, stand := draw(f.random, 0, 5, 50), draw(f.random, 0, 20, 200)
	for l.crew.ctx.Err() == nil {
		f.renew(f.random)
		if back > 0 && f.random.IntN(back) == 0 && l.produced.Err() == nil {
			f.goBack(back)
		}
		if stand > 0 && f.random.IntN(stand) == 0 {
			time.Sleep(time.Duration(f.random.IntN(1000)) * time.Microsecond)
		}
		got, err := f.fetch()
		if err != nil {
			return err
		}
		if got || f.stream.next < f.Offsets().Start {
			continue
		}
		if f.stream.next >= l.end.Load() {
			return nil
		}
		if err := f.WaitLogEnd(l.produced, f.stream.next); err != nil && l.produced.Err() == nil {
			return violationf("wait for %d at the log end: %v", f.stream.next, err)
		}
	}
	return nil
}

// fetch fetches what is next; false if that is nothing.
func (f *follower) fetch() (got bool, err error) {
	s := f.stream
	f.fetching(f.replica, s.next)
	p, err := f.Fetch(f.replica, s.next, f.buf)
	f.fetched(f.replica, s.next, err == nil)
	switch {
	case errors.Is(err, strategies.ErrOutOfRange):
		if err := f.mustBeTrimmed(f, s.next); err != nil {
			return false, err
		}
		s.jump(f.Offsets().Start)
		return true, nil
	case err != nil:
		return false, violationf("fetch at %d: %v", s.next, err)
	case len(p) > 0:
		f.recent = append(f.recent[max(0, len(f.recent)-63):], s.next)
	}
	return len(p) > 0, s.add(p)
}

// goBack has it go on from where it has been some fetches ago, fewer than limit, so that it comes forward in the end.
func (f *follower) goBack(limit int) {
	if len(f.recent) == 0 {
		return
	}
	n := max(0, len(f.recent)-1-f.random.IntN(limit))
	f.stream = newStream(f.producers+1, true)
	f.stream.next = f.recent[n]
	f.recent = slices.Clone(f.recent[:n])
}

// occupy opens and closes other files until all is produced, so that the number of a descriptor that is closed too early
// comes back as that of a file with other bytes.
func (l *longRun) occupy(dir string) error {
	name := filepath.Join(dir, "other")
	if err := os.WriteFile(name, bytes.Repeat([]byte{0xAB}, 64<<10), 0o600); err != nil {
		return err
	}
	defer os.Remove(name)
	random := newRandom(l.round.seed, 97)
	for l.produced.Err() == nil {
		var open []*os.File
		for range 1 + random.IntN(4) {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			open = append(open, f)
		}
		pause(random)
		for _, f := range open {
			_ = f.Close() // it was only opened
		}
		time.Sleep(time.Duration(random.IntN(100)) * time.Microsecond)
	}
	return nil
}
