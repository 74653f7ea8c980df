package strategies

import (
	"sync"
	"time"

	"tailrace/segment"
)

// maintenance is what happens to a partition beside its calls: trimming, and syncing by the clock. It is
// not what the models differ in, so that all share it; how segments leave the picture while calls use it is
// the model's.
type maintenance struct {
	// mu lets one of trimming, syncing and closing happen at a time: no file is closed while it is synced,
	// and the log start moves one way.
	mu         sync.Mutex
	closed     bool
	checkpoint *segment.Checkpoint

	// picture gives the model's, at any time. Its segments stay open while mu is held.
	picture func() partitionState
	// drop takes the sealed segments below an offset out of the picture, and returns when no call uses
	// them any more.
	drop func(start int64)
	// fail poisons the partition.
	fail func(cause error)

	stop chan struct{} // nil when nothing is synced by the clock
	done chan struct{}
}

// start begins to sync by the clock, if the policy says so.
func (m *maintenance) start(p segment.SyncPolicy) {
	if p.Interval == 0 {
		return
	}
	m.stop, m.done = make(chan struct{}), make(chan struct{})
	go m.run(p.Interval)
}

func (m *maintenance) run(interval time.Duration) {
	defer close(m.done)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if !m.sync() {
				return
			}
		case <-m.stop:
			return
		}
	}
}

// sync makes durable what is published; false when that has failed.
func (m *maintenance) sync() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.picture()
	if p.HighWatermark == m.checkpoint.LastSynced() {
		return true
	}
	if err := m.checkpoint.Sync(views(p.sealed), p.active); err != nil {
		m.fail(err)
		return false
	}
	return true
}

// trim implements Log.Trim.
func (m *maintenance) trim(before int64) error {
	return m.remove(func(p partitionState) int64 { return before })
}

// retain implements Log.Retain.
func (m *maintenance) retain(r Retention) error {
	return m.remove(func(p partitionState) int64 { return p.expired(r) })
}

// remove drops whole segments below an offset. The new start is durable before any of them leaves, so that a
// crash in between leaves nothing that Open does not remove.
func (m *maintenance) remove(before func(partitionState) int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	p := m.picture()
	dropped, start := p.below(before(p))
	if len(dropped) == 0 {
		return nil
	}
	if err := m.checkpoint.SetStart(start); err != nil {
		return err
	}
	m.drop(start)
	return segment.Remove(views(dropped))
}

// close ends maintenance; a trim in flight is over when it returns.
func (m *maintenance) close() {
	if m.stop != nil {
		close(m.stop)
		<-m.done
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
}
