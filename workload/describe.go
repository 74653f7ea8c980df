package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
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
	if w.BatchRecords > 1 {
		add("%d records a batch", w.BatchRecords)
	}
	if w.Partitions > 1 {
		add("%d partitions", w.Partitions)
	}
	add("%s", w.loop())
	if w.Acks == AcksNone {
		add("no acknowledgements")
	}
	if sync := w.describeSync(); sync != "" {
		add("%s", sync)
	}
	line := strings.Join(parts, ", ")
	if w.Title != "" {
		line = w.Title + ": " + line
	}
	return line
}

func (w *Workload) describeMix(add func(string, ...any)) {
	add("%s", plural(w.Workers, "worker"))
	add("%s %% produce", formatNumber(w.ProducePercent))
	records := proseSize(int64(w.RecordSize)) + " records"
	if w.readers() > 0 {
		add("%s %s reads of %s", w.Pattern, proseSize(int64(w.FetchBytes)), records)
	} else {
		add("%s", records)
	}
}

func (w *Workload) describeRoles(add func(string, ...any)) {
	if w.Producers > 0 {
		add("%s%s", plural(w.Producers, "producer"), pace(w.ProduceRate))
	}
	if w.Consumers > 0 {
		add("%s%s", plural(w.Consumers, string(w.Pattern)+" consumer"), pace(w.ConsumeRate))
		if w.Subscriptions > 1 && w.Subscriptions != w.Consumers {
			add("%d subscriptions", w.Subscriptions)
		}
	}
	if w.RecordSize != Default().RecordSize {
		add("%s records", proseSize(int64(w.RecordSize)))
	}
}

// loop names the kind of load: consumers that follow producers at the end of the log have the pace
// of the producers.
func (w *Workload) loop() string {
	produce := w.Producers == 0 || w.ProduceRate > 0
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
	return strconv.Itoa(n) + " " + noun + "s"
}
