package strategies

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// gate is for models whose calls hold no lock while they use the files: it lets calls in until it is
// shut, and tells when those inside have left, so that nothing is unmapped or closed under a reader. A
// closed descriptor's number may come back as another file's.
//
// Each handle has its own pin, so that a call writes no word that another handle's call reads.
type gate struct {
	shut atomic.Bool

	mu   sync.Mutex
	pins map[*pin]struct{}
}

// pin counts a handle's calls, their beginnings and their ends, on a cache line of its own: it is odd while
// one goes on. Only its handle writes it.
type pin struct {
	_     [64]byte
	moves atomic.Uint64
	_     [56]byte
}

func (g *gate) add(p *pin) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pins == nil {
		g.pins = map[*pin]struct{}{}
	}
	g.pins[p] = struct{}{}
}

func (g *gate) remove(p *pin) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.pins, p)
}

// enter begins a call; false when the gate is shut. The pin is stored before anything else is loaded; who
// shuts the gate, or replaces what calls load, does so before looking at the pins: one of the two sees the
// other.
func (g *gate) enter(p *pin) bool {
	p.moves.Store(p.moves.Load() + 1)
	if g.shut.Load() {
		g.leave(p)
		return false
	}
	return true
}

func (g *gate) leave(p *pin) { p.moves.Store(p.moves.Load() + 1) }

// close shuts the gate and waits until no call is inside; false if it was shut before.
func (g *gate) close(whenShut func()) bool {
	if g.shut.Swap(true) {
		return false
	}
	whenShut()
	g.quiesce()
	return true
}

// quiesce waits until every call that is inside has left; those that come meanwhile do not matter. It
// polls, since it is rare and a signal would cost every call.
func (g *gate) quiesce() {
	g.mu.Lock()
	pins := slices.Collect(maps.Keys(g.pins)) // the calls of a later one begin later
	g.mu.Unlock()
	for _, p := range pins {
		at := p.moves.Load()
		for at%2 == 1 && p.moves.Load() == at {
			time.Sleep(20 * time.Microsecond)
		}
	}
}
