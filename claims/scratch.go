package claims

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"tailrace/segment"
)

// scratchFile makes a file of size bytes in dir, a multiple of a MiB or less than one, which fill fills piece by
// piece. The file has no name any more, so that it is gone when it is closed, whatever happens.
//
// Experiments use its raw descriptor: os.File counts references on a word that all readers share.
func scratchFile(dir string, size int64, fill func(p []byte, position int64)) (*os.File, error) {
	f, err := os.CreateTemp(dir, "claims-")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	piece := make([]byte, min(size, 1<<20))
	for position := int64(0); position < size && err == nil; position += int64(len(piece)) {
		fill(piece, position)
		_, err = f.WriteAt(piece, position)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// scratchStorage is a storage of files in a directory of its own, which remove removes.
func (b *bench) scratchStorage(name string) (files segment.Storage, remove func(), err error) {
	dir, err := os.MkdirTemp(b.dir, name)
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // data of no worth
	if files, err = segment.OpenDir(dir); err != nil {
		remove()
		return nil, nil, err
	}
	return files, remove, nil
}

// pattern fills p with words that tell where in a file they lie.
func pattern(p []byte, position int64) {
	for at := 0; at+8 <= len(p); at += 8 {
		binary.LittleEndian.PutUint64(p[at:], uint64(position+int64(at))*0x9e3779b97f4a7c15)
	}
}

// mapFile maps the first size bytes of a file. What is mapped is to be unmapped with unix.Munmap.
func mapFile(f *os.File, size, protection int) ([]byte, error) {
	p, err := unix.Mmap(int(f.Fd()), 0, size, protection, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", size, err)
	}
	return p, nil
}

// readAt reads all of p at a position of a file.
type readAt func(p []byte, position int64) error

func byPread(f *os.File) readAt {
	fd := int(f.Fd())
	return func(p []byte, position int64) error {
		n, err := unix.Pread(fd, p, position)
		return whole(n, p, err)
	}
}

// byCopy reads from a mapping of the file.
func byCopy(mapped []byte) readAt {
	return func(p []byte, position int64) error {
		return whole(copy(p, mapped[position:]), p, nil)
	}
}

// whole is the error of a read that was to fill p.
func whole(n int, p []byte, err error) error {
	if err == nil && n < len(p) {
		return io.ErrUnexpectedEOF
	}
	return err
}
