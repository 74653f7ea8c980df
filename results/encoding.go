package results

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// The V2 encoding of HdrHistogram, as Java's and Go's libraries write it: base64 of a cookie, the length
// of what follows, and zlib of a second header and the counts. Reading it here, straight into a histogram
// that is there already, takes a quarter of the time of decoding with the library and merging, and none
// of its 220 KB a line: a sweep's report reads tens of thousands of lines.
const (
	compressedCookie = 0x1c849304 | 0x10
	countsCookie     = 0x1c849303 | 0x10
	outerHeader      = 8  // cookie, length of the zlib stream
	innerHeader      = 40 // cookie, length, offset, digits, lowest, highest, ratio
)

// largestCount is what fits in eight bytes of 7 bits, with a sign. (The encoding has another form in its
// ninth byte than encoding/binary.)
const largestCount = 1<<55 - 1

// subBuckets is the number of buckets in which values double at three digits, from 2·subBuckets on.
const subBuckets = 1024

// mostBuckets is more than the range has, and so few that lowestOf does not overflow.
const mostBuckets = 32 * subBuckets

// lowestOf is the lowest value in the bucket of an index below mostBuckets.
func lowestOf(index int64) int64 {
	if doubled := index/subBuckets - 1; doubled > 0 {
		return (index%subBuckets + subBuckets) << doubled
	}
	return index
}

// inflater unpacks encoded histograms, one after the other into the same memory.
type inflater struct {
	encoded []byte
	source  bytes.Reader
	zlib    io.ReadCloser // nil before the first
	data    bytes.Buffer
}

// buckets gives the buckets of an encoded histogram that hold values to use: the lowest value of
// each, and the count, in ascending order.
func (f *inflater) buckets(payload string, use func(value, count int64) error) error {
	counts, err := f.counts(payload)
	if err != nil {
		return err
	}
	index := int64(0)
	for len(counts) > 0 {
		number, n := binary.Varint(counts)
		if n <= 0 || n > 8 {
			return errors.New("malformed count")
		}
		counts = counts[n:]
		switch {
		case number < 0: // so many empty buckets
			if number < -mostBuckets {
				return fmt.Errorf("%d empty buckets", -number)
			}
			index -= number
		case index >= mostBuckets || lowestOf(index) > histogramHighest:
			return fmt.Errorf("bucket %d lies above the range", index)
		default:
			if number > 0 {
				if err := use(lowestOf(index), number); err != nil {
					return err
				}
			}
			index++
		}
	}
	return nil
}

// counts returns the encoded counts, after it has checked all that stands before them. They are good until the next
// call.
func (f *inflater) counts(payload string) (_ []byte, err error) {
	f.encoded, err = base64.StdEncoding.AppendDecode(f.encoded[:0], []byte(payload))
	if err != nil {
		return nil, err
	}
	if len(f.encoded) < outerHeader || binary.BigEndian.Uint32(f.encoded) != compressedCookie ||
		int(binary.BigEndian.Uint32(f.encoded[4:])) != len(f.encoded)-outerHeader {
		return nil, errors.New("no compressed histogram of version 2")
	}
	f.source.Reset(f.encoded[outerHeader:])
	if f.zlib == nil {
		f.zlib, err = zlib.NewReader(&f.source)
	} else {
		err = f.zlib.(zlib.Resetter).Reset(&f.source, nil)
	}
	if err != nil {
		return nil, err
	}
	const most = 1 << 20 // all buckets at 9 bytes are 240 KB
	f.data.Reset()
	if _, err := f.data.ReadFrom(io.LimitReader(f.zlib, most)); err != nil {
		return nil, err
	}
	data := f.data.Bytes()
	if len(data) < innerHeader || binary.BigEndian.Uint32(data) != countsCookie ||
		int(binary.BigEndian.Uint32(data[4:])) != len(data)-innerHeader || binary.BigEndian.Uint32(data[8:]) != 0 {
		return nil, errors.New("no histogram of version 2")
	}
	digits, lowest, highest := binary.BigEndian.Uint32(data[12:]), binary.BigEndian.Uint64(data[16:]), binary.BigEndian.Uint64(data[24:])
	if digits != histogramDigits || lowest != histogramLowest || highest != histogramHighest {
		return nil, fmt.Errorf("from %d to %d ns with %d digits, want %d to %d with %d",
			lowest, highest, digits, int64(histogramLowest), int64(histogramHighest), histogramDigits)
	}
	return data[innerHeader:], nil
}

// exactValues are what the buckets of a histogram can't tell.
type exactValues struct{ min, max, sum, overRange int64 }

func (e exactValues) String() string {
	text := []byte("min=")
	text = append(strconv.AppendInt(text, e.min, 10), " max="...)
	text = append(strconv.AppendInt(text, e.max, 10), " sum="...)
	text = append(strconv.AppendInt(text, e.sum, 10), " over-range="...)
	return string(strconv.AppendInt(text, e.overRange, 10))
}

// parseExact reads what String wrote, and nothing else.
func parseExact(text string) (e exactValues, ok bool) {
	fields := strings.Split(text, " ")
	for i, value := range []*int64{&e.min, &e.max, &e.sum, &e.overRange} {
		if i < len(fields) {
			_, number, _ := strings.Cut(fields[i], "=")
			*value, _ = strconv.ParseInt(number, 10, 64) // what is no number makes another text
		}
	}
	return e, e.String() == text
}

// exact is the text of what the buckets don't hold.
func (h *Histogram) exact() string {
	return exactValues{h.Min(), h.max, h.sum, h.overRange}.String()
}

// addEncoded adds the values of a histogram, given what exact and encode made of it. It refuses what
// contradicts itself; then h is of no use any more.
func (h *Histogram) addEncoded(exact, payload string, from *inflater) error {
	e, ok := parseExact(exact)
	if !ok {
		return fmt.Errorf("exact values %q are not written as %q", exact, exactValues{})
	}
	var inRange, lowest, highest int64
	err := from.buckets(payload, func(value, count int64) error {
		if count > largestCount || count > math.MaxInt64-h.buckets.TotalCount() {
			return fmt.Errorf("%d values of %d ns", count, value)
		}
		if inRange == 0 {
			lowest = value
		}
		highest = value
		inRange += count
		return h.buckets.RecordValues(value, count)
	})
	if err != nil {
		return fmt.Errorf("buckets: %w", err)
	}
	if !h.consistent(e, inRange, lowest, highest) {
		return fmt.Errorf("exact values %q contradict %d values in the buckets", exact, inRange)
	}
	if inRange+e.overRange > 0 {
		h.overRange = saturatingAdd(h.overRange, e.overRange)
		h.sum = saturatingAdd(h.sum, e.sum)
		h.min = min(h.min, e.min)
		h.max = max(h.max, e.max)
	}
	return nil
}

// consistent reports whether exact values may be those of so many values in buckets, of which lowest and
// highest are the first and the last that hold any.
func (h *Histogram) consistent(e exactValues, inRange, lowest, highest int64) bool {
	switch {
	case e.overRange < 0 || inRange > math.MaxInt64-e.overRange:
		return false
	case inRange+e.overRange == 0:
		return e.min == 0 && e.max == 0 && e.sum == 0
	case e.min < histogramLowest || e.min > e.max || e.sum < e.max:
		return false
	case e.overRange > 0 && e.max <= histogramHighest:
		return false
	case e.overRange == 0 && !h.buckets.ValuesAreEquivalent(e.max, highest):
		return false
	case inRange > 0 && !h.buckets.ValuesAreEquivalent(e.min, lowest):
		return false
	}
	return true
}
