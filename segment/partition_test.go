package segment

import (
	"bytes"
	"testing"
)

// stored is one batch that a partition must hold.
type stored struct {
	segment  int64 // base offset of its segment
	position int64
	batch    Batch // its bytes, base offset included
}

func (s stored) end() int64 { return s.position + int64(len(s.batch)) }

// partition is a log with a single owner, and beside it what the log must hold.
type partition struct {
	t       testing.TB
	config  Config
	sealed  []View
	active  *LogSegment
	batches []stored

	checkpoint *Checkpoint
	recovery   Recovery
}

func openPartition(t testing.TB, c Config) *partition {
	t.Helper()
	opened, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return &partition{
		t: t, config: c, sealed: opened.Sealed, active: opened.Active,
		checkpoint: opened.Checkpoint, recovery: opened.Recovery,
	}
}

// append writes batches, in one group as far as they fit a segment.
func (p *partition) append(batches ...Batch) {
	p.t.Helper()
	for _, b := range batches {
		base, ok := p.active.Add(b)
		if !ok {
			p.write()
			p.roll()
			if base, ok = p.active.Add(b); !ok {
				p.t.Fatalf("a batch of %d bytes does not fit an empty segment", len(b))
			}
		}
		p.batches = append(p.batches, stored{
			segment:  p.active.Files().Base(),
			position: p.active.added.Size - int64(len(b)),
			batch:    bytes.Clone(b),
		})
		if base != b.BaseOffset() {
			p.t.Fatalf("Add returns %d and stamps %d", base, b.BaseOffset())
		}
	}
	p.write()
}

func (p *partition) write() {
	p.t.Helper()
	if err := p.active.Write(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *partition) roll() {
	p.t.Helper()
	next, err := p.active.Roll()
	if err != nil {
		p.t.Fatal(err)
	}
	p.sealed = append(p.sealed, p.active.Publish())
	p.active = next
}

func (p *partition) views() []View {
	return append(p.sealed[:len(p.sealed):len(p.sealed)], p.active.Publish())
}

// view is that of the segment with this base.
func (p *partition) view(base int64) View {
	for _, v := range p.views() {
		if v.Base() == base {
			return v
		}
	}
	p.t.Fatalf("no segment has base %d", base)
	return View{}
}

func (p *partition) close() {
	p.t.Helper()
	if p.checkpoint == nil {
		if err := Close(p.sealed, p.active.Publish()); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	if err := p.checkpoint.Close(p.sealed, p.active.Publish(), false); err != nil {
		p.t.Fatal(err)
	}
}

// fill appends n random batches, one at a time or in groups.
func (p *partition) fill(seed uint64, n int) {
	p.t.Helper()
	r := newRand(seed)
	for n > 0 {
		group := make([]Batch, 1+r.IntN(min(n, 3)))
		for i := range group {
			group[i] = build(randomRecords(r)...)
		}
		p.append(group...)
		n -= len(group)
	}
}

// check compares all that the views hold with what they must hold.
func (p *partition) check() {
	p.t.Helper()
	next := 0
	for _, v := range p.views() {
		err := v.Walk(&Cursor{}, func(b Batch, position int64) error {
			if next == len(p.batches) {
				p.t.Fatalf("a batch too many at %d of %s", position, Name(v.Base()))
			}
			want := p.batches[next]
			if v.Base() != want.segment || position != want.position || !bytes.Equal(b, want.batch) {
				p.t.Fatalf("batch %d at %d of %s is not what was written", next, position, Name(v.Base()))
			}
			next++
			return nil
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
	if next != len(p.batches) {
		p.t.Fatalf("log holds %d batches, want %d", next, len(p.batches))
	}
}

// log is the bytes that a segment must hold.
func (p *partition) log(base int64) []byte {
	var log []byte
	for _, s := range p.batches {
		if s.segment == base {
			log = append(log, s.batch...)
		}
	}
	return log
}
