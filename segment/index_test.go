package segment

import (
	"bytes"
	"fmt"
	"testing"
)

func TestSegmentGolden(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		active, err := Create(Config{Storage: s, Size: 1000, Interval: 64}, 7)
		if err != nil {
			t.Fatal(err)
		}
		p := &partition{t: t, active: active}
		p.append(
			build(record{1000, nil, []byte("a")}),
			build(record{-5, []byte("k"), bytes.Repeat([]byte("b"), 150)}, record{3000, nil, []byte("c")}),
			build(record{2000, nil, []byte("ddddddddd")}),
			build(record{2500, nil, []byte("e")}, record{2600, nil, []byte("f")}),
		)
		p.close()
		sameFiles(t, snapshot(t, s), map[string][]byte{
			"00000000000000000007.log":       golden(t, "segment.log.golden"),
			"00000000000000000007.index":     golden(t, "segment.index.golden"),
			"00000000000000000007.timeindex": golden(t, "segment.timeindex.golden"),
		})
	})
}

// After every append, the visible slots are those of a plain implementation that knows only the log's
// bytes; some batches own no slot, some several.
func TestIndexIsFunctionOfLog(t *testing.T) {
	for _, interval := range []int64{1, 7, 64, 500, 4096} {
		t.Run(fmt.Sprint("interval=", interval), func(t *testing.T) {
			for seed := range uint64(8) {
				s := NewHeap()
				p := openPartition(t, Config{Storage: s, Size: 20_000, Interval: interval})
				r := newRand(seed)
				for p.active.added.Size < 8_000 {
					p.append(build(randomRecords(r)...))
					if r.IntN(4) > 0 && interval < 64 {
						continue // the reference is slow
					}
					v := p.active.Publish()
					n := slots(v.Size, interval)
					if n != (v.Size-1)/interval {
						t.Fatalf("%d slots for %d bytes", n, v.Size)
					}
					index, times := referenceIndexes(p.log(0), interval)
					if !bytes.Equal(v.Files.mapped.offsets[:n*entrySize], index) {
						t.Fatalf("seed %d: index differs at %d bytes of log", seed, v.Size)
					}
					if !bytes.Equal(v.Files.mapped.times[:n*entrySize], times) {
						t.Fatalf("seed %d: time index differs at %d bytes of log", seed, v.Size)
					}
				}
				p.close()
			}
		})
	}
}

// Over several segments, the files left after Close are those of the reference; time slots begin anew
// in each segment.
func TestIndexFiles(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		const interval = 64
		p := openPartition(t, Config{Storage: s, Size: 3000, Interval: interval})
		p.fill(11, 80)
		p.close()
		want := map[string][]byte{}
		for _, v := range p.views() {
			log := p.log(v.Base())
			want[Name(v.Base())] = log
			want[fileName(v.Base(), indexSuffix)], want[fileName(v.Base(), timeSuffix)] = referenceIndexes(log, interval)
		}
		if len(want) < 9 {
			t.Fatalf("only %d files", len(want))
		}
		files := snapshot(t, s)
		delete(files, cleanFile)
		sameFiles(t, files, want)
	})
}

func TestSlots(t *testing.T) {
	for _, test := range []struct{ size, interval, want int64 }{
		{0, 64, 0}, {1, 64, 0}, {64, 64, 0}, {65, 64, 1}, {128, 64, 1}, {129, 64, 2}, {1, 1, 0}, {2, 1, 1},
		{MaxSize, DefaultInterval, MaxSize / DefaultInterval},
	} {
		if got := slots(test.size, test.interval); got != test.want {
			t.Errorf("slots(%d, %d) = %d, want %d", test.size, test.interval, got, test.want)
		}
	}
}
