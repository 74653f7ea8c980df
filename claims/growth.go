package claims

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

// growthStep is what a log grows by before its mapping does.
const growthStep = 1 << 20

// mappedGrowth measures what a log that grows costs its mapping: the call that makes that longer, and the faults of
// the first reads of the new part, beside the pwrite that has written it. The remap-written figure is of a log that is
// written through the mapping too, and grows by ftruncate. In the faults is what a mapping that never grows pays as well,
// once for each page (mappedFaults).
//
// What it does not measure is harder: a mapping that grows may move, so that readers must have let go of the old one.
func (b *bench) mappedGrowth(f *os.File) (figures []results.Figure, err error) {
	// A store to a mapped page for which the file system has no room is a signal, and no error.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		cause := recover()
		if fault, ok := cause.(interface {
			error
			Addr() uintptr
		}); ok {
			figures, err = nil, fmt.Errorf("growing a mapping: %w", fault)
		} else if cause != nil {
			panic(cause)
		}
	}()
	fresh, err := scratchFile(b.dir, 0, pattern)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fresh.Close()) }()
	added := make([]byte, growthStep)
	pattern(added, 0)
	var remaps moves
	_, seconds, err := b.gauges(
		gauge{"pwrite", func(n int) (float64, error) { return growByPwrite(fresh, added, n) }},
		gauge{"remap", func(n int) (float64, error) {
			return grow(f, unix.PROT_READ, n, func(size int) error { return nil }, func(part []byte) { touch(part, os.Getpagesize()) }, &remaps)
		}},
		gauge{"remap-written", func(n int) (float64, error) {
			extend := func(size int) error { return fresh.Truncate(int64(size)) }
			return grow(fresh, unix.PROT_READ|unix.PROT_WRITE, n, extend, func(part []byte) { copy(part, added) }, new(moves))
		}})
	if err != nil {
		return nil, err
	}
	return []results.Figure{
		b.ratio("remap", "time of growing a mapping by 1 MiB and reading each new page once, over pwrite of that MiB", seconds["remap"], seconds["pwrite"]),
		b.ratio("remap-written", "time of growing file and mapping by 1 MiB and writing that through the mapping, over pwrite of it", seconds["remap-written"], seconds["pwrite"]),
		counted("remap-moved", "part of the growths in which the mapping was moved, since it could not grow where it was", "", float64(remaps.moved)/float64(remaps.all)),
		b.value("remap-seconds", "time of growing a mapping by 1 MiB and reading each new page once", "s", seconds["remap"]),
		b.value("pwrite-seconds", "time of pwrite of 1 MiB behind the end of a file", "s", seconds["pwrite"]),
	}, nil
}

// growByPwrite measures n writes behind the end of a file, which starts anew at the size of a log.
func growByPwrite(f *os.File, added []byte, n int) (float64, error) {
	var watch stopwatch
	for i := range n {
		position := int64(i%(logBytes/growthStep)) * growthStep
		if position == 0 {
			if err := f.Truncate(0); err != nil {
				return 0, err
			}
		}
		watch.start()
		written, err := unix.Pwrite(int(f.Fd()), added, position)
		watch.stop()
		if err := whole(written, added, err); err != nil {
			return 0, err
		}
	}
	return watch.seconds(), nil
}

// grow measures n times what it takes to extend the file, make its mapping longer by a step, and use the new part.
// At the size of a log the mapping starts anew, empty but for a step.
func grow(f *os.File, protection, n int, extend func(size int) error, use func(part []byte), seen *moves) (seconds float64, err error) {
	var mapped []byte
	defer func() {
		if mapped != nil {
			err = errors.Join(err, unix.Munmap(mapped))
		}
	}()
	var watch stopwatch
	for range n {
		if len(mapped) == logBytes {
			if err := unix.Munmap(mapped); err != nil {
				return 0, err
			}
			mapped = nil
		}
		if mapped == nil {
			if err := extend(0); err != nil {
				return 0, err
			}
			if err := extend(growthStep); err != nil {
				return 0, err
			}
			if mapped, err = mapFile(f, growthStep, protection); err != nil {
				return 0, err
			}
			use(mapped)
		}
		size := len(mapped) + growthStep
		watch.start()
		if err := extend(size); err != nil {
			return 0, err
		}
		was := &mapped[0]
		longer, err := growMapping(f, mapped, size, protection)
		if err != nil {
			return 0, err
		}
		seen.all++
		if &longer[0] != was {
			seen.moved++
		}
		mapped = longer
		use(mapped[size-growthStep:])
		watch.stop()
	}
	return watch.seconds(), nil
}

// moves are how often a mapping has grown, and how often it was moved for that. Where a process has room behind its
// mapping, by chance, the others don't: a move costs as much as it has pages.
type moves struct{ all, moved int }

// touch reads a byte of every stride. A caller into which it was inlined would see no use for the bytes, and not
// read them.
//
//go:noinline
func touch(mapped []byte, stride int) (sum int) {
	for at := 0; at < len(mapped); at += stride {
		sum += int(mapped[at])
	}
	return sum
}
