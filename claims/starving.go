package claims

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/strategies"
)

const (
	// starvingWindow is how long a writer is watched in each block: the longest wait that can be seen. It is the same
	// whatever the turns are, since the longest of more appends is longer.
	starvingWindow = 250 * time.Millisecond
	// starvingPause is the time from one append's due time to the next one's.
	starvingPause   = 2 * time.Millisecond
	starvingReaders = 8
	starvingRecords = 1024 // of 1 KiB each, which the readers read at random
)

// starved is what a writer met in a window.
type starved struct {
	longest time.Duration // of its appends, from when it was due to its return
	called  time.Duration // the longest from its call to its return
	done    int           // appends within the window
}

// starving is the experiment that watches a writer beside readers that never pause. An append that is due while the
// one before is still under way is late for that, and what is due and has not begun when the window ends counts with
// its age: a writer that falls behind is not left out, as it is where latency is measured at a rate that it keeps.
func starving(b *bench) ([]results.Figure, error) {
	names := []string{"rwmutex", "mutex", "rbmutex", "atomics"}
	seen := make(map[string][]starved)
	for range b.blocks {
		for _, i := range b.random.Perm(len(names)) {
			s, err := b.starve(func(o strategies.Options) (strategies.Log, error) { return openLog(names[i], o) })
			if err != nil {
				return nil, fmt.Errorf("claims: %s: %w", names[i], err)
			}
			seen[names[i]] = append(seen[names[i]], s)
		}
	}
	values := func(name string, value func(starved) float64) []float64 {
		var list []float64
		for _, s := range seen[name] {
			list = append(list, value(s))
		}
		return list
	}
	longest := func(s starved) float64 { return s.longest.Seconds() }
	called := func(s starved) float64 { return s.called.Seconds() }
	// A window in which none was done has fewer than one.
	done := func(s starved) float64 { return float64(max(1, s.done)) / float64(starvingWindow/starvingPause) }
	figures := []results.Figure{
		b.ratio("rwmutex-called-over-mutex", "longest append of a window from its call, rwmutex over mutex", values("rwmutex", called), values("mutex", called)),
		b.ratio("rbmutex-called-over-mutex", "longest append of a window from its call, rbmutex over mutex", values("rbmutex", called), values("mutex", called)),
		b.ratio("rwmutex-called-over-atomics", "longest append of a window from its call, rwmutex over atomics", values("rwmutex", called), values("atomics", called)),
		b.ratio("rwmutex-over-mutex", "longest append of a window from when it was due, rwmutex over mutex", values("rwmutex", longest), values("mutex", longest)),
		b.ratio("rbmutex-over-mutex", "longest append of a window from when it was due, rbmutex over mutex", values("rbmutex", longest), values("mutex", longest)),
	}
	for _, name := range names {
		figures = append(figures,
			b.value(name+"-longest", "longest append of a window from when it was due, "+name, "s", values(name, longest)),
			b.value(name+"-called", "longest append of a window from its call, "+name, "s", values(name, called)),
			b.value(name+doneFigure, "share of the appends due in a window that were done in it, "+name, "", values(name, done)))
	}
	return figures, nil
}

// doneFigure ends the names of shares of the appends that were due.
const doneFigure = "-done"

// starvingApart is starving in a process for each block. Of the appends due no more than all can be done, whatever an
// interval by the spread of the logarithms says.
func starvingApart(b *bench) ([]results.Figure, error) {
	figures, err := apart("starving")(b)
	for i := range figures {
		if f := &figures[i]; strings.HasSuffix(f.Name, doneFigure) {
			f.High = min(f.High, 1)
		}
	}
	return figures, err
}

// starve runs the readers and the writer for a window, on a log of their own.
func (b *bench) starve(open func(strategies.Options) (strategies.Log, error)) (s starved, err error) {
	files, remove, err := b.scratchStorage("starving-")
	if err != nil {
		return s, err
	}
	defer remove()
	log, err := open(strategies.Options{Storage: files})
	if err != nil {
		return s, errors.Join(err, files.Close())
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	writer := log.NewHandle()
	batch := oneRecord(1 << 10)
	for range starvingRecords {
		if _, err := writer.Append(b.ctx, batch, strategies.AcksLeader); err != nil {
			return s, err
		}
	}
	// The readers end with the window, whatever the writer does: one that they starve would never end them.
	ctx, cancel := context.WithTimeout(b.ctx, starvingWindow)
	failed := make([]error, starvingReaders)
	var readers sync.WaitGroup
	for i := range failed {
		h, seed := log.NewHandle(), b.random.Uint64()
		readers.Go(func() { failed[i] = readOn(ctx, h, seed) })
	}
	s, err = appendWhenDue(b.ctx, writer, batch)
	cancel()
	readers.Wait()
	return s, errors.Join(err, writer.Close(), errors.Join(failed...))
}

// readOn reads at random without a pause until the context ends.
func readOn(ctx context.Context, h strategies.Handle, seed uint64) error {
	random, buf := rand.New(rand.NewPCG(seed, 0)), make([]byte, 2<<10)
	for ctx.Err() == nil {
		p, err := h.Read(random.Int64N(starvingRecords), buf)
		if err == nil && len(p) == 0 {
			err = errNothingRead
		}
		if err != nil {
			return errors.Join(err, h.Close())
		}
	}
	return h.Close()
}

// appendWhenDue appends at a constant rate for a window. time.Sleep wakes late on a busy machine, which counts: the
// readers keep the writer from running then.
func appendWhenDue(ctx context.Context, h strategies.Handle, batch segment.Batch) (s starved, err error) {
	begun := time.Now()
	for due := time.Duration(0); due < starvingWindow; due += starvingPause {
		now := time.Since(begun)
		if now < due {
			time.Sleep(due - now)
			now = time.Since(begun)
		}
		if now >= starvingWindow {
			s.longest = max(s.longest, now-due)
			break
		}
		if _, err := h.Append(ctx, batch, strategies.AcksLeader); err != nil {
			return s, err
		}
		end := time.Since(begun)
		s.longest, s.called = max(s.longest, end-due), max(s.called, end-now)
		if end <= starvingWindow {
			s.done++
		}
	}
	return s, nil
}
