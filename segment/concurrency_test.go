package segment

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
)

// Readers of published views see whole, right batches while the owner appends and rolls.
func TestReadersBesideOwner(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		const readers, appends, reads = 6, 300, 300
		r := newRand(61)
		batches := make([]Batch, appends) // in log order, stamped before any reader runs
		ends := make([]int64, appends)
		offset := int64(0)
		for i := range batches {
			batches[i] = build(randomRecords(r)...)
			batches[i].Stamp(offset)
			offset = batches[i].NextOffset()
			ends[i] = offset
		}
		p := openPartition(t, Config{Storage: s, Size: 16 << 10, Interval: 128})
		var published atomic.Pointer[[]View]
		publish := func() {
			views := p.views()
			published.Store(&views)
		}
		p.append(bytes.Clone(batches[0]))
		publish()

		var group sync.WaitGroup
		for reader := range readers {
			group.Go(func() {
				r, c, buf := newRand(uint64(reader)), &Cursor{}, make([]byte, 8<<10)
				for n, seen := 0, int64(0); n < reads || seen < offset; n++ {
					views := *published.Load()
					seen = views[len(views)-1].End
					v := views[r.IntN(len(views))]
					if v.Size == 0 {
						continue
					}
					at := v.Base() + r.Int64N(v.End-v.Base())
					got, err := v.Read(at, buf, c)
					if err != nil {
						t.Errorf("Read at %d of [%d, %d): %v", at, v.Base(), v.End, err)
						return
					}
					i := 0
					for ends[i] <= at {
						i++
					}
					for len(got) > 0 {
						if !bytes.HasPrefix(got, batches[i]) || ends[i] > v.End {
							t.Errorf("Read at %d of [%d, %d) gives wrong bytes", at, v.Base(), v.End)
							return
						}
						got = got[len(batches[i]):]
						i++
					}
					if n%16 == 0 {
						found, ok, err := v.OffsetForTime(int64(r.IntN(40)), c)
						if err != nil || ok && (found < v.Base() || found >= v.End) {
							t.Errorf("OffsetForTime of [%d, %d) = %d, %v", v.Base(), v.End, found, err)
							return
						}
					}
				}
			})
		}
		for _, b := range batches[1:] {
			p.append(bytes.Clone(b))
			publish()
		}
		group.Wait()
		if len(p.sealed) < 2 {
			t.Errorf("only %d rolls", len(p.sealed))
		}
		p.check()
		p.close()
	})
}

// Writers side by side, each with its own range of the log, give the bytes of a single owner.
func TestManyWriters(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		const writers = 8
		c := Config{Storage: NewHeap(), Size: 1 << 20, Interval: 64}
		p := openPartition(t, c)
		p.fill(62, 400)
		want := p.active.Publish()

		c.Storage = s
		active, err := Create(c, 0)
		if err != nil {
			t.Fatal(err)
		}
		f := active.Files()
		var group sync.WaitGroup
		for writer := range writers {
			group.Go(func() {
				for i := writer; i < len(p.batches); i += writers {
					b := p.batches[i]
					f.SetIndex(b.batch.BaseOffset(), b.position, b.end())
					if err := f.WriteAt(b.batch, b.position); err != nil {
						t.Error(err)
					}
				}
			})
		}
		// The time index is filled by whoever commits, beside the writers of later batches.
		largest := p.batches[0].batch.MaxTimestamp()
		for _, b := range p.batches {
			largest = max(largest, b.batch.MaxTimestamp())
			f.SetTime(largest, b.batch.BaseOffset(), b.position, b.end())
		}
		group.Wait()

		v := View{Files: f, Size: want.Size, End: want.End, MaxTimestamp: largest}
		q := &partition{t: t, sealed: []View{v}, active: active, batches: p.batches}
		for i, b := range q.batches {
			q.read(i, b.batch.NextOffset()-1, make([]byte, 4096), &Cursor{})
		}
		if err := f.Sync(); err != nil {
			t.Error(err)
		}
		if err := f.Seal(want.Size); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		p.close()
		closed := snapshot(t, p.config.Storage)
		delete(closed, cleanFile)
		sameFiles(t, snapshot(t, s), closed)
	})
}
