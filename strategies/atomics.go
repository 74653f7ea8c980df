package strategies

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"tailrace/segment"
)

// atomicsLog coordinates with atomic words alone, as far as a call need not wait:
//
//	reserve   a compare-and-swap on the segment's tail word takes offset and position at once
//	write     each writer writes its own range of the log, in parallel
//	complete  it marks its batch in the completion ring
//	commit    whoever finds the baton free moves the committed word over the finished prefix
//
// Readers load the committed word. It moves only over batches whose bytes and index entries are
// written, so whoever sees it sees them.
//
// It is not lock-free everywhere, and can't be: an append is acknowledged only when all before it are
// written, so a stalled writer holds up those behind it; a roll waits for the segment's last commit.
// A batch that can't be written leaves a hole that nothing may be committed beyond.
type atomicsLog struct {
	admission admission
	storage   segment.Storage
	sync      segment.SyncPolicy
	tail      tail
	maintenance
	gate  gate
	spins int // brief busy waiting; none on a single processor

	segments atomic.Pointer[atomicsSegments] // replaced on a roll and on a trim
	failure  atomic.Pointer[error]           // set once, under the active segment's baton; nothing is committed after
	failed   chan struct{}                   // closed then

	followers followers

	// ring holds finished batches until they are committed, each in the slot of its start position in
	// units of ringUnit. A batch is larger than a unit, so starts closer than the ring is long have
	// slots of their own; further ahead of the committed position nobody marks.
	ring [ringSlots]completion
}

// extent packs a number of bytes (the low 32 bits) and of records into one word, so that both move
// at once. Each fits in 31 bits; the top bit of a tail seals the segment against reservations.
type extent uint64

const sealedBit extent = 1 << 63

func extentOf(b segment.Batch) extent { return extent(b.RecordCount())<<32 | extent(len(b)) }

func (e extent) bytes() int64 { return int64(uint32(e)) }

func (e extent) records() int64 { return int64((e &^ sealedBit) >> 32) }

// atomicsSegments is all segments as of a roll or a trim. It never changes.
type atomicsSegments struct {
	start  int64
	sealed []sealedSegment
	active *atomicsSegment
}

// atomicsSegment is one segment while it is the active one.
type atomicsSegment struct {
	files     *segment.Files
	_         [64]byte
	tail      atomic.Uint64 // extent: reserved
	_         [56]byte
	committed atomic.Uint64 // extent: committed
	_         [56]byte

	// baton: its holder alone moves the committed word and empties ring slots. Each segment has its
	// own: with one for all, a late holder that looks at the last segment would keep a writer of this
	// one from committing, and then not look here.
	baton        atomic.Bool
	maxTimestamp int64               // of what is committed; the baton holder's
	synced       int64               // bytes that are known to be durable; the baton holder's
	owners       [256]*atomicsHandle // scratch of the baton's holder: whose batches it is committing

	moved  atomic.Pointer[chan struct{}] // closed by the next commit; nil while nobody watches
	rolled chan struct{}                 // closed when the next segment is there, or never will be
}

// atomicsHandle: whoever moves parked from true to false owes wake a token, its owner excepted.
type atomicsHandle struct {
	client
	pin    pin
	log    *atomicsLog
	parked atomic.Bool
	wake   chan struct{}
	cursor segment.Cursor
	waits  waitCounter
}

func openAtomics(o Options) (Log, error) {
	p, err := openPartition(o)
	if err != nil {
		return nil, err
	}
	l := &atomicsLog{
		admission: admit(o),
		storage:   o.Storage,
		sync:      o.Sync,
		failed:    make(chan struct{}),
	}
	if runtime.GOMAXPROCS(0) > 1 {
		l.spins = 20
	}
	active := newAtomicsSegment(p.state.active)
	active.synced = p.synced
	l.segments.Store(&atomicsSegments{start: p.state.Start, sealed: p.state.sealed, active: active})
	l.followers.init(o.Replicas, p.state.Offsets)
	l.tail = newTail(o, p.state.Offsets)
	l.maintenance = maintenance{of: l, checkpoint: p.checkpoint}
	l.maintain(o.Sync)
	return l, nil
}

func newAtomicsSegment(v segment.View) *atomicsSegment {
	s := &atomicsSegment{files: v.Files, maxTimestamp: v.MaxTimestamp, rolled: make(chan struct{})}
	e := extent(v.End-v.Base())<<32 | extent(v.Size)
	s.tail.Store(uint64(e))
	s.committed.Store(uint64(e))
	return s
}

func (l *atomicsLog) NewHandle() Handle {
	h := &atomicsHandle{client: newClient(l.tail), log: l, wake: make(chan struct{}, 1)}
	l.gate.add(&h.pin)
	return h
}

func (h *atomicsHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
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
	if acks == AcksAll && len(l.followers.replicas) > 0 {
		// Outside the gate: a trim need not wait for the replicas.
		return h.acknowledge(ctx, acks, base, b.NextOffset(), l.offsets())
	}
	return acknowledged(base, acks), nil
}

func (h *atomicsHandle) append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
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

// reserve takes room for a batch at the tail; false if the segment is sealed there or has none.
func (s *atomicsSegment) reserve(b segment.Batch) (at extent, ok bool) {
	for {
		at = extent(s.tail.Load())
		if at&sealedBit != 0 || !s.files.Fits(b, at.bytes(), at.records()) {
			return at, false
		}
		if s.tail.CompareAndSwap(uint64(at), uint64(at+extentOf(b))) {
			return at, true
		}
	}
}

// write fills a reservation, which nothing may interrupt: others wait for it.
func (h *atomicsHandle) write(ctx context.Context, s *atomicsSegment, at extent, b segment.Batch, acks Acks) (int64, error) {
	l := h.log
	base, start, end := s.files.Base()+at.records(), at.bytes(), at.bytes()+int64(len(b))
	b.Stamp(base)
	if err := s.files.WriteAt(b, start); err != nil {
		return 0, l.poison(s, err)
	}
	s.files.SetIndex(base, start, end)
	if ahead := start - ringWindow + ringUnit; ahead > 0 {
		if err := h.awaitRing(s, ahead); err != nil {
			return 0, err
		}
	}
	slot := &l.ring[start/ringUnit%ringSlots]
	slot.maxTimestamp, slot.owner = b.MaxTimestamp(), h
	slot.size.Store(uint64(extentOf(b)))
	if acks == AcksNone && l.sync.Bytes == 0 {
		// Where a commit takes a sync, it waits like everybody: the baton can be handed on only to who does.
		l.advance(s, end)
		return base, nil
	}
	return base, h.await(ctx, s, end)
}

// picture is the partition as of the load of the committed word: a segment that is sealed meanwhile was the
// whole log until then, and what is trimmed meanwhile is still there for who is inside the gate. Where the high
// watermark is a word of its own, it looks again until nothing has moved between the loads.
func (l *atomicsLog) picture() partitionState {
	for {
		highWatermark, segments := l.followers.highWatermark.Load(), l.segments.Load()
		files := segments.active.files
		committed := extent(segments.active.committed.Load())
		end := files.Base() + committed.records()
		if len(l.followers.replicas) == 0 {
			highWatermark = end
		} else if l.followers.highWatermark.Load() != highWatermark || l.segments.Load() != segments {
			continue
		}
		return partitionState{
			sealed:  segments.sealed,
			active:  segment.View{Files: files, Size: committed.bytes(), End: end, MaxTimestamp: unknownMaxTimestamp},
			Offsets: Offsets{Start: segments.start, HighWatermark: highWatermark, LogEnd: end},
		}
	}
}

func (h *atomicsHandle) Read(offset int64, buf []byte) ([]byte, error) {
	if h.closed || !h.log.gate.enter(&h.pin) {
		return nil, ErrClosed
	}
	state := h.log.picture()
	p, err := state.read(offset, buf, &h.cursor)
	h.log.gate.leave(&h.pin)
	return p, err
}

func (h *atomicsHandle) OffsetForTime(ts int64) (int64, error) {
	if h.closed || !h.log.gate.enter(&h.pin) {
		return 0, ErrClosed
	}
	defer h.log.gate.leave(&h.pin)
	state := h.log.picture()
	return state.offsetForTime(ts, &h.cursor)
}

func (h *atomicsHandle) Offsets() Offsets { return h.log.offsets() }

// Waits implements WaitCounter.
func (h *atomicsHandle) Waits() Waits { return h.waits.Waits }

// TimeWaits implements WaitCounter.
func (h *atomicsHandle) TimeWaits() { h.waits.timed = true }

// offsets looks again whether the segments are still the same: a start and an end of two moments may never have
// stood together.
func (l *atomicsLog) offsets() Offsets {
	for {
		segments := l.segments.Load()
		state := l.picture()
		if l.segments.Load() == segments {
			return state.Offsets
		}
	}
}

func (h *atomicsHandle) Close() error {
	h.closed = true
	h.log.gate.remove(&h.pin)
	return nil
}

func (l *atomicsLog) Close() error {
	if !l.gate.close(l.tail.close) {
		return nil
	}
	l.stopMaintaining()
	state := l.picture()
	state.active.MaxTimestamp = l.segments.Load().active.maxTimestamp
	err := l.checkpoint.Close(views(state.sealed), state.active, l.failure.Load() != nil)
	return errors.Join(err, l.storage.Close())
}
