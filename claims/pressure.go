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
	bothAdvised  = ", both advised that reads are random"
	othersText   = "work of another goroutine beside %d readers of pages that are not in memory, mapped over pread"
)

// pressure is the experiment of reads while pages of the log are not in memory, by processes that lack memory or
// processors: each block has one.
func pressure(b *bench) (figures []results.Figure, err error) {
	for _, e := range []struct {
		name, text string
		measure    func() ([]results.Figure, error)
	}{
		{"pressure-advised-1k", pressureText + bothAdvised, b.shortOfMemory},
		{"pressure-others", fmt.Sprintf(othersText, fewReaders), b.workOfOthers},
	} {
		more, err := e.measure()
		if errors.Is(err, errors.ErrUnsupported) {
			more, err = []results.Figure{unmeasured(e.name, e.text, "×", err)}, nil
		}
		if err != nil {
			return figures, err
		}
		figures = append(figures, more...)
	}
	return figures, nil
}

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
		b.ratio("pressure-advised-1k", pressureText+bothAdvised, v["pread-advised-seconds"], v["mapped-advised-seconds"]),
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

const (
	othersProcessors = 2 // GOMAXPROCS
	fewReaders       = othersProcessors
	manyReaders      = 4 * othersProcessors
	// othersShare is the part of its turn that an arm takes at a time, so that what else runs on the machine hits the
	// others as well: several times as long as Go lets a goroutine run before another one's turn, 10 ms.
	othersShare = 50 * time.Millisecond
)

// workOfOthers measures what readers that wait for the disk take from another goroutine of the program, which only
// computes: how much it gets done beside two readers, and beside eight, while GOMAXPROCS is two.
//
// Held equal are the readers, what they read – 1 KiB of each page, in random order, no page being in memory – and
// that each read brings in one page: both are advised that reads are random. No memory need be short for that: the
// pages are dropped before each part of a turn. Not held equal is how many reads there are: readers are in closed
// loops, and go as fast as they can, so that both rates are figures too.
//
// A reader of a mapping holds its processor (P) while it waits, and lets go of it only at the end of a time slice. So
// the goroutine that computes gets the same share of the two processors as each reader: 2/3 of one beside two readers,
// 2/9 beside eight. From a pread that waits the runtime takes the P away, once sysmon has seen it, which looks every
// 20 µs or less often; if most waits are shorter than that, the two kinds come close to each other.
func (b *bench) workOfOthers() ([]results.Figure, error) {
	v, err := b.pressureChild(workOfOthers, 0, max(4*b.turn, othersShare))
	if err != nil {
		return nil, err
	}
	var figures []results.Figure
	for _, n := range []int{fewReaders, manyReaders} {
		suffix := ""
		if n == manyReaders {
			suffix = fmt.Sprintf("-%d", n)
		}
		beside := fmt.Sprintf("%d readers of pages that are not in memory", n)
		mapped, pread := fmt.Sprintf("mapped-%d", n), fmt.Sprintf("pread-%d", n)
		figures = append(figures,
			b.ratio("pressure-others"+suffix, fmt.Sprintf(othersText, n), v[mapped+"-work"], v[pread+"-work"]),
			b.ratio("others-mapped"+suffix, "work of another goroutine beside "+beside+", mapped, over alone", v[mapped+"-work"], v["alone-work"]),
			b.ratio("others-pread"+suffix, "work of another goroutine beside "+beside+", by pread, over alone", v[pread+"-work"], v["alone-work"]),
			b.value("others-mapped"+suffix+"-reads", "reads of "+beside+", mapped, beside another goroutine", "1/s", v[mapped+"-reads"]),
			b.value("others-pread"+suffix+"-reads", "reads of "+beside+", by pread, beside another goroutine", "1/s", v[pread+"-reads"]))
	}
	return figures, nil
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

// drop takes the log out of memory, and out of the mappings of the given views, which would keep it there. It tries
// for longer than mapCold, since whole stretches of the log are being read ahead.
func (l *logView) drop(views ...*logView) error {
	const tries = 200
	return dropPages(l.file, l.mapped, tries, func() error {
		for _, view := range views {
			if err := unix.Madvise(view.mapped, unix.MADV_DONTNEED); err != nil {
				return err
			}
		}
		return nil
	})
}
