package results

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// What is decoded here is what the library that encoded it decodes.
func TestDecodingAgreesWithTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 50 {
		h := NewHistogram()
		h.Record(1)
		h.Record(histogramHighest)
		for range random.IntN(2000) {
			h.Record(int64(math.Exp(25 * random.Float64())))
		}
		for shift := range 36 {
			for near := int64(-1); near <= 1; near++ {
				h.Record(int64(1)<<shift + near)
			}
		}
		payload, err := h.encode()
		if err != nil {
			t.Fatal(err)
		}
		reference, err := hdrhistogram.Decode([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		// Twice into one: every count is doubled.
		got := NewHistogram()
		for range 2 {
			if err := got.addEncoded(h.exact(), payload, &inflater{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := reference.RecordValue(7); err != nil {
			t.Fatal(err)
		}
		h.Record(7)
		if !reference.Equals(h.buckets) {
			t.Fatal("the library decodes something else than was encoded")
		}
		doubled := NewHistogram()
		doubled.Merge(h)
		doubled.Merge(h)
		got.Record(7)
		got.Record(7)
		if !got.buckets.Equals(doubled.buckets) || got.exact() != doubled.exact() {
			t.Fatal("decoding differs from merging")
		}
	}
}

// encoded is the encoding of counts given as they stand in it, under a header that edit may change.
func encoded(edit func(header []byte), numbers ...int64) string {
	var counts []byte
	for _, n := range numbers {
		counts = binary.AppendVarint(counts, n)
	}
	header := make([]byte, innerHeader)
	binary.BigEndian.PutUint32(header, countsCookie)
	binary.BigEndian.PutUint32(header[4:], uint32(len(counts)))
	binary.BigEndian.PutUint32(header[12:], histogramDigits)
	binary.BigEndian.PutUint64(header[16:], histogramLowest)
	binary.BigEndian.PutUint64(header[24:], histogramHighest)
	if edit != nil {
		edit(header)
	}
	var stream bytes.Buffer
	z := zlib.NewWriter(&stream)
	z.Write(header)
	z.Write(counts)
	z.Close()
	outer := binary.BigEndian.AppendUint32(nil, compressedCookie)
	outer = binary.BigEndian.AppendUint32(outer, uint32(stream.Len()))
	return base64.StdEncoding.EncodeToString(append(outer, stream.Bytes()...))
}

func TestDecodingRefuses(t *testing.T) {
	const exact = "min=5 max=5 sum=5 over-range=0"
	if err := NewHistogram().addEncoded(exact, encoded(nil, -5, 1), &inflater{}); err != nil {
		t.Fatal(err)
	}
	set := func(at int, value uint32) func([]byte) {
		return func(header []byte) { binary.BigEndian.PutUint32(header[at:], value) }
	}
	for name, c := range map[string]struct{ payload, want string }{
		"other digits":     {encoded(set(12, 2), -5, 1), "with 2 digits"},
		"other lowest":     {encoded(set(20, 2), -5, 1), "from 2 to"},
		"other highest":    {encoded(set(24, 1), -5, 1), "with 3 digits, want"},
		"other cookie":     {encoded(set(0, 1), -5, 1), "no histogram"},
		"an offset":        {encoded(set(8, 1), -5, 1), "no histogram"},
		"other length":     {encoded(set(4, 1), -5, 1), "no histogram"},
		"many empty":       {encoded(nil, -5, 1, -(1 << 40), 1), "empty buckets"},
		"above the range":  {encoded(nil, -5, 1, -mostBuckets, 1), "above the range"},
		"just above":       {encoded(nil, -5, 1, -27400, 1), "above the range"},
		"huge count":       {encoded(nil, -5, 1<<60), "malformed count"},
		"counts overflow":  {encoded(nil, append([]int64{-5}, bigCounts()...)...), "values of"},
		"no header":        {"AAAA", "no compressed histogram"},
		"values elsewhere": {encoded(nil, -6, 1), "contradict"},
	} {
		if err := NewHistogram().addEncoded(exact, c.payload, &inflater{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// bigCounts are counts that each fit in eight bytes, and together not in 63 bits.
func bigCounts() []int64 {
	counts := make([]int64, 300)
	for i := range counts {
		counts[i] = largestCount
	}
	return counts
}
