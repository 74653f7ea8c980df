package claims

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

// logBytes is the size of the file that experiments take for a log: a segment of the default size.
const logBytes = 64 << 20

// readBytes is what readers read of, all of them together.
const readBytes = logBytes / 4

// preads compares reads at a position that the call is given with reads at the position that all readers of a
// descriptor share, and have to hold a lock for from the seek to the end of the read; and both with reads of as many
// readers that have a file each, which is what the processors allow. Each reader has a part of the data to itself, be it
// in one file or in a file of its own: else caches would hold more of it for some. All is in memory: what is measured is
// the calls and the lock, and no disk.
//
// Readers that have a descriptor each of one file tell the file from the descriptor: as long as a call uses a descriptor
// that a program of several threads has, the kernel counts it on a word that all of them write.
func preads(b *bench) (figures []results.Figure, err error) {
	counts := []int{1, 2, 4}
	var files []*os.File
	for range slices.Max(counts) {
		f, failed := scratchFile(b.dir, readBytes, pattern)
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		files = append(files, f)
	}
	var opened []*os.File // all of the first file
	for range files {
		f, failed := os.Open(fmt.Sprintf("/proc/self/fd/%d", files[0].Fd()))
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		opened = append(opened, f)
	}
	var arms []arm
	for _, n := range counts {
		part := readBytes / n
		seek := bySeek(files[0])
		var pread, seeking, descriptors, own []readAt
		for i := range n {
			pread = append(pread, from(i*part, byPread(files[0])))
			seeking = append(seeking, from(i*part, seek))
			descriptors = append(descriptors, from(i*part, byPread(opened[i])))
			own = append(own, from(i*part, byPread(files[i])))
		}
		arms = append(arms,
			arm{fmt.Sprintf("pread-%d", n), b.randomReads(part, 1<<10, n, pread...)},
			arm{fmt.Sprintf("seek-%d", n), b.randomReads(part, 1<<10, n, seeking...)},
			arm{fmt.Sprintf("descriptors-%d", n), b.randomReads(part, 1<<10, n, descriptors...)},
			arm{fmt.Sprintf("own-%d", n), b.randomReads(part, 1<<10, n, own...)})
	}
	seconds, err := b.race(arms...)
	if err != nil {
		return nil, err
	}
	of := func(way string, n int) []float64 { return seconds[fmt.Sprintf("%s-%d", way, n)] }
	for _, n := range counts {
		figures = append(figures, b.ratio(fmt.Sprintf("pread-%d", n), fmt.Sprintf("reads/s of pread over seek and read under a lock, readers: %d", n), of("seek", n), of("pread", n)))
	}
	for _, way := range []struct{ name, text string }{{"pread", "pread from one descriptor"}, {"seek", "seek and read under a lock"}, {"descriptors", "pread from a descriptor each"}, {"own", "pread from a file each"}} {
		for _, n := range counts {
			if n > 1 {
				figures = append(figures, b.ratio(fmt.Sprintf("%s-%d-over-1", way.name, n), fmt.Sprintf("reads/s of %d readers over one, %s", n, way.text), of(way.name, 1), of(way.name, n)))
			}
			if n > 1 && way.name != "own" {
				figures = append(figures, b.ratio(fmt.Sprintf("%s-%d-over-own", way.name, n), fmt.Sprintf("reads/s of %d readers, %s over pread from a file each", n, way.text), of("own", n), of(way.name, n)))
			}
			figures = append(figures, b.value(fmt.Sprintf("%s-%d-seconds", way.name, n), fmt.Sprintf("time per read, %s, readers: %d", way.text, n), "s", of(way.name, n)))
		}
	}
	return figures, nil
}

// from reads at positions behind a first one.
func from(first int, read readAt) readAt {
	return func(p []byte, position int64) error { return read(p, int64(first)+position) }
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

// randomReads is a loop of reads of size bytes at random multiples of size in a file of some length, by readers side by
// side that share the operations, and the ways to read in turn. It reads the same positions each time.
func (b *bench) randomReads(length, size, readers int, ways ...readAt) func(n int) error {
	seed := b.random.Uint64()
	return func(n int) error {
		errs := make([]error, readers)
		var group sync.WaitGroup
		for i := range readers {
			group.Go(func() {
				read := ways[i%len(ways)]
				random, p := rand.New(rand.NewPCG(seed, uint64(i))), make([]byte, size)
				for range (n + i) / readers { // which add up to n
					if errs[i] = read(p, random.Int64N(int64(length/size))*int64(size)); errs[i] != nil {
						return
					}
				}
			})
		}
		group.Wait()
		return errors.Join(errs...)
	}
}
