package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
)

const (
	cleanFile     = "clean"
	pointFile     = "recovery-point"
	pointFileSize = 128
)

// checker compares partitions with what they must hold. Its failures say where they happened.
type checker struct {
	t     testing.TB
	where string
}

func (c checker) fatalf(format string, arguments ...any) {
	c.t.Helper()
	c.t.Fatalf("%s: %s", c.where, fmt.Sprintf(format, arguments...))
}

func (c checker) must(action string, err error) {
	c.t.Helper()
	if err != nil {
		c.fatalf("%s: %v", action, err)
	}
}

func (c checker) open(config segment.Config, s segment.Storage) *segment.Partition {
	c.t.Helper()
	config.Storage = s
	p, err := segment.Open(config)
	c.must("Open", err)
	return p
}

// close ends a partition in order.
func (c checker) close(d *segmenttest.Disk, p *segment.Partition) {
	c.t.Helper()
	c.must("Close", p.Checkpoint.Close(p.Sealed, p.Active.Publish(), false))
	c.released(d)
}

func (c checker) released(d *segmenttest.Disk) {
	c.t.Helper()
	if logs, mappings := d.Open(); logs > 0 || mappings > 0 {
		c.fatalf("%d logs and %d mappings are still open", logs, mappings)
	}
}

func views(p *segment.Partition) []segment.View {
	return append(slices.Clip(p.Sealed), p.Active.Publish())
}

// sound checks that an open partition holds [start, end) of what was appended, that its views and indexes
// are those of its logs, and that there are no other files. With lazy, the indexes have not been used since
// a crash, and may be anything.
func (c checker) sound(d *segmenttest.Disk, p *segment.Partition, interval int64, log *history, start, end int64, lazy bool) {
	c.t.Helper()
	files := d.Files()
	next, known := start, 1
	for i, v := range views(p) {
		name := segment.Name(v.Base())
		want, ok := log.between(v.Base(), v.End)
		if v.Base() != next || !ok || v.Size != int64(len(want)) || !bytes.Equal(files[name], want) {
			c.fatalf("%s with offsets up to %d, behind offset %d, is not what was appended", name, v.End, next)
		}
		if latest := log.maxTimestamp(v.Base(), v.End); v.MaxTimestamp != latest {
			c.fatalf("%s has timestamps up to %d, want %d", name, v.MaxTimestamp, latest)
		}
		if active := i == len(p.Sealed); active || !lazy {
			c.indexes(files, name, interval, active)
		}
		next, known = v.End, known+3
	}
	if next != end {
		c.fatalf("log ends at %d, want %d", next, end)
	}
	if synced := p.Checkpoint.LastSynced(); synced != end {
		c.fatalf("synced up to %d, want %d", synced, end)
	}
	if _, there := files[pointFile]; !there || len(files) != known {
		c.fatalf("files are %v", slices.Sorted(maps.Keys(files)))
	}
}

// indexes compares those of a log with the reference. The active segment's have room behind that.
func (c checker) indexes(files map[string][]byte, log string, interval int64, active bool) {
	c.t.Helper()
	index, times := segment.ReferenceIndexes(files[log], interval)
	for i, name := range []string{log[:20] + ".index", log[:20] + ".timeindex"} {
		want := [][]byte{index, times}[i]
		got, there := files[name]
		rest, begins := bytes.CutPrefix(got, want)
		if !there || !begins || len(rest) > 0 && (!active || len(bytes.Trim(rest, "\x00")) > 0) {
			c.fatalf("%s is not that of its log", name)
		}
	}
}

// report compares the Recovery of a partition with the files that there were before.
func (c checker) report(p *segment.Partition, before map[string][]byte, want judgement, start int64) {
	c.t.Helper()
	got := p.Recovery
	if (got.Cut == nil) != (want.cut == nil) {
		c.fatalf("cut is %v, want %+v", got.Cut, want.cut)
	}
	if got.Cut != nil {
		cut := *got.Cut
		cut.Cause = nil
		if got.Cut.Cause == nil || len(cut.Segments) != len(want.cut.Segments) || len(cut.Segments) > 0 && !reflect.DeepEqual(cut, *want.cut) ||
			cut.File != want.cut.File || cut.Position != want.cut.Position || cut.Offset != want.cut.Offset || cut.Bytes != want.cut.Bytes {
			c.fatalf("cut is %+v, want %+v", got.Cut, want.cut)
		}
	}
	if got.Clean && (got.Scanned != 0 || got.Cut != nil || len(logs(before)) > 0 && got.Point.Offset != p.Active.End()) {
		c.fatalf("a clean open has scanned or cut, or knows of no sync: %+v", got)
	}
	var removed []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		_, log := before[name[:min(20, len(name))]+".log"]
		switch {
		case name == "clean.tmp", name[0] == '0' && !log, name[0] == '0' && name[20:] == ".log" && baseOf(name) < start:
			removed = append(removed, name)
		}
	}
	if sorted := slices.Sorted(slices.Values(got.Removed)); !slices.Equal(sorted, removed) {
		c.fatalf("leftovers are %v, want %v", sorted, removed)
	}
}

// refused checks the error of an Open, which must leave all logs alone.
func (c checker) refused(d *segmenttest.Disk, err error, want judgement, before map[string][]byte) {
	c.t.Helper()
	var corrupt *segment.CorruptError
	if !errors.As(err, &corrupt) || !errors.Is(err, segment.ErrCorrupt) || want.bad == nil || *want.bad != (place{corrupt.File, corrupt.Position}) {
		c.fatalf("Open gives %v, want %+v", err, want.bad)
	}
	c.released(d)
	after := d.Files()
	if !slices.Equal(logs(after), logs(before)) {
		c.fatalf("logs were %v and are %v", logs(before), logs(after))
	}
	for _, name := range logs(before) {
		if !bytes.Equal(after[name], before[name]) {
			c.fatalf("%s has changed", name)
		}
	}
}

// goesOn appends to an open partition, closes it, and opens it twice: all of it must be there, and nothing
// change any more.
func (c checker) goesOn(d *segmenttest.Disk, config segment.Config, p *segment.Partition, log *history) {
	c.t.Helper()
	start := views(p)[0].Base()
	log = log.until(p.Active.End())
	r := newRand(uint64(log.end()))
	for range 3 {
		b := randomBatch(r, 3, 100)
		if _, ok := p.Active.Add(b); !ok {
			next, err := p.Active.Roll()
			c.must("Roll", err)
			p.Sealed, p.Active = append(p.Sealed, p.Active.Publish()), next
			if _, ok := next.Add(b); !ok {
				c.fatalf("a batch does not fit an empty segment")
			}
		}
		c.must("Write", p.Active.Write())
		log.append(b)
	}
	c.close(d, p)
	closed := d.Files()
	for range 2 {
		p = c.open(config, d)
		if !p.Recovery.Clean || len(p.Recovery.Removed) > 0 {
			c.fatalf("a closed log was recovered: %+v", p.Recovery)
		}
		c.sound(d, p, config.Interval, log, start, log.end(), false)
		c.readable(p, log)
		c.close(d, p)
		c.sameFiles(d.Files(), closed)
	}
}

// readable looks up the last batch of each segment, and its latest record.
func (c checker) readable(p *segment.Partition, log *history) {
	c.t.Helper()
	var cursor segment.Cursor
	for _, v := range views(p) {
		if v.Size == 0 {
			continue
		}
		i, _ := log.find(v.End)
		want := log.batch(i - 1)
		got, err := v.Read(v.End-1, make([]byte, len(want)), &cursor)
		if err != nil || !bytes.Equal(got, want) {
			c.fatalf("Read at %d gives %d bytes, %v", v.End-1, len(got), err)
		}
		offset, found, err := v.OffsetForTime(v.MaxTimestamp, &cursor)
		if latest := log.offsetForTime(v.Base(), v.MaxTimestamp); err != nil || !found || offset != latest {
			c.fatalf("OffsetForTime gives %d, %t, %v, want %d", offset, found, err, latest)
		}
	}
}

// sameFiles compares files byte for byte, but for the recovery point's, which counts how often it was written.
func (c checker) sameFiles(got, want map[string][]byte) {
	c.t.Helper()
	for name := range got {
		if _, there := want[name]; !there {
			c.fatalf("%s is there", name)
		}
	}
	for name, p := range want {
		if q, there := got[name]; !there || name != pointFile && !bytes.Equal(q, p) {
			c.fatalf("%s is missing or another", name)
		}
	}
}
