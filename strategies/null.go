package strategies

import (
	"context"

	"tailrace/segment"
)

// nullLog stores nothing and shares nothing: what a run on it costs is the cost of the harness. An
// append only counts, a read finds nothing, a wait does not wait.
type nullLog struct{}

type nullHandle struct {
	next   int64
	closed bool
}

func openNull(Options) (Log, error) { return nullLog{}, nil }

func (nullLog) NewHandle() Handle { return &nullHandle{} }

func (h *nullHandle) Append(ctx context.Context, b segment.Batch, acks Acks) (int64, error) {
	if h.closed {
		return 0, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	base := h.next
	h.next += int64(b.RecordCount())
	return acknowledged(base, acks), nil
}

func (h *nullHandle) Read(_ int64, buf []byte) ([]byte, error) {
	if h.closed {
		return nil, ErrClosed
	}
	return buf[:0], nil
}

func (h *nullHandle) Fetch(int, int64, []byte) ([]byte, error) { return nil, ErrUnsupported }

func (h *nullHandle) Wait(ctx context.Context, _ int64) error {
	if h.closed {
		return ErrClosed
	}
	return ctx.Err()
}

func (h *nullHandle) OffsetForTime(int64) (int64, error) { return h.next, nil }

func (h *nullHandle) Offsets() Offsets { return Offsets{HighWatermark: h.next, LogEnd: h.next} }

func (nullLog) Trim(int64) error { return ErrUnsupported }

func (h *nullHandle) Close() error {
	h.closed = true
	return nil
}

func (nullLog) Close() error { return nil }
