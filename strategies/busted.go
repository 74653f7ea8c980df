package strategies

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"tailrace/segment"
)

// bustedLog is wrong on purpose: an append publishes its batch first and writes it afterwards, a
// little later now and then, so that a reader in between gets bytes that are not there. Checks that
// let it pass are worth nothing.
type bustedLog struct {
	admission admission
	storage   segment.Storage
	tail      tail
	maintenance
	gate gate

	// mu protects all below.
	mu      sync.Mutex
	state   partitionState
	appends int
}

type bustedHandle struct {
	client
	pin    pin
	log    *bustedLog
	cursor segment.Cursor
}

func openBusted(o Options) (Log, error) {
	p, err := openPartition(o)
	if err != nil {
		return nil, err
	}
	l := &bustedLog{
		admission: admit(o),
		storage:   o.Storage,
		state:     p.state,
	}
	l.tail = newTail(o, p.state.Offsets)
	l.maintenance = maintenance{of: l, checkpoint: p.checkpoint}
	l.maintain(o.Sync)
	return l, nil
}

func (l *bustedLog) NewHandle() Handle {
	h := &bustedHandle{client: newClient(l.tail), log: l}
	l.gate.add(&h.pin)
	return h
}

func (h *bustedHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
	l := h.log
	if h.closed {
		return 0, ErrClosed
	}
	if err := l.admission.check(ctx, b, acks); err != nil {
		return 0, err
	}
	offsets, err := h.append(b)
	if err != nil {
		return 0, err
	}
	return h.acknowledge(ctx, acks, b.BaseOffset(), b.NextOffset(), offsets)
}

func (h *bustedHandle) append(b segment.Batch) (Offsets, error) {
	l := h.log
	if !l.gate.enter(&h.pin) {
		return Offsets{}, ErrClosed
	}
	defer l.gate.leave(&h.pin)
	published, late, err := l.publish(b)
	if err != nil {
		return Offsets{}, err
	}
	l.tail.published(published.Offsets)
	runtime.Gosched()
	if late {
		time.Sleep(time.Millisecond)
	}
	v := published.active
	start := v.Size - int64(len(b))
	if err := v.Files.WriteAt(b, start); err != nil {
		return Offsets{}, err
	}
	v.Files.SetIndex(b.BaseOffset(), start, v.Size)
	return published.Offsets, nil
}

// publish makes a batch visible that has not been written, and says whether to be late with it.
func (l *bustedLog) publish(b segment.Batch) (published partitionState, late bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := &l.state.active
	if !v.Files.Fits(b, v.Size, v.End-v.Base()) {
		if b.Overflows(v.End) {
			return partitionState{}, false, segment.ErrOffsets
		}
		if err := l.roll(); err != nil {
			return partitionState{}, false, err
		}
	}
	b.Stamp(v.End)
	start := v.Size
	v.Size += int64(len(b))
	v.End = b.NextOffset()
	v.MaxTimestamp = max(v.MaxTimestamp, b.MaxTimestamp())
	v.Files.SetTime(v.MaxTimestamp, b.BaseOffset(), start, v.Size)
	l.state.LogEnd = v.End
	l.state.raise()
	l.appends++
	return l.state, l.appends%64 == 0, nil
}

func (l *bustedLog) roll() error {
	next, err := l.state.active.Roll()
	if err != nil {
		return err
	}
	l.state.roll(l.state.active, next.Publish())
	return nil
}

func (l *bustedLog) picture() partitionState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

func (h *bustedHandle) Read(offset int64, buf []byte) ([]byte, error) {
	if h.closed || !h.log.gate.enter(&h.pin) {
		return nil, ErrClosed
	}
	defer h.log.gate.leave(&h.pin)
	state := h.log.picture()
	return state.read(offset, buf, &h.cursor)
}

func (h *bustedHandle) OffsetForTime(ts int64) (int64, error) {
	if h.closed || !h.log.gate.enter(&h.pin) {
		return 0, ErrClosed
	}
	defer h.log.gate.leave(&h.pin)
	state := h.log.picture()
	return state.offsetForTime(ts, &h.cursor)
}

func (h *bustedHandle) Fetch(replica int, offset int64, buf []byte) ([]byte, error) {
	l := h.log
	if h.closed || !l.gate.enter(&h.pin) {
		return nil, ErrClosed
	}
	defer l.gate.leave(&h.pin)
	state := l.picture()
	p, err := state.fetch(replica, offset, buf, &h.cursor)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.state.fetched(replica, offset)
	offsets := l.state.Offsets
	l.mu.Unlock()
	l.tail.published(offsets)
	return p, nil
}

func (h *bustedHandle) Offsets() Offsets { return h.log.offsets() }

func (l *bustedLog) offsets() Offsets { return l.picture().Offsets }

// fail stops nobody but those who wait: the model does not look.
func (l *bustedLog) fail(cause error) { l.tail.fail(l.offsets().LogEnd, failure(cause)) }

func (l *bustedLog) drop(start int64) {
	l.mu.Lock()
	l.state.trim(start)
	l.mu.Unlock()
	l.gate.quiesce()
}

func (h *bustedHandle) Close() error {
	h.closed = true
	h.log.gate.remove(&h.pin)
	return nil
}

func (l *bustedLog) Close() error {
	if !l.gate.close(l.tail.close) {
		return nil
	}
	l.stopMaintaining()
	state := l.picture()
	err := l.checkpoint.Close(views(state.sealed), state.active, false)
	return errors.Join(err, l.storage.Close())
}
