package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Whatever lies beside intact logs, in an index, the clean mark or the recovery-point file: Open gives the
// right data, or says that the recovery point is corrupt, and makes the indexes again.
func FuzzIndexes(f *testing.F) {
	p := openPartition(f, Config{Storage: NewHeap(), Size: 600, Interval: 64})
	r := newRand(1)
	for ts := range int64(9) {
		p.append(build(record{ts, nil, make([]byte, r.IntN(150))}, record{3*ts - 9, nil, nil}))
	}
	p.close()
	intact := snapshot(f, p.config.Storage)
	intact[pointFile] = contents(f, p.config.Storage, pointFile)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(intact)), func(name string) bool { return strings.HasSuffix(name, logSuffix) })
	for i, name := range names {
		for _, right := range []bool{false, true} {
			f.Add(uint8(i), []byte{}, right)
			f.Add(uint8(i), intact[name], right)
			for _, x := range []byte{0, 0x7f, 0xff} {
				f.Add(uint8(i), bytes.Repeat([]byte{x}, len(intact[name])), right)
			}
			f.Add(uint8(i), append(bytes.Clone(intact[name]), intact[name]...), right)
		}
	}
	stamps := p.stamps()
	f.Fuzz(func(t *testing.T, file uint8, content []byte, rightSums bool) {
		s := NewHeap()
		name := names[int(file)%len(names)]
		for name, content := range intact {
			replace(t, s, name, content)
		}
		content = bytes.Clone(content)
		if rightSums {
			sumUp(name, content)
		}
		replace(t, s, name, content)
		c := p.config
		c.Storage = s
		opened, err := Open(c)
		if err != nil {
			_, foreign := errors.AsType[*ForeignError](err)
			if !foreign && (name != pointFile || !errors.Is(err, ErrCorrupt)) {
				t.Fatalf("%s makes Open fail: %v", name, err)
			}
			if foreign {
				for file, want := range intact {
					if file != name && !bytes.Equal(contents(t, s, file), want) || file == name && !bytes.Equal(contents(t, s, file), content) {
						t.Fatalf("Open fails with %v, and %s has changed", err, file)
					}
				}
			}
			return
		}
		q := &partition{t: t, config: c, sealed: opened.Sealed, active: opened.Active, checkpoint: opened.Checkpoint}
		start := q.views()[0].Base()
		if start != 0 && name != pointFile {
			t.Fatalf("%s makes the log start at %d", name, start)
		}
		for _, b := range p.batches {
			if b.segment >= start {
				q.batches = append(q.batches, b)
			}
		}
		q.check()
		buf, cursor := make([]byte, 600), &Cursor{}
		for i, b := range q.batches {
			q.read(i, b.batch.NextOffset()-1, buf, cursor)
		}
		for _, v := range q.views() {
			for ts := int64(-10); ts < 17; ts++ {
				want, wantFound := firstAtLeast(stamps, v, ts)
				got, found, err := v.OffsetForTime(ts, cursor)
				// A clean mark with a right checksum is believed what it says of timestamps.
				if believed := name == cleanFile && rightSums; err != nil || !believed && (got != want || found != wantFound) {
					t.Fatalf("OffsetForTime(%d) = %d, %t, %v, want %d, %t", ts, got, found, err, want, wantFound)
				}
			}
		}
		q.close()
		for name, want := range intact {
			base, ok := baseOf(name, indexSuffix)
			if !ok {
				base, ok = baseOf(name, timeSuffix)
			}
			if ok && base >= start && !bytes.Equal(contents(t, s, name), want) {
				t.Fatalf("%s differs after Close", name)
			}
		}
	})
}

// sumUp gives a clean mark or a recovery-point file right checksums.
func sumUp(name string, p []byte) {
	switch {
	case name == cleanFile && len(p) >= cleanFooter:
		body := p[:len(p)-cleanFooter]
		binary.BigEndian.PutUint32(p[len(body):], crc32.Checksum(body, castagnoli))
	case name == pointFile:
		for ; len(p) >= slotSize; p = p[slotSize:] {
			binary.BigEndian.PutUint32(p[slotCRC:], crc32.Checksum(p[:slotCRC], castagnoli))
		}
	}
}
