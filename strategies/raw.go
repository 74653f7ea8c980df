package strategies

import (
	"context"
	"errors"
	"sync"
	"time"

	"tailrace/segment"
)

// rawLog is the limit: the same store with nothing to coordinate. Each handle appends to segments of
// its own, at offsets of its own (its number times rawSpan), and reads a picture that it took when it
// was made: the log of the first handle that was closed (the prefill of a run). What a model loses
// against it is the price of sharing. Under a sync policy it is no limit, since models that sync for
// many at once beat it.
type rawLog struct {
	options   Options
	admission admission
	gate      gate
	closed    chan struct{}

	// mu protects all below; appends and reads do not take it.
	mu       sync.Mutex
	handles  int64
	readable partitionState
	logs     []*partition // of all handles that have appended
}

// rawSpan is the distance between the first offsets of two handles' logs.
const rawSpan = 1 << 40

type rawHandle struct {
	pin      pin
	log      *rawLog
	readable partitionState
	own      *partition // nil before the first append
	synced   time.Time
	cursor   segment.Cursor
	closed   bool
}

func openRaw(o Options) (Log, error) {
	if o.Replicas != 0 {
		return nil, ErrUnsupported
	}
	names, err := o.Storage.List()
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		return nil, errors.New("strategies: raw can't open an existing partition, its logs are private")
	}
	return &rawLog{options: o, admission: admit(o), closed: make(chan struct{})}, nil
}

func (l *rawLog) NewHandle() Handle {
	l.mu.Lock()
	h := &rawHandle{log: l, readable: l.readable}
	l.mu.Unlock()
	l.gate.add(&h.pin)
	return h
}

func (h *rawHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
	if h.closed {
		return 0, ErrClosed
	}
	if err := h.log.admission.check(ctx, b, acks); err != nil {
		return 0, err
	}
	if !h.log.gate.enter(&h.pin) {
		return 0, ErrClosed
	}
	defer h.log.gate.leave(&h.pin)
	if h.own == nil {
		own, err := h.log.begin()
		if err != nil {
			return 0, err
		}
		h.own = own
	}
	base, err := h.own.append(b)
	if err == nil {
		err = h.syncByTheClock()
	}
	if err != nil {
		return 0, err
	}
	return acknowledged(base, acks), nil
}

// syncByTheClock is what an interval policy comes to without anything shared: the append that finds the
// interval over pays.
func (h *rawHandle) syncByTheClock() error {
	interval := h.log.options.Sync.Interval
	if interval == 0 {
		return nil
	}
	if now := time.Now(); now.Sub(h.synced) >= interval {
		h.synced = now
		if err := h.own.syncTo(h.own.state.active); err != nil {
			return h.own.fail(err)
		}
	}
	return nil
}

// begin makes the log of one more handle.
func (l *rawLog) begin() (*partition, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.options
	base := l.handles * rawSpan
	log, err := segment.Create(o.config(), base)
	if err != nil {
		return nil, err
	}
	l.handles++
	own := &partition{state: partitionState{active: log.Publish()}, log: log, sync: o.Sync}
	own.state.Offsets = Offsets{Start: base, HighWatermark: base, LogEnd: base}
	l.logs = append(l.logs, own)
	return own, nil
}

func (h *rawHandle) Read(offset int64, buf []byte) ([]byte, error) {
	if h.closed || !h.log.gate.enter(&h.pin) {
		return nil, ErrClosed
	}
	p, err := h.readable.read(offset, buf, &h.cursor)
	h.log.gate.leave(&h.pin)
	return p, err
}

func (h *rawHandle) OffsetForTime(ts int64) (int64, error) {
	if h.closed || !h.log.gate.enter(&h.pin) {
		return 0, ErrClosed
	}
	defer h.log.gate.leave(&h.pin)
	if h.readable.HighWatermark == 0 {
		return 0, nil
	}
	return h.readable.offsetForTime(ts, &h.cursor)
}

// Fetch is refused: private logs have no followers.
func (h *rawHandle) Fetch(int, int64, []byte) ([]byte, error) { return nil, ErrUnsupported }

func (h *rawHandle) WaitLogEnd(ctx context.Context, offset int64) error { return h.Wait(ctx, offset) }

// Wait ends with the context or the log for an offset that the handle's picture will never reach.
func (h *rawHandle) Wait(ctx context.Context, offset int64) error {
	if h.closed || h.log.gate.shut.Load() {
		return ErrClosed
	}
	if offset < h.readable.HighWatermark {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-h.log.closed:
		return ErrClosed
	}
}

func (h *rawHandle) Offsets() Offsets { return h.readable.Offsets }

// Trim is refused: the logs are the handles' own, and there is no start that they share.
func (l *rawLog) Trim(int64) error { return ErrUnsupported }

func (l *rawLog) Retain(Retention) error { return ErrUnsupported }

// LastSynced is 0, since no offset means the same to two handles.
func (l *rawLog) LastSynced() int64 { return 0 }

// Close makes what the handle has appended readable for handles made from now on; the first log to
// be closed is the one that they see.
func (h *rawHandle) Close() error {
	if h.closed {
		return nil
	}
	h.closed = true
	l := h.log
	l.gate.remove(&h.pin)
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.own != nil && l.readable.active.Files == nil {
		l.readable = h.own.state
	}
	return nil
}

func (l *rawLog) Close() error {
	if !l.gate.close(func() { close(l.closed) }) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	for _, p := range l.logs {
		err = errors.Join(err, segment.Close(views(p.state.sealed), p.state.active))
	}
	return errors.Join(err, l.options.Storage.Close())
}
