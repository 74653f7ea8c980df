package claims

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

// logBytes is the size of the file that experiments take for a log: a segment of the default size.
const logBytes = 64 << 20

// preads compares reads at a position that the call is given with reads at the position that all readers of a
// descriptor share, and have to hold a lock for from the seek to the end of the read. All of the file is in memory:
// what is measured is the calls and the lock, and no disk.
func preads(b *bench) (figures []results.Figure, err error) {
	f, err := scratchFile(b.dir, logBytes, pattern)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()

	other, err := scratchFile(b.dir, logBytes, pattern)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, other.Close()) }()

	counts := []int{1, 2, 4}
	arms := []arm{{"own-2", b.randomReads(1<<10, 2, byPread(f), byPread(other))}}
	for _, n := range counts {
		arms = append(arms,
			arm{fmt.Sprintf("pread-%d", n), b.randomReads(1<<10, n, byPread(f))},
			arm{fmt.Sprintf("seek-%d", n), b.randomReads(1<<10, n, bySeek(f))})
	}
	seconds, err := b.race(arms...)
	if err != nil {
		return nil, err
	}
	for _, n := range counts {
		pread, seek := fmt.Sprintf("pread-%d", n), fmt.Sprintf("seek-%d", n)
		figures = append(figures,
			b.ratio(pread, fmt.Sprintf("reads/s of pread over seek and read under a lock, readers: %d", n), seconds[seek], seconds[pread]),
			b.value(pread+"-seconds", fmt.Sprintf("time per read, pread, readers: %d", n), "s", seconds[pread]),
			b.value(seek+"-seconds", fmt.Sprintf("time per read, seek and read under a lock, readers: %d", n), "s", seconds[seek]))
	}
	for _, n := range counts[1:] {
		pread, seek := fmt.Sprintf("pread-%d", n), fmt.Sprintf("seek-%d", n)
		figures = append(figures,
			b.ratio(pread+"-over-1", fmt.Sprintf("reads/s of %d readers over one, pread", n), seconds["pread-1"], seconds[pread]),
			b.ratio(seek+"-over-1", fmt.Sprintf("reads/s of %d readers over one, seek and read under a lock", n), seconds["seek-1"], seconds[seek]))
	}
	return append(figures, b.ratio("own-2", "reads/s of 2 readers with a file each over one, pread", seconds["pread-1"], seconds["own-2"])), nil
}

// bySeek reads at the descriptor's own position, one reader at a time.
func bySeek(f *os.File) readAt {
	fd := int(f.Fd())
	var cursor sync.Mutex
	return func(p []byte, position int64) error {
		cursor.Lock()
		defer cursor.Unlock()
		if _, err := unix.Seek(fd, position, unix.SEEK_SET); err != nil {
			return err
		}
		n, err := unix.Read(fd, p)
		return whole(n, p, err)
	}
}

// randomReads is a loop of reads of size bytes at random multiples of size in a log, by readers side by side that share
// the operations, and the ways to read in turn. It reads the same positions each time.
func (b *bench) randomReads(size, readers int, ways ...readAt) func(n int) error {
	seed := b.random.Uint64()
	return func(n int) error {
		errs := make([]error, readers)
		var group sync.WaitGroup
		for i := range readers {
			group.Go(func() {
				read := ways[i%len(ways)]
				random, p := rand.New(rand.NewPCG(seed, uint64(i))), make([]byte, size)
				for range (n + i) / readers { // which add up to n
					if errs[i] = read(p, random.Int64N(int64(logBytes/size))*int64(size)); errs[i] != nil {
						return
					}
				}
			})
		}
		group.Wait()
		return errors.Join(errs...)
	}
}
