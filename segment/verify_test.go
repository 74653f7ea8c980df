package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"testing"
)

// wantFault verifies, and compares the fault with what must be found.
func wantFault(t *testing.T, s Storage, file string, position int64, effect Effect) {
	t.Helper()
	_, err := Verify(t.Context(), s, InspectOptions{Interval: reopenConfig.Interval})
	var fault *Fault
	if !errors.As(err, &fault) {
		t.Errorf("Verify = %v, want a fault at %d of %s", err, position, file)
	} else if fault.File != file || fault.Position != position || fault.Effect != effect || !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v (effect %d), want %s at %d, effect %d", err, fault.Effect, file, position, effect)
	}
}

func TestVerifySound(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := openPartition(t, Config{Storage: s, Size: reopenConfig.Size, Interval: reopenConfig.Interval})
		verify := func(when string) {
			t.Helper()
			want := Verified{Segments: len(p.views()), Batches: int64(len(p.batches))}
			for _, b := range p.batches {
				want.Records += int64(b.batch.RecordCount())
				want.Bytes += int64(len(b.batch))
			}
			before := snapshot(t, s)
			got, err := Verify(t.Context(), s, InspectOptions{Interval: reopenConfig.Interval})
			if got != want || err != nil {
				t.Errorf("%s: Verify = %+v, %v, want %+v", when, got, err, want)
			}
			sameFiles(t, snapshot(t, s), before)
		}
		verify("empty")
		p.fill(91, 50)
		verify("open")
		p.checkpoint.Advance(p.active.Publish())
		verify("synced")
		p.close()
		verify("closed")
		p = p.reopen()
		verify("opened again")
		p.fill(92, 5)
		p.close()
		verify("closed again")
		p.config.Interval = 100 // which only the mark says
		p = p.reopen()
		p.close()
		verify("closed with another interval")
	})
}

// Whatever bit changes in whichever file of a closed partition, and wherever a file ends early, it is found.
func TestVerifyFindsEveryFlip(t *testing.T) {
	s := NewHeap()
	p := openPartition(t, Config{Storage: s, Size: 400, Interval: 64})
	for i := range int64(6) {
		p.append(build(record{i, []byte("key"), []byte("a value")}, record{-i, nil, make([]byte, 10*i)}))
	}
	p.close()
	names, _ := s.List()
	for _, name := range names {
		whole := contents(t, s, name)
		unsound := func(p []byte, what string, at int) {
			t.Helper()
			replace(t, s, name, p)
			var fault *Fault
			if _, err := Verify(t.Context(), s, InspectOptions{}); !errors.As(err, &fault) {
				t.Errorf("byte %d of %s %s: %v", at, name, what, err)
			}
		}
		for at := range whole {
			flipped := bytes.Clone(whole)
			flipped[at] ^= 1 << (at % 8)
			unsound(flipped, "flipped", at)
			unsound(whole[:at], "cut off", at)
		}
		unsound(append(bytes.Clone(whole), 0), "appended", len(whole))
		replace(t, s, name, whole)
	}
	if _, err := Verify(t.Context(), s, InspectOptions{}); err != nil {
		t.Error(err)
	}
}

// restamp makes the checksum of a changed batch right.
func restamp(b Batch) { binary.BigEndian.PutUint32(b[atCRC:], b.checksum()) }

func TestVerifyFaults(t *testing.T) {
	type planted struct {
		file     string
		position int64
		effect   Effect
	}
	change := func(s Storage, name string, change func(p []byte) []byte) {
		replace(t, s, name, change(contents(t, s, name)))
	}
	for name, plant := range map[string]func(s Storage, p *partition) planted{
		"checksum below the point": func(s Storage, p *partition) planted {
			b := p.batches[3]
			change(s, Name(b.segment), func(p []byte) []byte { p[b.end()-1] ^= 1; return p })
			return planted{Name(b.segment), b.position, Damage}
		},
		"checksum above the point": func(s Storage, p *partition) planted {
			b := p.batches[3]
			p.checkpoint.point.store(Point{Base: b.segment, Position: b.position, Offset: b.batch.BaseOffset()})
			change(s, Name(b.segment), func(p []byte) []byte { p[b.end()-1] ^= 1; return p })
			remove(t, s, cleanFile)
			return planted{Name(b.segment), b.position, Dropped}
		},
		"gap": func(s Storage, p *partition) planted {
			b := p.batches[4]
			change(s, Name(b.segment), func(p []byte) []byte { Batch(p[b.position:]).Stamp(b.batch.BaseOffset() + 1); return p })
			return planted{Name(b.segment), b.position, Damage}
		},
		"leader epoch": func(s Storage, p *partition) planted {
			b := p.batches[0]
			change(s, Name(b.segment), func(p []byte) []byte { p[atLeaderEpoch+3] = 1; return p })
			return planted{Name(0), 0, Damage}
		},
		"leader epoch above the point": func(s Storage, p *partition) planted {
			b := p.batches[3]
			p.checkpoint.point.store(Point{Base: b.segment, Position: b.position, Offset: b.batch.BaseOffset()})
			change(s, Name(b.segment), func(p []byte) []byte { p[b.position+atLeaderEpoch+3] = 1; return p })
			remove(t, s, cleanFile)
			return planted{Name(b.segment), b.position, Refused}
		},
		"largest timestamp": func(s Storage, p *partition) planted {
			b := p.batches[2]
			change(s, Name(b.segment), func(p []byte) []byte {
				bad := Batch(p[b.position:b.end()])
				binary.BigEndian.PutUint64(bad[atMaxTimestamp:], math.MaxInt64)
				restamp(bad)
				return p
			})
			return planted{Name(b.segment), b.position, Kept}
		},
		"short log": func(s Storage, p *partition) planted {
			b := p.batches[len(p.batches)-1]
			change(s, Name(b.segment), func(p []byte) []byte { return p[:b.position] })
			return planted{Name(b.segment), b.position, Damage}
		},
		"zeros behind the log": func(s Storage, p *partition) planted {
			v := p.active.Publish()
			change(s, Name(v.Base()), func(p []byte) []byte { return append(p, make([]byte, 100)...) })
			return planted{Name(v.Base()), v.Size, Dropped}
		},
		"missing segment": func(s Storage, p *partition) planted {
			remove(t, s, Name(p.sealed[1].Base()))
			return planted{Name(p.sealed[0].Base()), p.sealed[0].Size, Damage}
		},
		"missing first segment": func(s Storage, p *partition) planted {
			remove(t, s, Name(0))
			return planted{Name(0), 0, Damage}
		},
		"missing last segment": func(s Storage, p *partition) planted {
			base := p.active.Files().Base()
			remove(t, s, Name(base))
			return planted{Name(base), 0, Damage}
		},
		"missing index": func(s Storage, p *partition) planted {
			remove(t, s, fileName(0, indexSuffix))
			return planted{fileName(0, indexSuffix), 0, Rebuilt}
		},
		"time index entry": func(s Storage, p *partition) planted {
			name := fileName(p.sealed[1].Base(), timeSuffix)
			change(s, name, func(p []byte) []byte { p[3*entrySize-1] ^= 1; return p })
			return planted{name, 2 * entrySize, Rebuilt}
		},
		"short index": func(s Storage, p *partition) planted {
			name := fileName(0, indexSuffix)
			change(s, name, func(p []byte) []byte { return p[:entrySize+3] })
			return planted{name, entrySize + 3, Rebuilt}
		},
		"index allocated ahead": func(s Storage, p *partition) planted {
			name := fileName(0, indexSuffix)
			size := int64(len(contents(t, s, name)))
			change(s, name, func(p []byte) []byte { return append(p, 0) })
			return planted{name, size, Rebuilt}
		},
		"index beyond the log": func(s Storage, p *partition) planted {
			remove(t, s, cleanFile)
			name := fileName(0, indexSuffix)
			size := int64(len(contents(t, s, name)))
			change(s, name, func(p []byte) []byte { return append(p, 0, 0, 1) })
			return planted{name, size + 2, Rebuilt}
		},
		"torn slot": func(s Storage, p *partition) planted {
			change(s, pointFile, func(p []byte) []byte { p[slotSize] ^= 1; return p })
			return planted{pointFile, slotSize, Reread}
		},
		"no slot": func(s Storage, p *partition) planted {
			remove(t, s, cleanFile)
			change(s, pointFile, func(p []byte) []byte { p[startSlots] ^= 1; p[startSlots+slotSize] ^= 1; return p })
			return planted{pointFile, startSlots, Reread}
		},
		"short recovery point": func(s Storage, p *partition) planted {
			change(s, pointFile, func(p []byte) []byte { return p[:100] })
			return planted{pointFile, 100, Reread}
		},
		"recovery point inside a batch": func(s Storage, p *partition) planted {
			remove(t, s, cleanFile)
			b := p.batches[5]
			p.checkpoint.point.store(Point{Base: b.segment, Position: b.position + 1, Offset: b.batch.BaseOffset()})
			return planted{pointFile, p.checkpoint.point.sequence % 2 * slotSize, Kept}
		},
		"clean mark": func(s Storage, p *partition) planted {
			change(s, cleanFile, func(p []byte) []byte { p[20] ^= 1; return p })
			return planted{cleanFile, 0, Reread}
		},
		"checksum in the clean mark": func(s Storage, p *partition) planted {
			change(s, cleanFile, func(p []byte) []byte {
				p[cleanHeader+cleanEntry+28] ^= 1
				n := len(p) - cleanFooter
				binary.BigEndian.PutUint32(p[n:], crc32.Checksum(p[:n], castagnoli))
				return p
			})
			return planted{cleanFile, cleanHeader + cleanEntry + 28, Rebuilt}
		},
		"interval in the clean mark": func(s Storage, p *partition) planted {
			change(s, cleanFile, func(p []byte) []byte {
				clear(p[16:24])
				n := len(p) - cleanFooter
				binary.BigEndian.PutUint32(p[n:], crc32.Checksum(p[:n], castagnoli))
				return p
			})
			return planted{cleanFile, 16, Reread}
		},
		"trimmed segment": func(s Storage, p *partition) planted {
			remove(t, s, cleanFile)
			p.checkpoint.start.store(Point{Base: p.sealed[1].Base(), Offset: p.sealed[1].Base()})
			return planted{Name(0), 0, Removed}
		},
		"index without a log": func(s Storage, p *partition) planted {
			if err := s.Create(fileName(1, indexSuffix)); err != nil {
				t.Fatal(err)
			}
			return planted{fileName(1, indexSuffix), 0, Removed}
		},
		"half a mark": func(s Storage, p *partition) planted {
			if err := s.Create(cleanFileNew); err != nil {
				t.Fatal(err)
			}
			return planted{cleanFileNew, 0, Removed}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewHeap()
			p := closedLog(t, s, 94, 50)
			m, err := s.MapIndex(pointFile, pointFileSize, false)
			if err != nil {
				t.Fatal(err)
			}
			p.checkpoint.point.p, p.checkpoint.start.p = m.Bytes()[:2*slotSize], m.Bytes()[startSlots:]
			want := plant(s, p)
			wantFault(t, s, want.file, want.position, want.effect)
		})
	}
}

// One file is verified with what is beside it.
func TestVerifyFile(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := closedLog(t, s, 95, 50)
		names, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if _, err := Verify(t.Context(), s, InspectOptions{File: name}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		base := p.sealed[1].Base()
		log := contents(t, s, Name(base))
		log[0] ^= 1
		replace(t, s, Name(base), log)
		for _, suffix := range suffixes() {
			var fault *Fault
			_, err := Verify(t.Context(), s, InspectOptions{File: fileName(base, suffix)})
			if !errors.As(err, &fault) || fault.File != Name(base) || fault.Position != 0 {
				t.Errorf("%s: %v", suffix, err)
			}
		}
		if _, err := Verify(t.Context(), s, InspectOptions{File: Name(0)}); err != nil {
			t.Error(err)
		}
	})
}

func TestVerifyNothing(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		if _, err := Verify(t.Context(), s, InspectOptions{}); !errors.Is(err, ErrNoLog) {
			t.Errorf("empty storage: %v", err)
		}
		replace(t, s, "notes", []byte("no log"))
		if _, err := Verify(t.Context(), s, InspectOptions{File: "notes"}); !errors.Is(err, ErrNoLog) {
			t.Errorf("a file that is none: %v", err)
		}
	})
}
