package segment

import (
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
)

// heapChunk is the grain in which a heap log grows, so that bytes once written never move.
const heapChunk = 256 << 10

// Heap is a Storage of plain Go memory. It takes away the system calls that drown the cost of
// locks, and it is what the race detector can see: it knows nothing of mapped memory, and takes the
// pread and pwrite of package syscall for synchronisation.
//
// Files outlive Close, so that a partition can be opened again.
type Heap struct {
	mu    sync.Mutex
	logs  map[string]*heapLog
	index map[string]heapMapping
}

// NewHeap returns an empty heap storage.
func NewHeap() *Heap {
	return &Heap{logs: map[string]*heapLog{}, index: map[string]heapMapping{}}
}

// OpenLog implements Storage.
func (h *Heap) OpenLog(name string, create bool) (LogFile, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, ok := h.logs[name]
	switch {
	case create && ok:
		return nil, fmt.Errorf("segment: create %s: %w", name, fs.ErrExist)
	case create:
		l = &heapLog{chunks: make([]atomic.Pointer[[heapChunk]byte], MaxSize/heapChunk+1)}
		h.logs[name] = l
	case !ok:
		return nil, fmt.Errorf("segment: open %s: %w", name, fs.ErrNotExist)
	}
	return l, nil
}

// MapIndex implements Storage.
func (h *Heap) MapIndex(name string, size int64, create bool) (Mapping, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.index[name]
	switch {
	case create && ok:
		return nil, fmt.Errorf("segment: create %s: %w", name, fs.ErrExist)
	case !create && !ok:
		return nil, fmt.Errorf("segment: open %s: %w", name, fs.ErrNotExist)
	case int64(len(m)) < size:
		m = append(slices.Clip(m), make([]byte, size-int64(len(m)))...)
		h.index[name] = m
	}
	return m[:size:size], nil
}

// Create implements Storage.
func (h *Heap) Create(name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.index[name] = heapMapping{}
	return nil
}

// Truncate implements Storage.
func (h *Heap) Truncate(name string, size int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.index[name]
	if !ok || size > int64(len(m)) {
		return fmt.Errorf("segment: truncate %s to %d bytes: %w", name, size, fs.ErrInvalid)
	}
	h.index[name] = m[:size:size]
	return nil
}

// Rename implements Storage.
func (h *Heap) Rename(from, to string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, isLog := h.logs[from]
	m, isIndex := h.index[from]
	if !isLog && !isIndex {
		return fmt.Errorf("segment: rename %s: %w", from, fs.ErrNotExist)
	}
	h.remove(from)
	h.remove(to)
	if isLog {
		h.logs[to] = l
	} else {
		h.index[to] = m
	}
	return nil
}

// Remove implements Storage.
func (h *Heap) Remove(name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.remove(name) {
		return fmt.Errorf("segment: remove %s: %w", name, fs.ErrNotExist)
	}
	return nil
}

func (h *Heap) remove(name string) bool {
	_, isLog := h.logs[name]
	_, isIndex := h.index[name]
	delete(h.logs, name)
	delete(h.index, name)
	return isLog || isIndex
}

// Size implements Storage.
func (h *Heap) Size(name string) (int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l, ok := h.logs[name]; ok {
		return l.Size()
	}
	if m, ok := h.index[name]; ok {
		return int64(len(m)), nil
	}
	return 0, fmt.Errorf("segment: size of %s: %w", name, fs.ErrNotExist)
}

// List implements Storage.
func (h *Heap) List() ([]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for name := range h.logs {
		names = append(names, name)
	}
	for name := range h.index {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// SyncDir implements Storage.
func (h *Heap) SyncDir() error { return nil }

// Close implements Storage.
func (h *Heap) Close() error { return nil }

type heapMapping []byte

func (m heapMapping) Bytes() []byte { return m }

func (m heapMapping) Sync() error { return nil }

func (m heapMapping) Close() error { return nil }

// heapLog is a log in chunks that are made on first use.
//
// A read takes no part in the bookkeeping of writes, and a chunk's pointer is stored once: the log
// thus orders nothing between a writer and a reader, and a front end that publishes before it has
// written is a data race that the detector sees.
type heapLog struct {
	chunks []atomic.Pointer[[heapChunk]byte]
	grow   sync.Mutex   // of who makes a chunk, so that no two make the same
	size   atomic.Int64 // end of the furthest write
}

// chunk returns a chunk, made if it is missing.
func (l *heapLog) chunk(i int64) *[heapChunk]byte {
	if chunk := l.chunks[i].Load(); chunk != nil {
		return chunk
	}
	l.grow.Lock()
	defer l.grow.Unlock()
	if l.chunks[i].Load() == nil {
		l.chunks[i].Store(new([heapChunk]byte))
	}
	return l.chunks[i].Load()
}

// Pread implements LogFile; bytes that nobody has written read as zeros.
func (l *heapLog) Pread(p []byte, position int64) (int, error) {
	for n := 0; n < len(p); {
		at := position + int64(n)
		if at/heapChunk >= int64(len(l.chunks)) {
			return n, nil
		}
		chunk := l.chunks[at/heapChunk].Load()
		if chunk == nil {
			return n, nil
		}
		n += copy(p[n:], chunk[at%heapChunk:])
	}
	return len(p), nil
}

// Pwrite implements LogFile.
func (l *heapLog) Pwrite(p []byte, position int64) error {
	for n := 0; n < len(p); {
		at := position + int64(n)
		if at/heapChunk >= int64(len(l.chunks)) {
			return fmt.Errorf("segment: write of heap log at %d: %w", at, fs.ErrInvalid)
		}
		done := copy(l.chunk(at / heapChunk)[at%heapChunk:], p[n:])
		// Whoever writes over the middle of a chunk makes the next one, before anybody waits for it.
		if half := at%heapChunk - heapChunk/2; half <= 0 && half+int64(done) > 0 && at/heapChunk+1 < int64(len(l.chunks)) {
			l.chunk(at/heapChunk + 1)
		}
		n += done
	}
	for end := position + int64(len(p)); ; {
		size := l.size.Load()
		if end <= size || l.size.CompareAndSwap(size, end) {
			return nil
		}
	}
}

// PwriteBatches implements LogFile.
func (l *heapLog) PwriteBatches(batches []Batch, position int64) error {
	for _, b := range batches {
		if err := l.Pwrite(b, position); err != nil {
			return err
		}
		position += int64(len(b))
	}
	return nil
}

// Sync implements LogFile.
func (l *heapLog) Sync() error { return nil }

// Size implements LogFile.
func (l *heapLog) Size() (int64, error) { return l.size.Load(), nil }

// Truncate implements LogFile. What lies behind the cut is zeros from now on, also where a later write
// leaves a hole.
func (l *heapLog) Truncate(size int64) error {
	for end := l.size.Swap(size); size < end; {
		chunk := l.chunks[size/heapChunk].Load()
		n := min(heapChunk-size%heapChunk, end-size)
		if chunk != nil {
			clear(chunk[size%heapChunk:][:n])
		}
		size += n
	}
	return nil
}

// Close implements LogFile.
func (l *heapLog) Close() error { return nil }
