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
	// so that pictures can share it; a roll or a trim makes a new one.
	sealed []sealedSegment
	active segment.View
	Offsets
	// replicas has the offset up to which each follower has the log. Like sealed, it is replaced, never
	// changed.
	replicas []int64
}

// sealedSegment is a segment before the active one.
type sealedSegment struct {
	segment.View
	// latest is the largest timestamp up to and including this segment, of those that are in the list.
	// It ascends, so that the first segment with a timestamp can be looked up.
	latest int64
}

// seal appends a segment to a list that may be shared: pictures that have the list end before the new one, and
// a list is appended to once, by who makes its successor.
func seal(list []sealedSegment, v segment.View) []sealedSegment {
	latest := v.MaxTimestamp
	if len(list) > 0 {
		latest = max(latest, list[len(list)-1].latest)
	}
	return append(list, sealedSegment{v, latest})
}

// sealAll is the list of these segments.
func sealAll(views []segment.View) []sealedSegment {
	list := make([]sealedSegment, len(views))
	latest := int64(math.MinInt64)
	for i, v := range views {
		latest = max(latest, v.MaxTimestamp)
		list[i] = sealedSegment{v, latest}
	}
	return list
}

func views(list []sealedSegment) []segment.View {
	v := make([]segment.View, len(list))
	for i, s := range list {
		v[i] = s.View
	}
	return v
}

// read implements Handle.Read on a picture.
func (s *partitionState) read(offset int64, buf []byte, c *segment.Cursor) ([]byte, error) {
	return s.readTo(s.HighWatermark, offset, buf, c)
}

// readTo reads up to an end of the log.
func (s *partitionState) readTo(end, offset int64, buf []byte, c *segment.Cursor) ([]byte, error) {
	switch {
	case offset < s.Start || offset > end:
		return nil, ErrOutOfRange
	case offset == end:
		return buf[:0], nil
	}
	v := s.active
	if offset < v.Base() {
		i := sort.Search(len(s.sealed), func(i int) bool { return s.sealed[i].End > offset })
		v = s.sealed[i].View
	}
	v.End = min(v.End, end)
	return v.Read(offset, buf, c)
}

// fetch implements Handle.Fetch on a picture, but for the progress.
func (s *partitionState) fetch(replica int, offset int64, buf []byte, c *segment.Cursor) ([]byte, error) {
	if replica < 0 || replica >= len(s.replicas) {
		return nil, ErrReplica
	}
	return s.readFrom(offset, buf, c)
}

// readFrom reads up to the log end, from the start of a batch.
func (s *partitionState) readFrom(offset int64, buf []byte, c *segment.Cursor) ([]byte, error) {
	p, err := s.readTo(s.LogEnd, offset, buf, c)
	if err == nil && len(p) > 0 && segment.Batch(p).BaseOffset() != offset {
		return nil, fmt.Errorf("%w: a follower's offset begins a batch", ErrOutOfRange)
	}
	return p, err
}

// offsetForTime implements Handle.OffsetForTime on a picture.
func (s *partitionState) offsetForTime(ts int64, c *segment.Cursor) (int64, error) {
	i := sort.Search(len(s.sealed), func(i int) bool { return s.sealed[i].latest >= ts })
	if i < len(s.sealed) {
		// The timestamp that made latest rise to it is in this segment.
		offset, found, err := s.sealed[i].OffsetForTime(ts, c)
		if found || err != nil {
			return min(offset, s.HighWatermark), err
		}
	}
	offset, found, err := s.active.OffsetForTime(ts, c)
	if !found {
		offset = s.HighWatermark
	}
	return min(offset, s.HighWatermark), err
}

// roll moves on to the next segment: sealed is the final picture of the last one.
func (s *partitionState) roll(sealed, active segment.View) {
	s.sealed = seal(s.sealed, sealed)
	s.active = active
}

// below returns the sealed segments that hold nothing at or above an offset, and where the log starts
// without them.
func (s *partitionState) below(before int64) (dropped []sealedSegment, start int64) {
	n := sort.Search(len(s.sealed), func(i int) bool { return s.sealed[i].End > before })
	if n == len(s.sealed) {
		return s.sealed, s.active.Base()
	}
	return s.sealed[:n], s.sealed[n].Base()
}

// trim moves the start to the base of a segment.
func (s *partitionState) trim(start int64) {
	s.sealed = without(s.sealed, start)
	s.Start = start
}

// without is a new list of the segments from a base offset on.
func without(list []sealedSegment, start int64) []sealedSegment {
	n := sort.Search(len(list), func(i int) bool { return list[i].Base() >= start })
	return sealAll(views(list[n:]))
}

// expired is the offset up to which records may go: the end of the last of the oldest segments that the
// limits do not protect.
func (s *partitionState) expired(r Retention) int64 {
	size := s.active.Size
	for _, v := range s.sealed {
		size += v.Size
	}
	before := s.Start
	for _, v := range s.sealed {
		size -= v.Size
		tooMuch := r.Bytes > 0 && size >= r.Bytes
		tooOld := !r.Since.IsZero() && v.MaxTimestamp < r.Since.UnixMilli()
		if !tooMuch && !tooOld {
			break
		}
		before = v.End
	}
	return before
}

// partition is a partition for a single owner: calls must not overlap.
type partition struct {
	// state is what readers may see; only commit and roll move it.
	state partitionState
	log   *segment.LogSegment
	sync  segment.SyncPolicy
	// checkpoint is told of every sync; nil for a log that nobody opens again.
	checkpoint *segment.Checkpoint
	// synced is how much of the active segment is known to be durable, in bytes.
	synced int64
	// failure is set by the first failed write or sync, for good.
	failure error
}

func openPartition(o Options) (partition, error) {
	if o.Replicas < 0 || o.Replicas > maxReplicas {
		return partition{}, fmt.Errorf("strategies: %d replicas: outside 0 to %d", o.Replicas, maxReplicas)
	}
	opened, err := segment.Open(o.config())
	if err != nil {
		return partition{}, err
	}
	if o.Recovered != nil {
		o.Recovered(opened.Recovery)
	}
	view := opened.Active.Publish()
	sealed, start := sealAll(opened.Sealed), view.Base()
	if len(sealed) > 0 {
		start = sealed[0].Base()
	}
	return partition{
		state: partitionState{
			sealed:  sealed,
			active:  view,
			Offsets: Offsets{Start: start, HighWatermark: view.End, LogEnd: view.End},
			// What was kept is taken to be everywhere: who the followers were is not stored.
			replicas: slices.Repeat([]int64{view.End}, o.Replicas),
		},
		log:        opened.Active,
		sync:       o.Sync,
		checkpoint: opened.Checkpoint,
		synced:     view.Size, // all that Open returns is
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
		if b.Overflows(p.log.End()) {
			return 0, segment.ErrOffsets
		}
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
	written := p.log.Publish()
	if err == nil && p.sync.Due(written.Size-p.synced) {
		err = p.syncTo(written)
	}
	if err != nil {
		return p.fail(err)
	}
	p.state.active = written
	p.state.LogEnd = p.state.active.End
	p.state.raise()
	return nil
}

// fetched notes that a follower has the log below an offset. One that has lost something says a lower one
// than before: what is appended from now on waits for it to catch up.
func (s *partitionState) fetched(replica int, offset int64) {
	s.replicas = slices.Clone(s.replicas)
	s.replicas[replica] = offset
	s.raise()
}

// raise moves the high watermark up to where every follower is.
func (s *partitionState) raise() {
	end := s.LogEnd
	for _, offset := range s.replicas {
		end = min(end, offset)
	}
	s.HighWatermark = max(s.HighWatermark, end)
}

// syncTo makes everything durable that has been written, which is the view.
func (p *partition) syncTo(v segment.View) error {
	if v.Size == p.synced {
		return nil
	}
	if err := v.Files.Sync(); err != nil {
		return err
	}
	p.synced = v.Size
	if p.checkpoint != nil {
		p.checkpoint.Advance(v)
	}
	return nil
}

// roll commits what is queued, seals the segment and begins the next one. It is synced first where the
// policy counts bytes, so that they can be counted within the active segment, or where a log without a
// checkpoint has nobody to sync it by the clock.
func (p *partition) roll() error {
	if err := p.commit(); err != nil {
		return err
	}
	if p.sync.Bytes > 0 || p.sync.Interval > 0 && p.checkpoint == nil {
		if err := p.syncTo(p.state.active); err != nil {
			return p.fail(err)
		}
	}
	next, err := p.log.Roll()
	if err != nil {
		return p.fail(err)
	}
	p.log, p.synced = next, 0
	p.state.roll(p.state.active, next.Publish())
	return nil
}

func (p *partition) fail(err error) error {
	if p.failure == nil {
		p.failure = failure(err)
	}
	return p.failure
}

// maxReplicas bounds what a picture carries along.
const maxReplicas = 64

// failure is the error of a partition that a write or sync has poisoned.
func failure(cause error) error { return fmt.Errorf("%w: %w", ErrFailed, cause) }

// close releases the segments and their storage. What was written and is not visible, because its sync has
// failed, goes: the kernel may have dropped it, and the next open could not tell.
func (p *partition) close(s segment.Storage) error {
	err := p.checkpoint.Close(views(p.state.sealed), p.state.active, p.failure != nil)
	return errors.Join(err, s.Close())
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

// unknownMaxTimestamp is that of a view whose owner does not track it for readers.
const unknownMaxTimestamp = math.MaxInt64
