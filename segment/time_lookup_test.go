package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// stamp is where a lookup by time may end: a record, or a whole batch whose records are compressed.
type stamp struct{ segment, offset, timestamp int64 }

// stamps reads them off the batches, in the order of the log.
func (p *partition) stamps() []stamp {
	p.t.Helper()
	var stamps []stamp
	for _, s := range p.batches {
		if s.batch.Compressed() {
			stamps = append(stamps, stamp{s.segment, s.batch.BaseOffset(), s.batch.MaxTimestamp()})
			continue
		}
		for i, r := range decode(p.t, s.batch) {
			stamps = append(stamps, stamp{s.segment, s.batch.BaseOffset() + int64(i), r.timestamp})
		}
	}
	return stamps
}

// firstAtLeast is OffsetForTime as a scan.
func firstAtLeast(stamps []stamp, v View, ts int64) (offset int64, found bool) {
	for _, s := range stamps {
		if s.segment == v.Base() && s.timestamp >= ts {
			return s.offset, true
		}
	}
	return 0, false
}

// instants are all timestamps, those beside them, and the ends of the range.
func instants(stamps []stamp) []int64 {
	all := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	for _, s := range stamps {
		all = append(all, s.timestamp, max(s.timestamp, math.MinInt64+1)-1, min(s.timestamp, math.MaxInt64-1)+1)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mixedBatch is of any kind that a producer may send or a broker may store. Its timestamps ascend on the
// whole, from trend on.
func mixedBatch(r *rand.Rand, trend int64) Batch {
	records := randomRecords(r)
	for i := range records {
		switch r.IntN(100) {
		case 0: // as it is
		case 1:
			records[i].timestamp = math.MaxInt64 - r.Int64N(2)
		default:
			records[i].timestamp = trend + r.Int64N(60) - 30
		}
	}
	b := build(records...)
	switch r.IntN(8) {
	case 0:
		return compressed(MinBatch+r.IntN(400), 1+r.Int32N(5), records[0].timestamp)
	case 1:
		return changed(b, func(b Batch) {
			b[atAttributes+1] |= appendTime
			binary.BigEndian.PutUint64(b[atMaxTimestamp:], uint64(trend))
		})
	case 2:
		return changed(b, func(b Batch) { b[atAttributes+1] |= byte(1+r.IntN(3)) << 4 }) // transactional, control
	default:
		return b
	}
}

// mixedLog is a partition of several segments with batches of all kinds.
func mixedLog(t *testing.T, c Config, seed uint64) *partition {
	t.Helper()
	p, r := openPartition(t, c), newRand(seed)
	for i := range int64(60) {
		b := mixedBatch(r, 8*i-100)
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		p.append(b)
	}
	if len(p.sealed) < 2 {
		t.Fatalf("only %d rolls", len(p.sealed))
	}
	return p
}

// checkLookups compares the lookup of every offset, and of every timestamp and those beside it, with a
// scan.
func (p *partition) checkLookups() {
	p.t.Helper()
	buf, c, stamps := make([]byte, 4096), &Cursor{}, p.stamps()
	for i, s := range p.batches {
		for offset := s.batch.BaseOffset(); offset < s.batch.NextOffset(); offset++ {
			p.read(i, offset, buf, &Cursor{})
		}
	}
	for _, v := range p.views() {
		for _, ts := range instants(stamps) {
			want, wantFound := firstAtLeast(stamps, v, ts)
			if got, found, err := v.OffsetForTime(ts, c); err != nil || found != wantFound || got != want {
				p.t.Fatalf("%s: OffsetForTime(%d) = %d, %t, %v, want %d, %t", Name(v.Base()), ts, got, found, err, want, wantFound)
			}
		}
	}
}

// Lookups equal a scan while the log is written, after it was reopened, and after its indexes were made
// again, which then have the same bytes as before.
func TestLookupsEqualScan(t *testing.T) {
	for _, interval := range []int64{1, 64, 500, 4096, MaxSize} {
		t.Run(fmt.Sprint("interval=", interval), func(t *testing.T) {
			for seed := range uint64(4) {
				s := Storage(NewHeap())
				if seed == 0 {
					dir, err := OpenDir(tempDir(t))
					if err != nil {
						t.Fatal(err)
					}
					s = dir
				}
				p := mixedLog(t, Config{Storage: s, Size: 5000, Interval: interval}, seed)
				p.checkLookups()
				p.close()
				want := snapshot(t, s)

				again := func(state string) {
					t.Helper()
					p = p.reopen()
					p.checkLookups()
					p.close()
					if files := snapshot(t, s); !maps.EqualFunc(files, want, bytes.Equal) {
						t.Fatalf("seed %d, %s: files differ", seed, state)
					}
				}
				again("closed")
				p = p.reopen()
				p.crash()
				again("crashed")
				for _, v := range p.views() {
					remove(t, s, fileName(v.Base(), indexSuffix))
					remove(t, s, fileName(v.Base(), timeSuffix))
				}
				again("indexes missing")
				for _, v := range p.views() {
					for _, suffix := range []string{indexSuffix, timeSuffix} {
						name := fileName(v.Base(), suffix)
						replace(t, s, name, bytes.Repeat([]byte{0x55}, len(want[name])))
					}
				}
				again("indexes wrong")
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Timestamps at both ends of the range, whose differences wrap.
func TestExtremeTimestamps(t *testing.T) {
	const lowest, highest = math.MinInt64, math.MaxInt64
	eachStorage(t, func(t *testing.T, s Storage) {
		p := openPartition(t, Config{Storage: s, Size: 2000, Interval: 64})
		for _, timestamps := range [][]int64{
			{lowest}, {lowest, lowest + 1}, {-1, -2, -1}, {0, lowest, 5}, {-7, 3, lowest}, {3, 3}, {highest - 1, lowest, 0},
			{highest, lowest}, {lowest, highest}, {highest}, {-1, highest}, {1},
		} {
			var records []record
			for _, ts := range timestamps {
				records = append(records, record{timestamp: ts, value: make([]byte, 30)})
			}
			b := build(records...)
			if err := b.Check(); err != nil {
				t.Fatalf("Check of timestamps %d: %v", timestamps, err)
			}
			if b.MaxTimestamp() != slices.Max(timestamps) || !equalRecords(decode(t, b), records) {
				t.Errorf("timestamps %d read back as %v, the largest as %d", timestamps, decode(t, b), b.MaxTimestamp())
			}
			p.append(b)
			p.checkLookups()
		}
		p.reopenBoth((*partition).checkLookups)
	})
}
