package torture

import (
	"fmt"
	"os"

	"tailrace/segment"
)

// place is where a round's log lives. It outlives the log, so that it can be opened again.
type place struct {
	dir  string // empty for the heap
	heap *segment.Heap
}

// newPlace draws whether it is files or the heap.
func (r *round) newPlace() (*place, error) {
	onHeap := r.options.Dir == "" || r.options.Heap && r.random.IntN(2) == 0
	if onHeap {
		return &place{heap: segment.NewHeap()}, nil
	}
	dir, err := os.MkdirTemp(r.options.Dir, "tailrace-check-")
	if err != nil {
		return nil, err
	}
	return &place{dir: dir}, nil
}

// open gives the storage, for a log that is going to close it.
func (p *place) open() (segment.Storage, error) {
	if p.heap != nil {
		return p.heap, nil
	}
	return segment.OpenDir(p.dir)
}

// remove drops what is stored. Files that a log still has open stay usable.
func (p *place) remove() {
	if p.dir != "" {
		// It is a directory for data of no worth, in a place for such.
		_ = os.RemoveAll(p.dir)
	}
}

func (p *place) String() string {
	if p.heap != nil {
		return "heap"
	}
	return fmt.Sprintf("files in %s", p.dir)
}
