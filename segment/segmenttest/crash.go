package segmenttest

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// Crash returns the disk as the next start finds it when the power fails at this moment; this one goes on
// undisturbed. The image is drawn from r, and is the same for the same random numbers and the same calls
// before. Without an r it is what is left when only the process is killed: everything. All of the image is
// durable, and it has no OnCall.
//
// It may be called while others write, also from OnCall. It reads mapped memory, however: for the race
// detector, that races with stores through mappings that happen at the same time.
func (d *Disk) Crash(r *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	image := NewDisk()
	if r == nil {
		for name, f := range d.names {
			image.put(name, durableFile(bytes.Clone(f.data)))
		}
		return image
	}
	p := d.plan(r)
	names := maps.Clone(d.durable)
	part := p.part()
	for _, c := range d.pending {
		if part.keeps(c.sequence) {
			c.apply(names)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) { // in order, so that r decides the same again
		image.put(name, names[name].image(p.part()))
	}
	return image
}

// mode is how an image treats what is pending.
type mode int8

const (
	keepAll mode = iota
	loseAll
	keepFirst // what came before the plan's cut
	mix
)

// plan decides what an image keeps.
type plan struct {
	random *rand.Rand
	mode   mode
	cut    uint64 // of keepFirst: the call in the middle of which the power fails
}

// plan draws how an image is to be made.
func (d *Disk) plan(r *rand.Rand) *plan {
	p := &plan{random: r}
	switch n := r.IntN(16); {
	case n < 2:
		p.mode = keepAll
	case n < 4:
		p.mode = loseAll
	case n < 8:
		p.mode = keepFirst
		pending := append(d.sequences(), math.MaxUint64)
		p.cut = pending[r.IntN(len(pending))]
	default:
		p.mode = mix
	}
	return p
}

// sequences lists the calls of which something is pending.
func (d *Disk) sequences() []uint64 {
	files := map[*file]bool{}
	for _, f := range d.durable {
		files[f] = true
	}
	var all []uint64
	for _, c := range d.pending {
		all = append(all, c.sequence)
		files[c.file] = true
	}
	for f := range files {
		for _, c := range f.pending {
			all = append(all, c.sequence)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// part is the plan for one file or for the directory: where an image mixes, it may still keep or lose
// all of that one.
func (p *plan) part() *plan {
	part := *p
	if p.mode == mix {
		switch p.random.IntN(6) {
		case 0:
			part.mode = keepAll
		case 1:
			part.mode = loseAll
		}
	}
	return &part
}

// fate decides about a change of a file.
func (p *plan) fate(c change) fate {
	switch {
	case p.mode == keepAll:
		return kept
	case p.mode == loseAll:
		return lost
	case c.kind == store:
		return torn // nobody knows when it was stored
	case p.mode == keepFirst && c.sequence == p.cut:
		return begun
	case p.mode == keepFirst && c.sequence < p.cut:
		return kept
	case p.mode == keepFirst:
		return lost
	}
	switch p.random.IntN(5) {
	case 0, 1:
		return kept
	case 2:
		return lost
	default:
		return torn
	}
}

// keeps decides about a change of names.
func (p *plan) keeps(sequence uint64) bool {
	switch p.mode {
	case keepAll:
		return true
	case loseAll:
		return false
	case keepFirst:
		return sequence < p.cut
	default:
		return p.random.IntN(2) == 0
	}
}
