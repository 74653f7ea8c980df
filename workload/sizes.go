package workload

import (
	"bytes"
	"iter"
	"math"
	"strconv"
	"strings"
)

// Sizes is a distribution of record sizes. The zero value is none: all records have one size. It is a
// value, comparable with ==.
type Sizes struct {
	Kind   SizeKind
	Min    int     // bytes of the smallest: SizesUniform
	Max    int     // bytes of the largest: SizesUniform, SizesLognormal
	Median int     // bytes: SizesLognormal
	Sigma  float64 // standard deviation of the logarithm: SizesLognormal
}

// SizeKind is the kind of a distribution of sizes.
type SizeKind string

// The kinds of Sizes.
const (
	SizesFixed SizeKind = ""
	// SizesUniform makes each whole number from Min to Max equally likely.
	SizesUniform SizeKind = "uniform"
	// SizesLognormal has a logarithm that is normally distributed; what is drawn outside MinRecordSize to Max
	// becomes the bound.
	SizesLognormal SizeKind = "lognormal"
	// SizesLines are those of the lines of the workload's Payload, each record being one of them. A line
	// ends with a line feed, or a carriage return and one, which are no part of it; empty lines are none; and
	// a line shorter than MinRecordSize is padded to it.
	SizesLines SizeKind = "lines"
)

const (
	// The upper bound of lognormal sizes, if none is given, in medians.
	defaultLognormalMax = 16
	// maxSigma keeps quantiles finite; a sigma of 8 already spans 25 powers of ten.
	maxSigma = 8
	// maxLines bounds what the index of a payload's lines takes in memory.
	maxLines = 1 << 20
)

// RecordSize is what sizes records have: Sizes, with the bytes of the largest; 0 for SizesLines, whose
// largest is that of the payload.
type RecordSize struct {
	Sizes   Sizes
	Largest int
}

// ParseRecordSize is ParseSizes with its results in one.
func ParseRecordSize(text string) (RecordSize, error) {
	sizes, largest, err := ParseSizes(text)
	return RecordSize{sizes, largest}, err
}

// ParseSizes reads the sizes of records, and returns them with the bytes of the largest one: "1KiB", one
// size for all; "uniform:100-4KiB"; "lognormal:1KiB,0.8" or "lognormal:1KiB,0.8,16KiB", of median, standard
// deviation of the natural logarithm, and upper bound, which is 16 medians if absent; "lines", those of
// the payload file, whose largest is returned as 0. Errors: *FieldError.
func ParseSizes(text string) (Sizes, int, error) {
	text = strings.TrimSpace(text)
	kind, rest, _ := strings.Cut(text, ":")
	var s Sizes
	var err error
	switch SizeKind(kind) {
	case SizesUniform:
		s, err = parseUniform(text, rest)
	case SizesLognormal:
		s, err = parseLognormal(text, rest)
	case SizesLines:
		if text != kind {
			return Sizes{}, 0, sizesError(text, "lines takes nothing after it; the file is named by --payload")
		}
		return Sizes{Kind: SizesLines}, 0, nil
	default:
		size, err := ParseSize(text)
		if err != nil {
			return Sizes{}, 0, sizesError(text, "not a size of records; give one as in 1KiB, uniform:100-4KiB, lognormal:1KiB,0.8 or lines")
		}
		return Sizes{}, int(min(size, math.MaxInt)), nil
	}
	if err != nil {
		return Sizes{}, 0, err
	}
	return s, s.Max, nil
}

func parseUniform(text, rest string) (Sizes, error) {
	low, high, both := strings.Cut(rest, "-")
	lowest, err1 := ParseSize(low)
	highest, err2 := ParseSize(high)
	switch {
	case !both || err1 != nil || err2 != nil:
		return Sizes{}, sizesError(text, "give the smallest and the largest size, as in uniform:100-4KiB")
	case lowest > highest:
		return Sizes{}, sizesError(text, "the smallest size is above the largest; give uniform:%s-%s", strings.TrimSpace(high), strings.TrimSpace(low))
	}
	if err := checkBounds(text, lowest, highest); err != nil {
		return Sizes{}, err
	}
	return Sizes{Kind: SizesUniform, Min: int(lowest), Max: int(highest)}, nil
}

func parseLognormal(text, rest string) (Sizes, error) {
	parts := strings.Split(rest, ",")
	malformed := sizesError(text, "give median and sigma, and a largest size if it is not 16 medians, as in lognormal:1KiB,0.8 or lognormal:1KiB,0.8,16KiB")
	if len(parts) < 2 || len(parts) > 3 {
		return Sizes{}, malformed
	}
	median, err := ParseSize(parts[0])
	if err != nil {
		return Sizes{}, malformed
	}
	sigma, err := strconv.ParseFloat(strings.TrimSpace(parts[1]), 64)
	if err != nil {
		return Sizes{}, malformed
	}
	if !(sigma > 0 && sigma <= maxSigma) { // NaN too
		return Sizes{}, sizesError(text, "sigma, the standard deviation of the logarithm, lies above 0 and up to %d", maxSigma)
	}
	largest := lognormalMax(median)
	if len(parts) == 3 {
		if largest, err = ParseSize(parts[2]); err != nil {
			return Sizes{}, malformed
		}
	}
	if median > largest {
		return Sizes{}, sizesError(text, "the median is above the largest size")
	}
	if err := checkBounds(text, median, largest); err != nil {
		return Sizes{}, err
	}
	return Sizes{Kind: SizesLognormal, Median: int(median), Sigma: sigma, Max: int(largest)}, nil
}

func lognormalMax(median int64) int64 {
	return max(min(median, MaxSegmentSize/defaultLognormalMax)*defaultLognormalMax, median)
}

func checkBounds(text string, lowest, highest int64) error {
	switch {
	case lowest < MinRecordSize:
		return sizesError(text, "%s is less than the %d bytes that verification needs in every record", FormatSize(lowest), MinRecordSize)
	case highest > MaxSegmentSize:
		return sizesError(text, "%s is more than the largest segment holds, %d bytes", FormatSize(highest), MaxSegmentSize)
	}
	return nil
}

func sizesError(text, format string, args ...any) *FieldError {
	return fieldError("record-size", text, format, args...)
}

// String is what ParseSizes reads, in its shortest form; "" for one size.
func (s Sizes) String() string {
	switch s.Kind {
	case SizesUniform:
		return "uniform:" + FormatSize(int64(s.Min)) + "-" + FormatSize(int64(s.Max))
	case SizesLognormal:
		text := "lognormal:" + FormatSize(int64(s.Median)) + "," + formatNumber(s.Sigma)
		if int64(s.Max) != lognormalMax(int64(s.Median)) {
			text += "," + FormatSize(int64(s.Max))
		}
		return text
	default:
		return string(s.Kind)
	}
}

// lognormalQuantiles is the number of sizes that stand for a lognormal distribution.
const lognormalQuantiles = 4096

// lognormalTable holds the sizes at the middles of that many equally likely parts of the distribution, so
// that a draw is one look-up by the bits of a hash. It ends 3.7 sigma from the median: one record
// in 8192 would be larger than its last size, and one smaller than its first.
func (s Sizes) lognormalTable() []uint32 {
	table := make([]uint32, lognormalQuantiles)
	highest := float64(max(min(s.Max, MaxSegmentSize), MinRecordSize))
	for i := range table {
		p := (float64(i) + 0.5) / lognormalQuantiles
		size := float64(s.Median) * math.Exp(s.Sigma*math.Sqrt2*math.Erfinv(2*p-1))
		if !(size > MinRecordSize) { // NaN too
			size = MinRecordSize
		}
		table[i] = uint32(math.Round(min(size, highest)))
	}
	return table
}

// payloadLines are the lines of a payload in order, as SizesLines has them.
func payloadLines(payload []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(payload) {
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			if len(line) > 0 && !yield(line) {
				return
			}
		}
	}
}

// lineStatistics counts the lines of a payload, and those too short for a record, and finds the bytes of
// the largest record that is made of one.
func lineStatistics(payload []byte) (lines, short, largest int) {
	for line := range payloadLines(payload) {
		lines++
		if len(line) < MinRecordSize {
			short++
		}
		largest = max(largest, len(line), MinRecordSize)
	}
	return lines, short, largest
}
