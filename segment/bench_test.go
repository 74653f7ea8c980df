package segment

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The store beside the system calls that it can't do without: path=store against path=syscall is what
// the store itself costs.

const benchBatch = 1 << 10

func openFile(b *testing.B, name string) int {
	b.Helper()
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	return fd
}

// BenchmarkAppend appends batches of 1 KiB, each written and published alone, to segments of 64 MiB.
// Files that are full are removed outside of the measured time.
func BenchmarkAppend(b *testing.B) {
	b.Run("path=store", func(b *testing.B) {
		dir := tempDir(b)
		s, err := OpenDir(dir)
		if err != nil {
			b.Fatal(err)
		}
		active, err := Create(Config{Storage: s}, 0)
		if err != nil {
			b.Fatal(err)
		}
		batch := batchOf(b, benchBatch)
		b.SetBytes(benchBatch)
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := active.Add(batch); !ok {
				next, err := active.Roll()
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				base := active.Files().Base()
				if err := active.Files().Close(); err != nil {
					b.Fatal(err)
				}
				for _, suffix := range []string{logSuffix, indexSuffix, timeSuffix} {
					if err := os.Remove(filepath.Join(dir, fileName(base, suffix))); err != nil {
						b.Fatal(err)
					}
				}
				active = next
				b.StartTimer()
				active.Add(batch)
			}
			if err := active.Write(); err != nil {
				b.Fatal(err)
			}
			if active.Publish().Size == 0 {
				b.Fatal("nothing was published")
			}
		}
		if err := Close(nil, active.Publish()); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("path=syscall", func(b *testing.B) {
		name := filepath.Join(tempDir(b), "log")
		fd := openFile(b, name)
		batch := batchOf(b, benchBatch)
		position := int64(0)
		b.SetBytes(benchBatch)
		b.ReportAllocs()
		for b.Loop() {
			if position == DefaultSize {
				b.StopTimer()
				if err := unix.Close(fd); err != nil {
					b.Fatal(err)
				}
				if err := os.Remove(name); err != nil {
					b.Fatal(err)
				}
				fd, position = openFile(b, name), 0
				b.StartTimer()
			}
			n, err := unix.Pwrite(fd, batch, position)
			if err != nil {
				b.Fatal(err)
			}
			position += int64(n)
		}
		if err := unix.Close(fd); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkRead reads a full segment of 64 MiB with batches of 1 KiB. A random read into 1 KiB has to
// step from the indexed batch to the wanted one, with a pread each; into 8 KiB it is one pread.
func BenchmarkRead(b *testing.B) {
	s, err := OpenDir(tempDir(b))
	if err != nil {
		b.Fatal(err)
	}
	active, err := Create(Config{Storage: s}, 0)
	if err != nil {
		b.Fatal(err)
	}
	batch := batchOf(b, benchBatch)
	for {
		if _, ok := active.Add(batch); !ok {
			break
		}
		if err := active.Write(); err != nil {
			b.Fatal(err)
		}
	}
	view, fd := active.Publish(), active.Files().log.(*dirLog).fd
	for _, pattern := range []struct {
		name   string
		random bool
		buffer int
	}{
		{"pattern=sequential/buffer=64KiB", false, 64 << 10},
		{"pattern=random/buffer=1KiB", true, benchBatch},
		{"pattern=random/buffer=8KiB", true, 8 << 10},
	} {
		buf := make([]byte, pattern.buffer)
		// offset is the next record to read. Batches are of one size, so it tells the position too.
		run := func(b *testing.B, read func(offset int64) int) {
			r := newRand(1)
			offset := int64(0)
			b.SetBytes(int64(pattern.buffer))
			b.ReportAllocs()
			for b.Loop() {
				if pattern.random {
					offset = r.Int64N(view.End - 8)
				}
				if offset += int64(read(offset)) / benchBatch; offset == view.End {
					offset = 0
				}
			}
		}
		b.Run(pattern.name+"/path=store", func(b *testing.B) {
			c := &Cursor{}
			run(b, func(offset int64) int {
				p, err := view.Read(offset, buf, c)
				if err != nil {
					b.Fatal(err)
				}
				return len(p)
			})
		})
		b.Run(pattern.name+"/path=syscall", func(b *testing.B) {
			run(b, func(offset int64) int {
				n, err := unix.Pread(fd, buf, offset*benchBatch)
				if err != nil {
					b.Fatal(err)
				}
				return n
			})
		})
	}
	if err := Close(nil, active.Publish()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLookup finds the indexed position of random offsets in indexes of several sizes: 16,384
// slots are a segment of 64 MiB.
func BenchmarkLookup(b *testing.B) {
	for _, n := range []int64{1, 64, 1024, 16_384, 262_144} {
		b.Run(fmt.Sprintf("slots=%d", n), func(b *testing.B) {
			f := &Files{config: Config{Interval: DefaultInterval}, mapped: indexes{offsets: make([]byte, n*entrySize)}}
			f.trusted.Store(&f.mapped)
			view := View{Files: f, Size: n*DefaultInterval + benchBatch, End: n*4 + 1}
			for at := int64(0); at < view.Size; at += benchBatch {
				f.SetIndex(at/benchBatch, at, at+benchBatch)
			}
			r := newRand(1)
			b.ReportAllocs()
			for b.Loop() {
				if position, _, err := view.find(r.Int64N(view.End), nil); err != nil || position > view.Size {
					b.Fatal("position behind the log")
				}
			}
		})
	}
}
