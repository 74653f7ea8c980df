package workload

import (
	"strings"
	"time"
)

// defaultSkew is that of YCSB's zipfian requests.
const defaultSkew = 0.99

// Default is the base of a workload made of flags, before roles are given: closed loop, following
// the end of the log. It does not pass Validate until it has producers or consumers. It has one
// subscription; see Workload.Subscriptions for what that means to several consumers.
func Default() Workload {
	return Workload{
		Name:          "custom",
		Partitions:    1,
		Subscriptions: 1,
		RecordSize:    1 << 10,
		BatchRecords:  1,
		FetchBytes:    64 << 10,
		Pattern:       Tail,
		Arrivals:      ArrivalsConstant,
		Burst:         1,
		Acks:          AcksLeader,
		Sync:          SyncNone,
		SegmentSize:   64 << 20,
		Ramp:          150 * time.Millisecond,
		Duration:      400 * time.Millisecond,
		MaxBytes:      2 << 30,
		Primary:       "op/s",
		Strategies:    []string{"mutex", "rwmutex", "atomics", "actor"},
	}
}

// DefaultMix is Default for a mix of operations per worker: reads are random, over a prefilled
// log, because workers that followed its end would wait for each other.
func DefaultMix() Workload {
	w := Default()
	w.ProducePercent = 10
	w.FetchBytes = 8 << 10
	w.Pattern = Random
	w.Prefill = 64 << 20
	w.Strategies = append(w.Strategies, "mutex-rcu") // the cheap alternative to the actor, where readers matter
	return w
}

// Presets returns the workloads of the default sweep, in the order in which they are shown. The
// caller owns what it gets.
func Presets() []Workload {
	mix := DefaultMix()
	mix.Name = "mix"
	mix.Workers = 8

	tail := Default()
	tail.Name = "tail"
	tail.Producers = 2
	tail.Consumers = 2
	tail.Subscriptions = 2 // each consumer reads everything
	tail.ProduceRate = 10000
	tail.Primary = "e2e-p90-sec"
	tail.Strategies = append(tail.Strategies, "mutex-rcu")

	ingest := Default()
	ingest.Name = "ingest"
	ingest.Producers = 8
	ingest.Primary = "produce-op/s"
	ingest.Strategies = []string{"mutex", "atomics", "actor"}

	durable := Default()
	durable.Name = "durable"
	durable.Producers = 16
	durable.Sync = SyncBatch
	durable.Primary = "produce-op/s"
	durable.Strategies = []string{"mutex", "atomics", "actor"}

	return []Workload{mix, tail, ingest, durable}
}

// Find returns the preset of a name. The error for any other is a *FieldError for --workloads that
// lists the presets and the nearest of them.
func Find(name string) (Workload, error) {
	for _, p := range Presets() {
		if p.Name == name {
			return p, nil
		}
	}
	names := presetNames()
	return Workload{}, fieldError("--workloads", name, "no such workload (there are %s; or give a YAML file)%s",
		strings.Join(names, ", "), Suggestion(name, names))
}

func presetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// SuggestPrimary is the metric that a comparison of strategies on this workload is best planned on,
// for a workload whose roles or rates came from flags. Paced loads fix the throughput and are
// compared by latency, end to end where consumers follow the producers, of reads in a mix; closed loops by
// throughput; and the draining of a backlog by the time that it takes.
//
// The latency is the p90. The p99 of a fast model is often that of the load itself: on a virtual machine
// of two cores, at 10,000 records a second, the generator was late by 1 to 20 µs at its p99, 0.2 µs at its
// p90, where records arrived within 30 µs and 7 µs. A p99 that the load carries stands in the tables.
func (w *Workload) SuggestPrimary() string {
	paced := w.ProduceRate > 0 || w.Search
	switch {
	case w.DrainRatio > 0:
		return "drain-sec"
	case w.Workers > 0 && w.Rate > 0 && w.readers() == 0:
		return "produce-p90-sec"
	case w.Workers > 0 && w.Rate > 0:
		return "consume-p90-sec"
	case w.Workers > 0:
		return "op/s"
	case w.Producers > 0 && paced && w.Consumers > 0 && w.Pattern == Tail:
		return "e2e-p90-sec"
	case w.Producers > 0 && paced:
		return "produce-p90-sec"
	case w.Producers > 0:
		return "produce-op/s"
	case w.ConsumeRate > 0:
		return "consume-p90-sec"
	default:
		return "consume-op/s"
	}
}
