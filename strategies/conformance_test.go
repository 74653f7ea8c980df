package strategies_test

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"sync"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

func TestAppendReadsBack(t *testing.T) {
	forEach(t, stores, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		want := fill(f.t, h, newMaker(1, 1), 60)
		next := int64(0)
		for _, b := range want {
			if b.BaseOffset() != next {
				f.t.Fatalf("append got offset %d, want %d", b.BaseOffset(), next)
			}
			next = b.NextOffset()
		}
		h = f.reader(log, h)
		if got, want := h.Offsets(), (strategies.Offsets{HighWatermark: next, LogEnd: next}); got != want {
			f.t.Fatalf("offsets are %+v, want %+v", got, want)
		}
		sameBatches(f.t, contents(f.t, h, 0), want)
	})
}

// A client reads its own writes, and another client what was acknowledged before its call.
func TestReadYourWrites(t *testing.T) {
	forEach(t, shares, func(f *fixture) {
		log := f.open()
		writer, other := log.NewHandle(), log.NewHandle()
		m := newMaker(1, 2)
		buf := make([]byte, 4096)
		for range 40 {
			b := m.next()
			base, err := writer.Append(context.Background(), b, strategies.AcksAll)
			if err != nil {
				f.t.Fatal(err)
			}
			for _, h := range []strategies.Handle{writer, other} {
				p, err := h.Read(base, buf)
				if err != nil || string(p) != string(b) {
					f.t.Fatalf("read at %d gives %d bytes and %v, want the %d that were appended", base, len(p), err, len(b))
				}
				if o := h.Offsets(); o.HighWatermark != b.NextOffset() {
					f.t.Fatalf("offsets are %+v after an append that ends at %d", o, b.NextOffset())
				}
			}
		}
	})
}

func TestAcks(t *testing.T) {
	forEach(t, every, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		m := newMaker(1, 3)
		end := int64(0)
		for i := range 30 {
			acks := []strategies.Acks{strategies.AcksNone, strategies.AcksLeader, strategies.AcksAll}[i%3]
			b := m.next()
			base, err := h.Append(context.Background(), b, acks)
			want := end
			if acks == strategies.AcksNone {
				want = -1
			}
			if err != nil || base != want {
				f.t.Fatalf("append with acks %d returns %d and %v, want %d", acks, base, err, want)
			}
			end += int64(b.RecordCount())
		}
	})
}

// A batch that nobody waited for is readable in the end, even as the last one, with its buffer used
// again at once.
func TestAcksNoneBecomesReadable(t *testing.T) {
	forEach(t, shares, func(f *fixture) {
		log := f.open()
		const producers, batches = 4, 25
		var wg sync.WaitGroup
		for id := range producers {
			wg.Go(func() {
				h, m := log.NewHandle(), newMaker(id, 4)
				for range batches {
					if base, err := h.Append(context.Background(), m.make(1, 40, 0), strategies.AcksNone); base != -1 || err != nil {
						f.t.Errorf("append returns %d and %v", base, err)
					}
				}
			})
		}
		wg.Wait()
		h := log.NewHandle()
		eventually(f.t, "reading all batches", func() bool { return h.Offsets().HighWatermark == producers*batches })
		if f.strategy.Faulty {
			return
		}
		sequence := make([]int, producers)
		for _, b := range contents(f.t, h, 0) {
			for r := b.Records(); r.Next(); {
				id, n, err := parseMessage(r.Record.Value)
				if err != nil || n != sequence[id] {
					f.t.Fatalf("record %d of producer %d: %v, want %d", n, id, err, sequence[id])
				}
				sequence[id]++
			}
		}
	})
}

// finish gives a changed batch the checksum of its bytes.
func finish(b segment.Batch) segment.Batch {
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

// compressed is a batch that claims to be compressed, of size bytes in all.
func compressed(size int) segment.Batch {
	b := segment.Batch(append([]byte(nil), newMaker(0, 0).make(1, 2*size, 5)[:size]...))
	binary.BigEndian.PutUint32(b[8:], uint32(size-12))
	b[22] |= 1
	return finish(b)
}

func TestInvalidBatch(t *testing.T) {
	valid := func() segment.Batch { return newMaker(1, 5).make(2, 50, 7) }
	cases := map[string]segment.Batch{"nil": nil, "empty": {}, "short": make(segment.Batch, 60), "cut": valid()[:100]}
	longer := append(valid(), 0)
	cases["longer"] = longer
	for name, change := range map[string]func(b segment.Batch){
		"checksum":  func(b segment.Batch) { b[len(b)-1] ^= 1 },
		"magic":     func(b segment.Batch) { b[16] = 1 },
		"count":     func(b segment.Batch) { binary.BigEndian.PutUint32(b[57:], 3); finish(b) },
		"noRecords": func(b segment.Batch) { binary.BigEndian.PutUint32(b[57:], 0); finish(b) },
		"negative":  func(b segment.Batch) { binary.BigEndian.PutUint32(b[57:], 1<<31); finish(b) },
		"length":    func(b segment.Batch) { binary.BigEndian.PutUint32(b[8:], 1<<31) },
	} {
		b := valid()
		change(b)
		cases[name] = b
	}
	forEachWith(t, strategies.Options{}, stores, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		for name, b := range cases {
			for _, acks := range []strategies.Acks{strategies.AcksNone, strategies.AcksLeader} {
				if _, err := h.Append(context.Background(), b, acks); !errors.Is(err, segment.ErrInvalid) {
					f.t.Errorf("%s: append gives %v, want ErrInvalid", name, err)
				}
			}
		}
		b := compressed(90)
		base, err := h.Append(context.Background(), b, strategies.AcksLeader)
		if err != nil || base != 0 {
			f.t.Fatalf("append after refusals gives %d and %v, want 0", base, err)
		}
		sameBatches(f.t, contents(f.t, f.reader(log, h), 0), []segment.Batch{b})
	})
}

// null checks nothing, but an input of any length must not end the process.
func TestNullTakesAnyBatch(t *testing.T) {
	s, err := strategies.Find("null")
	if err != nil {
		t.Fatal(err)
	}
	log, err := s.Open(strategies.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []segment.Batch{nil, make(segment.Batch, 60)} {
		if _, err := log.NewHandle().Append(context.Background(), b, strategies.AcksLeader); !errors.Is(err, segment.ErrInvalid) {
			t.Errorf("append of %d bytes gives %v, want ErrInvalid", len(b), err)
		}
	}
}

// The smallest batches that a log takes, compressed ones too, are as good as any under concurrency.
func TestSmallestBatches(t *testing.T) {
	forEachWith(t, strategies.Options{}, shares, func(f *fixture) {
		log := f.open()
		const producers, batches = 8, 300
		size := 61
		for ; compressed(size).Check() != nil; size++ {
		}
		finishes(f.t, "appending", inBackground(func() {
			var wg sync.WaitGroup
			for range producers {
				wg.Go(func() {
					h, b := log.NewHandle(), compressed(size)
					for range batches {
						if _, err := h.Append(context.Background(), b, strategies.AcksLeader); err != nil {
							f.t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		}))
		if got := len(contents(f.t, log.NewHandle(), 0)); got != producers*batches {
			f.t.Fatalf("log holds %d batches, want %d", got, producers*batches)
		}
	})
}

func TestTooLarge(t *testing.T) {
	m := newMaker(1, 6)
	fits := m.make(1, 500, 0)
	options := strategies.Options{SegmentSize: int64(len(fits))}
	forEachWith(t, options, stores, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		for round := range 4 { // the limit is the same for the first segment and for later ones
			large := newMaker(1, 6).make(1, 501, 0)
			if _, err := h.Append(context.Background(), large, strategies.AcksLeader); !errors.Is(err, strategies.ErrTooLarge) {
				f.t.Fatalf("append of %d bytes to segments of %d gives %v, want ErrTooLarge", len(large), options.SegmentSize, err)
			}
			b := newMaker(1, 6).make(1, 500, 0)
			if base, err := h.Append(context.Background(), b, strategies.AcksLeader); err != nil || base != int64(round) {
				f.t.Fatalf("append of exactly a segment gives %d and %v, want %d", base, err, round)
			}
		}
		if got := len(contents(f.t, f.reader(log, h), 0)); got != 4 {
			f.t.Fatalf("log holds %d batches, want 4", got)
		}
	})
}

func TestCancelledBefore(t *testing.T) {
	forEach(t, every, func(f *fixture) {
		log := f.open()
		h := log.NewHandle()
		fill(f.t, h, newMaker(1, 7), 5)
		before := h.Offsets()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for range 20 {
			if _, err := h.Append(ctx, newMaker(1, 8).next(), strategies.AcksLeader); !errors.Is(err, context.Canceled) {
				f.t.Fatalf("append with a cancelled context gives %v", err)
			}
		}
		if after := h.Offsets(); after != before {
			f.t.Fatalf("offsets went from %+v to %+v in cancelled appends", before, after)
		}
		if err := h.Wait(ctx, 1<<50); !errors.Is(err, context.Canceled) {
			f.t.Fatalf("wait with a cancelled context gives %v", err)
		}
	})
}

// Concurrent appends to segments that hold one or two batches roll all the time.
func TestConcurrentRolls(t *testing.T) {
	m := newMaker(0, 9)
	size := int64(len(m.make(1, 60, 0)))
	for _, batches := range []int64{1, 2} {
		options := strategies.Options{SegmentSize: batches * size, IndexInterval: 50}
		forEachWith(t, options, func(s strategies.Strategy) bool { return shares(s) && !s.Faulty }, func(f *fixture) {
			log := f.open()
			const producers, each = 8, 12
			var wg sync.WaitGroup
			for id := range producers {
				wg.Go(func() {
					h, m := log.NewHandle(), newMaker(id, 9)
					for range each {
						if _, err := h.Append(context.Background(), m.make(1, 60, 0), strategies.AcksLeader); err != nil {
							f.t.Error(err)
							return
						}
					}
				})
			}
			finishes(f.t, "rolling", inBackground(wg.Wait))
			if got := len(contents(f.t, log.NewHandle(), 0)); got != producers*each {
				f.t.Fatalf("log holds %d batches, want %d", got, producers*each)
			}
			names, err := f.options.Storage.List()
			if err != nil {
				f.t.Fatal(err)
			}
			if want := 3*producers*each/int(batches) + 1; len(names) != want {
				f.t.Fatalf("storage has %d files, want %d", len(names), want)
			}
		})
	}
}
