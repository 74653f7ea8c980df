package strategies

import (
	"context"

	"tailrace/segment"
)

// unorderedHandle is that of atomics, but for the order of publication: it marks its batch as finished, and so has it
// committed, before it has written it. It is wrong on purpose, and shows what the order is worth.
type unorderedHandle struct{ *atomicsHandle }

type unorderedLog struct{ *atomicsLog }

// Unordered is atomics without its order of publication. It is no candidate and not in List: readers get bytes that
// are not there yet.
func Unordered() Strategy {
	return Strategy{
		Name: "atomics-unordered", Kind: Control, Summary: "atomics, but a batch is committed before it is written",
		Open: openUnordered, Faulty: true,
	}
}

func openUnordered(o Options) (Log, error) {
	l, err := openAtomics(o)
	if err != nil {
		return nil, err
	}
	return unorderedLog{l.(*atomicsLog)}, nil
}

func (l unorderedLog) NewHandle() Handle {
	return unorderedHandle{l.atomicsLog.NewHandle().(*atomicsHandle)}
}

func (h unorderedHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
	l := h.log
	if h.closed {
		return 0, ErrClosed
	}
	if err := l.admission.check(ctx, b, acks); err != nil {
		return 0, err
	}
	base, err := h.append(ctx, b, acks)
	if err != nil {
		return 0, err
	}
	return h.acknowledge(ctx, acks, base, b.NextOffset(), l.offsets())
}

func (h unorderedHandle) append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
	l := h.log
	if !l.gate.enter(&h.pin) {
		return 0, ErrClosed
	}
	defer l.gate.leave(&h.pin)
	for {
		if err := l.failure.Load(); err != nil {
			return 0, *err
		}
		s := l.segments.Load().active
		at, ok := s.reserve(b)
		if ok {
			return h.write(ctx, s, at, b, acks)
		}
		if b.Overflows(s.files.Base() + at.records()) {
			return 0, segment.ErrOffsets
		}
		if err := h.rollFrom(ctx, s); err != nil {
			return 0, err
		}
	}
}

// write is that of atomics with two steps exchanged. The index is stored first all the same: behind a commit the
// segment may be sealed, and its mapping gone.
func (h unorderedHandle) write(ctx context.Context, s *atomicsSegment, at extent, b segment.Batch, acks Acks) (int64, error) {
	l := h.log
	base, start, end := s.files.Base()+at.records(), at.bytes(), at.bytes()+int64(len(b))
	b.Stamp(base)
	s.files.SetIndex(base, start, end)
	if ahead := start - ringWindow + ringUnit; ahead > 0 {
		if err := h.awaitRing(s, ahead); err != nil {
			return 0, err
		}
	}
	slot := &l.ring[start/ringUnit%ringSlots]
	slot.maxTimestamp, slot.owner = b.MaxTimestamp(), h.atomicsHandle
	slot.size.Store(uint64(extentOf(b)))
	l.advance(s, end)
	if err := s.files.WriteAt(b, start); err != nil {
		return 0, l.poison(s, err)
	}
	if acks == AcksNone && l.sync.Bytes == 0 {
		return base, nil
	}
	return base, h.await(ctx, s, end)
}
