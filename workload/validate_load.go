package workload

import (
	"math"
	"strconv"
)

// Limits of what paces a load and of who takes part in it.
const (
	// maxRate is one operation a nanosecond; beyond it intended times no longer differ.
	maxRate = 1e9
	// minRate is one operation in the longest run.
	minRate = 1 / float64(24*60*60)
	// MaxReplicas bounds the followers of a partition.
	MaxReplicas = 64
)

func (w *Workload) checkRates() *FieldError {
	rates := []struct {
		field   string
		rate    float64
		clients int
		needs   string
	}{
		{"--produce-rate", w.ProduceRate, w.Producers, "it paces a role, so give --producers"},
		{"--consume-rate", w.ConsumeRate, w.Consumers, "it paces a role, so give --consumers"},
		{"--rate", w.Rate, w.Workers, "it paces a mix, so give --workers; roles have --produce-rate and --consume-rate"},
	}
	for _, r := range rates {
		value := formatNumber(r.rate) + "/s"
		needs := r.needs
		if w.Workers > 0 && r.field != "--rate" {
			needs = "it paces a role; give --rate for the workers of a mix"
		}
		switch {
		case math.IsNaN(r.rate) || math.IsInf(r.rate, 0) || r.rate < 0:
			return fieldError(r.field, value, "not a rate; a finite number per second, or none for a closed loop")
		case r.rate == 0:
		case r.clients == 0:
			return fieldError(r.field, value, "nobody has this rate; %s", needs)
		case r.rate > maxRate:
			return fieldError(r.field, value, "more than one in a nanosecond; leave it out for a closed loop, which is as fast as can be")
		case r.rate < minRate:
			return fieldError(r.field, value, "less than one in %v, the longest that a run may take", maxTime)
		}
	}
	return nil
}

func (w *Workload) checkArrivals() *FieldError {
	burst := strconv.Itoa(w.Burst)
	const needsRate = "a closed loop has no arrivals; give --rate for workers, or --produce-rate or --consume-rate"
	switch {
	case w.Arrivals != ArrivalsConstant && w.Arrivals != ArrivalsPoisson:
		return fieldError("--arrivals", w.Arrivals, "unknown; give %s or %s", ArrivalsConstant, ArrivalsPoisson)
	case w.Burst < 1 || w.Burst > math.MaxInt32:
		return fieldError("--burst", burst, "outside 1, which is none, to %d", math.MaxInt32)
	case w.OpenLoop():
		return w.checkBurst()
	case w.Arrivals != ArrivalsConstant:
		return fieldError("--arrivals", w.Arrivals, needsRate)
	case w.Burst > 1:
		return fieldError("--burst", burst, needsRate)
	}
	return nil
}

// burstsAWindow is how many bursts a window has at least: with fewer, what is measured depends on where they
// fall, and a load that does not keep up can't be told from one that has begun a burst.
const burstsAWindow = 4

func (w *Workload) checkBurst() *FieldError {
	if w.Burst == 1 {
		return nil
	}
	rates := []float64{w.ProduceRate / float64(max(w.BatchRecords, 1)), w.ConsumeRate, w.Rate}
	for _, rate := range rates {
		period := seconds(float64(w.Burst) / rate)
		if rate > 0 && period > w.Duration/burstsAWindow {
			return fieldError("--burst", strconv.Itoa(w.Burst), "at %s/s one comes every %v, and a window of %v needs %d of them; lower it, or raise the rate or --duration",
				formatNumber(rate), period, w.Duration, burstsAWindow)
		}
	}
	return nil
}

func (w *Workload) checkThink() *FieldError {
	closed := w.Workers > 0 && w.Rate == 0 || w.Producers > 0 && w.ProduceRate == 0 && !w.Search || w.Consumers > 0 && w.ConsumeRate == 0
	switch {
	case w.Think < 0 || w.Think > maxTime:
		return fieldError("--think", w.Think.String(), "outside 0 to %v", maxTime)
	case w.Think > w.Duration:
		return fieldError("--think", w.Think.String(), "longer than the window of %v, which may have no operation then; lower it, or raise --duration", w.Duration)
	case w.Think > 0 && !closed:
		return fieldError("--think", w.Think.String(), "everybody has a rate, and pauses as that says; leave out --think or a rate")
	}
	return nil
}

func (w *Workload) checkSkew() *FieldError {
	value := formatNumber(w.Skew)
	switch {
	case !(w.Skew >= 0 && w.Skew <= math.MaxFloat64): // NaN too
		return fieldError("--skew", value, "not a skew; a number from 0, which is uniform, as in 0.99")
	case w.Skew > 0 && w.Pattern != Zipfian:
		return fieldError("--skew", value, "--pattern %s has none; give --pattern %s, or leave --skew out", w.Pattern, Zipfian)
	}
	return nil
}

func (w *Workload) checkReplicas() *FieldError {
	value := strconv.Itoa(w.Replicas)
	switch {
	case w.Replicas < 0 || w.Replicas > MaxReplicas:
		return fieldError("--replicas", value, "outside 0 to %d", MaxReplicas)
	case w.Replicas*w.Partitions > MaxClients:
		return fieldError("--replicas", value, "with --partitions %d it makes %d followers, more than %d; lower either",
			w.Partitions, w.Replicas*w.Partitions, MaxClients)
	}
	return nil
}

// recordSizeText is what --record-size would be given.
func (w *Workload) recordSizeText() string {
	if w.Sizes.Kind == SizesFixed {
		return FormatSize(int64(w.RecordSize))
	}
	return w.Sizes.String()
}

// checkSizes holds a distribution of sizes to what ParseSizes makes, and RecordSize to its largest.
func (w *Workload) checkSizes() *FieldError {
	if w.Sizes == (Sizes{}) {
		return nil
	}
	text := w.recordSizeText()
	parsed, largest, err := ParseSizes(text)
	if err != nil || parsed != w.Sizes {
		return fieldError("--record-size", text, "not a distribution of sizes; give one as in uniform:100-4KiB, lognormal:1KiB,0.8 or lines")
	}
	if w.Sizes.Kind == SizesLines {
		var lines int
		lines, _, largest = lineStatistics(w.Payload)
		switch {
		case lines == 0:
			return fieldError("--record-size", text, "there are no lines to make records of; give --payload with a file that has some")
		case lines > maxLines:
			return fieldError("--record-size", text, "the payload has %d lines, more than %d; give a shorter file", lines, maxLines)
		}
	}
	if w.RecordSize != largest {
		return fieldError("--record-size", text, "the largest record has %d bytes, not %d", largest, w.RecordSize)
	}
	return nil
}
