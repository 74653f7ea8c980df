package torture

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"tailrace/strategies"
)

// endingSoon is a context that ends at any stage of a call: before it, after a few turns of another goroutine, or by a
// deadline of microseconds. done waits until it has ended.
func endingSoon(parent context.Context, random *rand.Rand) (ctx context.Context, done func()) {
	switch random.IntN(8) {
	case 0:
		return cancelledSoon(parent, 0)
	case 1, 2:
		ctx, cancel := context.WithTimeout(parent, time.Duration(random.IntN(60))*time.Microsecond)
		return ctx, cancel
	default:
		return cancelledSoon(parent, random.IntN(12))
	}
}

// cancelledSoon is a context that ends after so many turns of another goroutine. done waits for it.
func cancelledSoon(parent context.Context, turns int) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(parent)
	cancelled := make(chan struct{})
	go func() {
		defer close(cancelled)
		for range turns {
			runtime.Gosched()
		}
		cancel()
	}()
	return ctx, func() { <-cancelled }
}

// contextEnded reports whether an error is that of a context.
func contextEnded(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// cancelled reports whether an append was cancelled before it began.
func cancelled(err error) bool {
	return contextEnded(err) && !errors.Is(err, strategies.ErrUnknownOutcome)
}
