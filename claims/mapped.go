package claims

import (
	"errors"
	"math/rand/v2"
	"os"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

// mapped compares reads of a log through a mapping with pread: hot, while it grows, and cold.
//
// Hot, the mapping saves the system call, and both copy. The copy stays in the comparison: a reader that was handed
// the mapped bytes themselves could not outlive a trim.
//
// Cold reads, and those of a process that is short of memory (pressure), show what it means that the kernel has reclaimed
// pages of the log. The seconds differ by what the kernel reads ahead, but not only seconds count: a reader of a mapped page
// that is gone waits for the disk inside a load. To Go's scheduler its thread is running; the processor (P) that it
// holds runs no other goroutine until the page is there, and GOMAXPROCS such readers stop the program. A pread waits in
// a system call, of which the scheduler knows, and whose P it gives to other goroutines.
func mapped(b *bench) (figures []results.Figure, err error) {
	f, err := scratchFile(b.dir, logBytes, pattern)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for _, measure := range []func(*os.File) ([]results.Figure, error){b.mappedReads, b.mappedGrowth, b.mappedFaults} {
		more, err := measure(f)
		if err != nil {
			return figures, err
		}
		figures = append(figures, more...)
	}
	cold, err := b.mappedCold()
	if errors.Is(err, errors.ErrUnsupported) {
		cold, err = []results.Figure{unmeasured("cold-1k", coldReadText, "×", err)}, nil
	}
	return append(figures, cold...), err
}

// mappedReads reads at random, all pages being in memory and mapped.
func (b *bench) mappedReads(f *os.File) (figures []results.Figure, err error) {
	mapped, err := mapFile(f, logBytes, unix.PROT_READ)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unix.Munmap(mapped)) }()
	touch(mapped, os.Getpagesize())
	seconds, err := b.race(
		arm{"mapped-1k", b.randomReads(logBytes, 1<<10, 1, byCopy(mapped))},
		arm{"pread-1k", b.randomReads(logBytes, 1<<10, 1, byPread(f))},
		arm{"mapped-64k", b.randomReads(logBytes, 64<<10, 1, byCopy(mapped))},
		arm{"pread-64k", b.randomReads(logBytes, 64<<10, 1, byPread(f))})
	if err != nil {
		return nil, err
	}
	return []results.Figure{
		b.ratio("mapped-1k", "reads/s of 1 KiB from a mapping over pread", seconds["pread-1k"], seconds["mapped-1k"]),
		b.ratio("mapped-64k", "reads/s of 64 KiB from a mapping over pread", seconds["pread-64k"], seconds["mapped-64k"]),
		b.value("mapped-1k-seconds", "time of a read of 1 KiB from a mapping", "s", seconds["mapped-1k"]),
		b.value("pread-1k-seconds", "time of a read of 1 KiB by pread", "s", seconds["pread-1k"]),
		b.value("mapped-64k-seconds", "time of a read of 64 KiB from a mapping", "s", seconds["mapped-64k"]),
		b.value("pread-64k-seconds", "time of a read of 64 KiB by pread", "s", seconds["pread-64k"]),
	}, nil
}

// mappedFaults touches pages that are in memory and not yet mapped: one in each 64 KiB, each of which faults; and all
// in order, of which the kernel maps up to 64 KiB with one fault: 16 pages of 4 KiB.
func (b *bench) mappedFaults(f *os.File) ([]results.Figure, error) {
	_, seconds, err := b.gauges(faults("fault", f, 64<<10), faults("page", f, os.Getpagesize()))
	if err != nil {
		return nil, err
	}
	return []results.Figure{
		b.value("fault-seconds", "time of the fault that maps a page which is in memory, and its neighbours", "s", seconds["fault"]),
		b.value("page-seconds", "time that faults cost for each page of a mapping, touched in order", "s", seconds["page"]),
	}, nil
}

func faults(name string, f *os.File, stride int) gauge {
	const size = 16 << 20
	return gauge{name, func(n int) (float64, error) {
		var watch stopwatch
		for range n {
			mapped, err := mapFile(f, size, unix.PROT_READ)
			if err != nil {
				return 0, err
			}
			watch.start()
			touch(mapped, stride)
			watch.stop()
			if err := unix.Munmap(mapped); err != nil {
				return 0, err
			}
		}
		return watch.seconds() / float64(size/stride), nil
	}}
}

const coldReadText = "reads/s of 1 KiB from a mapping over pread, no page being in memory"

// mappedCold makes one random read of 1 KiB at a time of which no page is in memory. A fault reads ahead, and before:
// as much as the disk's read_ahead_kb; a mapping that is advised that reads are random, one page. A pread reads the pages
// that it needs, as long as it follows no other in sequence.
func (b *bench) mappedCold() (figures []results.Figure, err error) {
	const size = 16 << 20
	f, err := b.coldFile(size, pattern)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	one := func(name string, advice int, read func(mapped []byte) readAt) gauge {
		random, p := rand.New(rand.NewPCG(b.random.Uint64(), 0)), make([]byte, 1<<10)
		return coldly(name, f, size, advice, func(mapped []byte) error {
			return read(mapped)(p, random.Int64N(size/1024)*1024)
		})
	}
	pread := byPread(f)
	_, seconds, err := b.gauges(
		one("mapped", unix.MADV_NORMAL, byCopy),
		one("advised", unix.MADV_RANDOM, byCopy),
		one("pread", unix.MADV_NORMAL, func([]byte) readAt { return pread }))
	if err != nil {
		return nil, err
	}
	return []results.Figure{
		b.ratio("cold-1k", coldReadText, seconds["pread"], seconds["mapped"]),
		b.ratio("cold-advised-1k", coldReadText+", the mapping advised that reads are random", seconds["pread"], seconds["advised"]),
		b.value("cold-mapped-seconds", "time of a read of 1 KiB from a mapping, no page being in memory", "s", seconds["mapped"]),
		b.value("cold-advised-seconds", "time of a read of 1 KiB from a mapping advised that reads are random, no page being in memory", "s", seconds["advised"]),
		b.value("cold-pread-seconds", "time of a read of 1 KiB by pread, no page being in memory", "s", seconds["pread"]),
	}, nil
}
