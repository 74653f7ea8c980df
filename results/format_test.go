package results

import (
	"math"
	"testing"
)

func TestFormat(t *testing.T) {
	type cases map[float64]string
	for name, c := range map[string]struct {
		format func(float64) string
		cases  cases
	}{
		"rate": {FormatRate, cases{0: "0", 0.5: "0.5", 7: "7.0", 85: "85", 999.4: "999", 999.7: "1.0k", 1000: "1.0k", 24_440: "24.4k",
			99_960: "100k", 520e3: "520k", 999_600: "1.00M", 1.046e6: "1.05M", 9.996e6: "10.0M", 12.34e6: "12.3M",
			520.4e6: "520M", 999.6e6: "1.00G", 3e15: "3000T", -1: "–", math.Inf(1): "–"}},
		"duration": {FormatDuration, cases{0: "0 ns", 1e-9: "1.0 ns", 84e-9: "84 ns", 999.8e-9: "1.0 µs", 9.5e-6: "9.5 µs", 1.25e-3: "1.2 ms",
			0.1: "100 ms", 1: "1.0 s", 600: "600 s", 5000: "5000 s", -1: "–", math.MaxFloat64: "–"}},
		"bytes":   {FormatBytes, cases{0: "0 B", 6.4: "6.4 B", 512: "512 B", 1024: "1 KiB", 64 << 20: "64 MiB", 1.5 * (1 << 30): "1.5 GiB"}},
		"ratio":   {FormatRatio, cases{0: "0.00×", 1.944: "1.94×", 0.4: "0.40×", 0.0412: "0.041×", 0.00001: "1e-05×", 9.999: "10.0×", 12.34: "12.3×", 123.4: "123×", -1: "–"}},
		"percent": {FormatPercent, cases{0: "0 %", 0.002: "0.2 %", 0.48: "48 %", 1.2: "120 %", -1: "–"}},
	} {
		for value, want := range c.cases {
			if got := c.format(value); got != want {
				t.Errorf("%s of %v: %q, want %q", name, value, got, want)
			}
		}
		if got := c.format(math.NaN()); got != absent {
			t.Errorf("%s of NaN: %q", name, got)
		}
	}
}

func TestFormatInterval(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		ratio, low, high float64
		want             string
	}{
		{1.94, 1.53, 2.456, "1.94× (1.53–2.46)"},
		{0.93, 5e-6, 167095, "0.93× (<0.01–>100)"},
		{0.93, 0, inf, "0.93× (<0.01–>100)"},
		{5, 0.01, 100, "5.00× (0.010–100)"},
		{0.2, 0.004, 10, "0.20× (<0.01–10.0)"},
		{0.003, 0.002, 0.0041, "0.003× (0.002–0.004)"}, // nothing wide about it
		{200, 150, 270, "200× (150–270)"},
		{math.NaN(), math.NaN(), math.NaN(), "– (–––)"},
	} {
		if got := FormatInterval(c.ratio, c.low, c.high); got != c.want {
			t.Errorf("%v (%v–%v): %q, want %q", c.ratio, c.low, c.high, got, c.want)
		}
	}
}

func TestFormatMetric(t *testing.T) {
	for _, c := range []struct {
		metric string
		value  float64
		want   string
	}{
		{MetricOps, 520e3, "520k"},
		{MetricProduceBytes, 1 << 20, "1 MiB/s"},
		{MetricConsumeBytes, math.NaN(), "–"},
		{MetricCPU, 3.9e-6, "3.9 µs"},
		{MetricAllocs, 0.1, "0.1"},
		{MetricAllocs, math.Inf(1), "–"},
		{MetricAllocBytes, 64, "64 B"},
		{LatencyMetric(KindEndToEnd, "p99"), 1e-3, "1.0 ms"},
	} {
		if got := FormatMetric(c.metric, c.value); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.value, c.metric, got, c.want)
		}
	}
}

func TestMetricLabel(t *testing.T) {
	for metric, want := range map[string]string{
		MetricOps:                                "op/s",
		MetricProduceOps:                         "produce op/s",
		MetricConsumeBytes:                       "consume B/s",
		MetricCPU:                                "CPU/op",
		LatencyMetric(KindEndToEnd, "p999"):      "e2e p99.9",
		LatencyMetric(KindConsumeService, "max"): "consume-service max",
	} {
		if got := MetricLabel(metric); got != want {
			t.Errorf("%s: %q, want %q", metric, got, want)
		}
	}
}
