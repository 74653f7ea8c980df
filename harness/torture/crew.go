package torture

import (
	"context"
	"runtime/debug"
	"sync"
	"time"
)

// crew is the goroutines of a round that call a log.
type crew struct {
	// ctx ends at the first violation, and when stop is called.
	ctx  context.Context
	stop context.CancelFunc

	wg sync.WaitGroup
	mu sync.Mutex
	// violation is the first that anybody reported.
	violation error
}

func newCrew() *crew {
	c := &crew{}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// start runs a function whose error is a violation. A panic is one too, and so is a fault on memory that is
// not mapped any more.
func (c *crew) start(f func() error) {
	c.wg.Go(func() { c.report(guarded(f)) })
}

func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if cause := recover(); cause != nil {
			err = with(violationf("a call panics: %v", cause), "stacks.txt", debug.Stack())
		}
	}()
	return f()
}

func (c *crew) report(err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.violation == nil {
		c.violation = err
	}
	c.stop()
}

// wait returns the first violation when all have returned, or that they do not.
func (c *crew) wait(what string, patience time.Duration) error {
	done := make(chan struct{})
	go func() {
		c.wg.Wait()
		close(done)
	}()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-done:
	case <-timeout.C:
		c.mu.Lock()
		first := c.violation
		c.mu.Unlock()
		if first != nil {
			return first // others may wait for who has left
		}
		return hang(what, patience)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.violation
}

func hang(what string, patience time.Duration) error {
	err := &Violation{What: what + " does not return within " + patience.String(), Hung: true}
	return with(err, "stacks.txt", stacks())
}

// watched runs a function, and says if it does not return.
func watched(what string, patience time.Duration, f func() error) error {
	c := newCrew()
	defer c.stop()
	c.start(f)
	return c.wait(what, patience)
}
