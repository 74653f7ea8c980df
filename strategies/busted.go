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
	waiters   *waiters
	upkeep    maintenance
	gate      gate

	// mu protects all below.
	mu      sync.Mutex
	state   partitionState
	appends int
}

type bustedHandle struct {
	pin    pin
	log    *bustedLog
	cursor segment.Cursor
	waiter waiter
	closed bool
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
	l.waiters = newWaiters(l.highWatermark)
	l.upkeep = maintenance{checkpoint: p.checkpoint, picture: l.snapshot, drop: l.drop, fail: l.waiters.fail}
	l.upkeep.start(o.Sync)
	return l, nil
}

func (l *bustedLog) NewHandle() Handle {
	h := &bustedHandle{log: l, waiter: newWaiter()}
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
	if !l.gate.enter(&h.pin) {
		return 0, ErrClosed
	}
	defer l.gate.leave(&h.pin)
	published, late, err := l.publish(b)
	if err != nil {
		return 0, err
	}
	l.waiters.published(published.End)
	runtime.Gosched()
	if late {
		time.Sleep(time.Millisecond)
	}
	start := published.Size - int64(len(b))
	if err := published.Files.WriteAt(b, start); err != nil {
		return 0, err
	}
	published.Files.SetIndex(b.BaseOffset(), start, published.Size)
	return acknowledged(b.BaseOffset(), acks), nil
}

// publish makes a batch visible that has not been written, and says whether to be late with it.
func (l *bustedLog) publish(b segment.Batch) (published segment.View, late bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := &l.state.active
	if !v.Files.Fits(b, v.Size, v.End-v.Base()) {
		if err := l.roll(); err != nil {
			return segment.View{}, false, err
		}
	}
	b.Stamp(v.End)
	start := v.Size
	v.Size += int64(len(b))
	v.End = b.NextOffset()
	v.MaxTimestamp = max(v.MaxTimestamp, b.MaxTimestamp())
	v.Files.SetTime(v.MaxTimestamp, b.BaseOffset(), start, v.Size)
	l.state.LogEnd, l.state.HighWatermark = v.End, v.End
	l.appends++
	return *v, l.appends%64 == 0, nil
}

func (l *bustedLog) roll() error {
	next, err := l.state.active.Roll()
	if err != nil {
		return err
	}
	l.state.roll(l.state.active, next.Publish())
	return nil
}

func (l *bustedLog) snapshot() partitionState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

func (h *bustedHandle) Read(offset int64, buf []byte) ([]byte, error) {
	if h.closed || !h.log.gate.enter(&h.pin) {
		return nil, ErrClosed
	}
	defer h.log.gate.leave(&h.pin)
	state := h.log.snapshot()
	return state.read(offset, buf, &h.cursor)
}

func (h *bustedHandle) OffsetForTime(ts int64) (int64, error) {
	if h.closed || !h.log.gate.enter(&h.pin) {
		return 0, ErrClosed
	}
	defer h.log.gate.leave(&h.pin)
	state := h.log.snapshot()
	return state.offsetForTime(ts, &h.cursor)
}

func (h *bustedHandle) Fetch(int, int64, []byte) ([]byte, error) { return nil, ErrUnsupported }

func (h *bustedHandle) Wait(ctx context.Context, offset int64) error {
	if h.closed {
		return ErrClosed
	}
	return h.log.waiters.wait(ctx, &h.waiter, offset)
}

func (h *bustedHandle) Offsets() Offsets { return h.log.snapshot().Offsets }

func (l *bustedLog) highWatermark() int64 { return l.snapshot().HighWatermark }

func (l *bustedLog) Trim(before int64) error { return l.upkeep.trim(before) }

func (l *bustedLog) Retain(r Retention) error { return l.upkeep.retain(r) }

func (l *bustedLog) LastSynced() int64 { return l.upkeep.checkpoint.LastSynced() }

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
	if !l.gate.close(l.waiters.close) {
		return nil
	}
	l.upkeep.close()
	state := l.snapshot()
	err := l.upkeep.checkpoint.Close(views(state.sealed), state.active, false)
	return errors.Join(err, l.storage.Close())
}
