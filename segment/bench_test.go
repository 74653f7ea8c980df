package segment

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The store beside what it can't do without, in turns: of-syscall is the share of the system calls' speed
// that is left to the store.

const benchBatch = 1 << 10

// contest is two ways to do the same n times.
type contest struct {
	ours, theirs func(n int)
	between      func() // what neither is charged with, after each round; may be nil
}

// run takes turns in short rounds, so that noise hits both alike, and reports the time of ours as usual,
// that of theirs beside it, and the median over the rounds of their ratio.
func (c contest) run(b *testing.B, theirs string) {
	const round = 256
	timed := func(f func(int), n int) time.Duration {
		start := time.Now()
		f(n)
		return time.Since(start)
	}
	var spent, compared time.Duration
	ratios := make([]float64, 0, b.N/round+1)
	b.ReportAllocs()
	b.ResetTimer()
	for left := b.N; left > 0; left -= round {
		n := min(round, left)
		x := timed(c.ours, n/2)
		y := timed(c.theirs, n)
		x += timed(c.ours, n-n/2)
		spent, compared = spent+x, compared+y
		ratios = append(ratios, float64(y)/float64(max(x, 1)))
		if c.between != nil {
			b.StopTimer()
			c.between()
			b.StartTimer()
		}
	}
	slices.Sort(ratios)
	b.ReportMetric(float64(spent)/float64(b.N), "ns/op")
	b.ReportMetric(float64(compared)/float64(b.N), theirs+"-ns/op")
	b.ReportMetric(ratios[len(ratios)/2], "of-"+theirs)
}

func openFile(b *testing.B, name string) int {
	b.Helper()
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	return fd
}

func removeFile(b *testing.B, name string) {
	b.Helper()
	if err := os.Remove(name); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAppend appends batches of 1 KiB, each written and published alone, to segments of 64 MiB, and
// writes as many with pwrite. Rolls are counted, the removal of full files is not.
func BenchmarkAppend(b *testing.B) {
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
	var full []View
	store := func(n int) {
		for range n {
			if _, ok := active.Add(batch); !ok {
				next, err := active.Roll()
				if err != nil {
					b.Fatal(err)
				}
				full, active = append(full, active.Publish()), next
				active.Add(batch)
			}
			if err := active.Write(); err != nil {
				b.Fatal(err)
			}
			if active.Publish().Size == 0 {
				b.Fatal("nothing was published")
			}
		}
	}
	name := filepath.Join(dir, "syscall")
	fd, position := openFile(b, name), int64(0)
	syscall := func(count int) {
		for range count {
			n, err := unix.Pwrite(fd, batch, position)
			if err != nil {
				b.Fatal(err)
			}
			position += int64(n)
		}
	}
	removeFull := func() {
		if err := Remove(full); err != nil {
			b.Fatal(err)
		}
		full = full[:0]
		if position >= DefaultSize {
			removeFile(b, name)
			if err := unix.Close(fd); err != nil {
				b.Fatal(err)
			}
			fd, position = openFile(b, name), 0
		}
	}
	contest{store, syscall, removeFull}.run(b, "syscall")
	if err := Close(nil, active.Publish()); err != nil {
		b.Fatal(err)
	}
	if err := unix.Close(fd); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRead reads a full segment of 64 MiB with batches of 1 KiB, four in each interval of the index. A
// random read fetches from the indexed batch on, with one pread if its buffer reaches to the end of the
// wanted one, otherwise with several: the system calls that it is compared with are the same.
func BenchmarkRead(b *testing.B) {
	const perSlot = DefaultInterval / benchBatch
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
	pread := func(b *testing.B, buf []byte, offset int64) {
		if n, err := unix.Pread(fd, buf, offset*benchBatch); err != nil || n != len(buf) {
			b.Fatal(n, err)
		}
	}
	read := func(b *testing.B, buf []byte, offset int64, c *Cursor) {
		if p, err := view.Read(offset, buf, c); err != nil || len(p) == 0 {
			b.Fatal(len(p), err)
		}
	}

	b.Run("pattern=sequential/buffer=64KiB", func(b *testing.B) {
		buf, c := make([]byte, 64<<10), &Cursor{}
		// from calls read for one buffer after the other, round and round.
		from := func(offset int64, read func(offset int64)) func(n int) {
			return func(n int) {
				for range n {
					read(offset)
					if offset += int64(len(buf)) / benchBatch; offset == view.End {
						offset = 0
					}
				}
			}
		}
		contest{
			ours:   from(0, func(offset int64) { read(b, buf, offset, c) }),
			theirs: from(view.End/2, func(offset int64) { pread(b, buf, offset) }), // so that neither warms the other's cache
		}.run(b, "syscall")
	})
	random := func(b *testing.B, ours, theirs func(offset int64)) {
		at := func(seed uint64, read func(offset int64)) func(n int) {
			r := newRand(seed)
			return func(n int) {
				for range n {
					read(r.Int64N(view.End - 8))
				}
			}
		}
		contest{ours: at(1, ours), theirs: at(2, theirs)}.run(b, "syscall")
	}
	b.Run("pattern=random/buffer=1KiB", func(b *testing.B) {
		buf, c := make([]byte, benchBatch), &Cursor{}
		random(b,
			func(offset int64) { read(b, buf, offset, c) },
			func(offset int64) {
				for on := offset / perSlot * perSlot; on <= offset; on++ {
					pread(b, buf, on)
				}
			})
	})
	b.Run("pattern=random/buffer=8KiB", func(b *testing.B) {
		buf, c := make([]byte, 8<<10), &Cursor{}
		random(b,
			func(offset int64) { read(b, buf, offset, c) },
			func(offset int64) { pread(b, buf, offset/perSlot*perSlot) })
	})
	if err := Close(nil, view); err != nil {
		b.Fatal(err)
	}
}
