package workload

import "math"

// Scale says of a workload whether a machine has room for it; a nil one scales nothing.
type Scale func(*Workload) bool

func (s Scale) fitsAll(grid []Workload) bool {
	for i := range grid {
		if !s(&grid[i]) {
			return false
		}
	}
	return true
}

// limits are what a file of OpenMessaging Benchmark is made to fit.
type limits struct{ partitions, clients int }

var mostOfARun = limits{MaxPartitions, MaxClients}

func (l limits) halved() limits { return limits{max(l.partitions/2, 1), max(l.clients/2, 1)} }

func (l limits) smallest() bool { return l == limits{1, 1} }

// backlog makes the Prefill of a backlog, and what is drained of it.
//
// OpenMessaging Benchmark (WorkloadGenerator.buildAndDrainBacklog) stops the consumers, produces at the
// rate of the file until subscriptions × messages sent − messages received are worth
// consumerBacklogSizeGB·2^30 bytes, and lets them go again beside the producers until no more than
// 1 − backlogDrainRatio of that is left. So the log holds the size divided by the subscriptions, each of
// which has it all to read. Here that log is written before the run.
func (o *ombWorkload) backlog(m *mapping, w *Workload, flags *Overrides, scale Scale) error {
	if o.consumerBacklogSizeGB == 0 {
		if m.has("backlogDrainRatio") && o.backlogDrainRatio != 1 {
			w.note("The backlogDrainRatio is not used, since there is no backlog.")
		}
		return nil
	}
	w.DrainRatio = o.backlogDrainRatio
	if flags.Prefill != nil {
		return nil
	}
	w.Prefill = int64(o.consumerBacklogSizeGB) << 30 / int64(o.subscriptionsPerTopic)
	if o.subscriptionsPerTopic > 1 {
		w.note("The backlog of %d GiB is that of %d subscriptions together, each of which reads the same %s of log.",
			o.consumerBacklogSizeGB, o.subscriptionsPerTopic, proseSize(w.Prefill))
	}
	limit := max(w.MaxBytes/2, 1) // the rest is for what is produced while it is drained
	if w.Prefill <= limit {
		return nil
	}
	if scale == nil {
		return m.valueError("consumerBacklogSizeGB", "%s of log are more than half of the %s that a run may write; raise --max-bytes, or give --scale for a smaller backlog",
			proseSize(w.Prefill), FormatSize(w.MaxBytes))
	}
	factor := (w.Prefill-1)/limit + 1
	scaled := w.Prefill / factor
	w.note("Scaled down: the backlog is %s of log instead of %s, by a factor of %s.", proseSize(scaled), proseSize(w.Prefill), grouped(float64(factor)))
	w.Prefill = scaled
	return nil
}

// fit makes the workload one that can be run, in the order of the least loss: fewer topics of the same shape,
// then fewer partitions, producers, consumers and subscriptions of the topic that is left. Each is divided
// by the smallest whole number that does, and becomes at least 1. It returns the rate, which goes with the
// producers, so that each of them keeps its own.
func (o *ombWorkload) fit(m *mapping, w *Workload, flags *Overrides, scale Scale, most limits) (rate float64, err error) {
	producers := float64(o.topics) * float64(o.producersPerTopic)
	dimensions := []struct {
		key     string
		value   *int
		highest func() int // given the others
	}{
		{"topics", &o.topics, func() int {
			return min(most.partitions/o.partitionsPerTopic, most.clients/o.producersPerTopic, most.clients/product(o.subscriptionsPerTopic, o.consumerPerSubscription))
		}},
		{"partitionsPerTopic", &o.partitionsPerTopic, func() int { return most.partitions / o.topics }},
		{"producersPerTopic", &o.producersPerTopic, func() int { return most.clients / o.topics }},
		{"consumerPerSubscription", &o.consumerPerSubscription, func() int { return most.clients / product(o.topics, o.subscriptionsPerTopic) }},
		{"subscriptionsPerTopic", &o.subscriptionsPerTopic, func() int { return most.clients / product(o.topics, o.consumerPerSubscription) }},
	}
	for _, d := range dimensions {
		value, highest := *d.value, max(d.highest(), 1)
		if value <= highest {
			continue
		}
		if scale == nil {
			return 0, m.valueError(d.key, "at most %d fit, with the rest of the file, in the %d partitions, %d producers and %d consumers of a run; lower it, or give --scale for a smaller run",
				highest, MaxPartitions, MaxClients, MaxClients)
		}
		factor := (value-1)/highest + 1
		*d.value = value / factor
		w.note("Scaled down: %s is %s instead of %s, by a factor of %s.", d.key,
			grouped(float64(*d.value)), grouped(float64(value)), grouped(float64(factor)))
	}
	left := float64(o.topics) * float64(o.producersPerTopic)
	rate = float64(o.producerRate) * left / producers
	if left < producers && rate > 0 && o.producerRate < saturatingRate && flags.ProduceRate == nil {
		w.note("Scaled down: producerRate is %s instead of %s, as the producers are %s instead of %s.",
			grouped(rate), grouped(float64(o.producerRate)), grouped(left), grouped(producers))
	}
	return rate, nil
}

// product of two counts, of which none counts as one; it saturates.
func product(a, b int) int {
	a, b = max(a, 1), max(b, 1)
	if a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}
