package claims

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

var (
	errNoDisk     = fmt.Errorf("there is no disk to read from: %w", errors.ErrUnsupported)
	errNotDropped = fmt.Errorf("the page cache can't be dropped: %w", errors.ErrUnsupported)
)

// coldFile is a scratch file on a disk, written back, so that its pages can be dropped. Without a disk it gives
// errNoDisk.
func (b *bench) coldFile(size int64, fill func(p []byte, position int64)) (*os.File, error) {
	if b.disk == "" {
		return nil, errNoDisk
	}
	f, err := scratchFile(b.disk, size, fill)
	if err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// coldly measures the seconds of use while no page of the file is in memory at first. It is handed a mapping that
// is fresh too, and of which the kernel has the advice (of madvise). Neither dropping nor mapping counts, which a store does not do for each of its reads. What lies below
// this machine, such as the cache of a virtual machine's host, may still have the pages.
func coldly(name string, f *os.File, size, advice int, use func(mapped []byte) error) gauge {
	return gauge{name, func(n int) (float64, error) {
		var watch stopwatch
		for range n {
			mapped, err := mapCold(f, size)
			if err != nil {
				return 0, err
			}
			if err = unix.Madvise(mapped, advice); err == nil {
				watch.start()
				err = use(mapped)
				watch.stop()
			}
			if err := errors.Join(err, unix.Munmap(mapped)); err != nil {
				return 0, err
			}
		}
		return watch.seconds(), nil
	}}
}

// mapCold drops the pages of a file from memory, and maps it. Pages that are still being read ahead can't be dropped,
// and it tries again; it gives errNotDropped where some always stay, as those do that are mapped or on tmpfs.
func mapCold(f *os.File, size int) ([]byte, error) {
	const tries = 50
	for range tries {
		if err := dropCache(f); err != nil {
			return nil, err
		}
		mapped, err := mapFile(f, size, unix.PROT_READ)
		if err != nil {
			return nil, err
		}
		resident, err := residentPages(mapped)
		if err == nil && resident == 0 {
			return mapped, nil
		}
		if err := errors.Join(err, unix.Munmap(mapped)); err != nil {
			return nil, err
		}
		time.Sleep(time.Millisecond)
	}
	return nil, errNotDropped
}
