package segment_test

import (
	"fmt"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
)

const (
	perSegment   = 4 // batches
	parallelSize = 3 * perSegment
)

var holesConfig = segment.Config{Size: 400, Interval: 64}

// pair is a batch of two records, of the same size for every fill.
func pair(fill byte, base int64) segment.Batch {
	var b segment.Builder
	b.Reset()
	b.Add(int64(fill), nil, []byte{fill, fill, fill})
	b.Add(int64(fill)-5, nil, []byte{fill})
	batch := b.Finish()
	batch.Stamp(base)
	return batch
}

// written is what parallel writers have left of three segments when they were killed.
type written struct {
	log  *history
	disk *segmenttest.Disk
	size int64 // of each batch
}

// place is where a batch has its place.
func (w written) place(batch int) place {
	first := batch / perSegment * perSegment
	return place{segment.Name(int64(2 * first)), int64(batch-first) * w.size}
}

// writeParallel writes each batch at its own position, as leave says: nil for nothing. The recovery point is
// set before the batch synced.
func writeParallel(c checker, synced int, leave func(batch int, b segment.Batch) segment.Batch) written {
	c.t.Helper()
	w := written{log: newHistory(), disk: segmenttest.NewDisk()}
	p := c.open(holesConfig, w.disk)
	point := p.Active.Publish()
	for i := range parallelSize {
		b := pair(byte(i), int64(2*i))
		w.size = int64(len(b))
		files := p.Active.Files()
		at := segment.View{Files: files, Size: int64(i%perSegment) * w.size, End: b.BaseOffset()}
		if i%perSegment == 0 && i > 0 {
			at.Size = perSegment * w.size
			next, err := at.Roll()
			c.must("Roll", err)
			p.Active = next
			files = next.Files()
			at = next.Publish()
		}
		if i == synced {
			point = at
		}
		if left := leave(i, b); left != nil {
			c.must("WriteAt", files.WriteAt(left, at.Size))
		}
		w.log.append(b)
	}
	p.Checkpoint.Advance(point)
	w.disk = w.disk.Crash(nil)
	return w
}

// holes are what is found in the place of a batch that was not written.
var holes = map[string]func(b segment.Batch) segment.Batch{
	"zeros": func(segment.Batch) segment.Batch { return nil },
	"garbage": func(b segment.Batch) segment.Batch {
		r := newRand(uint64(b.BaseOffset()))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	},
	"half a batch": func(b segment.Batch) segment.Batch { return b[:len(b)/2] },
}

// A hole above the recovery point ends the log, with all batches and segments behind it. Below, it is damage.
func TestHoles(t *testing.T) {
	for name, hole := range holes {
		t.Run(name, func(t *testing.T) {
			for bad := range parallelSize - 1 {
				for synced := range parallelSize {
					c := checker{t, fmt.Sprintf("no batch %d, synced before %d", bad, synced)}
					w := writeParallel(c, synced, func(i int, b segment.Batch) segment.Batch {
						left := append(segment.Batch(nil), b...)
						if i == bad {
							return hole(left)
						}
						return left
					})
					w.opens(c, bad, synced)
				}
			}
		})
	}
}

// opens opens the log, in which a batch is bad and the one before synced is the last that is known to be durable.
func (w written) opens(c checker, bad, synced int) {
	c.t.Helper()
	at := w.place(synced)
	point := segment.Point{Base: baseOf(at.file), Position: at.position, Offset: int64(2 * synced)}
	before := w.disk.Files()
	want := w.log.judge(before, 0, point)
	if place := w.place(bad); bad < synced && (want.bad == nil || *want.bad != place) ||
		bad >= synced && (want.cut == nil || want.cut.File != place.file || want.cut.Position != place.position || want.end != int64(2*bad)) {
		c.fatalf("the judgement is %+v, the hole at %+v", want, place)
	}
	config := holesConfig
	config.Storage = w.disk
	p, err := segment.Open(config)
	if bad < synced {
		c.refused(w.disk, err, want, before)
		return
	}
	c.must("Open", err)
	c.report(p, before, want, 0)
	if p.Recovery.Point != point {
		c.fatalf("recovery point is %+v, want %+v", p.Recovery.Point, point)
	}
	c.sound(w.disk, p, holesConfig.Interval, w.log, 0, want.end, false)
	c.goesOn(w.disk, holesConfig, p, w.log)
}

// Zeros behind valid batches, as preallocation leaves them, are no data: the log is cut there, and below the
// recovery point they are damage. Segments behind them go, although they would join.
func TestZeroTail(t *testing.T) {
	for _, zeros := range []int{1, segment.HeaderSize, 5000} {
		for tail := range parallelSize / perSegment {
			for synced := range parallelSize {
				c := checker{t, fmt.Sprintf("%d zeros behind segment %d, synced before %d", zeros, tail, synced)}
				w := writeParallel(c, synced, func(_ int, b segment.Batch) segment.Batch { return b })
				name := w.place(tail * perSegment).file
				log, err := w.disk.ReadFile(name)
				c.must("ReadFile", err)
				c.must("WriteFile", w.disk.WriteFile(name, append(log, make([]byte, zeros)...)))
				before := w.disk.Files()
				at := w.place(synced)
				want := w.log.judge(before, 0, segment.Point{Base: baseOf(at.file), Position: at.position})
				config := holesConfig
				config.Storage = w.disk
				p, err := segment.Open(config)
				if tail < synced/perSegment {
					c.refused(w.disk, err, want, before)
					continue
				}
				c.must("Open", err)
				if cut := p.Recovery.Cut; cut == nil || cut.File != name || cut.Position != int64(len(log)) {
					c.fatalf("cut is %+v, want %s at %d", cut, name, len(log))
				}
				c.report(p, before, want, 0)
				c.sound(w.disk, p, holesConfig.Interval, w.log, 0, want.end, false)
				c.goesOn(w.disk, holesConfig, p, w.log)
			}
		}
	}
}

// Segments that a cut has dropped would join again when the log has grown to where they began. No crash brings
// them back.
func TestStaleSegments(t *testing.T) {
	images := 5
	if raceDetector || testing.Short() {
		images = 1
	}
	for _, policy := range policies {
		for bad := range perSegment + 1 {
			// With all batches written, zeros lie behind them: the next segment would join at once.
			c := checker{t, fmt.Sprintf("sync %v, no batch %d", policy, bad)}
			w := writeParallel(c, 0, func(i int, b segment.Batch) segment.Batch {
				if i == bad && bad < perSegment {
					return nil
				}
				return b
			})
			if bad == perSegment {
				log, err := w.disk.ReadFile(segment.Name(0))
				c.must("ReadFile", err)
				c.must("WriteFile", w.disk.WriteFile(segment.Name(0), append(log, 0)))
			}
			o := &owner{t: t, seed: uint64(bad), log: w.log, config: holesConfig, step: c.where, onCall: func() {}}
			o.config.Sync = policy
			o.use(w.disk)
			o.open()
			if cut := o.partition.Recovery.Cut; cut == nil || cut.Offset != int64(2*bad) || len(cut.Segments) != 2 {
				c.fatalf("cut is %v", cut)
			}
			o.onCall = func() { o.images(images) }
			o.onCall()
			for i := bad; i < perSegment; i++ {
				b := pair(byte(100+i), 0)
				if _, ok := o.active.Add(b); !ok {
					c.fatalf("the batch in place of another does not fit")
				}
				o.log.append(b)
				o.commit()
			}
			o.roll()
		}
	}
}
