package claims

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/strategies"
)

// handleCounts are how many handles are made of a log.
var handleCounts = []int{1, 10, 100, 1_000, 10_000}

const (
	mostHandles = 10_000
	// handledBatches are what reads through handles draw from, of about 1 KiB each; handledBuffer holds an index
	// interval and a batch, so that a read is one pread.
	handledBatches = 4 << 10
	handledBuffer  = 6 << 10
)

// handles is the experiment that makes up to 10,000 handles of one log, and reads through all of them in turn, one
// read each: under actor, from files and from the heap, where nothing hides what a handle costs, and for comparison
// under mutex.
func handles(b *bench) ([]results.Figure, error) {
	few := []int{1, mostHandles}
	var figures []results.Figure
	for _, m := range []struct {
		prefix, strategy string
		files            []int
	}{{"", "actor", handleCounts}, {"mutex-", "mutex", few}} {
		made, err := b.makingHandles(m.prefix, m.strategy)
		if err != nil {
			return figures, fmt.Errorf("claims: handles of %s: %w", m.strategy, err)
		}
		fromFiles, err := b.readingFromFiles(m.prefix+"handles-rate", m.strategy, m.files)
		if err != nil {
			return figures, fmt.Errorf("claims: reads through handles of %s: %w", m.strategy, err)
		}
		fromHeap, err := b.readingThroughHandles(m.prefix+"handles-rate-heap", m.strategy, "heap", segment.NewHeap(), few)
		if err != nil {
			return figures, fmt.Errorf("claims: reads through handles of %s: %w", m.strategy, err)
		}
		figures = slices.Concat(figures, made, fromFiles, fromHeap)
	}
	return figures, nil
}

// makingHandles gives the time and the memory of a handle. Each number of them is made of a new log, so that what
// the log itself keeps of its handles grows, too.
func (b *bench) makingHandles(prefix, strategy string) ([]results.Figure, error) {
	b = b.withTurns(2) // of which a half is the closing or the making that is not timed
	var making []gauge
	for _, count := range handleCounts {
		making = append(making, gauge{fmt.Sprint(count), func(n int) (float64, error) {
			made, _, err := timeHandles(strategy, count, n)
			return made, err
		}})
	}
	making = append(making, gauge{"closing", func(n int) (float64, error) {
		_, closed, err := timeHandles(strategy, mostHandles, n)
		return closed, err
	}})
	_, seconds, err := b.gauges(making...)
	if err != nil {
		return nil, err
	}
	var bytes []float64
	for range b.blocks {
		var before, after uint64
		err := newHandles(strategy, mostHandles, func() { before = liveHeap() }, func() { after = liveHeap() }, func() {})
		if err != nil {
			return nil, err
		}
		bytes = append(bytes, (float64(after)-float64(before))/mostHandles)
	}
	figures := []results.Figure{
		b.value(prefix+"handle-seconds", fmt.Sprintf("time to make a handle, %d of a log, %s", mostHandles, strategy), "s", seconds[fmt.Sprint(mostHandles)]),
		b.value(prefix+"handle-bytes", fmt.Sprintf("memory of a handle, %d of a log, %s", mostHandles, strategy), "B", bytes),
		b.value(prefix+"handle-close-seconds", fmt.Sprintf("time to close a handle, %d of a log, %s", mostHandles, strategy), "s", seconds["closing"]),
	}
	for _, count := range handleCounts[:len(handleCounts)-1] {
		figures = append(figures, b.value(fmt.Sprintf("%shandle-seconds-%d", prefix, count),
			fmt.Sprintf("time to make a handle, %d of a log, %s", count, strategy), "s", seconds[fmt.Sprint(count)]))
	}
	return figures, nil
}

// timeHandles makes and closes handles of n new logs, and gives the seconds that each took to make and to close, times n.
func timeHandles(strategy string, count, n int) (made, closed float64, err error) {
	var making, closing stopwatch
	for range n {
		if err := newHandles(strategy, count, making.start, func() { making.stop(); closing.start() }, closing.stop); err != nil {
			return 0, 0, err
		}
	}
	return making.seconds() / float64(count), closing.seconds() / float64(count), nil
}

// newHandles makes handles of a new log, and closes them; it calls what is to happen before, between and after. They live
// until the second has returned.
func newHandles(strategy string, count int, before, between, after func()) error {
	log, err := openLog(strategy, strategies.Options{Storage: segment.NewHeap(), SegmentSize: 1 << 20})
	if err != nil {
		return err
	}
	all := make([]strategies.Handle, count)
	before()
	for i := range all {
		all[i] = log.NewHandle()
	}
	between()
	err = closeAll(all)
	after()
	return errors.Join(err, log.Close())
}

func closeAll(all []strategies.Handle) error {
	var err error
	for _, h := range all {
		err = errors.Join(err, h.Close())
	}
	return err
}

// liveHeap is the number of bytes that are in use after a collection; the second one is for what finalizers held.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func (b *bench) readingFromFiles(name, strategy string, counts []int) ([]results.Figure, error) {
	files, remove, err := b.scratchStorage("handles-")
	if err != nil {
		return nil, err
	}
	defer remove()
	return b.readingThroughHandles(name, strategy, "files", files, counts)
}

// readingThroughHandles gives the rates of random reads through several handles in turn over that through one.
func (b *bench) readingThroughHandles(name, strategy, on string, s segment.Storage, counts []int) ([]results.Figure, error) {
	seconds, err := b.raceHandles(strategy, s, counts)
	if err != nil {
		return nil, err
	}
	var figures []results.Figure
	for _, count := range counts[1:] {
		figure := b.ratio(name, fmt.Sprintf("reads/s through %d handles in turn over one, %s, %s", count, strategy, on), seconds["1"], seconds[fmt.Sprint(count)])
		if count != mostHandles {
			figure.Name += fmt.Sprintf("-%d", count)
		}
		figures = append(figures, figure)
	}
	return figures, nil
}

// raceHandles returns the seconds that a read takes through each number of handles of one log.
func (b *bench) raceHandles(strategy string, s segment.Storage, counts []int) (seconds map[string][]float64, err error) {
	log, err := openLog(strategy, strategies.Options{Storage: s})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	all := make([]strategies.Handle, mostHandles)
	for i := range all {
		all[i] = log.NewHandle()
	}
	defer func() { err = errors.Join(err, closeAll(all)) }()
	batch := oneRecord(1 << 10)
	for range handledBatches {
		if _, err := all[0].Append(context.Background(), batch, strategies.AcksLeader); err != nil {
			return nil, err
		}
	}
	var arms []arm
	for _, count := range counts {
		arms = append(arms, arm{fmt.Sprint(count), readInTurn(all[:count], b.random.Uint64())})
	}
	return b.race(arms...)
}

var errNothingRead = errors.New("a read below the high watermark gives nothing")

// readInTurn reads at random offsets, through one handle after the other.
func readInTurn(through []strategies.Handle, seed uint64) func(n int) error {
	random, buf, next := rand.New(rand.NewPCG(seed, 0)), make([]byte, handledBuffer), 0
	return func(n int) error {
		for range n {
			p, err := through[next].Read(random.Int64N(handledBatches), buf)
			if err != nil {
				return err
			}
			if len(p) == 0 {
				return errNothingRead
			}
			if next++; next == len(through) {
				next = 0
			}
		}
		return nil
	}
}
