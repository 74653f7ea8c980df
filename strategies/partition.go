package strategies

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tailrace/segment"
)

// This file, with picture.go, is the part of a partition that is not concurrency. Nothing in it synchronises;
// each model decides who may call it when.

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
