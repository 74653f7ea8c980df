package segmenttest

import (
	"bytes"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"tailrace/segment"
)

// Disk is a segment.Storage in memory that knows what is durable and what a crash may take. All methods
// may be called from any goroutine, those of one log too.
//
// It is as strict as the contract: a log or a mapping that is used after Close gives fs.ErrClosed, and
// bytes of a mapping behind a cut or after Close read as garbage.
type Disk struct {
	// OnCall, if set, runs after every call that may have made something pending or durable and did not
	// fail, in its goroutine and without a lock: a place to take a Crash. It must be set while no call runs.
	OnCall func()

	mu       sync.Mutex
	names    map[string]*file // what calls see
	durable  map[string]*file // what a crash leaves at least
	pending  []rename         // what made names of durable, in order
	sequence uint64           // of the latest call that changed something
	logs     int              // open
	mappings int              // open
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	return &Disk{names: map[string]*file{}, durable: map[string]*file{}}
}

// mutate runs a call that changes something, and then OnCall if it did.
func (d *Disk) mutate(op Op, name string, call func() error) error {
	d.mu.Lock()
	d.sequence++
	err := call()
	d.mu.Unlock()
	if err != nil {
		return failed(op, name, err)
	}
	if d.OnCall != nil {
		d.OnCall()
	}
	return nil
}

// change makes a change of names, pending.
func (d *Disk) change(from, to string, f *file) {
	c := rename{from: from, to: to, file: f, replaced: d.names[to], sequence: d.sequence}
	c.apply(d.names)
	d.pending = append(d.pending, c)
}

// lookup finds a file, or makes it if create is set; then it must not exist.
func (d *Disk) lookup(name string, create bool) (*file, error) {
	f, ok := d.names[name]
	switch {
	case create && ok:
		return nil, fs.ErrExist
	case create:
		f = &file{}
		d.change("", name, f)
	case !ok:
		return nil, fs.ErrNotExist
	}
	return f, nil
}

// OpenLog implements segment.Storage.
func (d *Disk) OpenLog(name string, create bool) (segment.LogFile, error) {
	l := &diskLog{disk: d, name: name}
	open := func() (err error) {
		if l.file, err = d.lookup(name, create); err == nil {
			d.logs++
		}
		return err
	}
	if create {
		if err := d.mutate(OpenLog, name, open); err != nil {
			return nil, err
		}
		return l, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := open(); err != nil {
		return nil, failed(OpenLog, name, err)
	}
	return l, nil
}

// MapIndex implements segment.Storage. As for a real mapping, size must not be 0.
func (d *Disk) MapIndex(name string, size int64, create bool) (segment.Mapping, error) {
	m := &diskMapping{disk: d, name: name}
	err := d.mutate(MapIndex, name, func() (err error) {
		if size <= 0 || size > segment.MaxSize {
			return fs.ErrInvalid
		}
		if m.file, err = d.lookup(name, create); err != nil {
			return err
		}
		if err := m.file.allocate(size, d.sequence); err != nil {
			return err
		}
		m.bytes = m.file.mapped(size)
		d.mappings++
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Create implements segment.Storage.
func (d *Disk) Create(name string) error {
	return d.mutate(Create, name, func() error {
		if f, ok := d.names[name]; ok {
			return f.truncate(0, d.sequence)
		}
		_, err := d.lookup(name, true)
		return err
	})
}

// Truncate implements segment.Storage.
func (d *Disk) Truncate(name string, size int64) error {
	return d.mutate(Truncate, name, func() error {
		f, err := d.lookup(name, false)
		if err != nil {
			return err
		}
		return f.truncate(size, d.sequence)
	})
}

// Rename implements segment.Storage.
func (d *Disk) Rename(from, to string) error {
	return d.mutate(Rename, from, func() error {
		f, err := d.lookup(from, false)
		if err == nil && from != to {
			d.change(from, to, f)
		}
		return err
	})
}

// Remove implements segment.Storage.
func (d *Disk) Remove(name string) error {
	return d.mutate(Remove, name, func() error {
		f, err := d.lookup(name, false)
		if err == nil {
			d.change(name, "", f)
		}
		return err
	})
}

// Size implements segment.Storage.
func (d *Disk) Size(name string) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.lookup(name, false)
	if err != nil {
		return 0, failed(Size, name, err)
	}
	return int64(len(f.data)), nil
}

// List implements segment.Storage.
func (d *Disk) List() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.names)), nil
}

// SyncDir implements segment.Storage.
func (d *Disk) SyncDir() error {
	return d.mutate(SyncDir, directory, func() error {
		d.syncNames()
		return nil
	})
}

func (d *Disk) syncNames() {
	for _, c := range d.pending {
		c.apply(d.durable)
	}
	d.pending = nil
}

// Close implements segment.Storage. The files stay.
func (d *Disk) Close() error { return nil }

// Open is the number of logs and mappings that are not closed.
func (d *Disk) Open() (logs, mappings int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.logs, d.mappings
}

// ReadFile returns a copy of what a file holds, durable or not.
func (d *Disk) ReadFile(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.lookup(name, false)
	if err != nil {
		return nil, failed(Pread, name, err)
	}
	return bytes.Clone(f.data), nil
}

// WriteFile makes a file consist of p, durable at once, and all names with it. Whoever has the file open
// or mapped sees the new bytes. It fails where p is longer than a mapped file can become, and does not
// run OnCall.
func (d *Disk) WriteFile(name string, p []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sequence++
	f, ok := d.names[name]
	if !ok {
		f = &file{}
		d.change("", name, f)
	}
	d.syncNames()
	err := f.truncate(int64(len(p)), d.sequence)
	if err == nil {
		err = f.write(p, 0, d.sequence)
	}
	if err != nil {
		return failed(Pwrite, name, err)
	}
	f.sync(d.sequence)
	return nil
}

// Files returns a copy of all files, durable or not.
func (d *Disk) Files() map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	files := make(map[string][]byte, len(d.names))
	for name, f := range d.names {
		files[name] = bytes.Clone(f.data)
	}
	return files
}

// Equal says whether two disks have the same files with the same bytes, durable or not.
func (d *Disk) Equal(other *Disk) bool {
	return maps.EqualFunc(d.Files(), other.Files(), bytes.Equal)
}

// put places a file, durable with its name, on a disk that nobody uses yet.
func (d *Disk) put(name string, f *file) {
	d.names[name] = f
	d.durable[name] = f
}
