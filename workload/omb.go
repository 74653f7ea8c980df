package workload

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// maxFile bounds a workload file: the real ones have some hundred bytes, and what the YAML parser
	// allocates for nested brackets grows with the square of their depth.
	maxFile = 16 << 10
	// saturatingRate is where OpenMessaging Benchmark stops pacing for practical purposes: its own
	// maximum-rate workloads ask for ten million messages a second.
	saturatingRate = 10_000_000
	maxMinutes     = 1_000_000
)

// Load reads a workload file of OpenMessaging Benchmark (https://openmessaging.cloud/docs/benchmarks,
// Java class Workload). Every key is honoured or refused by name:
//
//	name                        Title
//	topics, partitionsPerTopic  their product is Partitions
//	keyDistributor              NO_KEY or absent; others are refused
//	messageSize                 RecordSize
//	payloadFile                 Payload; looked for as given, then from the file's folder, then by its
//	                            base name there; if it is nowhere, a note says so
//	useRandomizedPayloads, randomBytesRatio, randomizedPayloadPoolSize
//	                            Payload: a pool of messages with a random beginning and zeros after
//	subscriptionsPerTopic       Subscriptions
//	consumerPerSubscription     times subscriptions and topics: Consumers
//	producersPerTopic           times topics: Producers
//	producerRate                ProduceRate, messages per second of all producers together; from ten
//	                            million on a closed loop; 0 (a search for the rate) is refused
//	consumerBacklogSizeGB       0 or absent; others are refused
//	backlogDrainRatio           1 or absent; others are refused
//	testDurationMinutes         Duration
//	warmupDurationMinutes       Ramp; 1 if absent
//
// What the format does not say is as in Default. The Name is made from the file's. An error about the
// content is a *FileError. If its Flag is set, the returned workload is complete but for what that
// flag sets, and a caller who has it may go on; in all other cases of an error it is empty.
func Load(path string) (Workload, error) {
	data, err := readLimited(path, maxFile)
	if err != nil {
		return Workload{}, fmt.Errorf("workload: %w", err)
	}
	return parseOMB(path, data)
}

// ombWorkload has the fields of the Java class, with its defaults where they are not zero.
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
		{"topics", true, whole(&o.topics, 1, MaxPartitions)},
		{"partitionsPerTopic", true, whole(&o.partitionsPerTopic, 1, MaxPartitions)},
		{"keyDistributor", false, text(&o.keyDistributor)},
		{"messageSize", true, whole(&o.messageSize, MinRecordSize, MaxSegmentSize)},
		{"payloadFile", false, text(&o.payloadFile)},
		{"useRandomizedPayloads", false, func(m *mapping, key string) error { return m.truth(key, &o.useRandomizedPayloads) }},
		{"randomBytesRatio", false, number(&o.randomBytesRatio, 0, 1)},
		{"randomizedPayloadPoolSize", false, whole(&o.randomizedPayloadPoolSize, 0, maxFiller)},
		{"subscriptionsPerTopic", true, whole(&o.subscriptionsPerTopic, 0, MaxClients)},
		{"consumerPerSubscription", true, whole(&o.consumerPerSubscription, 0, MaxClients)},
		{"producersPerTopic", true, whole(&o.producersPerTopic, 1, MaxClients)},
		{"producerRate", true, whole(&o.producerRate, 0, MaxSegmentSize)},
		{"consumerBacklogSizeGB", false, whole(&o.consumerBacklogSizeGB, 0, MaxSegmentSize)},
		{"backlogDrainRatio", false, number(&o.backlogDrainRatio, 0, MaxSegmentSize)},
		{"testDurationMinutes", true, whole(&o.testDurationMinutes, 1, maxMinutes)},
		{"warmupDurationMinutes", false, whole(&o.warmupDurationMinutes, 1, maxMinutes)},
	}
}

func parseOMB(path string, data []byte) (Workload, error) {
	m, err := parseMapping(printablePath(path), bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil {
		return Workload{}, err
	}
	o := &ombWorkload{backlogDrainRatio: 1, warmupDurationMinutes: 1}
	if err := o.read(m); err != nil {
		return Workload{}, err
	}
	if err := o.refuse(m); err != nil {
		return Workload{}, err
	}
	w := o.workload()
	w.Name = slug(path)
	if w.Payload, err = o.payload(m, filepath.Dir(path), &w.Notes); err != nil {
		return Workload{}, err
	}
	if o.producerRate == 0 {
		e := m.valueError("producerRate", "the search for the highest sustainable rate is not supported yet; give --produce-rate")
		e.Flag = "--produce-rate"
		return w, e
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
			return m.errorAt(m.entries[name].key, name, "unknown key %s%s", display(name), Suggestion(name, names))
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

// refuse names what is well formed and cannot be run.
func (o *ombWorkload) refuse(m *mapping) error {
	switch o.keyDistributor {
	case "", "NO_KEY":
	case "KEY_ROUND_ROBIN", "RANDOM_NANO":
		return m.valueError("keyDistributor", "records with keys are not supported yet; give NO_KEY")
	default:
		return m.valueError("keyDistributor", "unknown; give NO_KEY")
	}
	if o.consumerBacklogSizeGB > 0 {
		return m.valueError("consumerBacklogSizeGB", "building and draining a backlog is not supported yet; give 0")
	}
	if o.backlogDrainRatio != 1 {
		return m.valueError("backlogDrainRatio", "draining a backlog is not supported yet; give 1")
	}
	if n := o.topics * o.partitionsPerTopic; n > MaxPartitions {
		return m.valueError("partitionsPerTopic", "with topics %d it makes %d partitions, more than %d", o.topics, n, MaxPartitions)
	}
	if n := o.topics * o.producersPerTopic; n > MaxClients {
		return m.valueError("producersPerTopic", "with topics %d it makes %d producers, more than %d", o.topics, n, MaxClients)
	}
	if n := o.topics * o.subscriptionsPerTopic * o.consumerPerSubscription; n > MaxClients {
		return m.valueError("consumerPerSubscription", "with topics %d and subscriptionsPerTopic %d it makes %d consumers, more than %d",
			o.topics, o.subscriptionsPerTopic, n, MaxClients)
	}
	return nil
}

// workload maps what was read, but for the name and the payload.
func (o *ombWorkload) workload() Workload {
	w := Default()
	w.Title = shorten(oneLine(o.name))
	w.Producers = o.topics * o.producersPerTopic
	w.Consumers = o.topics * o.subscriptionsPerTopic * o.consumerPerSubscription
	w.Partitions = o.topics * o.partitionsPerTopic
	w.Subscriptions = max(o.subscriptionsPerTopic, 1)
	w.RecordSize = o.messageSize
	w.FetchBytes = max(w.FetchBytes, 2*BatchBytes(&w))
	w.Duration = time.Duration(o.testDurationMinutes) * time.Minute
	w.Ramp = time.Duration(o.warmupDurationMinutes) * time.Minute
	if o.topics > 1 {
		w.Notes = append(w.Notes, fmt.Sprintf("The %d topics of %s are run as %s of one topic.",
			o.topics, plural(o.partitionsPerTopic, "partition"), plural(w.Partitions, "partition")))
	}
	if o.producerRate >= saturatingRate {
		w.Notes = append(w.Notes, fmt.Sprintf("The producerRate of %s messages per second stands for as fast as possible and is run as a closed loop.",
			grouped(float64(o.producerRate))))
	} else {
		w.ProduceRate = float64(o.producerRate)
	}
	w.Primary = w.SuggestPrimary()
	return w
}

// slug makes a name of a file's: "My load.yaml" is "my-load". It has what Validate wants of a Name.
func slug(path string) string {
	base := filepath.Base(path)
	base = strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
	words := strings.FieldsFunc(base, func(r rune) bool { return !isNameLetter(r) })
	if len(words) == 0 {
		return "workload"
	}
	return strings.Join(words, "-")
}

// readLimited reads a file that has at most limit bytes. It opens nothing but regular files: a pipe
// would block.
func readLimited(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: larger than %s, too large to be what it is taken for", path, FormatSize(limit))
	}
	return os.ReadFile(path)
}
