package segment

import (
	"fmt"
	"testing"
)

// BenchmarkLookup finds the indexed position of random offsets in indexes of several sizes: 16,384
// slots are a segment of 64 MiB, 524,288 the largest.
func BenchmarkLookup(b *testing.B) {
	for _, n := range []int64{1, 64, 1024, 16_384, 262_144, 524_287} {
		b.Run(fmt.Sprintf("slots=%d", n), func(b *testing.B) {
			f := &Files{config: Config{Interval: DefaultInterval}, mapped: indexes{offsets: make([]byte, n*entrySize)}}
			f.trusted.Store(&f.mapped)
			view := View{Files: f, Size: n*DefaultInterval + benchBatch, End: n*4 + 1}
			for at := int64(0); at < view.Size; at += benchBatch {
				f.SetIndex(at/benchBatch, at, at+benchBatch)
			}
			r := newRand(1)
			b.ReportAllocs()
			for b.Loop() {
				if position, _, err := view.find(r.Int64N(view.End), nil); err != nil || position > view.Size {
					b.Fatal("position behind the log")
				}
			}
		})
	}
}

// BenchmarkOffsetForTime looks up random timestamps in segments of several sizes, whose batches of 1 KiB
// each have a timestamp of their own, in order.
func BenchmarkOffsetForTime(b *testing.B) {
	for _, megabytes := range []int64{1, 16, 256} {
		b.Run(fmt.Sprintf("size=%dMiB", megabytes), func(b *testing.B) {
			s, err := OpenDir(tempDir(b))
			if err != nil {
				b.Fatal(err)
			}
			active, err := Create(Config{Storage: s, Size: megabytes << 20}, 0)
			if err != nil {
				b.Fatal(err)
			}
			var builder Builder
			for {
				builder.Reset()
				builder.Value(active.End(), benchBatch-MinBatch-2) // with lengths of two bytes, it is a batch of 1 KiB
				if _, ok := active.Add(builder.Finish()); !ok {
					break
				}
				if err := active.Write(); err != nil {
					b.Fatal(err)
				}
			}
			view, c, r := active.Publish(), &Cursor{}, newRand(1)
			if view.Size != megabytes<<20 {
				b.Fatalf("segment has %d bytes", view.Size)
			}
			if _, _, err := view.OffsetForTime(0, c); err != nil { // makes the cursor's buffer
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				want := r.Int64N(view.End)
				if offset, found, err := view.OffsetForTime(want, c); offset != want || !found || err != nil {
					b.Fatalf("OffsetForTime(%d) = %d, %t, %v", want, offset, found, err)
				}
			}
			if err := Close(nil, view); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkCheck validates batches of records of 100 bytes; of-crc is the share of the checksum in it.
func BenchmarkCheck(b *testing.B) {
	for _, records := range []int{1, 10, 1000} {
		b.Run(fmt.Sprintf("records=%d", records), func(b *testing.B) {
			var builder Builder
			for i := range records {
				builder.Value(int64(i), 100)
			}
			batch := builder.Finish()
			repeat := func(check func() error) func(n int) {
				return func(n int) {
					for range n {
						if err := check(); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
			contest{ours: repeat(batch.Check), theirs: repeat(batch.CheckCRC)}.run(b, "crc")
		})
	}
}

// BenchmarkAdvance moves the recovery point, which is two stores to memory and a checksum.
func BenchmarkAdvance(b *testing.B) {
	s, err := OpenDir(tempDir(b))
	if err != nil {
		b.Fatal(err)
	}
	p := openPartition(b, Config{Storage: s})
	p.append(batchOf(b, benchBatch))
	view := p.active.Publish()
	b.ReportAllocs()
	for b.Loop() {
		p.checkpoint.Advance(view)
	}
	if p.checkpoint.LastSynced() != view.End {
		b.Fatal("the recovery point did not move")
	}
	p.close()
}
