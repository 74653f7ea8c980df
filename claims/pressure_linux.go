package claims

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pressureArm is a way of reading the log.
type pressureArm struct {
	name string
	read readAt
	view *logView
}

// readUnderPressure measures reads of 1 KiB at random positions: of each arm by block the seconds, major faults and
// bytes from the disk per read.
func readUnderPressure(ctx context.Context, r *pressureRequest) (values byBlock, err error) {
	var views []*logView
	defer func() {
		for _, view := range views {
			err = errors.Join(err, view.close())
		}
	}()
	var arms []pressureArm
	for _, way := range []struct {
		name   string
		random bool
		read   func(*logView) readAt
	}{
		{"mapped", false, fromMapping},
		{"mapped-advised", true, fromMapping},
		{"pread", false, fromFile},
		{"pread-advised", true, fromFile},
	} {
		view, err := openView(r)
		if err != nil {
			return nil, err
		}
		views = append(views, view)
		if way.random {
			if err := view.adviseRandom(); err != nil {
				return nil, err
			}
		}
		arms = append(arms, pressureArm{way.name, way.read(view), view})
	}
	values = make(byBlock)
	random := rand.New(rand.NewPCG(r.Seed, 0))
	for _, i := range random.Perm(len(arms)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		last := arms[len(arms)-1]
		if err := last.view.drop(views...); err != nil {
			return nil, err
		}
		if err := fill(last.read, r, random); err != nil {
			return nil, err
		}
		if err := arms[i].turn(r, random, values); err != nil {
			return nil, err
		}
	}
	return values, checkPressure(values, arms)
}

func fromMapping(l *logView) readAt { return byCopy(l.mapped) }

func fromFile(l *logView) readAt { return byPread(l.file) }

// adviseRandom tells the kernel that reads of the view are at random positions, by either way.
func (l *logView) adviseRandom() error {
	return errors.Join(unix.Fadvise(int(l.file.Fd()), 0, 0, unix.FADV_RANDOM), unix.Madvise(l.mapped, unix.MADV_RANDOM))
}

// fill reads a stretch of the log that takes up all the memory, from a random position on. It is read by a view that
// reads nothing ahead, so that the disk has nothing to do when it returns.
func fill(read readAt, r *pressureRequest, random *rand.Rand) error {
	p := make([]byte, 1<<20)
	pieces := r.Size / len(p)
	first := random.IntN(pieces)
	for i := range min(pieces, r.Memory/len(p)) {
		if err := read(p, int64((first+i)%pieces)*int64(len(p))); err != nil {
			return err
		}
	}
	return nil
}

// fewestReads are those of a turn however long they take.
const fewestReads = 16

// turn reads for as long as a turn takes.
func (a *pressureArm) turn(r *pressureRequest, random *rand.Rand, values byBlock) error {
	p := make([]byte, 1<<10)
	var before, after unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &before); err != nil {
		return err
	}
	begun, n := time.Now(), 0
	for n < fewestReads || time.Since(begun) < r.Turn {
		if err := a.read(p, random.Int64N(int64(r.Size/len(p)))*int64(len(p))); err != nil {
			return err
		}
		n++
	}
	took := time.Since(begun)
	if err := unix.Getrusage(unix.RUSAGE_SELF, &after); err != nil {
		return err
	}
	resident, err := residentPages(a.view.mapped)
	if err != nil {
		return err
	}
	values.add(a.name+"-seconds", took.Seconds()/float64(n))
	values.add(a.name+"-faults", float64(after.Majflt-before.Majflt)/float64(n))
	values.add(a.name+"-bytes", float64(after.Inblock-before.Inblock)*inblockBytes/float64(n))
	values.add(a.name+"-resident", float64(resident*os.Getpagesize())/float64(r.Size))
	return nil
}

// inblockBytes is the unit of ru_inblock in getrusage(2).
const inblockBytes = 512

// checkPressure gives a reason if memory was not short: if more than half of the log was in memory after a turn of
// any arm, or fewer than a quarter of the reads from the mapping that reads one page at a time had to wait for it.
func checkPressure(values byBlock, arms []pressureArm) error {
	for _, arm := range arms {
		if share := mean(values[arm.name+"-resident"]); share > 0.5 {
			return reason(fmt.Sprintf("memory was not short: %.0f %% of the log stayed in it", 100*share))
		}
	}
	if share := mean(values["mapped-advised-faults"]); share < 0.25 {
		return reason(fmt.Sprintf("memory was not short: %.0f %% of the reads waited for a page", 100*share))
	}
	return nil
}
