package workload

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Values of Workload.Acks and Workload.Sync; Sync may be a size or a time too, see ParseSync.
const (
	AcksNone   = "none"
	AcksLeader = "leader"
	AcksAll    = "all"
	SyncNone   = "none"
	SyncBatch  = "batch"
)

// Values of Workload.Arrivals.
const (
	ArrivalsConstant = "constant"
	ArrivalsPoisson  = "poisson"
)

// Limits that Validate holds a workload to.
const (
	// MaxSegmentSize keeps positions in a segment within 32 bits, as in Kafka's index files.
	MaxSegmentSize = math.MaxInt32
	// MaxClients bounds the goroutines of a run, each of which owns histograms and a buffer.
	MaxClients = 10000
	// MaxPartitions bounds the logs of a run, each of which holds files open.
	MaxPartitions = 1024
	// MaxName bounds the characters of a Name, which stands in names of files beside others.
	MaxName = 100
)

// maxTime bounds ramp, window and think time each.
const maxTime = 24 * time.Hour

// Validate reports the first thing that makes the workload impossible to run, as a *FieldError that
// names the flag to change. Strategies and Primary are names that other packages own and check.
func (w *Workload) Validate() error {
	checks := []func(*Workload) *FieldError{
		(*Workload).checkRoles,
		(*Workload).checkRates,
		(*Workload).checkCounts,
		(*Workload).checkNames,
		(*Workload).checkTimes,
		(*Workload).checkArrivals,
		(*Workload).checkThink,
		(*Workload).checkSkew,
		(*Workload).checkReplicas,
		(*Workload).checkSizes,
		(*Workload).checkBatch,
		(*Workload).checkReads,
		(*Workload).checkBytes,
		(*Workload).checkBacklog,
		(*Workload).checkDrain,
		(*Workload).checkSearch,
		(*Workload).checkObjectives,
	}
	for _, check := range checks {
		if err := check(w); err != nil {
			return err
		}
	}
	return nil
}

// appenders and readers are the goroutines that may append and read.
func (w *Workload) appenders() int {
	if w.Workers > 0 && w.ProducePercent == 0 {
		return 0
	}
	return w.Workers + w.Producers
}

func (w *Workload) readers() int {
	if w.Workers > 0 && w.ProducePercent == 100 {
		return 0
	}
	return w.Workers + w.Consumers
}

func (w *Workload) checkRoles() *FieldError {
	counts := []struct {
		field string
		count int
	}{{"--workers", w.Workers}, {"--producers", w.Producers}, {"--consumers", w.Consumers}}
	for _, c := range counts {
		if c.count < 0 || c.count > MaxClients {
			return fieldError(c.field, strconv.Itoa(c.count), "outside 0 to %d", MaxClients)
		}
	}
	workers := strconv.Itoa(w.Workers)
	switch {
	case w.Workers > 0 && w.Producers+w.Consumers > 0:
		return fieldError("--workers", workers, "a mix of operations per worker excludes the roles --producers %d and --consumers %d; give either",
			w.Producers, w.Consumers)
	case w.Workers+w.Producers+w.Consumers == 0:
		return fieldError("--workers", workers, "nobody to do anything; give --workers with --mix, or --producers and --consumers")
	case !(w.ProducePercent >= 0 && w.ProducePercent <= 100): // NaN too
		return fieldError("--mix", "produce="+formatNumber(w.ProducePercent), "the share of appends lies outside 0 to 100")
	}
	return nil
}

func (w *Workload) checkCounts() *FieldError {
	counts := []struct {
		field         string
		value         int
		lowest, limit int
	}{
		{"--partitions", w.Partitions, 1, MaxPartitions},
		{"subscriptions", w.Subscriptions, 1, MaxClients},
		{"--batch-records", w.BatchRecords, 1, math.MaxInt32},
	}
	for _, c := range counts {
		if c.value < c.lowest || c.value > c.limit {
			return fieldError(c.field, strconv.Itoa(c.value), "outside %d to %d", c.lowest, c.limit)
		}
	}
	switch {
	case w.Pattern == Tail && w.Consumers == 0 && w.readers() > 0:
		return fieldError("--pattern", string(w.Pattern),
			"the workers of a mix would wait for each other at the end of the log; give random, zipf, time or catch-up")
	case w.Pattern == Tail && w.Consumers > 0 && w.Producers == 0 && w.DrainRatio == 0:
		return fieldError("--pattern", string(w.Pattern),
			"nobody appends what the consumers would wait for; give --producers, or --pattern catch-up, random, zipf or time")
	}
	return nil
}

func (w *Workload) checkNames() *FieldError {
	if w.Name == "" || strings.ContainsFunc(w.Name, func(r rune) bool { return !isNameLetter(r) }) {
		return fieldError("name", w.Name, "give letters, digits, -, _ and . only; it becomes part of file names and benchmark names")
	}
	if len(w.Name) > MaxName {
		return nameTooLong(w.Name)
	}
	switch w.Pattern {
	case Tail, CatchUp, Random, Zipfian, ByTime:
	default:
		return fieldError("--pattern", string(w.Pattern), "unknown; give %s, %s, %s, %s or %s", Tail, CatchUp, Random, Zipfian, ByTime)
	}
	if w.Acks != AcksLeader && w.Acks != AcksNone && w.Acks != AcksAll {
		return fieldError("--acks", w.Acks, "unknown; give %s, %s or %s", AcksNone, AcksLeader, AcksAll)
	}
	if canonical, err := ParseSync(w.Sync); err != nil || canonical != w.Sync {
		return fieldError("--sync", w.Sync, "unknown; give %s, %s, a size as in 1MiB, or a time as in 10ms", SyncNone, SyncBatch)
	}
	return nil
}

func nameTooLong(name string) *FieldError {
	return fieldError("name", name, "has %d characters, and may have %d; it becomes part of file names", len(name), MaxName)
}

func (w *Workload) checkTimes() *FieldError {
	if w.Ramp <= 0 {
		return fieldError("--ramp", w.Ramp.String(), "the load needs some time before the measured window; give more than 0, as in 150ms")
	}
	if w.Duration <= 0 {
		return fieldError("--duration", w.Duration.String(), "the measured window needs some time; give more than 0, as in 400ms")
	}
	if w.Ramp > maxTime {
		return fieldError("--ramp", w.Ramp.String(), "longer than %v", maxTime)
	}
	if w.Duration > maxTime {
		return fieldError("--duration", w.Duration.String(), "longer than %v", maxTime)
	}
	return nil
}

// checkBatch holds records, batches and segments against each other.
func (w *Workload) checkBatch() *FieldError {
	record, segment := w.recordSizeText(), FormatSize(w.SegmentSize)
	switch {
	case w.SegmentSize < 1 || w.SegmentSize > MaxSegmentSize:
		return fieldError("--segment-size", segment, "outside 1 to %d bytes, a byte less than 2GiB", MaxSegmentSize)
	case w.RecordSize < MinRecordSize:
		return fieldError("--record-size", record, "less than the %d bytes that verification needs in every record", MinRecordSize)
	case int64(BatchBytes(w)) > w.SegmentSize:
		return fieldError("--record-size", record,
			"a batch of %d bytes does not fit in a segment of %d bytes; lower --record-size or --batch-records, or raise --segment-size",
			BatchBytes(w), w.SegmentSize)
	}
	return nil
}

// isNameLetter says which characters a Name is made of.
func isNameLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.", r)
}

// formatNumber writes a number as a person would: 10000, 0.5, 1e+22.
func formatNumber(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// seconds keeps a float64 of seconds within a Duration.
func seconds(s float64) time.Duration {
	if ns := s * 1e9; ns < math.MaxInt64 {
		return time.Duration(math.Round(ns))
	}
	return math.MaxInt64
}
