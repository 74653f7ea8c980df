package results

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// absent stands for a value that a run does not have.
const absent = "–"

// FormatRate formats a rate or a count with a decimal prefix, from a million on with three significant
// digits: 85, 520k, 1.05M. What is negative or no number becomes "–", here and in the other Format
// functions.
func FormatRate(perSecond float64) string {
	if !isFinite(perSecond) || perSecond < 0 {
		return absent
	}
	return scale(perSecond, 1, []string{"", "k", "M", "G", "T"}, 1000, 2)
}

// FormatDuration formats seconds with the unit that fits: 84 ns, 9.5 µs, 1.2 ms, 3.0 s.
func FormatDuration(seconds float64) string {
	if !isFinite(seconds) || seconds < 0 {
		return absent
	}
	return scale(seconds, 1e-9, []string{" ns", " µs", " ms", " s"}, 1000, coarse)
}

// FormatBytes formats bytes with a binary prefix: 512 B, 64 MiB.
func FormatBytes(bytes float64) string {
	if !isFinite(bytes) || bytes < 0 {
		return absent
	}
	return scale(bytes, 1, []string{" B", " KiB", " MiB", " GiB", " TiB"}, 1024, coarse)
}

// coarse is an index beyond all units.
const coarse = math.MaxInt

// scale formats value in the largest of the units, each step times the one before and the first of
// size first, in which it is at least 1: with two significant digits at least, and three from the unit
// of index fine on. Whole numbers of bytes have no fraction.
func scale(value, first float64, units []string, step float64, fine int) string {
	if value /= first; math.IsInf(value, 1) {
		return absent
	}
	for i, unit := range units {
		decimals := 1
		switch {
		case value == 0 || value >= 99.95 || i == 0 && value >= 9.95 || step == 1024 && value == math.Trunc(value):
			decimals = 0
		case i >= fine && value < 9.995:
			decimals = 2
		}
		// 999.7 would be printed as 1000: it belongs to the next unit.
		if i == len(units)-1 || math.Round(value) < step {
			return strconv.FormatFloat(value, 'f', decimals, 64) + unit
		}
		value /= step
	}
	return absent
}

// FormatRatio formats a ratio with three significant digits at most: 1.94×, 12.3×, 0.04×.
func FormatRatio(ratio float64) string {
	number := formatRatioNumber(ratio)
	if number == absent {
		return absent
	}
	return number + "×"
}

// FormatInterval formats a ratio with its interval: 1.94× (1.53–2.46). Of a bound that Interval.Shown cuts
// it says so: 0.93× (<0.01–>100).
func FormatInterval(ratio, low, high float64) string {
	lowText, highText := formatRatioNumber(low), formatRatioNumber(high)
	shownLow, shownHigh := Interval{Low: low, High: high}.Shown()
	if shownLow > low {
		lowText = fmt.Sprintf("<%g", shownLow)
	}
	if shownHigh < high {
		highText = fmt.Sprintf(">%g", shownHigh)
	}
	return fmt.Sprintf("%s (%s–%s)", FormatRatio(ratio), lowText, highText)
}

func formatRatioNumber(ratio float64) string {
	switch {
	case !isFinite(ratio) || ratio < 0:
		return absent
	case ratio >= 99.95:
		return fmt.Sprintf("%.0f", ratio)
	case ratio >= 9.995:
		return fmt.Sprintf("%.1f", ratio)
	case ratio >= 0.0995 || ratio == 0:
		return fmt.Sprintf("%.2f", ratio)
	case ratio >= 0.000995:
		return fmt.Sprintf("%.3f", ratio)
	}
	return fmt.Sprintf("%.1g", ratio)
}

// FormatPercent formats a share, 0 to 1, in percent: 48 %.
func FormatPercent(share float64) string {
	switch {
	case !isFinite(share) || share < 0:
		return absent
	case share > 0 && share < 0.0995:
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// FormatMetric formats the value of a metric by the unit in its name.
func FormatMetric(metric string, value float64) string {
	switch {
	case strings.HasSuffix(metric, "-sec"), strings.HasSuffix(metric, "-sec/op"):
		return FormatDuration(value)
	case strings.HasSuffix(metric, "B/s"):
		text := FormatBytes(value)
		if text == absent {
			return absent
		}
		return text + "/s"
	case metric == MetricAllocBytes:
		return FormatBytes(value)
	case strings.HasSuffix(metric, "/s"):
		return FormatRate(value)
	case !isFinite(value):
		return absent
	}
	return fmt.Sprintf("%.3g", value)
}

// MetricLabel is a metric's name for readers: "produce p99.9" for produce-p999-sec, "CPU/op" for
// cpu-sec/op.
func MetricLabel(metric string) string {
	switch metric {
	case MetricCPU:
		return "CPU/op"
	case MetricDrain:
		return "time to drain"
	}
	if kind, statistic, ok := latencyParts(metric); ok {
		return kind + " " + statisticLabel(statistic)
	}
	for _, role := range []string{KindProduce, KindConsume} {
		if unit, ok := strings.CutPrefix(metric, role+"-"); ok {
			return role + " " + unit
		}
	}
	return metric
}

// latencyParts undoes LatencyMetric.
func latencyParts(metric string) (kind, statistic string, ok bool) {
	name, ok := strings.CutSuffix(metric, "-sec")
	at := strings.LastIndexByte(name, '-')
	if !ok || at < 0 {
		return "", "", false
	}
	return name[:at], name[at+1:], true
}

func isLatencyMetric(metric string) bool {
	_, _, ok := latencyParts(metric)
	return ok
}

func statisticLabel(statistic string) string {
	if statistic == "p999" {
		return "p99.9"
	}
	return statistic
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// formatCount formats a number of at least 0 in full, its thousands apart: 180,000.
func formatCount(v float64) string {
	if !isFinite(v) || v < 0 {
		return absent
	}
	digits := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
