package strategies

import (
	"context"
	"errors"

	"tailrace/segment"
)

// This file is the third part of the atomics model: segments come and go, by replacing the list of them.

// rollFrom seals a segment that has no room, or waits until somebody else has.
func (h *atomicsHandle) rollFrom(ctx context.Context, s *atomicsSegment) error {
	h.waits.Roll++
	begun := h.waits.begin()
	err := h.rollOrWait(ctx, s)
	h.waits.end(&h.waits.RollTime, begun)
	return err
}

func (h *atomicsHandle) rollOrWait(ctx context.Context, s *atomicsSegment) error {
	for {
		tail := s.tail.Load()
		if extent(tail)&sealedBit != 0 {
			select {
			case <-s.rolled:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if s.tail.CompareAndSwap(tail, tail|uint64(sealedBit)) {
			defer close(s.rolled)
			return h.log.roll(s, extent(tail))
		}
	}
}

// roll waits for the last commit of a sealed segment and puts the next one in its place. Where bytes are
// counted, the sealed one is synced, so that they can be counted within the active segment.
func (l *atomicsLog) roll(s *atomicsSegment, tail extent) error {
	if err := l.awaitMove(s, tail.bytes()); err != nil {
		return err
	}
	sealed := segment.View{
		Files: s.files, Size: tail.bytes(), End: s.files.Base() + tail.records(), MaxTimestamp: s.maxTimestamp,
	}
	if l.sync.Bytes > 0 && s.synced < sealed.Size {
		if err := s.files.Sync(); err != nil {
			return l.poison(s, err)
		}
		l.checkpoint.Advance(sealed)
	}
	next, err := sealed.Roll()
	if err != nil {
		return l.poison(s, err)
	}
	// With the baton, so that whoever takes it to end the partition sees which segment is active, and a
	// failure that came first ends this roll.
	s.takeBaton()
	defer s.baton.Store(false)
	if failure := l.failure.Load(); failure != nil {
		return errors.Join(*failure, segment.Remove([]segment.View{next.Publish()}))
	}
	active := newAtomicsSegment(next.Publish())
	for { // a trim may come between
		last := l.segments.Load()
		rolled := &atomicsSegments{start: last.start, sealed: seal(last.sealed, sealed), active: active}
		if l.segments.CompareAndSwap(last, rolled) {
			return nil
		}
	}
}

// drop replaces the segments, unless a roll comes between, and waits for the calls that know the old ones.
func (l *atomicsLog) drop(start int64) {
	for {
		last := l.segments.Load()
		trimmed := &atomicsSegments{start: start, sealed: without(last.sealed, start), active: last.active}
		if l.segments.CompareAndSwap(last, trimmed) {
			break
		}
	}
	l.gate.quiesce()
}
