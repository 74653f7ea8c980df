package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Describe says in a line what the load is: "8 workers, 10 % produce, random reads of 1 KiB records,
// closed loop". What is as in Default is left out.
func (w *Workload) Describe() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if w.Workers > 0 {
		w.describeMix(add)
	} else {
		w.describeRoles(add)
	}
	if sizes := w.Sizes.describe(); sizes != "" {
		add("%s", sizes)
	}
	if w.BatchRecords > 1 {
		add("%d records a batch", w.BatchRecords)
	}
	if w.Partitions > 1 {
		add("%s", plural(w.Partitions, "partition"))
	}
	if w.Replicas > 0 {
		add("%s", plural(w.Replicas, "follower"))
	}
	w.describePacing(add)
	switch w.Acks {
	case AcksNone:
		add("no acknowledgements")
	case AcksAll:
		if w.Replicas == 0 {
			add("acknowledged by all, without followers") // which is by the leader
		} else {
			add("acknowledged by all")
		}
	}
	if sync := w.describeSync(); sync != "" {
		add("%s", sync)
	}
	w.describeRun(add)
	line := strings.Join(parts, ", ")
	if w.Title != "" {
		line = w.Title + ": " + line
	}
	return line
}

func (w *Workload) describeMix(add func(string, ...any)) {
	add("%s%s", plural(w.Workers, "worker"), pace(w.Rate))
	add("%s %% produce", formatNumber(w.ProducePercent))
	records := ""
	if w.Sizes.Kind == SizesFixed {
		records = proseSize(int64(w.RecordSize)) + " records"
	}
	switch {
	case w.readers() == 0 && records != "":
		add("%s", records)
	case w.readers() > 0 && records != "":
		add("%s %s reads of %s", w.patternWords(), proseSize(int64(w.FetchBytes)), records)
	case w.readers() > 0:
		add("%s %s reads", w.patternWords(), proseSize(int64(w.FetchBytes)))
	}
}

func (w *Workload) describeRoles(add func(string, ...any)) {
	if w.Producers > 0 {
		add("%s%s", plural(w.Producers, "producer"), pace(w.ProduceRate))
	}
	if w.Consumers > 0 {
		add("%s%s", plural(w.Consumers, w.patternWords()+" consumer"), pace(w.ConsumeRate))
		if w.Subscriptions > 1 && w.Subscriptions != w.Consumers {
			add("%d subscriptions", w.Subscriptions)
		}
	}
	if w.Sizes.Kind == SizesFixed && w.RecordSize != Default().RecordSize {
		add("%s records", proseSize(int64(w.RecordSize)))
	}
}

// patternWords stand before "reads" and "consumers".
func (w *Workload) patternWords() string {
	switch w.Pattern {
	case Zipfian:
		return "zipf " + formatNumber(w.Skew)
	case ByTime:
		return "by-time"
	default:
		return string(w.Pattern)
	}
}

func (s Sizes) describe() string {
	switch s.Kind {
	case SizesUniform:
		return "record sizes uniform from " + proseSize(int64(s.Min)) + " to " + proseSize(int64(s.Max))
	case SizesLognormal:
		return "record sizes lognormal around " + proseSize(int64(s.Median))
	case SizesLines:
		return "records are lines of the payload"
	default:
		return ""
	}
}

// describePacing says when operations start.
func (w *Workload) describePacing(add func(string, ...any)) {
	add("%s", w.loop())
	if w.Arrivals == ArrivalsPoisson {
		add("Poisson arrivals")
	}
	if w.Burst > 1 {
		add("in bursts of %d", w.Burst)
	}
	if w.Think > 0 {
		add("thinking %s", proseTime(w.Think))
	}
}

// describeRun says what else than a window of fixed length is run.
func (w *Workload) describeRun(add func(string, ...any)) {
	if w.Backlog > 0 {
		add("sustained, producers held at %s unread", proseSize(w.Backlog))
	}
	switch {
	case w.DrainRatio == 1:
		add("drains a backlog of %s", proseSize(w.Prefill))
	case w.DrainRatio > 0:
		add("drains %s %% of a backlog of %s", formatNumber(math.Round(w.DrainRatio*1e6)/1e4), proseSize(w.Prefill))
	}
	if w.Search {
		objectives := ""
		for i, o := range w.Objectives {
			objectives += []string{" and ", " with "}[max(1-i, 0)] + o.String()
		}
		add("searching for the highest rate%s", objectives)
	}
}

// loop names the kind of load: consumers that follow producers at the end of the log have the pace
// of the producers.
func (w *Workload) loop() string {
	produce := w.Producers == 0 || w.ProduceRate > 0 || w.Search
	consume := w.Consumers == 0 || w.ConsumeRate > 0 || w.Pattern == Tail && w.Producers > 0 && produce
	switch {
	case !w.OpenLoop():
		return "closed loop"
	case produce && consume:
		return "open loop"
	case produce:
		return "open loop for producers only"
	default:
		return "open loop for consumers only"
	}
}

func pace(rate float64) string {
	if rate == 0 {
		return ""
	}
	return " at " + grouped(rate) + "/s"
}

// grouped writes a number with its thousands apart: 10,000.
func grouped(v float64) string {
	if v != math.Trunc(v) || math.Abs(v) >= 1e15 {
		return formatNumber(v)
	}
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(float64(n)) + " " + noun + "s"
}

// proseTime is a time for sentences: "1 ms", and "1m30s" where it takes several units.
func proseTime(d time.Duration) string {
	text := d.String()
	unit := strings.TrimLeft(text, "0123456789.")
	if strings.ContainsAny(unit, "0123456789") {
		return text
	}
	return strings.TrimSuffix(text, unit) + " " + unit
}
