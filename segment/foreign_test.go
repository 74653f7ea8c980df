package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// stamped is a batch as another broker may store it: its checksum is right.
func stamped(epoch int32, base int64, change func(b Batch)) Batch {
	b := build(record{7, []byte("key"), []byte("value")}, record{9, nil, []byte("other")})
	b.Stamp(base)
	binary.BigEndian.PutUint32(b[atLeaderEpoch:], uint32(epoch))
	if change != nil {
		change(b)
		binary.BigEndian.PutUint32(b[atCRC:], referenceCRC(b[atAttributes:]))
	}
	return b
}

// unrecovered is a log that was killed: three segments, of which nothing is known to be durable.
func unrecovered(t testing.TB, s Storage) *partition {
	t.Helper()
	p := openPartition(t, Config{Storage: s, Size: 400, Interval: 64})
	for i := range 7 {
		p.append(build(record{int64(i), nil, make([]byte, 60)}))
	}
	p.crash()
	return p
}

// foreignFiles are directories that Open must refuse, with the place. Each begins with what its function makes of
// an empty storage.
var foreignFiles = map[string]struct {
	file     string
	position int64
	make     func(t testing.TB, s Storage)
}{
	"leader epoch": {Name(0), 0, func(t testing.TB, s Storage) { replace(t, s, Name(0), stamped(5, 0, nil)) }},
	"leader epoch behind good batches": {Name(0), 88, func(t testing.TB, s Storage) {
		good := stamped(0, 0, nil)
		replace(t, s, Name(0), append(good, stamped(5, 2, nil)...))
	}},
	"base offset below the name": {Name(500), 0, func(t testing.TB, s Storage) { replace(t, s, Name(500), stamped(0, 7, nil)) }},
	"magic 0":                    {Name(3), 0, func(t testing.TB, s Storage) { replace(t, s, Name(3), kafkaMessages()) }},
	"magic 3": {Name(0), 0, func(t testing.TB, s Storage) {
		replace(t, s, Name(0), stamped(0, 0, func(b Batch) { b[atMagic] = 3 }))
	}},
	"transactional, epoch 1": {Name(0), 0, func(t testing.TB, s Storage) {
		replace(t, s, Name(0), stamped(1, 0, func(b Batch) { b[atAttributes+1] = transactional | control }))
	}},
	"compacted": {Name(0), 0, func(t testing.TB, s Storage) {
		replace(t, s, Name(0), stamped(0, 0, func(b Batch) { b[atLastOffsetDelta+3] = 9 }))
	}},
	"allocated ahead": {Name(0), 88, func(t testing.TB, s Storage) {
		replace(t, s, Name(0), append(stamped(0, 0, nil), make([]byte, 5000)...))
	}},
	"text": {Name(0), 0, func(t testing.TB, s Storage) { replace(t, s, Name(0), []byte("2026-11-30 started\n")) }},
	"gap between segments": {Name(0), 88, func(t testing.TB, s Storage) {
		replace(t, s, Name(0), stamped(0, 0, nil))
		replace(t, s, Name(9), stamped(0, 9, nil))
	}},
	"index of Kafka": {fileName(0, indexSuffix), 0, func(t testing.TB, s Storage) {
		replace(t, s, Name(0), stamped(0, 0, nil))
		replace(t, s, fileName(0, indexSuffix), binary.BigEndian.AppendUint64(make([]byte, 8), 1<<32|88))
	}},
	"allocated indexes of Kafka": {fileName(0, timeSuffix), 10485756 - 12, func(t testing.TB, s Storage) {
		replace(t, s, Name(0), nil)
		replace(t, s, fileName(0, indexSuffix), make([]byte, 10485760))
		replace(t, s, fileName(0, timeSuffix), make([]byte, 10485756))
	}},
	"leader-epoch-checkpoint": {"leader-epoch-checkpoint", 0, func(t testing.TB, s Storage) {
		replace(t, s, Name(0), stamped(0, 0, nil))
		replace(t, s, "leader-epoch-checkpoint", []byte("0\n0\n"))
	}},
	"producer state": {"00000000000000000002.snapshot", 0, func(t testing.TB, s Storage) {
		replace(t, s, "00000000000000000002.snapshot", []byte{1})
	}},
	"folder of a broker": {"meta.properties", 0, func(t testing.TB, s Storage) { replace(t, s, "meta.properties", []byte("version=1\n")) }},
	"recovery point of others": {pointFile, 0, func(t testing.TB, s Storage) {
		replace(t, s, pointFile, []byte("0\n1\norders 0 12345\n"))
	}},
	"recovery point of a newer version": {pointFile, pointFileSize, func(t testing.TB, s Storage) {
		unrecovered(t, s)
		replace(t, s, pointFile, append(contents(t, s, pointFile), make([]byte, 64)...))
	}},
	"mark of others": {cleanFile, 0, func(t testing.TB, s Storage) { replace(t, s, cleanFile, []byte("nothing to clean\n")) }},
	"unfinished mark of others": {cleanFileNew, 0, func(t testing.TB, s Storage) {
		replace(t, s, cleanFileNew, []byte("nothing to clean\n"))
	}},
	"mark of a newer version": {cleanFile, 8, func(t testing.TB, s Storage) {
		closedLog(t, s, 301, 40)
		mark := contents(t, s, cleanFile)
		mark[11]++
		sumUp(cleanFile, mark)
		replace(t, s, cleanFile, mark)
	}},
	"a segment of others in a log of ours": {Name(3), 0, func(t testing.TB, s Storage) {
		p := unrecovered(t, s)
		replace(t, s, Name(p.views()[1].Base()), stamped(2, p.views()[1].Base(), nil))
	}},
	"a segment of others behind a cut": {Name(6), 0, func(t testing.TB, s Storage) {
		p := unrecovered(t, s)
		torn := p.views()[0]
		replace(t, s, Name(0), contents(t, s, Name(0))[:torn.Size-1])
		replace(t, s, Name(p.views()[2].Base()), stamped(2, p.views()[2].Base(), nil))
	}},
	"a segment within another": {Name(1), 0, func(t testing.TB, s Storage) {
		unrecovered(t, s)
		replace(t, s, Name(1), stamped(0, 1, nil))
	}},
	"another base offset": {Name(6), 0, func(t testing.TB, s Storage) {
		p := unrecovered(t, s)
		b := contents(t, s, Name(p.views()[2].Base()))
		Batch(b).Stamp(77)
		replace(t, s, Name(p.views()[2].Base()), b)
	}},
	"a trimmed segment of others": {Name(0), 0, func(t testing.TB, s Storage) {
		p := openPartition(t, Config{Storage: s, Size: 400, Interval: 64})
		for i := range 7 {
			p.append(build(record{int64(i), nil, make([]byte, 60)}))
		}
		if err := p.checkpoint.SetStart(p.sealed[0].End); err != nil {
			t.Fatal(err)
		}
		p.crash()
		replace(t, s, Name(0), stamped(3, 0, nil))
	}},
}

// What no crash of this store leaves is refused with its place, and nothing is touched: no name, no byte, no time.
func TestForeign(t *testing.T) {
	for name, test := range foreignFiles {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			eachStorage(t, func(t *testing.T, s Storage) {
				test.make(t, s)
				before := everything(t, s)
				times := setTimes(t, s)
				for range 2 {
					_, err := Open(Config{Storage: s, Size: 400, Interval: 64})
					foreign, ok := errors.AsType[*ForeignError](err)
					if !ok || !errors.Is(err, ErrForeign) || foreign.File != test.file || foreign.Position != test.position {
						t.Errorf("Open = %v, want byte %d of %s", err, test.position, test.file)
					}
				}
				if after := everything(t, s); !maps.EqualFunc(after, before, bytes.Equal) {
					t.Errorf("files are %v, and were %v, or differ", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
				}
				times()
			})
		})
	}
}

// everything is all files of a storage.
func everything(t testing.TB, s Storage) map[string][]byte {
	t.Helper()
	files := snapshot(t, s)
	if _, err := s.Size(pointFile); err == nil {
		files[pointFile] = contents(t, s, pointFile)
	}
	return files
}

// setTimes gives all files of a directory, and itself, an old time. The function that it returns looks whether they
// still have it.
func setTimes(t testing.TB, s Storage) (check func()) {
	t.Helper()
	d, ok := s.(*Dir)
	if !ok {
		return func() {}
	}
	paths, err := filepath.Glob(filepath.Join(d.path, "*"))
	if err != nil {
		t.Fatal(err)
	}
	old := time.Unix(1_000_000_000, 0)
	paths = append(paths, d.path)
	for _, path := range paths {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		t.Helper()
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(old) {
				t.Errorf("%s was changed at %v, %v", path, info.ModTime(), err)
			}
		}
	}
}

// A first Open that a crash has ended leaves nothing that the next one refuses, and a log whose recovery point is
// lost opens where all of it is sound.
func TestNotForeign(t *testing.T) {
	for name, test := range map[string]func(t testing.TB, s Storage){
		"empty log":             func(t testing.TB, s Storage) { replace(t, s, Name(0), nil) },
		"index without a log":   func(t testing.TB, s Storage) { replace(t, s, fileName(0, indexSuffix), make([]byte, 4096)) },
		"empty recovery point":  func(t testing.TB, s Storage) { replace(t, s, pointFile, nil) },
		"recovery point, zeros": func(t testing.TB, s Storage) { replace(t, s, pointFile, make([]byte, pointFileSize)) },
		"recovery point, torn": func(t testing.TB, s Storage) {
			p := pointFileWith(Point{})
			clear(p[slotSize+slotPosition : 2*slotSize])
			replace(t, s, pointFile, p)
		},
		"no recovery point": func(t testing.TB, s Storage) {
			unrecovered(t, s)
			remove(t, s, pointFile)
		},
		"other files": func(t testing.TB, s Storage) {
			unrecovered(t, s)
			replace(t, s, "notes.txt", []byte("x"))
			replace(t, s, "vm.snapshot", []byte("x"))
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			eachStorage(t, func(t *testing.T, s Storage) {
				test(t, s)
				if p := openPartition(t, Config{Storage: s, Size: 400, Interval: 64}); p.recovery.Cut != nil {
					t.Errorf("Open cuts %v", p.recovery.Cut)
				} else {
					p.close()
				}
			})
		})
	}
}

// A sector that was lost can take the first bytes of a stamp with it, and leave a sound batch: the log is cut
// there. The same zeros where no sector ends are nothing that a crash has left.
func TestLostSectorWithinStamp(t *testing.T) {
	for lost := 1; lost <= 20; lost++ {
		for _, aligned := range []bool{true, false} {
			s := NewHeap()
			p := openPartition(t, Config{Storage: s, Size: 4000, Interval: 64})
			first := sectorSize - lost
			if !aligned {
				first -= 100
			}
			p.append(batchOf(t, first), batchOf(t, 90))
			p.crash()
			log := contents(t, s, Name(0))
			before := bytes.Clone(log)
			clear(log[first : first+lost])
			replace(t, s, Name(0), log)
			opened, err := Open(p.config)
			sound := Batch(log[first:]).CheckCRC() == nil && Batch(log[first:]).Size() == 90
			switch {
			case bytes.Equal(log, before):
				if err != nil || opened.Recovery.Cut != nil {
					t.Errorf("%d bytes that were zeros: %v", lost, err)
				}
			case sound && !aligned && lost <= atLength+3:
				if !errors.Is(err, ErrForeign) {
					t.Errorf("%d bytes lost within a sector: Open = %v", lost, err)
				}
			case err != nil || opened.Recovery.Cut == nil || opened.Recovery.Cut.Position != int64(first):
				t.Errorf("%d bytes lost, at a sector's end %t: Open = %v", lost, aligned, err)
			}
		}
	}
	for _, test := range []struct {
		stored, expected, position int64
		torn                       bool
	}{
		{0, 1 << 40, sectorSize - 8, true}, {0, 1 << 40, sectorSize - 11, true}, {0, 1 << 40, sectorSize - 12, false},
		{0x22, 0x1122, sectorSize - 7, true}, {0x1122, 0x331122, sectorSize - 7, false}, {0, 1 << 40, sectorSize, false}, {1, 2, sectorSize - 4, false},
	} {
		if got := tornStamp(test.stored, test.expected, test.position); got != test.torn {
			t.Errorf("tornStamp(%#x, %#x, %d) = %t", test.stored, test.expected, test.position, got)
		}
	}
}
