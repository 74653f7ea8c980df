package strategies

import (
	"context"
	"sync/atomic"

	"tailrace/segment"
)

// nullLog stores nothing and shares nothing: what a run on it costs is the cost of the harness. An
// append only counts, a read finds nothing, a wait does not wait.
type nullLog struct {
	storage segment.Storage
	shut    atomic.Bool
}

type nullHandle struct {
	log    *nullLog
	next   int64
	closed bool
}

func openNull(o Options) (Log, error) { return &nullLog{storage: o.Storage}, nil }

func (l *nullLog) NewHandle() Handle { return &nullHandle{log: l} }

func (h *nullHandle) isClosed() bool { return h.closed || h.log.shut.Load() }

func (h *nullHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
	if h.isClosed() {
		return 0, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(b) < segment.HeaderSize {
		return 0, segment.ErrInvalid
	}
	base := h.next
	h.next += int64(b.RecordCount())
	return acknowledged(base, acks), nil
}

func (h *nullHandle) Read(_ int64, buf []byte) ([]byte, error) {
	if h.isClosed() {
		return nil, ErrClosed
	}
	return buf[:0], nil
}

func (h *nullHandle) Fetch(_ int, offset int64, buf []byte) ([]byte, error) {
	return h.Read(offset, buf)
}

func (h *nullHandle) Wait(ctx context.Context, _ int64) error {
	if h.isClosed() {
		return ErrClosed
	}
	return ctx.Err()
}

func (h *nullHandle) WaitLogEnd(ctx context.Context, offset int64) error { return h.Wait(ctx, offset) }

func (h *nullHandle) OffsetForTime(int64) (int64, error) {
	if h.isClosed() {
		return 0, ErrClosed
	}
	return h.next, nil
}

func (h *nullHandle) Offsets() Offsets { return Offsets{HighWatermark: h.next, LogEnd: h.next} }

func (l *nullLog) Trim(int64) error {
	if l.shut.Load() {
		return ErrClosed
	}
	return nil
}

func (l *nullLog) Retain(Retention) error { return l.Trim(0) }

func (l *nullLog) LastSynced() int64 { return 0 }

func (h *nullHandle) Close() error {
	h.closed = true
	return nil
}

func (l *nullLog) Close() error {
	if l.shut.Swap(true) {
		return nil
	}
	return l.storage.Close()
}
