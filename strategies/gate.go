package strategies

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// gate is for models whose calls hold no lock while they use the files: it lets calls in until it is
// shut, and tells when the last has left, so that nothing is unmapped or closed under a reader. A
// closed descriptor's number may come back as another file's.
//
// Each handle has its own pin, so that a call writes no word that another handle's call reads.
type gate struct {
	shut atomic.Bool

	mu   sync.Mutex
	pins map[*pin]struct{}
}

// pin is a handle's mark that it is inside a call, on a cache line of its own.
type pin struct {
	_  [64]byte
	in atomic.Bool
	_  [63]byte
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

// enter begins a call; false when the gate is shut. The store comes before the load, and in close
// the other way round: one of the two sees the other.
func (g *gate) enter(p *pin) bool {
	p.in.Store(true)
	if g.shut.Load() {
		p.in.Store(false)
		return false
	}
	return true
}

func (g *gate) leave(p *pin) { p.in.Store(false) }

// close shuts the gate and waits until no call is inside; false if it was shut before. It polls,
// since closing is rare and a signal would cost every call.
func (g *gate) close(whenShut func()) bool {
	if g.shut.Swap(true) {
		return false
	}
	whenShut()
	g.mu.Lock()
	pins := slices.Collect(maps.Keys(g.pins)) // a later one finds the gate shut
	g.mu.Unlock()
	for _, p := range pins {
		for p.in.Load() {
			time.Sleep(20 * time.Microsecond)
		}
	}
	return true
}
