package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
)

// failure is how a storage call fails.
type failure struct {
	name  string
	short bool
	times int // how many calls in a row; below 0, all from then on
	err   error
}

var failures = []failure{
	{"EIO", false, 1, syscall.EIO},
	{"ENOSPC", false, 1, syscall.ENOSPC},
	{"ENOSPC after a part", true, 1, syscall.ENOSPC},
	{"EIO from then on", false, -1, syscall.EIO},
	{"ENOSPC after a part and from then on", true, -1, syscall.ENOSPC},
}

// eachFailure runs an action on a log of two segments, with every one of its storage calls failing in every
// way. The configs differ in whether a segment has index entries and whether its name is made durable.
func eachFailure(t *testing.T, test func(c checker, f failing) (done bool)) {
	t.Helper()
	for _, config := range []segment.Config{
		{Size: 400, Interval: 64}, {Size: 400, Interval: 64, Sync: segment.EveryBatch()}, {Size: 400, Interval: 1000, Sync: segment.EveryBatch()},
	} {
		for _, failure := range failures {
			t.Run(fmt.Sprintf("sync=%v/interval=%d/%s", config.Sync, config.Interval, strings.ReplaceAll(failure.name, " ", "-")), func(t *testing.T) {
				for n := 1; ; n++ {
					c := checker{t, fmt.Sprintf("call %d", n)}
					if test(c, newFailing(c, config, failure, n)) {
						return
					}
				}
			})
		}
	}
}

// failing is an open log on a disk, a call of which is about to fail.
type failing struct {
	disk      *segmenttest.Disk
	faults    *segmenttest.Faults
	config    segment.Config
	partition *segment.Partition
	log       *history
	err       error
	arm       func()
	reached   func() bool
}

func newFailing(c checker, config segment.Config, how failure, n int) failing {
	c.t.Helper()
	f := failing{disk: segmenttest.NewDisk(), log: newHistory(), err: how.err}
	f.faults = segmenttest.NewFaults(f.disk)
	config.Storage = f.faults
	f.config = config
	f.partition = c.open(config, f.faults)
	for i := range 7 {
		b := pair(byte(i), 0)
		if _, ok := f.partition.Active.Add(b); !ok {
			c.must("Roll", f.roll())
			f.partition.Active.Add(b)
		}
		c.must("Write", f.partition.Active.Write())
		f.log.append(b)
	}
	c.must("Sync", f.partition.Checkpoint.Sync(f.partition.Sealed, f.partition.Active.Publish()))
	calls, armed := 0, false
	f.faults.Before = func(op segmenttest.Op, _ string) {
		if !armed {
			return
		}
		if calls++; calls == n || calls > n && how.times < 0 {
			if how.short {
				f.faults.Short(op, 1, 1, how.err)
			} else {
				f.faults.Fail(op, 1, 1, how.err)
			}
		}
	}
	f.arm = func() { armed = true }
	f.reached = func() bool { armed = false; return calls >= n }
	return f
}

func (f failing) roll() error {
	next, err := f.partition.Active.Roll()
	if err == nil {
		f.partition.Sealed = append(f.partition.Sealed, f.partition.Active.Publish())
		f.partition.Active = next
	}
	return err
}

// failed checks an error, which must be the storage's. done says that there was no such call any more.
func (f failing) failed(c checker, err error) (done bool) {
	c.t.Helper()
	if !f.reached() {
		c.must("without a failure", err)
		return true
	}
	if !errors.Is(err, f.err) {
		c.fatalf("error is %v, want %v", err, f.err)
	}
	return false
}

// recovers closes what has failed and opens it again.
func (f failing) recovers(c checker, start int64) {
	c.t.Helper()
	p := f.partition
	c.must("Close", p.Checkpoint.Close(p.Sealed, p.Active.Publish(), true))
	f.reopens(c, start)
}

func (f failing) reopens(c checker, start int64) {
	c.t.Helper()
	c.released(f.disk)
	p := c.open(f.config, f.disk)
	if p.Recovery.Cut != nil {
		c.fatalf("something was cut: %v", p.Recovery.Cut)
	}
	c.sound(f.disk, p, f.config.Interval, f.log, start, f.log.end(), p.Recovery.Clean)
	c.goesOn(f.disk, f.config, p, f.log)
}

// A roll that fails leaves nothing of the new segment, and what there was can be read.
func TestFailedRoll(t *testing.T) {
	eachFailure(t, func(c checker, f failing) bool {
		names, err := f.disk.List()
		c.must("List", err)
		logs, mappings := f.disk.Open()
		f.arm()
		if f.failed(c, f.roll()) {
			return true
		}
		if l, m := f.disk.Open(); l != logs || m != mappings {
			c.fatalf("%d logs and %d mappings are open, %d and %d were", l, m, logs, mappings)
		}
		after, err := f.disk.List()
		c.must("List", err)
		persistent := strings.Contains(c.t.Name(), "from-then-on") // then nothing can be removed
		if !persistent && !slices.Equal(after, names) {
			c.fatalf("files were %v and are %v", names, after)
		}
		consumer := consumer{checker: c, log: f.log, views: views(f.partition)}
		consumer.readAll()
		consumer.lookUpAll([]int64{-6, -5, 0, 1, 2, 3, 4, 5})
		f.recovers(c, 0)
		return false
	})
}

// Create that fails leaves nothing at all.
func TestFailedCreate(t *testing.T) {
	eachFailure(t, func(c checker, f failing) bool {
		before := f.disk.Files()
		logs, mappings := f.disk.Open()
		f.arm()
		_, err := segment.Create(f.config, 1000)
		if f.failed(c, err) {
			return true
		}
		if l, m := f.disk.Open(); l != logs || m != mappings {
			c.fatalf("%d logs and %d mappings are open, %d and %d were", l, m, logs, mappings)
		}
		if !strings.Contains(c.t.Name(), "from-then-on") && !maps.EqualFunc(before, f.disk.Files(), bytes.Equal) {
			c.fatalf("files are %v", slices.Sorted(maps.Keys(f.disk.Files())))
		}
		return false
	})
}

// A first Open that fails leaves nothing open and no segment by halves, and the next one begins the log.
func TestFailedFirstOpen(t *testing.T) {
	eachFailure(t, func(c checker, f failing) bool {
		c.close(f.disk, f.partition)
		for name := range f.disk.Files() {
			c.must("Remove", f.disk.Remove(name))
		}
		f.log = newHistory()
		f.arm()
		_, err := segment.Open(f.config)
		if f.failed(c, err) {
			return true
		}
		files := f.disk.Files()
		delete(files, pointFile)
		if n := len(files); n != 0 && n != 3 && !strings.Contains(c.t.Name(), "from-then-on") {
			c.fatalf("files are %v", slices.Sorted(maps.Keys(files)))
		}
		f.reopens(c, 0)
		return false
	})
}

// A trim that fails has not begun, or is completed by the next Open.
func TestFailedTrim(t *testing.T) {
	eachFailure(t, func(c checker, f failing) bool {
		p := f.partition
		trimmed := p.Sealed[:1]
		f.arm()
		err := p.Checkpoint.SetStart(trimmed[0].End)
		if err == nil {
			p.Sealed = p.Sealed[1:]
			err = segment.Remove(trimmed)
		}
		if f.failed(c, err) {
			return true
		}
		start := trimmed[0].End
		if len(p.Sealed) > 0 { // SetStart has failed
			start = 0
		}
		f.recovers(c, start)
		return false
	})
}

// A close that fails releases everything, and the next Open finds all that was synced or written.
func TestFailedClose(t *testing.T) {
	eachFailure(t, func(c checker, f failing) bool {
		p := f.partition
		b := pair(77, 0)
		p.Active.Add(b)
		c.must("Write", p.Active.Write())
		f.log.append(b)
		f.arm()
		if f.failed(c, p.Checkpoint.Close(p.Sealed, p.Active.Publish(), false)) {
			return true
		}
		f.reopens(c, 0)
		return false
	})
}
