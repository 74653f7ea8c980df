package claims

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/strategies"
)

// segmentCounts are the lengths of logs whose appends are compared.
var segmentCounts = []int{1, 10, 100, 1_000, 10_000}

const (
	mostSegments = 10_000
	// publishedSegment is larger than what an experiment appends: the log does not roll while it is measured.
	publishedSegment = segment.MaxSize
	// publishedInterval keeps the index of such a segment small.
	publishedInterval = 1 << 20
	// publishedAppends are those of which the allocated bytes are counted.
	publishedAppends = 200
)

// publish is the experiment that appends to logs of more and more segments, each time with a publication, under actor
// and under actor-plain, by one producer in a closed loop; but for the publication, appends to all these logs do the
// same. Then it has the owners of these logs publish by itself.
func publish(b *bench) ([]results.Figure, error) {
	var storages []*windowStorage
	for _, n := range segmentCounts {
		s, err := segmented(b.ctx, n)
		if err != nil {
			return nil, fmt.Errorf("claims: a log of %d segments: %w", n, err)
		}
		storages = append(storages, s)
	}
	var figures []results.Figure
	// One after the other: the garbage of the one that copies would slow down the other.
	for _, m := range []struct{ name, strategy string }{{"actor", "actor"}, {"plain", "actor-plain"}} {
		for _, measure := range []func(name, strategy string, storages []*windowStorage) ([]results.Figure, error){b.publishing, b.publications} {
			more, err := measure(m.name, m.strategy, storages)
			if err != nil {
				return nil, fmt.Errorf("claims: %s: %w", m.strategy, err)
			}
			figures = append(figures, more...)
		}
	}
	return figures, nil
}

// segmented makes a log of n segments, the last of which has room.
func segmented(ctx context.Context, n int) (*windowStorage, error) {
	s := newWindowStorage()
	batch := oneRecord(1)
	log, err := openLog("mutex", strategies.Options{Storage: s, SegmentSize: int64(len(batch)), IndexInterval: publishedInterval})
	if err != nil {
		return nil, err
	}
	h := log.NewHandle()
	for range n {
		if _, err = h.Append(ctx, batch, strategies.AcksLeader); err != nil {
			break
		}
	}
	return s, errors.Join(err, h.Close(), log.Close())
}

// publishing measures one strategy on all the logs.
func (b *bench) publishing(name, strategy string, storages []*windowStorage) (figures []results.Figure, err error) {
	var arms []arm
	for i, s := range storages {
		log, failed := openLog(strategy, strategies.Options{Storage: s, SegmentSize: publishedSegment, IndexInterval: publishedInterval})
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		arms = append(arms, appending(b.ctx, fmt.Sprint(segmentCounts[i]), log.NewHandle()))
	}
	seconds, err := b.race(arms...)
	if err != nil {
		return nil, err
	}
	last, one := fmt.Sprint(mostSegments), seconds["1"]
	for _, n := range segmentCounts[1:] {
		arm := fmt.Sprint(n)
		figures = append(figures, b.ratio(name+"-"+arm, fmt.Sprintf("time of an append to a log of %d segments over one, %s", n, strategy), seconds[arm], one))
	}
	bytes, err := b.allocated(arms[len(arms)-1].loop)
	if err != nil {
		return nil, err
	}
	return append(figures,
		b.value(name+"-bytes", "allocated by an append to a log of "+last+" segments, "+strategy, "B", bytes),
		b.value(name+"-seconds-1", "time of an append to a log of one segment, "+strategy, "s", one),
		b.value(name+"-seconds-"+last, "time of an append to a log of "+last+" segments, "+strategy, "s", seconds[last]),
	), nil
}

// publications measures the publication of one strategy by itself, on all the logs.
func (b *bench) publications(name, strategy string, storages []*windowStorage) (figures []results.Figure, err error) {
	var arms []arm
	for i, s := range storages {
		o := strategies.Options{Storage: s, SegmentSize: publishedSegment, IndexInterval: publishedInterval}
		p, failed := strategies.OpenPublisher(o, strategy == "actor-plain")
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		arms = append(arms, arm{fmt.Sprint(segmentCounts[i]), p.Publish})
	}
	seconds, err := b.race(arms...)
	if err != nil {
		return nil, err
	}
	for _, a := range arms {
		bytes, err := b.allocated(a.loop)
		if err != nil {
			return nil, err
		}
		of := fmt.Sprintf(" a publication of %s segments by itself, %s", a.name, strategy)
		figures = append(figures,
			b.value(name+"-publication-"+a.name, "time of"+of, "s", seconds[a.name]),
			b.value(name+"-publication-bytes-"+a.name, "allocated by"+of, "B", bytes))
	}
	return figures, nil
}

// appending is the arm that appends a small batch through a handle.
func appending(ctx context.Context, name string, h strategies.Handle) arm {
	batch := oneRecord(1)
	return arm{name, func(n int) error {
		for range n {
			if _, err := h.Append(ctx, batch, strategies.AcksLeader); err != nil {
				return err
			}
		}
		return nil
	}}
}

// allocated returns the bytes that an operation of a loop allocates, by block.
func (b *bench) allocated(loop func(n int) error) ([]float64, error) {
	var bytes []float64
	for range b.blocks {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := loop(publishedAppends); err != nil {
			return nil, err
		}
		runtime.ReadMemStats(&after)
		bytes = append(bytes, float64(after.TotalAlloc-before.TotalAlloc)/publishedAppends)
	}
	return bytes, nil
}

// openLog opens a log of a strategy by its name.
func openLog(strategy string, o strategies.Options) (strategies.Log, error) {
	s, err := strategies.Find(strategy)
	if err != nil {
		return nil, err
	}
	return s.Open(o)
}

// oneRecord is a batch of one record with a value of some bytes.
func oneRecord(size int) segment.Batch {
	var b segment.Builder
	b.Reset()
	b.Value(0, size)
	return b.Finish()
}
