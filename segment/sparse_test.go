package segment

import (
	"bytes"
	"io/fs"
	"slices"
)

// sparse is a storage on the heap whose logs keep no zeros, so that a log may have any length.
type sparse struct {
	*Heap // of all other files
	logs  map[string]*sparseLog
}

func newSparse() *sparse { return &sparse{NewHeap(), map[string]*sparseLog{}} }

const sparsePage = 64 << 10

// sparseLog is the pages of a log that are not all zeros.
type sparseLog struct {
	pages map[int64]*[sparsePage]byte
	size  int64
}

var zeroPage [sparsePage]byte

func (s *sparse) OpenLog(name string, create bool) (LogFile, error) {
	l, ok := s.logs[name]
	switch {
	case create && ok:
		return nil, fs.ErrExist
	case create:
		l = &sparseLog{pages: map[int64]*[sparsePage]byte{}}
		s.logs[name] = l
	case !ok:
		return nil, fs.ErrNotExist
	}
	return l, nil
}

func (s *sparse) List() ([]string, error) {
	names, err := s.Heap.List()
	for name := range s.logs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, err
}

func (s *sparse) Size(name string) (int64, error) {
	if l, ok := s.logs[name]; ok {
		return l.size, nil
	}
	return s.Heap.Size(name)
}

// The race detector would take seconds for the gigabytes of one goroutine.
//
//go:norace
func (l *sparseLog) Pread(p []byte, position int64) (int, error) {
	p = p[:max(0, min(int64(len(p)), l.size-position))]
	for n := 0; n < len(p); {
		page, at := &zeroPage, position+int64(n)
		if kept, ok := l.pages[at/sparsePage]; ok {
			page = kept
		}
		n += copy(p[n:], page[at%sparsePage:])
	}
	return len(p), nil
}

//go:norace
func (l *sparseLog) Pwrite(p []byte, position int64) error {
	for len(p) > 0 {
		start := position % sparsePage
		piece := p[:min(int64(len(p)), sparsePage-start)]
		page, ok := l.pages[position/sparsePage]
		if !ok && bytes.Count(piece, []byte{0}) < len(piece) {
			page, ok = new([sparsePage]byte), true
			l.pages[position/sparsePage] = page
		}
		if ok {
			copy(page[start:], piece)
		}
		p, position = p[len(piece):], position+int64(len(piece))
	}
	l.size = max(l.size, position)
	return nil
}

func (l *sparseLog) PwriteBatches(batches []Batch, position int64) error {
	for _, b := range batches {
		if err := l.Pwrite(b, position); err != nil {
			return err
		}
		position += int64(len(b))
	}
	return nil
}

func (l *sparseLog) Sync() error { return nil }

func (l *sparseLog) Size() (int64, error) { return l.size, nil }

// Truncate is not needed: these logs are written without faults.
func (l *sparseLog) Truncate(int64) error { return fs.ErrInvalid }

func (l *sparseLog) Close() error { return nil }
