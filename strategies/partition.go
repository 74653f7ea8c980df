package strategies

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"tailrace/segment"
)

// This file is the part of a partition that is not concurrency. Nothing in it synchronises; each
// model decides who may call it when.

// partitionState is a picture of a partition: the segments as far as they are visible, and the
// offsets that go with them. It is the article's PartitionState. A model that hands out pointers to
// it never changes one again.
type partitionState struct {
	// sealed are the segments before the active one, ascending. The slice is never changed in place,
	// so that pictures can share it; a roll makes a new one.
	sealed []segment.View
	active segment.View
	Offsets
}

// read implements Handle.Read on a picture.
func (s *partitionState) read(offset int64, buf []byte, c *segment.Cursor) ([]byte, error) {
	switch {
	case offset < s.Start || offset > s.HighWatermark:
		return nil, ErrOutOfRange
	case offset == s.HighWatermark:
		return buf[:0], nil
	case offset >= s.active.Base():
		return s.active.Read(offset, buf, c)
	}
	i := sort.Search(len(s.sealed), func(i int) bool { return s.sealed[i].End > offset })
	return s.sealed[i].Read(offset, buf, c)
}

// offsetForTime implements Handle.OffsetForTime on a picture.
func (s *partitionState) offsetForTime(ts int64, c *segment.Cursor) (int64, error) {
	for _, v := range s.sealed {
		if offset, found, err := v.OffsetForTime(ts, c); found || err != nil {
			return offset, err
		}
	}
	if offset, found, err := s.active.OffsetForTime(ts, c); found || err != nil {
		return offset, err
	}
	return s.HighWatermark, nil
}

// roll moves on to the next segment: sealed is the final picture of the last one.
func (s *partitionState) roll(sealed, active segment.View) {
	s.sealed = append(slices.Clip(s.sealed), sealed)
	s.active = active
}

// partition is a partition for a single owner: calls must not overlap.
type partition struct {
	// state is what readers may see; only commit and roll move it.
	state partitionState
	log   *segment.LogSegment
	sync  segment.SyncPolicy
	// failure is set by the first failed write or sync, for good.
	failure error
}

func openPartition(o Options) (partition, error) {
	if o.Replicas != 0 {
		return partition{}, fmt.Errorf("%w: %d replicas", ErrUnsupported, o.Replicas)
	}
	sealed, log, err := segment.Open(o.config())
	if err != nil {
		return partition{}, err
	}
	view := log.Publish()
	start := view.Base()
	if len(sealed) > 0 {
		start = sealed[0].Base()
	}
	return partition{
		state: partitionState{
			sealed:  sealed,
			active:  view,
			Offsets: Offsets{Start: start, HighWatermark: view.End, LogEnd: view.End},
		},
		log:  log,
		sync: o.Sync,
	}, nil
}

// append stores one checked batch and makes it visible.
func (p *partition) append(b segment.Batch) (base int64, err error) {
	if base, err = p.add(b); err != nil {
		return 0, err
	}
	return base, p.commit()
}

// add assigns a checked batch its offset and queues it, rolling first where the segment is full.
func (p *partition) add(b segment.Batch) (base int64, err error) {
	if p.failure != nil {
		return 0, p.failure
	}
	base, ok := p.log.Add(b)
	if !ok {
		if err := p.roll(); err != nil {
			return 0, err
		}
		if base, ok = p.log.Add(b); !ok {
			return 0, ErrTooLarge
		}
	}
	return base, nil
}

// commit writes what is queued, syncs it if the policy says so, and only then lets state show it.
func (p *partition) commit() error {
	if p.failure != nil {
		return p.failure
	}
	err := p.log.Write()
	if err == nil && p.sync == segment.SyncBatch {
		err = p.log.Sync()
	}
	if err != nil {
		return p.fail(err)
	}
	p.state.active = p.log.Publish()
	p.state.LogEnd = p.state.active.End
	p.state.HighWatermark = p.state.LogEnd
	return nil
}

// roll commits what is queued, seals the segment and begins the next one.
func (p *partition) roll() error {
	if err := p.commit(); err != nil {
		return err
	}
	next, err := p.log.Roll()
	if err != nil {
		return p.fail(err)
	}
	p.log = next
	p.state.roll(p.state.active, next.Publish())
	return nil
}

func (p *partition) fail(err error) error {
	p.failure = failure(err)
	return p.failure
}

// failure is the error of a partition that a write or sync has poisoned.
func failure(cause error) error { return fmt.Errorf("%w: %w", ErrFailed, cause) }

// close releases the segments and their storage.
func (p *partition) close(s segment.Storage) error {
	return errors.Join(segment.Close(p.state.sealed, p.log.Publish()), s.Close())
}

// config is the segments' configuration.
func (o Options) config() segment.Config {
	return segment.Config{Storage: o.Storage, Size: o.SegmentSize, Interval: o.IndexInterval, Sync: o.Sync}
}

// admission is what is checked of a call in the caller's goroutine, before any coordination.
type admission struct {
	config segment.Config
}

func admit(o Options) admission { return admission{o.config()} }

// check refuses a call that has been cancelled, and a batch that no segment can hold.
func (a admission) check(ctx context.Context, b segment.Batch, acks Acks) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if acks < AcksNone || acks > AcksAll {
		return ErrAcks
	}
	if err := b.Check(); err != nil {
		return err
	}
	if !a.config.Fits(b, 0, 0) {
		return ErrTooLarge
	}
	return nil
}

// acknowledged is what Append returns for a stored batch.
func acknowledged(base int64, acks Acks) int64 {
	if acks == AcksNone {
		return -1
	}
	return base
}

// unknownMaxTimestamp is that of a view whose owner does not track it for readers.
const unknownMaxTimestamp = math.MaxInt64
