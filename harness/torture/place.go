package torture

import (
	"os"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
)

// place is where a round's log lives. It outlives the log, so that it can be opened again.
type place struct {
	dir   string // of files, else empty
	heap  *segment.Heap
	disk  *segmenttest.Disk // knows what a crash would leave, and gives garbage where something is used after its close
	short int               // bytes that a system call transfers at most, 0 for as many as there are
	guard *guard            // nil in some rounds: its counters would order what the race detector is to see
}

// newPlace draws whether it is files, the heap or a model of a disk on it.
func (r *round) newPlace() (*place, error) {
	p := &place{}
	if r.random.IntN(3) > 0 {
		p.guard = newGuard(draw(r.random, 4, 16, 64))
	}
	if r.random.IntN(3) == 0 {
		p.short = draw(r.random, 1, 50, 100, 300)
	}
	switch kind := r.random.IntN(4); {
	case r.options.Dir != "" && (!r.options.Heap || kind < 2):
		dir, err := os.MkdirTemp(r.options.Dir, "tailrace-check-")
		if err != nil {
			return nil, err
		}
		p.dir = dir
	case kind%2 == 0:
		p.heap = segment.NewHeap()
	default:
		p.onDisk()
	}
	r.places = append(r.places, p)
	return p, nil
}

// onDisk has it be a model of a disk, where a file takes no more memory than it has bytes, and no descriptor. For the
// race detector it is the heap: the model of a sync reads mapped memory that others may be writing.
func (p *place) onDisk() {
	p.remove()
	p.dir, p.heap, p.disk = "", nil, nil
	if raceDetector {
		p.heap = segment.NewHeap()
	} else {
		p.disk = segmenttest.NewDisk()
	}
}

// open gives the storage, for a log that is going to close it.
func (p *place) open() (segment.Storage, error) {
	s, err := p.bare()
	if err == nil && p.guard != nil {
		s = p.guard.over(s)
	}
	return s, err
}

// bare is the storage without a guard.
func (p *place) bare() (segment.Storage, error) {
	switch {
	case p.heap != nil:
		return p.heap, nil
	case p.disk != nil:
		return p.disk, nil
	}
	d, err := segment.OpenDir(p.dir)
	if err != nil {
		return nil, err
	}
	d.ShortCalls(p.short)
	return d, nil
}

// misuse is what the guard has seen.
func (p *place) misuse() error {
	if p.guard == nil {
		return nil
	}
	return p.guard.violation()
}

// remove drops what is stored. Files that a log still has open stay usable.
func (p *place) remove() {
	if p.dir != "" {
		// It is a directory for data of no worth, in a place for such.
		_ = os.RemoveAll(p.dir)
	}
}
