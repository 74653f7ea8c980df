package workload

import (
	"math"
	"path/filepath"
	"time"
)

const (
	// saturatingRate is where OpenMessaging Benchmark stops pacing for practical purposes: its own
	// maximum-rate workloads ask for ten million messages a second.
	saturatingRate = 10_000_000
	maxMinutes     = 1_000_000
)

// ombWorkload is a workload file of OpenMessaging Benchmark (https://openmessaging.cloud/docs/benchmarks).
// It has the fields of the Java class Workload, with its defaults where they are not zero:
//
//	name                        Title
//	topics, partitionsPerTopic  their product is Partitions
//	keyDistributor              NO_KEY or absent; others are refused
//	messageSize                 RecordSize
//	payloadFile                 Payload; see payloadPlaces; if it is in none of them, a note names them
//	useRandomizedPayloads, randomBytesRatio, randomizedPayloadPoolSize
//	                            Payload: a pool of messages with a random beginning and zeros after
//	subscriptionsPerTopic       Subscriptions
//	consumerPerSubscription     times subscriptions and topics: Consumers
//	producersPerTopic           times topics: Producers
//	producerRate                ProduceRate, messages per second of all producers together; from ten
//	                            million on a closed loop; 0 is a Search
//	consumerBacklogSizeGB       Prefill, to be drained; see backlog
//	backlogDrainRatio           DrainRatio, 1 if absent
//	testDurationMinutes         Duration
//	warmupDurationMinutes       Ramp; 1 if absent
//
// What the format does not say is as in Default.
type ombWorkload struct {
	name                      string
	topics                    int
	partitionsPerTopic        int
	keyDistributor            string
	messageSize               int
	payloadFile               string
	useRandomizedPayloads     bool
	randomBytesRatio          float64
	randomizedPayloadPoolSize int
	subscriptionsPerTopic     int
	consumerPerSubscription   int
	producersPerTopic         int
	producerRate              int
	consumerBacklogSizeGB     int
	backlogDrainRatio         float64
	testDurationMinutes       int
	warmupDurationMinutes     int
}

// ombKey is one key of the format: how to read it, and whether a file must have it.
type ombKey struct {
	name     string
	required bool
	read     func(m *mapping, key string) error
}

func (o *ombWorkload) keys() []ombKey {
	text := func(to *string) func(*mapping, string) error {
		return func(m *mapping, key string) error { return m.text(key, to) }
	}
	whole := func(to *int, lowest, highest int) func(*mapping, string) error {
		return func(m *mapping, key string) error { return m.whole(key, to, lowest, highest) }
	}
	number := func(to *float64, lowest, highest float64) func(*mapping, string) error {
		return func(m *mapping, key string) error { return m.number(key, to, "a number", lowest, highest) }
	}
	return []ombKey{
		{"name", false, text(&o.name)},
		{"topics", true, whole(&o.topics, 1, math.MaxInt32)},
		{"partitionsPerTopic", true, whole(&o.partitionsPerTopic, 1, math.MaxInt32)},
		{"keyDistributor", false, text(&o.keyDistributor)},
		{"messageSize", true, whole(&o.messageSize, MinRecordSize, MaxSegmentSize)},
		{"payloadFile", false, text(&o.payloadFile)},
		{"useRandomizedPayloads", false, func(m *mapping, key string) error { return m.truth(key, &o.useRandomizedPayloads) }},
		{"randomBytesRatio", false, number(&o.randomBytesRatio, 0, 1)},
		{"randomizedPayloadPoolSize", false, whole(&o.randomizedPayloadPoolSize, 0, maxFiller)},
		{"subscriptionsPerTopic", true, whole(&o.subscriptionsPerTopic, 0, math.MaxInt32)},
		{"consumerPerSubscription", true, whole(&o.consumerPerSubscription, 0, math.MaxInt32)},
		{"producersPerTopic", true, whole(&o.producersPerTopic, 1, math.MaxInt32)},
		{"producerRate", true, whole(&o.producerRate, 0, math.MaxInt32)},
		{"consumerBacklogSizeGB", false, whole(&o.consumerBacklogSizeGB, 0, math.MaxInt32)},
		{"backlogDrainRatio", false, number(&o.backlogDrainRatio, 0, 1)},
		{"testDurationMinutes", true, whole(&o.testDurationMinutes, 1, maxMinutes)},
		{"warmupDurationMinutes", false, whole(&o.warmupDurationMinutes, 1, maxMinutes)},
	}
}

// parseOMB makes the workload of the file, before the flags change it. They decide what is too large, and
// whether a rate has to be searched.
func parseOMB(m *mapping, path string, flags *Overrides, scale Scale, most limits) (Workload, error) {
	o := &ombWorkload{backlogDrainRatio: 1, warmupDurationMinutes: 1}
	if err := o.read(m); err != nil {
		return Workload{}, err
	}
	w := Default()
	w.Name = slug(path)
	w.Title = shorten(oneLine(o.name))
	if err := o.refuse(m, flags); err != nil {
		return Workload{}, err
	}
	set(&w.MaxBytes, flags.MaxBytes)
	if err := o.backlog(m, &w, flags, scale); err != nil {
		return Workload{}, err
	}
	rate, err := o.fit(m, &w, flags, scale, most)
	if err != nil {
		return Workload{}, err
	}
	o.fill(&w, rate, flags)
	if flags.PayloadFile != nil {
		return w, nil
	}
	if w.Payload, err = o.payload(m, filepath.Dir(path), &w); err != nil {
		return Workload{}, err
	}
	return w, nil
}

// read takes every key's value, in the order of the file, so that the first error is the topmost.
func (o *ombWorkload) read(m *mapping) error {
	keys := o.keys()
	names := make([]string, len(keys))
	byName := make(map[string]ombKey, len(keys))
	for i, k := range keys {
		names[i], byName[k.name] = k.name, k
	}
	for _, name := range m.keys {
		k, ok := byName[name]
		if !ok {
			return m.unknownKey(name, names)
		}
		if err := k.read(m, name); err != nil {
			return err
		}
	}
	for _, k := range keys {
		if k.required && !m.has(k.name) {
			return m.errorAt(nil, k.name, "key %s is missing", k.name)
		}
	}
	return nil
}

// refuse names what is well formed and cannot be run, at whatever size.
func (o *ombWorkload) refuse(m *mapping, flags *Overrides) error {
	switch o.keyDistributor {
	case "", "NO_KEY":
	case "KEY_ROUND_ROBIN", "RANDOM_NANO":
		return m.valueError("keyDistributor",
			"a key would be stored in the record and choose its partition; here records have no key and take the partitions in turn; give NO_KEY")
	default:
		return m.valueError("keyDistributor", "unknown; give NO_KEY")
	}
	if o.consumerBacklogSizeGB == 0 {
		return nil
	}
	switch {
	case o.producerRate == 0 && flags.ProduceRate == nil:
		return m.valueError("producerRate", "with a backlog to drain there is no search for the rate; give one, or --produce-rate")
	case o.subscriptionsPerTopic == 0 || o.consumerPerSubscription == 0:
		return m.valueError("consumerBacklogSizeGB", "nobody drains it; give subscriptionsPerTopic and consumerPerSubscription")
	case o.backlogDrainRatio == 0:
		return m.valueError("backlogDrainRatio", "nothing would be drained; give more than 0")
	}
	return nil
}

// fill maps what was read and fits, but for name, backlog and payload.
func (o *ombWorkload) fill(w *Workload, rate float64, flags *Overrides) {
	w.Producers = o.topics * o.producersPerTopic
	w.Consumers = o.topics * o.subscriptionsPerTopic * o.consumerPerSubscription
	w.Partitions = o.topics * o.partitionsPerTopic
	w.Subscriptions = max(o.subscriptionsPerTopic, 1)
	w.RecordSize = o.messageSize
	w.FetchBytes = max(w.FetchBytes, roomForTwo(w))
	w.Duration = time.Duration(o.testDurationMinutes) * time.Minute
	w.Ramp = time.Duration(o.warmupDurationMinutes) * time.Minute
	if o.topics > 1 {
		w.note("The %s topics of %s are run as %s of one topic.",
			grouped(float64(o.topics)), plural(o.partitionsPerTopic, "partition"), plural(w.Partitions, "partition"))
	}
	switch {
	case flags.ProduceRate != nil:
	case o.producerRate == 0:
		w.Search = true
	case o.producerRate >= saturatingRate:
		w.note("The producerRate of %s messages per second stands for as fast as possible and is run as a closed loop.",
			grouped(float64(o.producerRate)))
	default:
		w.ProduceRate = rate
	}
	w.Primary = w.SuggestPrimary()
}
