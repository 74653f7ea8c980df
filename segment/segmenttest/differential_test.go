package segmenttest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"tailrace/segment"
)

// twins drives several storages with the same calls. Storages differ in what the contract leaves open:
// what lies behind a log's end, what a mapping shows behind a cut, and which errors come with which text.
type twins struct {
	t        *testing.T
	r        *rand.Rand
	storages []segment.Storage
	logs     map[string][]segment.LogFile
	mappings map[string][]segment.Mapping
}

// A Disk, a Disk behind a Faults that fails nothing, and a Disk that crashes as a process, behave as the
// real storages do.
func TestLikeRealStorages(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			dir, err := segment.OpenDir(tempDir(t))
			must(t, err)
			w := &twins{
				t: t, r: newRand(seed),
				storages: []segment.Storage{dir, segment.NewHeap(), NewDisk(), NewFaults(NewDisk())},
				logs:     map[string][]segment.LogFile{}, mappings: map[string][]segment.Mapping{},
			}
			for range 600 {
				w.step()
				if w.r.IntN(20) == 0 {
					w.compare()
				}
			}
			for name := range w.logs {
				w.closeLog(name)
			}
			for name := range w.mappings {
				w.closeMapping(name)
			}
			disk := w.storages[2].(*Disk)
			if logs, mappings := disk.Open(); logs != 0 || mappings != 0 {
				t.Errorf("%d logs and %d mappings are open", logs, mappings)
			}
			w.storages[2] = disk.Crash(nil)
			w.compare()
			must(t, dir.Close())
		})
	}
}

// each makes one call on every storage; the outcomes must be the same kind of error, or none.
func (w *twins) each(what string, call func(i int, s segment.Storage) error) error {
	w.t.Helper()
	var first error
	for i, s := range w.storages {
		err := call(i, s)
		if i == 0 {
			first = err
			continue
		}
		for _, kind := range []error{fs.ErrNotExist, fs.ErrExist} {
			if errors.Is(err, kind) != errors.Is(first, kind) {
				w.t.Fatalf("%s: %T gives %v, %T gives %v", what, w.storages[0], first, s, err)
			}
		}
		if (err == nil) != (first == nil) {
			w.t.Fatalf("%s: %T gives %v, %T gives %v", what, w.storages[0], first, s, err)
		}
	}
	return first
}

func (w *twins) step() {
	w.t.Helper()
	log := fmt.Sprint(w.r.IntN(4), ".log")
	index := fmt.Sprint(w.r.IntN(4), ".index")
	switch w.r.IntN(14) {
	case 0, 1:
		w.openLog(log, w.r.IntN(2) == 0)
	case 2, 3, 4:
		w.writeLog(log)
	case 5:
		w.truncateLog(log)
	case 6:
		w.closeLog(log)
	case 7, 8:
		w.mapIndex(index, w.r.IntN(2) == 0)
	case 9:
		w.store(index)
	case 10:
		w.closeMapping(index)
	case 11:
		// On the heap, a file that is mapped can't be cut and extended again under its mapping.
		if w.mappings[index] != nil {
			return
		}
		if w.r.IntN(3) == 0 {
			must(w.t, w.each("Create "+index, func(_ int, s segment.Storage) error { return s.Create(index) }))
			return
		}
		if size, err := w.storages[0].Size(index); err == nil {
			size = w.r.Int64N(size + 1)
			must(w.t, w.each("Truncate "+index, func(_ int, s segment.Storage) error { return s.Truncate(index, size) }))
		}
	case 12:
		w.rename(log, index)
	case 13:
		name := []string{log, index}[w.r.IntN(2)]
		if w.logs[name] == nil && w.mappings[name] == nil {
			_ = w.each("Remove "+name, func(_ int, s segment.Storage) error { return s.Remove(name) })
		}
		must(w.t, w.each("SyncDir", func(_ int, s segment.Storage) error { return s.SyncDir() }))
	}
}

func (w *twins) openLog(name string, create bool) {
	if w.logs[name] != nil {
		return
	}
	logs := make([]segment.LogFile, len(w.storages))
	if w.each("OpenLog "+name, func(i int, s segment.Storage) (err error) {
		logs[i], err = s.OpenLog(name, create)
		return err
	}) == nil {
		w.logs[name] = logs
	}
}

func (w *twins) writeLog(name string) {
	logs := w.logs[name]
	if logs == nil {
		return
	}
	size, err := logs[0].Size()
	must(w.t, err)
	position := w.r.Int64N(size + 1) // a hole would show what the heap has kept of a cut
	batches := make([]segment.Batch, w.r.IntN(4))
	for i := range batches {
		batches[i] = filled(1+w.r.IntN(900), byte(w.r.Uint32()))
	}
	must(w.t, w.each("write "+name, func(i int, _ segment.Storage) error {
		if len(batches) == 1 {
			return logs[i].Pwrite(batches[0], position)
		}
		return logs[i].PwriteBatches(batches, position)
	}))
}

func (w *twins) truncateLog(name string) {
	logs := w.logs[name]
	if logs == nil {
		return
	}
	size, err := logs[0].Size()
	must(w.t, err)
	size = w.r.Int64N(size + 1)
	must(w.t, w.each("Truncate "+name, func(i int, _ segment.Storage) error {
		return errors.Join(logs[i].Truncate(size), logs[i].Sync())
	}))
}

func (w *twins) closeLog(name string) {
	if logs := w.logs[name]; logs != nil {
		must(w.t, w.each("Close "+name, func(i int, _ segment.Storage) error { return logs[i].Close() }))
		delete(w.logs, name)
	}
}

func (w *twins) mapIndex(name string, create bool) {
	if w.mappings[name] != nil {
		return
	}
	size := 1 + w.r.Int64N(5000)
	mappings := make([]segment.Mapping, len(w.storages))
	if w.each("MapIndex "+name, func(i int, s segment.Storage) (err error) {
		mappings[i], err = s.MapIndex(name, size, create)
		return err
	}) == nil {
		w.mappings[name] = mappings
	}
}

func (w *twins) store(name string) {
	mappings := w.mappings[name]
	if mappings == nil {
		return
	}
	at := w.r.IntN(len(mappings[0].Bytes()))
	value := filled(1+w.r.IntN(40), byte(w.r.Uint32()))
	sync := w.r.IntN(2) == 0
	must(w.t, w.each("Sync "+name, func(i int, _ segment.Storage) error {
		copy(mappings[i].Bytes()[at:], value)
		if sync {
			return mappings[i].Sync()
		}
		return nil
	}))
}

func (w *twins) closeMapping(name string) {
	if mappings := w.mappings[name]; mappings != nil {
		must(w.t, w.each("Close "+name, func(i int, _ segment.Storage) error { return mappings[i].Close() }))
		delete(w.mappings, name)
	}
}

// rename gives a log or an index another name of its kind, if neither is open.
func (w *twins) rename(log, index string) {
	from, suffix := log, ".log"
	if w.r.IntN(2) == 0 {
		from, suffix = index, ".index"
	}
	to := fmt.Sprint(w.r.IntN(4), suffix)
	if w.logs[from] == nil && w.logs[to] == nil && w.mappings[from] == nil && w.mappings[to] == nil {
		_ = w.each("Rename "+from+" to "+to, func(_ int, s segment.Storage) error { return s.Rename(from, to) })
	}
}

// compare checks names, sizes, and all bytes through calls that all storages have.
func (w *twins) compare() {
	w.t.Helper()
	names, err := w.storages[0].List()
	must(w.t, err)
	for _, s := range w.storages[1:] {
		if got, err := s.List(); err != nil || !slices.Equal(got, names) {
			w.t.Fatalf("%T lists %v, %v, want %v", s, got, err, names)
		}
	}
	for _, name := range names {
		var want []byte
		for i, s := range w.storages {
			got := w.contents(s, name)
			if i == 0 {
				want = got
			} else if !bytes.Equal(got, want) {
				w.t.Fatalf("%s differs on %T: %d bytes, want %d", name, s, len(got), len(want))
			}
		}
	}
	for name, mappings := range w.mappings {
		for i, m := range mappings {
			if !bytes.Equal(m.Bytes(), mappings[0].Bytes()) {
				w.t.Fatalf("%s is mapped to other bytes on %T", name, w.storages[i])
			}
		}
	}
}

// contents reads a file as what it is.
func (w *twins) contents(s segment.Storage, name string) []byte {
	w.t.Helper()
	size, err := s.Size(name)
	must(w.t, err)
	if size == 0 {
		return nil
	}
	p := make([]byte, size)
	if name[1:] == ".index" {
		m, err := s.MapIndex(name, size, false)
		must(w.t, err)
		copy(p, m.Bytes())
		must(w.t, m.Close())
		return p
	}
	l, err := s.OpenLog(name, false)
	must(w.t, err)
	if n, err := l.Pread(p, 0); err != nil || int64(n) != size {
		w.t.Fatalf("read %d of %d bytes of %s: %v", n, size, name, err)
	}
	must(w.t, l.Close())
	return p
}
