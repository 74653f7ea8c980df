package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
)

// small is a log of four little segments in some state, of which single files are then damaged.
type small struct {
	name       string
	closed     bool
	log        *history
	disk       *segmenttest.Disk
	start      int64
	point      segment.Point
	timestamps []int64 // to look up
}

var smallConfig = segment.Config{Size: 280, Interval: 64, Sync: segment.EveryInterval(1)}

// smallLogs are: one that was closed; one that was killed when all of it was synced; one of which a half was; and
// one of which nothing was.
func smallLogs(t *testing.T) []small {
	t.Helper()
	return []small{
		smallLog(t, "closed", 15, 0, true, true),
		smallLog(t, "synced", 12, 12, false, false),
		smallLog(t, "half synced", 12, 5, false, false),
		smallLog(t, "not synced", 15, 0, true, false),
	}
}

// smallLog appends batches, syncs behind one of them if that is not 0, and drops the first segment.
func smallLog(t *testing.T, name string, batches, syncAt int, trim, closed bool) small {
	t.Helper()
	c := checker{t, name}
	l := small{name: name, closed: closed, log: newHistory()}
	d := segmenttest.NewDisk()
	p := c.open(smallConfig, d)
	for i := 1; i <= batches; i++ {
		var b segment.Builder
		b.Reset()
		for k := range 2 {
			// Timestamps go back and forth, and repeat themselves.
			ts := int64((i*7+k*5)%11)*10 - 30
			l.timestamps = append(l.timestamps, ts-1, ts, ts+1)
			b.Add(ts, nil, []byte{byte(i), byte(k)})
		}
		batch := b.Finish()
		if _, ok := p.Active.Add(batch); !ok {
			next, err := p.Active.Roll()
			c.must("Roll", err)
			p.Sealed, p.Active = append(p.Sealed, p.Active.Publish()), next
			if _, ok := next.Add(batch); !ok {
				c.fatalf("a batch does not fit an empty segment")
			}
		}
		c.must("Write", p.Active.Write())
		l.log.append(batch)
		if i == syncAt {
			c.must("Sync", p.Checkpoint.Sync(p.Sealed, p.Active.Publish()))
		}
	}
	if trim {
		l.start = p.Sealed[0].End
		c.must("SetStart", p.Checkpoint.SetStart(l.start))
		c.must("Remove", segment.Remove(p.Sealed[:1]))
		p.Sealed = p.Sealed[1:]
	}
	slices.Sort(l.timestamps)
	l.timestamps = slices.Compact(l.timestamps)
	if closed {
		c.close(d, p)
	}
	l.disk = d.Crash(nil)
	p = c.open(smallConfig, l.disk.Crash(nil))
	l.point = p.Recovery.Point
	if want := max(l.start, int64(2*syncAt)); !closed && l.point.Offset != want {
		c.fatalf("recovery point is %+v, want offset %d", l.point, want)
	}
	if len(p.Sealed) != 3 || p.Recovery.Clean != closed || p.Active.End() != l.log.end() {
		c.fatalf("%d segments are sealed up to %d: %+v", len(p.Sealed), p.Active.End(), p.Recovery)
	}
	return l
}

// TestDamage changes each byte of each file, cuts each file to every length, lengthens it and removes it. Then
// everything that can be looked up must give what was appended, or say what is wrong; or Open has reported
// that it cut the log at or above the recovery point.
func TestDamage(t *testing.T) {
	for _, l := range smallLogs(t) {
		for file, intact := range l.disk.Files() {
			t.Run(strings.ReplaceAll(l.name, " ", "-")+"/"+file, func(t *testing.T) {
				t.Parallel()
				step := 1
				if raceDetector || testing.Short() {
					step = 7
				}
				l.damage(t, file, "removed", nil)
				l.damage(t, file, "longer by a zero", append(slices.Clip(intact), 0))
				l.damage(t, file, "longer by a byte", append(slices.Clip(intact), 0xff))
				for i := 0; i < len(intact); i += step {
					l.damage(t, file, fmt.Sprintf("cut to %d of %d bytes", i, len(intact)), intact[:i:i])
					for _, flip := range []byte{0x01, 0x80, 0xff} {
						damaged := bytes.Clone(intact)
						damaged[i] ^= flip
						l.damage(t, file, fmt.Sprintf("byte %d flipped by %02x", i, flip), damaged)
					}
				}
			})
		}
	}
}

// foreign is the place of what no crash leaves in a damaged file: a sound batch with another stamp above the recovery
// point, or a recovery point with more than slots, or, perhaps, without a valid one: a first Open can have left that.
func (l small) foreign(c checker, files map[string][]byte, file string, want judgement) (where *place, perhaps bool) {
	if file == pointFile {
		if len(files[file]) > pointFileSize {
			return &place{file, pointFileSize}, false
		}
		known, storage := l.closed, segmenttest.NewDisk()
		c.must("WriteFile", storage.WriteFile(pointFile, files[file]))
		c.must("Inspect", segment.Inspect(c.t.Context(), storage, segment.InspectOptions{File: pointFile}, func(i segment.Item) error {
			slot, is := i.(*segment.CheckpointSlot)
			known = known || is && slot.Valid
			return nil
		}))
		if at := bytes.IndexFunc(files[file], func(r rune) bool { return r != 0 }); !known && at >= 0 {
			return &place{file, int64(at / 32 * 32)}, true
		}
		return nil, false
	}
	if file == cleanFile {
		if magic := files[file][:min(8, len(files[file]))]; len(magic) > 0 && string(magic) != "tailrace" {
			return &place{file, 0}, false
		}
		return nil, false
	}
	if want.cut == nil || want.cut.File != file {
		return nil, false
	}
	i, _ := l.log.find(want.cut.Offset)
	if i+1 >= len(l.log.bounds) {
		return nil, false
	}
	b, got := l.log.batch(i), files[file][want.cut.Position:]
	if len(got) < len(b) || !bytes.Equal(got[8:12], b[8:12]) || !bytes.Equal(got[17:len(b)], b[17:]) {
		return nil, false
	}
	return &place{file, want.cut.Position}, false
}

// damage opens the log with one file replaced, or removed where there are no bytes, and looks at everything.
func (l small) damage(t *testing.T, file, what string, damaged []byte) {
	t.Helper()
	c := checker{t, what}
	d := l.disk.Crash(nil)
	if damaged == nil {
		c.must("Remove", d.Remove(file))
	} else {
		c.must("WriteFile", d.WriteFile(file, damaged))
	}
	files := d.Files()
	log := strings.HasSuffix(file, ".log")
	point := l.point
	if !log {
		point = segment.Point{Base: l.start} // it may have become a lower one, and no log is bad
	}
	want := l.log.judge(files, l.start, point)
	config := smallConfig
	config.Storage = d
	p, err := segment.Open(config)
	foreign, perhaps := l.foreign(c, files, file, want)
	if foreign != nil && !(perhaps && err == nil) || errors.Is(err, segment.ErrForeign) {
		var got *segment.ForeignError
		if foreign == nil || !errors.As(err, &got) || got.File != foreign.file || got.Position != foreign.position {
			c.fatalf("Open gives %v, want it to be foreign at %+v", err, foreign)
		}
		c.released(d)
		if !maps.EqualFunc(d.Files(), files, bytes.Equal) {
			c.fatalf("Open gives %v, and has changed files", err)
		}
		return
	}
	if err != nil {
		c.refused(d, err, want, files)
		return
	}
	// A log of the right size is not read after a close in order.
	hidden := log && p.Recovery.Clean
	if hidden {
		want = judgement{end: l.log.end()}
	}
	if want.bad != nil {
		c.fatalf("Open has not seen that %s is bad at byte %d", want.bad.file, want.bad.position)
	}
	if end := p.Active.End(); end != want.end {
		c.fatalf("log ends at %d, want %d", end, want.end)
	}
	c.report(p, files, want, l.start)
	if l.closed && file == pointFile && len(damaged) == pointFileSize && !p.Recovery.Clean {
		c.fatalf("one of two slots is bad, and the clean mark is not believed")
	}
	consumer := consumer{checker: c, log: l.log.until(want.end), start: l.start, views: views(p)}
	if hidden {
		consumer.bad = file
	}
	if seen := consumer.readAll() + consumer.lookUpAll(l.timestamps); hidden && seen == 0 {
		c.fatalf("nobody has seen the damage")
	}
	c.close(d, p)
	closed := d.Files()
	for name := range closed {
		if strings.HasSuffix(name, ".log") && name != consumer.bad {
			c.indexes(closed, name, smallConfig.Interval, false)
		}
	}
}
