package segmenttest

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"

	"tailrace/segment"
)

// file is what a name stands for: an inode. It is guarded by the mutex of its Disk.
type file struct {
	data    []byte   // what calls see; while mapped, it does not move
	durable []byte   // what a crash leaves at least
	pending []change // what made data of durable, in order, but for what shadow shows

	// While mapped, shadow is data without the stores that pending does not have yet.
	shadow   []byte
	mappings int
}

var errMappedGrows = errors.New("a file can't outgrow its mapping here")

// scribble takes the place of bytes that must not be touched any more, so that whoever reads them
// gets no right answer.
const scribble = 0xDB

// write puts p at a position.
func (f *file) write(p []byte, position int64, sequence uint64) error {
	end := position + int64(len(p))
	if position < 0 || end > segment.MaxSize {
		return fs.ErrInvalid
	}
	if len(p) == 0 {
		return nil
	}
	f.harvest(sequence)
	if end > int64(len(f.data)) {
		if err := f.resize(end); err != nil {
			return err
		}
	}
	copy(f.data[position:], p)
	f.log(change{kind: write, position: position, data: bytes.Clone(p), sequence: sequence})
	return nil
}

// truncate cuts or extends the file.
func (f *file) truncate(size int64, sequence uint64) error {
	if size < 0 || size > segment.MaxSize {
		return fs.ErrInvalid
	}
	f.harvest(sequence)
	if err := f.resize(size); err != nil {
		return err
	}
	f.log(change{kind: truncate, position: size, sequence: sequence})
	return nil
}

// allocate extends the file with zeros where it is shorter.
func (f *file) allocate(size int64, sequence uint64) error {
	if size <= int64(len(f.data)) {
		return nil
	}
	f.harvest(sequence)
	if err := f.resize(size); err != nil {
		return err
	}
	f.log(change{kind: extend, position: size, sequence: sequence})
	return nil
}

// log appends a change that data has already seen.
func (f *file) log(c change) {
	f.pending = append(f.pending, c)
	if f.shadow != nil {
		f.shadow = c.apply(f.shadow, kept, nil)
	}
}

// resize sets the length of data.
func (f *file) resize(size int64) error {
	length := int64(len(f.data))
	switch {
	case size <= length:
		if f.mappings > 0 {
			fill(f.data[size:], scribble)
		}
		f.data = f.data[:size]
	case size <= int64(cap(f.data)):
		f.data = f.data[:size]
		clear(f.data[length:])
	case f.mappings > 0:
		return errMappedGrows
	default:
		f.data = append(f.data, make([]byte, size-length)...)
	}
	return nil
}

// sync makes data durable.
func (f *file) sync(sequence uint64) {
	f.harvest(sequence)
	for _, c := range f.pending {
		f.durable = c.apply(f.durable, kept, nil)
	}
	f.pending = nil
}

// mapped returns the first size bytes as a mapping.
func (f *file) mapped(size int64) []byte {
	if f.mappings == 0 {
		f.shadow = bytes.Clone(f.data)
	}
	f.mappings++
	return f.data[:size:size]
}

// unmapped ends one mapping. The last one takes its memory with it.
func (f *file) unmapped(sequence uint64) {
	f.mappings--
	if f.mappings > 0 {
		return
	}
	f.harvest(sequence)
	f.shadow = nil
	memory := f.data[:cap(f.data)]
	f.data = bytes.Clone(f.data)
	fill(memory, scribble)
}

// harvest moves what was stored through mappings to the pending changes.
func (f *file) harvest(sequence uint64) {
	for _, c := range f.stores(sequence) {
		f.log(c)
	}
}

// stores compares data with its shadow.
func (f *file) stores(sequence uint64) []change {
	if f.shadow == nil || bytes.Equal(f.data, f.shadow) {
		return nil
	}
	var changes []change
	for start := 0; start < len(f.data); {
		end := start
		for end < len(f.data) && !f.clean(end) {
			end = min(end+unit, len(f.data))
		}
		if end > start {
			changes = append(changes, change{kind: store, position: int64(start), data: bytes.Clone(f.data[start:end]), sequence: sequence})
		}
		start = end + unit // the unit at end is clean
	}
	return changes
}

// clean says whether nothing was stored in the unit at a position.
func (f *file) clean(position int) bool {
	end := min(position+unit, len(f.data))
	return bytes.Equal(f.data[position:end], f.shadow[position:end])
}

// image is what a crash leaves of the file.
func (f *file) image(p *plan) *file {
	contents := slices.Clone(f.durable)
	for _, c := range f.pending {
		contents = c.apply(contents, p.fate(c), p.random)
	}
	for _, c := range f.stores(0) {
		contents = c.apply(contents, p.fate(c), p.random)
	}
	return durableFile(contents)
}

// durableFile takes over data as the durable contents of a file.
func durableFile(data []byte) *file {
	return &file{data: data, durable: bytes.Clone(data)}
}

func fill(p []byte, b byte) {
	for i := range p {
		p[i] = b
	}
}
