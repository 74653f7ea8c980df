package segmenttest

import (
	"errors"
	"sync"

	"tailrace/segment"
)

// Faults is a segment.Storage that passes all calls on to another one, but for those that are to fail.
// All methods may be called from any goroutine.
type Faults struct {
	// Before, if set, runs before every call, with the name of its file ("directory" if it has none; for
	// Rename, the old name). It may call Fail, to fail a call for its name, and may wait. It must be set
	// while no call runs.
	Before func(op Op, name string)

	storage segment.Storage
	mu      sync.Mutex
	counts  [opCount]int
	rules   [opCount][]rule
}

// rule fails the calls first to last, counted over the life of a Faults.
type rule struct {
	first, last int // last < 0: all from first on
	err         error
	short       bool
}

// fault is what befalls one call; a nil err lets it through.
type fault struct {
	err   error
	short bool
}

// NewFaults returns a storage that does what s does until it is told otherwise.
func NewFaults(s segment.Storage) *Faults { return &Faults{storage: s} }

// Fail makes the nth call of op from now on (the next is 1), and the times-1 calls after it, give err; with
// times < 0 all after it. The call then has no effect, except that LogClose, MapClose and Close release
// all the same. The caller gets err wrapped. Rules add up; of two for the same call the older one counts.
func (f *Faults) Fail(op Op, nth, times int, err error) { f.add(op, nth, times, err, false) }

// Short is Fail, but with a part of the effect, as a disk that becomes full has it: Pwrite and
// PwriteBatches write the first half of their bytes, whatever batch that ends in, and MapIndex leaves
// the file that it was to create, empty. For all other calls it is Fail.
func (f *Faults) Short(op Op, nth, times int, err error) { f.add(op, nth, times, err, true) }

func (f *Faults) add(op Op, nth, times int, err error, short bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := rule{first: f.counts[op] + nth, last: -1, err: err, short: short}
	if times >= 0 {
		r.last = r.first + times - 1
	}
	f.rules[op] = append(f.rules[op], r)
}

// Clear forgets all failures that Fail and Short have asked for.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = [opCount][]rule{}
}

// Count is how many calls of op there were, the failed ones included.
func (f *Faults) Count(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[op]
}

// call counts a call and decides on it.
func (f *Faults) call(op Op, name string) fault {
	if f.Before != nil {
		f.Before(op, name)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[op]++
	n := f.counts[op]
	for _, r := range f.rules[op] {
		if n >= r.first && (r.last < 0 || n <= r.last) {
			return fault{failed(op, name, r.err), r.short}
		}
	}
	return fault{}
}

// do is a call that either fails or happens.
func (f *Faults) do(op Op, name string, call func() error) error {
	if fault := f.call(op, name); fault.err != nil {
		return fault.err
	}
	return call()
}

// release is a call that happens even if it fails.
func (f *Faults) release(op Op, name string, call func() error) error {
	if fault := f.call(op, name); fault.err != nil {
		return errors.Join(fault.err, call())
	}
	return call()
}

// OpenLog implements segment.Storage.
func (f *Faults) OpenLog(name string, create bool) (segment.LogFile, error) {
	if fault := f.call(OpenLog, name); fault.err != nil {
		return nil, fault.err
	}
	l, err := f.storage.OpenLog(name, create)
	if err != nil {
		return nil, err
	}
	return &faultyLog{faults: f, log: l, name: name}, nil
}

// MapIndex implements segment.Storage.
func (f *Faults) MapIndex(name string, size int64, create bool) (segment.Mapping, error) {
	if fault := f.call(MapIndex, name); fault.err != nil {
		if fault.short && create {
			return nil, errors.Join(fault.err, f.createMissing(name))
		}
		return nil, fault.err
	}
	m, err := f.storage.MapIndex(name, size, create)
	if err != nil {
		return nil, err
	}
	return &faultyMapping{faults: f, mapping: m, name: name}, nil
}

// createMissing makes an empty file, but leaves one that exists.
func (f *Faults) createMissing(name string) error {
	if _, err := f.storage.Size(name); err == nil {
		return nil
	}
	return f.storage.Create(name)
}

// Create implements segment.Storage.
func (f *Faults) Create(name string) error {
	return f.do(Create, name, func() error { return f.storage.Create(name) })
}

// Truncate implements segment.Storage.
func (f *Faults) Truncate(name string, size int64) error {
	return f.do(Truncate, name, func() error { return f.storage.Truncate(name, size) })
}

// Rename implements segment.Storage.
func (f *Faults) Rename(from, to string) error {
	return f.do(Rename, from, func() error { return f.storage.Rename(from, to) })
}

// Remove implements segment.Storage.
func (f *Faults) Remove(name string) error {
	return f.do(Remove, name, func() error { return f.storage.Remove(name) })
}

// Size implements segment.Storage.
func (f *Faults) Size(name string) (size int64, err error) {
	err = f.do(Size, name, func() error { size, err = f.storage.Size(name); return err })
	return size, err
}

// List implements segment.Storage.
func (f *Faults) List() (names []string, err error) {
	err = f.do(List, directory, func() error { names, err = f.storage.List(); return err })
	return names, err
}

// SyncDir implements segment.Storage.
func (f *Faults) SyncDir() error { return f.do(SyncDir, directory, f.storage.SyncDir) }

// Close implements segment.Storage.
func (f *Faults) Close() error { return f.release(Close, directory, f.storage.Close) }
