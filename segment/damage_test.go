package segment

import (
	"errors"
	"testing"
)

// A length field that leads beyond the log is corruption, no reason for a larger buffer.
func TestReadImpossibleLength(t *testing.T) {
	p := openPartition(t, Config{Storage: NewHeap()})
	p.append(batchOf(t, 100), batchOf(t, 100))
	if err := p.active.Files().WriteAt(Batch{0x7f}, atLength); err != nil {
		t.Fatal(err)
	}
	_, err := p.active.Publish().Read(0, make([]byte, 4096), &Cursor{})
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.File != Name(0) || corrupt.Position != 0 {
		t.Errorf("Read = %v, want a *CorruptError at 0", err)
	}
	p.close()
}

// A file shorter than a view says is corruption.
func TestReadShortFile(t *testing.T) {
	s, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := openPartition(t, Config{Storage: s})
	p.append(batchOf(t, 100), batchOf(t, 100))
	if err := s.Truncate(Name(0), 150); err != nil {
		t.Fatal(err)
	}
	_, err = p.active.Publish().Read(0, make([]byte, 4096), &Cursor{})
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.Position != 150 {
		t.Errorf("Read = %v, want a *CorruptError at 150", err)
	}
	p.close()
}
