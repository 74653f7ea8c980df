package strategies

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"tailrace/segment"
)

// This file is the picture of a partition: what readers look things up in. Like partition.go, it synchronises
// nothing.

// partitionState is a picture of a partition: the segments as far as they are visible, and the
// offsets that go with them. It is the article's PartitionState. A model that hands out pointers to
// it never changes one again.
type partitionState struct {
	// sealed are the segments before the active one, ascending. The slice is never changed in place,
	// so that pictures can share it; a roll or a trim makes a new one.
	sealed []sealedSegment
	active segment.View
	Offsets
	// replicas has the offset up to which each follower has the log. Who may change the partition changes
	// it in place, and nobody else may look at it: a snapshot has a list of its own.
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

// fetched notes that a follower has the log below an offset. One that has lost something says a lower one
// than before: what is appended from now on waits for it to catch up.
func (s *partitionState) fetched(replica int, offset int64) {
	s.replicas[replica] = offset
	s.raise()
}

// knows reports whether an offset is what a follower has said last, so that there is nothing to note.
func (s *partitionState) knows(replica int, offset int64) bool {
	return replica >= 0 && replica < len(s.replicas) && s.replicas[replica] == offset
}

// snapshot is a picture for readers beside whom the partition goes on. Only the small head is copied: the sealed
// segments are shared from picture to picture, and so is the list of replicas while it stays the same.
func (s *partitionState) snapshot(last *partitionState) *partitionState {
	next := *s
	if last != nil && slices.Equal(last.replicas, s.replicas) {
		next.replicas = last.replicas
	} else {
		next.replicas = slices.Clone(s.replicas)
	}
	return &next
}

// raise moves the high watermark up to where every follower is.
func (s *partitionState) raise() {
	end := s.LogEnd
	for _, offset := range s.replicas {
		end = min(end, offset)
	}
	s.HighWatermark = max(s.HighWatermark, end)
}

// unknownMaxTimestamp is that of a view whose owner does not track it for readers.
const unknownMaxTimestamp = math.MaxInt64
