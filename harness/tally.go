package harness

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"

	"tailrace/results"
)

// tally counts latencies in the buckets of an HdrHistogram of three digits, and becomes one in the end. It
// is what a worker records into, and differs in one thing: it knows which buckets it has touched, so that
// adding one to another and emptying it cost what was recorded, 2 µs for a usual range, where the library
// walks over all of its 27,648 buckets (53 µs). Every worker hands one over for every interval of the
// window, and what that costs is taken from the load.
//
// A tally is used by one goroutine at a time.
type tally struct {
	counts  []uint32
	low     int32 // touched buckets are [low, high)
	high    int32
	over    int64 // values above the range, in no bucket
	minimum int64
	maximum int64
	sum     int64

	_ [128]byte // as in worker
}

// The buckets of HdrHistogram with three digits from 1 ns: 2048 in the first power of two, of which each
// further one has the upper half (http://hdrhistogram.org).
const (
	tallyHalf     = 1024
	tallyHalfBits = 10
)

var _, tallyHighest = results.HistogramRange()

func newTally() *tally {
	t := &tally{counts: make([]uint32, bucketOf(tallyHighest)+1)}
	t.low, t.high = int32(len(t.counts)), 0
	t.minimum = math.MaxInt64
	return t
}

func bucketOf(ns int64) int32 {
	power := bits.Len64(uint64(ns)|(2*tallyHalf-1)) - (tallyHalfBits + 1)
	return int32(power<<tallyHalfBits) + int32(ns>>power)
}

// valueOf is the smallest value of a bucket, the inverse of bucketOf.
func valueOf(bucket int32) int64 {
	power := max(bucket>>tallyHalfBits-1, 0)
	return int64(bucket-power<<tallyHalfBits) << power
}

// record counts one latency in nanoseconds; less than 1, which a clock of coarse resolution gives, as 1.
func (t *tally) record(ns int64) {
	ns = max(ns, 1)
	t.sum = saturatingSum(t.sum, ns)
	t.minimum = min(t.minimum, ns)
	t.maximum = max(t.maximum, ns)
	if ns > tallyHighest {
		t.over++
		return
	}
	bucket := bucketOf(ns)
	t.low = min(t.low, bucket)
	t.high = max(t.high, bucket+1)
	t.counts[bucket]++
}

func saturatingSum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// reset empties the tally.
func (t *tally) reset() {
	if t.low < t.high {
		clear(t.counts[t.low:t.high])
	}
	*t = tally{counts: t.counts, low: int32(len(t.counts)), minimum: math.MaxInt64}
}

// add takes over what another has counted.
func (t *tally) add(from *tally) {
	for bucket := from.low; bucket < from.high; bucket++ {
		t.counts[bucket] += from.counts[bucket]
	}
	t.low, t.high = min(t.low, from.low), max(t.high, from.high)
	t.over += from.over
	t.minimum, t.maximum = min(t.minimum, from.minimum), max(t.maximum, from.maximum)
	t.sum = saturatingSum(t.sum, from.sum)
}

// kept is a copy of the tally in the few bytes that hold something: a long run has thousands of them.
func (t *tally) kept() keptTally {
	k := keptTally{over: t.over, minimum: t.minimum, maximum: t.maximum, sum: t.sum}
	last := int32(0)
	for bucket := t.low; bucket < t.high; bucket++ {
		if n := t.counts[bucket]; n > 0 {
			k.counts = binary.AppendUvarint(k.counts, uint64(bucket-last))
			k.counts = binary.AppendUvarint(k.counts, uint64(n))
			last = bucket
		}
	}
	k.counts = slices.Clip(k.counts)
	return k
}

// keptTally is a tally that is counted in no more.
type keptTally struct {
	counts                      []byte // for each bucket that holds any: how far it is from the last, and the count
	over, minimum, maximum, sum int64
}

// histogram is what was counted as everybody else reads it; nil if that is nothing.
func (k keptTally) histogram() *results.Histogram {
	if len(k.counts) == 0 && k.over == 0 {
		return nil
	}
	var pairs iter.Seq2[int64, int64] = func(yield func(int64, int64) bool) {
		bucket := int32(0)
		for at := k.counts; len(at) > 0; {
			distance, n := binary.Uvarint(at)
			count, m := binary.Uvarint(at[n:])
			at = at[n+m:]
			bucket += int32(distance)
			if !yield(valueOf(bucket), int64(count)) {
				return
			}
		}
	}
	return results.Assemble(pairs, k.minimum, k.maximum, k.sum, k.over)
}
