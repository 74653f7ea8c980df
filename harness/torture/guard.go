package torture

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"tailrace/segment"
)

// guard is a storage that notices when a log is used after its Close, or closed while it is used, also where the answer
// would be right by chance; and that lets others go first now and then, before and after a call. That is when calls of
// different clients overlap where a processor has only a few nanoseconds for it.
type guard struct {
	segment.Storage
	often  int // one call in so many waits
	misuse atomic.Pointer[string]
}

func newGuard(often int) *guard { return &guard{often: often} }

// over makes it the guard of a storage.
func (g *guard) over(s segment.Storage) segment.Storage {
	g.Storage = s
	return g
}

// violation is the first misuse, if there was one.
func (g *guard) violation() error {
	if what := g.misuse.Load(); what != nil {
		return violationf("%s", *what)
	}
	return nil
}

func (g *guard) misused(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	g.misuse.CompareAndSwap(nil, &what)
	return fmt.Errorf("torture: %s", what)
}

// yield lets others go first, now and then. When that is, the seed does not say: it is the scheduler's.
func (g *guard) yield() {
	switch rand.IntN(g.often) {
	case 0:
		for range 1 + rand.IntN(3) {
			runtime.Gosched()
		}
	case 1:
		for began, d := time.Now(), time.Duration(rand.IntN(20_000)); time.Since(began) < d; {
		}
	case 2:
		if rand.IntN(8) == 0 {
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// OpenLog implements segment.Storage.
func (g *guard) OpenLog(name string, create bool) (segment.LogFile, error) {
	g.yield()
	l, err := g.Storage.OpenLog(name, create)
	if err != nil {
		return nil, err
	}
	return &guardedLog{guard: g, LogFile: l, name: name}, nil
}

// Remove implements segment.Storage.
func (g *guard) Remove(name string) error {
	g.yield()
	return g.Storage.Remove(name)
}

// Truncate implements segment.Storage.
func (g *guard) Truncate(name string, size int64) error {
	g.yield()
	defer g.yield()
	return g.Storage.Truncate(name, size)
}

// SyncDir implements segment.Storage.
func (g *guard) SyncDir() error {
	g.yield()
	return g.Storage.SyncDir()
}

// guardedLog is a log of a guard.
type guardedLog struct {
	segment.LogFile
	guard  *guard
	name   string
	inside atomic.Int64 // calls; less than 0 once it is closed
	groups atomic.Int64 // of them, those of PwriteBatches
}

// call makes one of the log.
func (l *guardedLog) call(what string, call func() error) error {
	if l.inside.Add(1) <= 0 {
		return l.guard.misused("%s %s, which is closed", what, l.name)
	}
	defer l.inside.Add(-1)
	l.guard.yield()
	defer l.guard.yield()
	return call()
}

// Pread implements segment.LogFile.
func (l *guardedLog) Pread(p []byte, position int64) (n int, err error) {
	err = l.call("a read of", func() error {
		n, err = l.LogFile.Pread(p, position)
		return err
	})
	return n, err
}

// Pwrite implements segment.LogFile.
func (l *guardedLog) Pwrite(p []byte, position int64) error {
	return l.call("a write of", func() error { return l.LogFile.Pwrite(p, position) })
}

// PwriteBatches implements segment.LogFile.
func (l *guardedLog) PwriteBatches(batches []segment.Batch, position int64) error {
	return l.call("a write of", func() error {
		defer l.groups.Add(-1)
		if l.groups.Add(1) > 1 {
			return l.guard.misused("two writes of several batches to %s at once", l.name)
		}
		return l.LogFile.PwriteBatches(batches, position)
	})
}

// Sync implements segment.LogFile.
func (l *guardedLog) Sync() error { return l.call("a sync of", l.LogFile.Sync) }

// Size implements segment.LogFile.
func (l *guardedLog) Size() (size int64, err error) {
	err = l.call("a look at", func() error {
		size, err = l.LogFile.Size()
		return err
	})
	return size, err
}

// Truncate implements segment.LogFile.
func (l *guardedLog) Truncate(size int64) error {
	return l.call("a cut of", func() error { return l.LogFile.Truncate(size) })
}

// Close implements segment.LogFile.
func (l *guardedLog) Close() error {
	inside := l.inside.Swap(math.MinInt64 / 2)
	err := l.LogFile.Close()
	switch {
	case inside < 0:
		return l.guard.misused("%s is closed twice", l.name)
	case inside > 0:
		return l.guard.misused("%s is closed while %d calls use it", l.name, inside)
	}
	return err
}
