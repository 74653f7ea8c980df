package harness

import (
	"math"
	"math/rand/v2"
	"testing"

	"tailrace/results"
)

// TestTallyIsHdrHistogram compares a tally with the histogram of the library, value by value.
func TestTallyIsHdrHistogram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tally, want := newTally(), results.NewHistogram()
	record := func(v int64) { tally.record(v); want.Record(v) }
	for _, v := range []int64{math.MinInt64, -5, 0, 1, 2, 1023, 1024, 2047, 2048, 2049, 4095, 4096, 60e9 - 1, 60e9, 60e9 + 1, math.MaxInt64 / 4} {
		record(v)
	}
	for range 50_000 {
		record(int64(math.Exp(rng.Float64() * 26))) // 1 ns to 195 s
	}
	if got := tally.kept().histogram(); text(t, got) != text(t, want) {
		t.Errorf("a tally became\n%.200s\nwant\n%.200s", text(t, got), text(t, want))
	}
}

func text(t *testing.T, h *results.Histogram) string {
	t.Helper()
	text, err := h.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTallyAddAndReset(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	all, part := newTally(), newTally()
	want := results.NewHistogram()
	for range 20 {
		for range rng.IntN(2000) {
			v := 100 + rng.Int64N(1<<(10+rng.IntN(27)))
			part.record(v)
			want.Record(v)
		}
		all.add(part)
		part.reset()
		if h := part.kept().histogram(); h != nil {
			t.Fatalf("a tally holds %d values after reset", h.Count())
		}
	}
	if got := all.kept().histogram(); text(t, got) != text(t, want) {
		t.Errorf("the sum became\n%.200s\nwant\n%.200s", text(t, got), text(t, want))
	}
}

// TestTallyBuckets: every bucket's value falls into it, and the last bucket is that of the highest value.
func TestTallyBuckets(t *testing.T) {
	buckets := int32(len(newTally().counts))
	for b := int32(1); b < buckets; b++ {
		if v := valueOf(b); bucketOf(v) != b || bucketOf(v-1) != b-1 {
			t.Fatalf("bucket %d begins at %d, which is in bucket %d, and %d in %d", b, v, bucketOf(v), v-1, bucketOf(v-1))
		}
	}
}

func BenchmarkTally(b *testing.B) {
	t, sum := newTally(), newTally()
	b.Run("op=record", func(b *testing.B) {
		b.ReportAllocs()
		v := int64(500)
		for b.Loop() {
			t.record(v)
			v = 500 + (v*5)&8191
		}
	})
	b.Run("op=add", func(b *testing.B) {
		for b.Loop() {
			sum.add(t)
		}
	})
	h := results.NewHistogram()
	b.Run("op=record-hdrhistogram", func(b *testing.B) {
		v := int64(500)
		for b.Loop() {
			h.Record(v)
			v = 500 + (v*5)&8191
		}
	})
	total := results.NewHistogram()
	b.Run("op=add-hdrhistogram", func(b *testing.B) {
		for b.Loop() {
			total.Merge(h)
		}
	})
}
