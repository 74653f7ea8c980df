package claims

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// workBesideReaders measures how much work a goroutine gets done, per second: alone, and beside readers
// of each kind, few and many, with their reads per second.
func workBesideReaders(ctx context.Context, r *pressureRequest) (values byBlock, err error) {
	view, err := openView(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, view.close()) }()
	if err := view.adviseRandom(); err != nil {
		return nil, err
	}
	if runtime.NumCPU() < othersProcessors {
		return nil, reason(fmt.Sprintf("it takes %d processors", othersProcessors))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(othersProcessors))
	arms := []othersArm{{"alone", 0, nil}}
	for _, n := range []int{fewReaders, manyReaders} {
		arms = append(arms,
			othersArm{fmt.Sprintf("mapped-%d", n), n, fromMapping(view)},
			othersArm{fmt.Sprintf("pread-%d", n), n, fromFile(view)})
	}
	random := rand.New(rand.NewPCG(r.Seed, 0))
	values = make(byBlock)
	turns := make(map[string]*othersTurn)
	for _, arm := range arms {
		turns[arm.name] = new(othersTurn)
	}
	for range max(1, r.Turn/othersShare) {
		for _, i := range random.Perm(len(arms)) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := view.drop(view); err != nil {
				return nil, err
			}
			if err := turns[arms[i].name].run(arms[i], random.Perm(r.Size/os.Getpagesize())); err != nil {
				return nil, err
			}
		}
	}
	for name, t := range turns {
		// Of what never happened there was fewer than one.
		values.add(name+"-work", float64(max(1, t.chunks))/t.took.Seconds())
		values.add(name+"-reads", float64(t.reads.Load())/t.took.Seconds())
	}
	return values, nil
}

// othersArm is how many readers there are, and how they read.
type othersArm struct {
	name    string
	readers int
	read    readAt
}

// othersTurn is what a goroutine that works, and readers beside it, get done in the parts of a turn.
type othersTurn struct {
	chunks int
	state  uint64 // what they come to
	reads  atomic.Int64
	took   time.Duration

	begun   time.Time // of the present part
	stopped atomic.Bool
}

// run does a part of the turn, which ends when its time is over or a reader has read all of its pages.
func (t *othersTurn) run(arm othersArm, pages []int) error {
	var group sync.WaitGroup
	errs := make([]error, arm.readers)
	t.stopped.Store(false)
	t.begun = time.Now()
	for i := range arm.readers {
		own := pages[i*len(pages)/arm.readers : (i+1)*len(pages)/arm.readers]
		group.Go(func() { errs[i] = t.readPages(arm.read, own) })
	}
	group.Go(func() {
		for !t.stopped.Load() {
			t.state = compute(t.state)
			t.chunks++
			if arm.readers == 0 && t.over() {
				t.stop()
			}
		}
	})
	group.Wait()
	return errors.Join(errs...)
}

func (t *othersTurn) over() bool { return time.Since(t.begun) >= othersShare }

// readPages reads of each page until the part of the turn ends, which it sees to.
func (t *othersTurn) readPages(read readAt, pages []int) error {
	defer t.stop()
	p := make([]byte, 1<<10)
	for _, page := range pages {
		if err := read(p, int64(page)*int64(os.Getpagesize())); err != nil {
			return err
		}
		if t.stopped.Load() || t.over() {
			return nil
		}
		t.reads.Add(1)
	}
	return nil
}

// stop ends a part of the turn, once.
func (t *othersTurn) stop() {
	if t.stopped.CompareAndSwap(false, true) {
		t.took += time.Since(t.begun)
	}
}

// compute is a chunk of work of a few microseconds, in registers.
func compute(state uint64) uint64 {
	for range 2000 {
		state = state*6364136223846793005 + 1442695040888963407
	}
	return state
}
