package workload

import (
	"slices"
	"strings"
	"time"
)

// Kinds of latency that an Objective may be about.
const (
	KindProduce  = "produce"
	KindConsume  = "consume"
	KindEndToEnd = "e2e"
)

// objectiveStatistics are those that an Objective may bound, as they stand in names of metrics.
var objectiveStatistics = []string{"p50", "p90", "p99", "p999", "max", "mean"}

// Objective is an upper bound of a latency, which a rate has to hold to count as sustained. It is a value,
// comparable with ==.
type Objective struct {
	Kind      string // KindProduce, KindConsume or KindEndToEnd
	Statistic string // "p50", "p90", "p99", "p999", "max" or "mean"
	Limit     time.Duration
}

// ParseObjective reads "produce p99 < 2ms": a kind, produce, consume or e2e (also end-to-end); a statistic,
// p50, p90, p99, p999 (also p99.9), max or mean; < or <=, between which no measurement can
// tell; and a time. Errors: *FieldError.
func ParseObjective(text string) (Objective, error) {
	problem := func(format string, args ...any) (Objective, error) {
		return Objective{}, fieldError("objective", text, format, args...)
	}
	left, right, found := strings.Cut(text, "<")
	words := strings.Fields(strings.ToLower(left))
	if !found || len(words) != 2 {
		return problem("give a latency, a statistic and a limit, as in produce p99 < 2ms")
	}
	o := Objective{Kind: words[0], Statistic: words[1]}
	switch o.Kind {
	case "end-to-end":
		o.Kind = KindEndToEnd
	case KindProduce, KindConsume, KindEndToEnd:
	default:
		return problem("%s is no kind of latency; give %s, %s or %s", display(o.Kind), KindProduce, KindConsume, KindEndToEnd)
	}
	if o.Statistic == "p99.9" {
		o.Statistic = "p999"
	}
	if !slices.Contains(objectiveStatistics, o.Statistic) {
		return problem("%s is no statistic of a latency; give one of %s", display(o.Statistic), strings.Join(objectiveStatistics, ", "))
	}
	limit := strings.Join(strings.Fields(strings.TrimPrefix(right, "=")), "")
	var err error
	if o.Limit, err = time.ParseDuration(limit); err != nil {
		return problem("%s is no time; give a number with its unit as in 500us, 2ms or 1s", display(limit))
	}
	if o.Limit <= 0 {
		return problem("a limit is more than 0")
	}
	return o, nil
}

// String is what ParseObjective reads: "produce p99 < 2ms".
func (o Objective) String() string {
	return o.Kind + " " + o.Statistic + " < " + o.Limit.String()
}
