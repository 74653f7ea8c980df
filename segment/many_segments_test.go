package segment

import (
	"fmt"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// counting is a storage that counts what is asked of it and what it has open.
type counting struct {
	Storage
	calls, reads   atomic.Int64 // reads of logs are no calls
	logs, mappings atomic.Int64
}

type countingLog struct {
	LogFile
	storage *counting
	name    string
}

type countingMapping struct {
	Mapping
	storage *counting
}

func (s *counting) OpenLog(name string, create bool) (LogFile, error) {
	s.calls.Add(1)
	l, err := s.Storage.OpenLog(name, create)
	if err == nil {
		s.logs.Add(1)
	}
	return countingLog{l, s, name}, err
}

func (s *counting) MapIndex(name string, size int64, create bool) (Mapping, error) {
	s.calls.Add(1)
	m, err := s.Storage.MapIndex(name, size, create)
	if err == nil {
		s.mappings.Add(1)
	}
	return countingMapping{m, s}, err
}

func (s *counting) Create(name string) error {
	s.calls.Add(1)
	return s.Storage.Create(name)
}

func (s *counting) Truncate(name string, size int64) error {
	s.calls.Add(1)
	return s.Storage.Truncate(name, size)
}

func (s *counting) Rename(from, to string) error {
	s.calls.Add(1)
	return s.Storage.Rename(from, to)
}

func (s *counting) Remove(name string) error {
	s.calls.Add(1)
	return s.Storage.Remove(name)
}

func (s *counting) Size(name string) (int64, error) {
	s.calls.Add(1)
	return s.Storage.Size(name)
}

func (s *counting) List() ([]string, error) {
	s.calls.Add(1)
	return s.Storage.List()
}

func (s *counting) SyncDir() error {
	s.calls.Add(1)
	return s.Storage.SyncDir()
}

func (l countingLog) Pread(p []byte, position int64) (int, error) {
	if _, log := parseName(l.name); log { // Open reads the small files
		l.storage.reads.Add(1)
	}
	return l.LogFile.Pread(p, position)
}

func (l countingLog) Sync() error {
	l.storage.calls.Add(1)
	return l.LogFile.Sync()
}

func (l countingLog) Size() (int64, error) {
	l.storage.calls.Add(1)
	return l.LogFile.Size()
}

func (l countingLog) Truncate(size int64) error {
	l.storage.calls.Add(1)
	return l.LogFile.Truncate(size)
}

func (l countingLog) Close() error {
	l.storage.logs.Add(-1)
	return l.LogFile.Close()
}

func (m countingMapping) Close() error {
	m.storage.mappings.Add(-1)
	return m.Mapping.Close()
}

// manySegments is a partition in a directory with n segments of one batch each, large enough for an index
// entry. It skips where the process may not have so many descriptors.
func manySegments(t testing.TB, n int) (*counting, *partition) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur < uint64(n)+100 {
		t.Skipf("a process may have %d descriptors, which %d segments exceed", limit.Cur, n)
	}
	dir, err := OpenDir(tempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	s := &counting{Storage: dir}
	p := openPartition(t, Config{Storage: s, Size: 150, Interval: 64})
	b := batchOf(t, 150)
	for i := range n {
		if i > 0 {
			p.roll()
		}
		if _, ok := p.active.Add(b); !ok {
			t.Fatal("batch was refused")
		}
		p.write()
	}
	return s, p
}

// A partition of many segments is opened without a look at any log, with a few calls for each segment, and
// holds one log and two indexes of each.
func TestManySegments(t *testing.T) {
	const segments = 10_000
	s, p := manySegments(t, segments)
	for range 2 {
		if logs, mappings := s.logs.Load(), s.mappings.Load(); logs != segments || mappings != 2*segments+1 {
			t.Errorf("%d logs and %d mappings are open", logs, mappings)
		}
		p.close()
		if logs, mappings := s.logs.Load(), s.mappings.Load(); logs != 0 || mappings != 0 {
			t.Errorf("after Close %d logs and %d mappings are open", logs, mappings)
		}
		s.calls.Store(0)
		s.reads.Store(0)
		p = openPartition(t, p.config)
		if len(p.sealed) != segments-1 || p.active.End() != segments || !p.recovery.Clean {
			t.Fatalf("%d sealed segments, end %d, %+v", len(p.sealed), p.active.End(), p.recovery)
		}
		// The size of each file, one open, two mappings; little for the rest.
		if calls, reads := s.calls.Load(), s.reads.Load(); calls > 6*segments+20 || reads != 0 {
			t.Errorf("Open takes %d calls, and reads logs %d times", calls, reads)
		}
	}
	buf, c := make([]byte, 150), &Cursor{}
	for i, v := range p.views() {
		got, err := v.Read(int64(i), buf, c)
		if err != nil || Batch(got).BaseOffset() != int64(i) {
			t.Fatalf("Read at %d = %d bytes, %v", i, len(got), err)
		}
	}
	p.close()
}

// BenchmarkOpen opens partitions of many small segments, without what it takes to close them again.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint("segments=", n), func(b *testing.B) {
			_, p := manySegments(b, n)
			for _, state := range []struct {
				name  string
				close func(p *partition)
			}{
				{"clean", (*partition).close},
				{"crashed", (*partition).crash},
			} {
				b.Run(state.name, func(b *testing.B) {
					state.close(p)
					for b.Loop() {
						p = openPartition(b, p.config)
						b.StopTimer()
						if clean := state.name == "clean"; p.recovery.Clean != clean || len(p.sealed) != n-1 {
							b.Fatalf("%d sealed segments, %+v", len(p.sealed), p.recovery)
						}
						state.close(p)
						b.StartTimer()
					}
					p = openPartition(b, p.config)
				})
			}
			p.close()
		})
	}
}
