package strategies

import (
	"sort"
	"sync"
	"time"

	"tailrace/segment"
)

// maintenance is what happens to a partition beside its calls: trimming, and syncing by the clock. It is
// not what the models differ in, so that all embed it; how segments leave the picture while calls use it is
// the model's.
type maintenance struct {
	of         maintained
	checkpoint *segment.Checkpoint

	// trims lets one trim happen at a time, and none after the end: the log start moves one way.
	trims sync.Mutex
	ended bool

	// syncing is held during a sync by the clock. A trim takes it for a moment when its segments have left
	// the picture, and then no sync knows them: it closes no file that is being synced, and yet keeps no
	// sync waiting for its readers.
	syncing sync.Mutex

	stop chan struct{} // nil when nothing is synced by the clock
	done chan struct{}
}

// maintained is what a model does for its maintenance. All of it may be called at any time before
// stopMaintaining returns.
type maintained interface {
	// picture is the partition now.
	picture() partitionState
	// drop takes the sealed segments below an offset out of the picture, and returns when no call uses
	// them any more.
	drop(start int64)
	// fail poisons the partition.
	fail(cause error)
}

// maintain begins to sync by the clock, if the policy says so.
func (m *maintenance) maintain(p segment.SyncPolicy) {
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
	m.syncing.Lock()
	defer m.syncing.Unlock()
	p, synced := m.of.picture(), m.checkpoint.LastSynced()
	if p.LogEnd == synced {
		return true
	}
	first := sort.Search(len(p.sealed), func(i int) bool { return p.sealed[i].End > synced })
	if err := m.checkpoint.Sync(views(p.sealed[first:]), p.active); err != nil {
		m.of.fail(err)
		return false
	}
	return true
}

// Trim implements Log.
func (m *maintenance) Trim(before int64) error {
	return m.remove(func(partitionState) int64 { return before })
}

// Retain implements Log.
func (m *maintenance) Retain(r Retention) error {
	return m.remove(func(p partitionState) int64 { return p.expired(r) })
}

// LastSynced implements Log.
func (m *maintenance) LastSynced() int64 { return m.checkpoint.LastSynced() }

// remove drops whole segments below an offset. The new start is durable before any of them leaves, so that a
// crash in between leaves nothing that Open does not remove.
func (m *maintenance) remove(before func(partitionState) int64) error {
	m.trims.Lock()
	defer m.trims.Unlock()
	if m.ended {
		return ErrClosed
	}
	p := m.of.picture()
	// What is above the high watermark, followers and consumers have yet to read.
	dropped, start := p.below(min(before(p), p.HighWatermark))
	if len(dropped) == 0 {
		return nil
	}
	if err := m.checkpoint.SetStart(start); err != nil {
		return err
	}
	m.of.drop(start)
	m.awaitSync()
	return segment.Remove(views(dropped))
}

// awaitSync returns when a sync that is under way is over.
func (m *maintenance) awaitSync() {
	m.syncing.Lock()
	defer m.syncing.Unlock()
}

// stopMaintaining ends maintenance; a trim in flight is over when it returns.
func (m *maintenance) stopMaintaining() {
	if m.stop != nil {
		close(m.stop)
		<-m.done
	}
	m.trims.Lock()
	defer m.trims.Unlock()
	m.ended = true
}
