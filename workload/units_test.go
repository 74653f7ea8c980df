package workload

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "1024": 1024, "1B": 1, "1KiB": 1 << 10, "64MiB": 64 << 20, "2GiB": 2 << 30, "1TiB": 1 << 40,
		"1KB": 1000, "10MB": 10e6, "3GB": 3e9, "1TB": 1e12, " 64 mib ": 64 << 20, "9223372036854775807": math.MaxInt64,
	} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", s, got, err, want)
		}
	}
	refused(t, "size", func(s string) error { _, err := ParseSize(s); return err },
		"", " ", "MiB", "-1", "-1KiB", "1.5MiB", "64M", "1 2", "ten", "0x10", "NaN", "1KiB\n2", "9223372036854775808", "9000000TiB", strings.Repeat("9", 1000))
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 1: "1", 1000: "1000", 1 << 10: "1KiB", 1536: "1536", 64 << 20: "64MiB", 2 << 30: "2GiB", 3 << 40: "3TiB",
		-1024: "-1KiB", 67108959: "67108959", math.MaxInt64: "9223372036854775807",
	} {
		got := FormatSize(n)
		if got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
		if back, err := ParseSize(got); n >= 0 && (err != nil || back != n) {
			t.Errorf("%s reads back as %d, %v", got, back, err)
		}
	}
}

func TestParseRate(t *testing.T) {
	for s, want := range map[string]float64{
		"20000/s": 20000, "20000": 20000, "10k/s": 10000, "1.5M/s": 1.5e6, "0.5": 0.5, "1e4/s": 1e4, " 7/s ": 7,
	} {
		if got, err := ParseRate(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
	refused(t, "rate", func(s string) error { _, err := ParseRate(s); return err },
		"", "/s", "k", "fast", "NaN", "Inf", "-Inf", "1e400", "1e308k", "0", "0/s", "-1", "-5k/s", "10/min", "10 k", "1,000")
}

func TestParsePercentAndMix(t *testing.T) {
	for s, want := range map[string]float64{"0": 0, "10": 10, "12.5%": 12.5, " 100 % ": 100} {
		if got, err := ParsePercent(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
		if got, err := ParseMix("produce=" + s); err != nil || got != want {
			t.Errorf("produce=%q: %v, %v; want %v", s, got, err, want)
		}
		if got, err := ParseMix(s); err != nil || got != want {
			t.Errorf("a mix of %q: %v, %v; want %v", s, got, err, want)
		}
	}
	refused(t, "percent", func(s string) error { _, err := ParsePercent(s); return err }, "", "%", "ten", "-1", "100.1", "NaN", "Inf")
	refused(t, "mix", func(s string) error { _, err := ParseMix(s); return err },
		"", "produce", "produce=", "produce=x", "produce=101", "consume=10", "produce=10,consume=90")
}

func TestParseSmallValues(t *testing.T) {
	for s, want := range map[string]float64{"0.9": 0.9, "90%": 0.9, " 1 ": 1, "100 %": 1, "1e-3": 1e-3} {
		if got, err := ParseShare(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
	refused(t, "share", func(s string) error { _, err := ParseShare(s); return err }, "", "%", "0", "0%", "-1", "1.1", "101%", "NaN", "Inf", "all")
	for s, want := range map[string]float64{"0": 0, " 0.99 ": 0.99, "3": 3} {
		if got, err := ParseSkew(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
	refused(t, "skew", func(s string) error { _, err := ParseSkew(s); return err }, "", "-0.1", "NaN", "Inf", "1e999", "some")
	if got, err := ParseCount(" 12 "); err != nil || got != 12 {
		t.Errorf("%v, %v", got, err)
	}
	refused(t, "number", func(s string) error { _, err := ParseCount(s); return err }, "", "1.5", "1e3", "many", "99999999999999999999")
	if got, err := ParseTime(" 1m30s "); err != nil || got != 90*time.Second {
		t.Errorf("%v, %v", got, err)
	}
	refused(t, "time", func(s string) error { _, err := ParseTime(s); return err }, "", "1", "NaN", "1 day", "soon")
}

// refused checks that each input is refused in one line that repeats it.
func refused(t *testing.T, kind string, parse func(string) error, inputs ...string) {
	t.Helper()
	for _, s := range inputs {
		err := parse(s)
		var field *FieldError
		if !errors.As(err, &field) || !errors.Is(err, ErrInvalid) {
			t.Errorf("%s %q: error is %v, want a *FieldError", kind, s, err)
			continue
		}
		line := err.Error()
		if field.Field != kind || field.Value != s || strings.Contains(line, "\n") || len(line) > 250 ||
			!strings.HasPrefix(line, "workload: "+kind+" "+display(s)+": ") {
			t.Errorf("%s %q: %s", kind, s, line)
		}
	}
}

func TestNearest(t *testing.T) {
	strategies := []string{"mutex", "rwmutex", "atomics", "actor", "raw", "null", "busted"}
	for name, want := range map[string]string{
		"mutx": "mutex", "mutxe": "mutex", "rwmutexx": "rwmutex", "atomic": "atomics", "akctor": "actor", "rwa": "raw",
		"mutex": "mutex", "": "", "channel": "", "zzz": "", strings.Repeat("mutex", 1000): "",
	} {
		if got := Nearest(name, strategies); got != want {
			t.Errorf("%.20q: %q, want %q", name, got, want)
		}
	}
	if got := Nearest("mutex", nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	if got := Nearest("bat", []string{"cat", "hat"}); got != "cat" {
		t.Errorf("of two as near: %q, want the first", got)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%s to %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
