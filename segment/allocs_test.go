package segment

import "testing"

func TestNoAllocations(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		check := func(what string, op func()) {
			t.Helper()
			op() // the first call makes what the others use
			if n := testing.AllocsPerRun(200, op); n != 0 {
				t.Errorf("%s allocates %v times", what, n)
			}
		}
		p := openPartition(t, Config{Storage: s, Size: 16 << 20})
		key, value := []byte("key"), make([]byte, 500)
		var builder Builder
		fill := func() {
			builder.Reset()
			builder.Add(1, key, value)
			copy(builder.Value(2, len(value)), value)
			builder.Finish()
		}
		check("Builder", fill)

		b := builder.Finish()
		check("Check", func() {
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
		})
		check("Records", func() {
			n := 0
			it := b.Records()
			for it.Next() {
				n += len(it.Record.Value)
			}
			if it.Err() != nil || n != 2*len(value) {
				t.Fatalf("%d bytes, %v", n, it.Err())
			}
		})

		var view View
		add := func(b Batch) {
			if _, ok := p.active.Add(b); !ok {
				t.Fatal("segment is full")
			}
		}
		write := func() {
			if err := p.active.Write(); err != nil {
				t.Fatal(err)
			}
			view = p.active.Publish()
		}
		check("an append", func() { add(b); write() })
		group := make([]Batch, 20)
		for i := range group {
			group[i] = batchOf(t, 500)
		}
		check("a group of appends", func() {
			for _, b := range group {
				add(b)
			}
			write()
		})

		buf, c := make([]byte, 16<<10), &Cursor{}
		offset := int64(0)
		check("Read in sequence", func() {
			got, err := view.Read(offset, buf, c)
			if err != nil {
				t.Fatal(err)
			}
			for len(got) > 0 {
				var next Batch
				if next, got, err = NextBatch(got); err != nil {
					t.Fatal(err)
				}
				offset = next.NextOffset()
			}
			if offset == view.End {
				offset = 0
			}
		})
		r := newRand(1)
		check("Read at random", func() {
			if _, err := view.Read(r.Int64N(view.End), buf, c); err != nil {
				t.Fatal(err)
			}
		})
		check("OffsetForTime", func() {
			if _, found, err := view.OffsetForTime(1, c); err != nil || !found {
				t.Fatal(found, err)
			}
		})
		p.close()
	})
}
