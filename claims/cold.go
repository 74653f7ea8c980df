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
// is fresh too, and of which the kernel has the advice (of madvise). Neither dropping nor mapping counts, which a store
// does not do for each of its reads. What lies below this machine, such as the cache of a virtual machine's host, may
// still have the pages.
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

// mapCold maps a file of which no page is in memory.
func mapCold(f *os.File, size int) ([]byte, error) {
	const tries = 50
	mapped, err := mapFile(f, size, unix.PROT_READ)
	if err != nil {
		return nil, err
	}
	if err := dropPages(f, mapped, tries, nil); err != nil {
		return nil, errors.Join(err, unix.Munmap(mapped))
	}
	return mapped, nil
}

// dropPages drops the pages of a file from memory, and looks by a mapping of it whether they are gone. Pages that are
// still being read ahead can't be dropped, and it tries again, a millisecond later; it gives errNotDropped where some
// always stay, as those on tmpfs do, and those of mappings that have read them: letGo, which may be nil, is to have
// these let go of them.
func dropPages(f *os.File, mapped []byte, tries int, letGo func() error) error {
	for range tries {
		if letGo != nil {
			if err := letGo(); err != nil {
				return err
			}
		}
		if err := dropCache(f); err != nil {
			return err
		}
		if resident, err := residentPages(mapped); err != nil || resident == 0 {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errNotDropped
}
