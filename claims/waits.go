package claims

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/strategies"
)

// waitingProducers append at once where it is counted how many appends wait.
const waitingProducers = 8

// timedProducers append at once where it is timed how long they wait: as many as there are processors, since of more
// most of a wait would be that for a processor.
func timedProducers() int { return max(2, runtime.GOMAXPROCS(0)) }

// waitingTurn is how long producers append in each block: long enough for most logs to roll.
const waitingTurn = 200 * time.Millisecond

// waits is the experiment that counts which appends of 8 producers in closed loops had to wait under atomics, and times
// for how long, on files and on the heap; in a process for each block. Two claims share it.
func waits(b *bench) ([]results.Figure, error) {
	return b.once("waits", func(b *bench) ([]results.Figure, error) {
		answers, err := blocks[waitsSeen](b, "waits")
		if err != nil {
			return nil, err
		}
		var seen waitsSeen
		for _, a := range answers {
			seen.Files.add(a.Files)
			seen.Heap.add(a.Heap)
		}
		return b.waitFigures(seen), nil
	})
}

// waitsSeen are the waits of some blocks, as JSON where they are of another process.
type waitsSeen struct{ Files, Heap waitRuns }

// seeWaits looks at what the strategy keeps on the paths where it waits anyway.
func seeWaits(b *bench) (seen waitsSeen, err error) {
	files, remove, err := b.scratchStorage("waits-")
	if err != nil {
		return seen, fmt.Errorf("claims: %w", err)
	}
	defer remove()
	if seen.Files, err = b.countWaits(files); err == nil {
		seen.Heap, err = b.countWaits(segment.NewHeap())
	}
	if err != nil {
		return seen, fmt.Errorf("claims: waits: %w", err)
	}
	return seen, nil
}

func (b *bench) waitFigures(seen waitsSeen) []results.Figure {
	onFiles, onHeap := seen.Files, seen.Heap
	var all waited
	for _, w := range onFiles.Counted {
		all.add(w)
	}
	figures := []results.Figure{counted("atomics-waits", "appends that waited for others, of all in all blocks, files", "", float64(all.Any))}
	for _, f := range []struct {
		name, text string
		runs       []waited
		count      func(*waited) int64
	}{
		{"atomics-waited", "appends of 8 producers that waited for others, files", onFiles.Counted, func(w *waited) int64 { return w.Any }},
		{"atomics-commit", "appends that waited for the commit of an earlier batch, files", onFiles.Counted, func(w *waited) int64 { return w.Commit }},
		{"atomics-roll", "appends that waited for the next segment, or made it, files", onFiles.Counted, func(w *waited) int64 { return w.Roll }},
		{"atomics-ring", "appends that waited for room in the completion ring, files", onFiles.Counted, func(w *waited) int64 { return w.Ring }},
		{"atomics-parked", "times that a goroutine was parked, files", onFiles.Counted, func(w *waited) int64 { return w.Parked }},
		{"atomics-waited-heap", "appends of 8 producers that waited for others, heap", onHeap.Counted, func(w *waited) int64 { return w.Any }},
		{"atomics-parked-heap", "times that a goroutine was parked, heap", onHeap.Counted, func(w *waited) int64 { return w.Parked }},
	} {
		figures = append(figures, b.share(f.name, f.text, f.runs, f.count))
	}
	for _, f := range []struct {
		name, text string
		runs       []waited
		took       func(*waited) time.Duration
	}{
		{"atomics-commit-time", "for the commit of an earlier batch, files", onFiles.Timed, func(w *waited) time.Duration { return w.CommitTime }},
		{"atomics-roll-time", "for the next segment, or in making it, files", onFiles.Timed, func(w *waited) time.Duration { return w.RollTime }},
		{"atomics-ring-time", "for room in the completion ring, files", onFiles.Timed, func(w *waited) time.Duration { return w.RingTime }},
		{"atomics-commit-time-heap", "for the commit of an earlier batch, heap", onHeap.Timed, func(w *waited) time.Duration { return w.CommitTime }},
	} {
		figures = append(figures, b.part(f.name, fmt.Sprintf("part of the time of %d producers spent in waits %s", timedProducers(), f.text), f.runs, f.took))
	}
	return figures
}

// waited is how many appends there were, how many of them had to wait for something, and for what.
type waited struct {
	strategies.Waits
	Appends, Any int64
	Took         time.Duration // of all appends
}

func (w *waited) add(other waited) {
	w.Appends, w.Any, w.Took = w.Appends+other.Appends, w.Any+other.Any, w.Took+other.Took
	w.Commit, w.Roll, w.Ring, w.Parked = w.Commit+other.Commit, w.Roll+other.Roll, w.Ring+other.Ring, w.Parked+other.Parked
	w.CommitTime, w.RollTime, w.RingTime = w.CommitTime+other.CommitTime, w.RollTime+other.RollTime, w.RingTime+other.RingTime
}

// share is the figure of what is counted per append. A block in which nothing was has less than one of them, which
// bounds it; where no block has any, the share is zero.
func (b *bench) share(name, text string, runs []waited, count func(*waited) int64) results.Figure {
	var shares []float64
	var total int64
	for i := range runs {
		n := count(&runs[i])
		total += n
		shares = append(shares, float64(max(1, n))/float64(runs[i].Appends))
	}
	if total == 0 {
		return counted(name, text, "per append", 0)
	}
	return b.value(name, text, "per append", shares)
}

// part is the figure of what appends waited of the time that they took. Where some blocks have none, since a roll is
// too rare to be in each, it is that of all blocks together, and has no interval.
func (b *bench) part(name, text string, runs []waited, wait func(*waited) time.Duration) results.Figure {
	var waits, took time.Duration
	var parts []float64
	for i := range runs {
		waits, took = waits+wait(&runs[i]), took+runs[i].Took
		if wait(&runs[i]) > 0 {
			parts = append(parts, float64(wait(&runs[i]))/float64(runs[i].Took))
		}
	}
	if len(parts) == len(runs) {
		return b.value(name, text, "", parts)
	}
	return results.Figure{Name: name, Text: text, Value: float64(waits) / float64(took), Low: math.NaN(), High: math.NaN(), Blocks: len(runs)}
}

// waitRuns are the runs of each block in which waits were counted, and those in which they were timed too.
type waitRuns struct{ Counted, Timed []waited }

func (r *waitRuns) add(other waitRuns) {
	r.Counted, r.Timed = append(r.Counted, other.Counted...), append(r.Timed, other.Timed...)
}

// countWaits runs 8 producers for a turn in each block, and as many as processors for another, all on one log, so that
// its segments fill up. What a block has appended is trimmed after it.
func (b *bench) countWaits(s segment.Storage) (runs waitRuns, err error) {
	log, err := openLog("atomics", strategies.Options{Storage: s})
	if err != nil {
		return runs, errors.Join(err, s.Close())
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for range b.blocks {
		counted, err := b.produceAndWait(log, waitingProducers, false)
		if err != nil {
			return runs, err
		}
		timed, err := b.produceAndWait(log, timedProducers(), true)
		if err != nil {
			return runs, err
		}
		runs.Counted, runs.Timed = append(runs.Counted, counted), append(runs.Timed, timed)
		if err := log.Trim(math.MaxInt64); err != nil {
			return runs, err
		}
	}
	return runs, nil
}

func (b *bench) produceAndWait(log strategies.Log, producers int, timed bool) (waited, error) {
	ctx, cancel := context.WithTimeout(b.ctx, waitingTurn)
	defer cancel()
	seen, failed := make([]waited, producers), make([]error, producers)
	var done sync.WaitGroup
	for i := range producers {
		h := log.NewHandle()
		done.Go(func() { seen[i], failed[i] = appendAndCount(ctx, h, timed) })
	}
	done.Wait()
	var all waited
	for i := range seen {
		all.add(seen[i])
	}
	return all, errors.Join(errors.Join(failed...), b.ctx.Err())
}

// appendAndCount appends until the context ends, at least once.
func appendAndCount(ctx context.Context, h strategies.Handle, timed bool) (w waited, err error) {
	defer h.Close()
	counter, ok := h.(strategies.WaitCounter)
	if !ok {
		return w, errors.New("the handle counts no waits")
	}
	if timed {
		counter.TimeWaits()
	}
	batch := oneRecord(1 << 10)
	begun := time.Now()
	defer func() { w.Took = time.Since(begun) }()
	for w.Appends == 0 || ctx.Err() == nil {
		// In a context of its own, so that no append ends in between.
		if _, err := h.Append(context.Background(), batch, strategies.AcksLeader); err != nil {
			return w, err
		}
		w.Appends++
		if waits := counter.Waits(); waits != w.Waits {
			w.Any++
			w.Waits = waits
		}
	}
	return w, nil
}
