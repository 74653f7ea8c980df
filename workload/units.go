package workload

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Units of sizes, the largest first, so that FormatSize finds the shortest form.
var (
	binaryUnits = []unit{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}
	sizeUnits   = append([]unit{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}, {"", 1}}, binaryUnits...)
	rateUnits   = []unit{{"", 1}, {"k", 1e3}, {"M", 1e6}}
)

type unit struct {
	name  string
	bytes int64
}

// ParseSize reads a number of bytes: a whole number, alone or with one of the units B, KiB, MiB,
// GiB, TiB (powers of 1024), KB, MB, GB, TB (powers of 1000), in any case. Errors: *FieldError.
func ParseSize(s string) (int64, error) {
	digits := strings.TrimSpace(s)
	suffix := strings.TrimLeft(digits, "0123456789")
	digits = digits[:len(digits)-len(suffix)]
	suffix = strings.TrimSpace(suffix)
	for _, u := range sizeUnits {
		if !strings.EqualFold(suffix, u.name) || digits == "" {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n > math.MaxInt64/u.bytes {
			return 0, fieldError("size", s, "more than %d bytes", int64(math.MaxInt64))
		}
		return n * u.bytes, nil
	}
	return 0, fieldError("size", s, "not a size; a whole number of bytes, or one with a unit as in 1KiB, 64MiB, 2GiB or 10MB")
}

// FormatSize writes a number of bytes as ParseSize reads it, exactly: in the largest unit of 1024
// that divides it ("64MiB"), else in bytes ("1000").
func FormatSize(n int64) string { return formatSize(n, "", "") }

// proseSize is FormatSize for sentences: "64 MiB", "1000 B".
func proseSize(n int64) string { return formatSize(n, " ", " B") }

func formatSize(n int64, space, bytes string) string {
	for _, u := range binaryUnits {
		if n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + space + u.name
		}
	}
	return strconv.FormatInt(n, 10) + bytes
}

// ParseRate reads a number per second: "20000/s", "20000", "20k/s", "1.5M/s". It is finite and more
// than 0; a closed loop is the absence of a rate. Errors: *FieldError.
func ParseRate(s string) (float64, error) {
	number := strings.TrimSuffix(strings.TrimSpace(s), "/s")
	factor := 1.0
	for _, u := range rateUnits[1:] {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, factor = rest, float64(u.bytes)
			break
		}
	}
	rate, err := strconv.ParseFloat(number, 64)
	rate *= factor
	switch {
	case math.IsNaN(rate) || math.IsInf(rate, 0):
		return 0, fieldError("rate", s, "not a finite number; a rate is a number per second as in 20000/s, 20000 or 20k/s")
	case err != nil:
		return 0, fieldError("rate", s, "not a rate; a number per second as in 20000/s, 20000 or 20k/s")
	case rate <= 0:
		return 0, fieldError("rate", s, "a rate is more than 0; leave it out for a closed loop")
	}
	return rate, nil
}

// ParsePercent reads a share in percent, "10" or "10%", from 0 to 100. Errors: *FieldError.
func ParsePercent(s string) (float64, error) {
	number := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "%"))
	percent, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(percent) {
		return 0, fieldError("percent", s, "not a number; a share in percent as in 10 or 10%%")
	}
	if percent < 0 || percent > 100 {
		return 0, fieldError("percent", s, "outside 0 to 100")
	}
	return percent, nil
}

// ParseMix reads the mix of a worker's operations, "produce=10": the percentage that are appends,
// the rest being reads. Errors: *FieldError.
func ParseMix(s string) (float64, error) {
	share := strings.TrimPrefix(strings.TrimSpace(s), "produce=")
	percent, err := ParsePercent(share)
	if err != nil {
		return 0, fieldError("mix", s, "the share of appends is a number from 0 to 100, as in produce=10")
	}
	return percent, nil
}

// ParseShare reads a share of a whole, "0.9" or "90%", above 0 and up to 1. Errors: *FieldError.
func ParseShare(s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share > 0 && share <= 1) { // NaN too
		return 0, fieldError("share", s, "not a share; a number above 0 and up to 1, or a percentage, as in 0.9 or 90%%")
	}
	return share, nil
}

// ParseSkew reads the skew of a zipf distribution, a finite number from 0 on. Errors: *FieldError.
func ParseSkew(s string) (float64, error) {
	skew, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(skew >= 0 && skew <= math.MaxFloat64) { // NaN too
		return 0, fieldError("skew", s, "not a skew; a number from 0, which is uniform, as in 0.99")
	}
	return skew, nil
}

// ParseCount reads a whole number. Errors: *FieldError.
func ParseCount(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fieldError("number", s, "a whole number, but too large a one")
	case err != nil:
		return 0, fieldError("number", s, "not a whole number")
	}
	return n, nil
}

// ParseTime reads a span of time with its unit, "400ms". Errors: *FieldError.
func ParseTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil {
		return 0, fieldError("time", s, "not a time; give a number with its unit as in 400ms, 2s or 1m")
	}
	return d, nil
}
