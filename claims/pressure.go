package claims

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

const (
	pressureText = "reads/s of 1 KiB from a mapping over pread, with memory for a quarter of the log"
	othersText   = "work of another goroutine beside readers of pages that are not in memory, mapped over pread"
)

// ownMemory is what a process may have besides a part of the log: what it needs itself.
const ownMemory = 4 << 20

// shortOfMemory reads 1 KiB at random of a log that memory is short for: the group of the reading process may have a
// quarter of it, and what the process needs itself. In turn, each with a descriptor and a mapping of its own, there
// are reads from a mapping and by pread, and both once more after advice that reads are random (MADV_RANDOM,
// FADV_RANDOM).
//
// Equal is that each turn begins with as much of the log in memory as fits, and that all reads are drawn alike; so
// that all find their page there as often, if a miss reads one page. What it reads besides is a part of what is
// compared: the kernel reads ahead of faults, and before them, as much as the disk's read_ahead_kb, and nothing of
// the kind for a pread that follows no other. So the bytes from the disk per read are figures too.
func (b *bench) shortOfMemory() ([]results.Figure, error) {
	v, err := b.pressureChild(shortOfMemory, logBytes/4+ownMemory, b.turn)
	if err != nil {
		return nil, err
	}
	figures := []results.Figure{
		b.ratio("pressure-1k", pressureText, v["pread-seconds"], v["mapped-seconds"]),
		b.ratio("pressure-advised-1k", pressureText+", both advised that reads are random", v["pread-advised-seconds"], v["mapped-advised-seconds"]),
	}
	for _, arm := range []struct{ name, text string }{
		{"mapped", "from a mapping"},
		{"mapped-advised", "from a mapping advised that reads are random"},
		{"pread", "by pread"},
		{"pread-advised", "by pread advised that reads are random"},
	} {
		text := " a read of 1 KiB " + arm.text + ", with memory for a quarter of the log"
		figures = append(figures,
			b.value("pressure-"+arm.name+"-seconds", "time of"+text, "s", v[arm.name+"-seconds"]),
			b.value("pressure-"+arm.name+"-bytes", "bytes from the disk for"+text, "B", v[arm.name+"-bytes"]))
		if arm.name == "mapped" || arm.name == "mapped-advised" { // a pread has none
			figures = append(figures, b.value("pressure-"+arm.name+"-faults", "major faults of"+text, "per read", v[arm.name+"-faults"]))
		}
	}
	return figures, nil
}

// shortestOthersTurn evens out what other programs take from one arm.
const shortestOthersTurn = 100 * time.Millisecond

// workOfOthers measures what readers that wait for the disk take from another goroutine of the program, which only
// computes: how much it gets done beside two readers while GOMAXPROCS is two.
//
// Held equal are the readers, what they read – 1 KiB of each page, in random order, no page being in memory – and
// that each read brings in one page: both are advised that reads are random. No memory need be short for that: the
// pages are dropped before each turn. Not held equal is how many reads there are: readers are in closed loops, and go
// as fast as they can. Nor is that in their favour who read slower: both rates are figures too.
//
// Mapped readers hold their processor (P) while they wait, and the third goroutine has to share the two with them by
// time slices, which leaves it two thirds of one; with pread the runtime notices (sysmon looks every 20 µs or more)
// and hands on the P of a reader that waits, if it has waited long enough.
func (b *bench) workOfOthers() ([]results.Figure, error) {
	v, err := b.pressureChild(workOfOthers, 0, max(5*b.turn, shortestOthersTurn))
	if err != nil {
		return nil, err
	}
	return []results.Figure{
		b.ratio("pressure-others", othersText, v["mapped-work"], v["pread-work"]),
		b.ratio("others-mapped", "work of another goroutine beside readers of pages that are not in memory, mapped, over alone", v["mapped-work"], v["alone-work"]),
		b.ratio("others-pread", "work of another goroutine beside readers of pages that are not in memory, by pread, over alone", v["pread-work"], v["alone-work"]),
		b.value("others-mapped-reads", "reads of pages that are not in memory beside another goroutine, mapped", "1/s", v["mapped-reads"]),
		b.value("others-pread-reads", "reads of pages that are not in memory beside another goroutine, by pread", "1/s", v["pread-reads"]),
	}, nil
}

// logView is a descriptor and a mapping of the log that have their own state of reading ahead.
type logView struct {
	file   *os.File
	mapped []byte
}

// openView opens and maps the log anew.
func openView(r *pressureRequest) (*logView, error) {
	file, err := os.Open(r.Log)
	if err != nil {
		return nil, err
	}
	// A load behind the end would be a fatal signal.
	info, err := file.Stat()
	if err == nil && info.Size() < int64(r.Size) {
		err = fmt.Errorf("the log has %d bytes, not %d", info.Size(), r.Size)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	mapped, err := mapFile(file, r.Size, unix.PROT_READ)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &logView{file, mapped}, nil
}

func (l *logView) close() error { return errors.Join(unix.Munmap(l.mapped), l.file.Close()) }

// drop takes the log out of memory, and out of the mappings of the given views, which would keep it there. It gives
// errNotDropped where some pages always stay.
func (l *logView) drop(views ...*logView) error {
	const tries = 50
	for range tries {
		for _, view := range views {
			if err := unix.Madvise(view.mapped, unix.MADV_DONTNEED); err != nil {
				return err
			}
		}
		if err := dropCache(l.file); err != nil {
			return err
		}
		if resident, err := residentPages(l.mapped); err != nil || resident == 0 {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errNotDropped
}
