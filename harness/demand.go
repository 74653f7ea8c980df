package harness

import (
	"math"
	"time"
	"unsafe"

	"tailrace/segment"
	"tailrace/workload"
)

// demand is what a run of a load makes and holds while it goes on. It is counted in one place, for the limits that refuse
// a load and for the run itself.
type demand struct {
	appenders int // goroutines that append: producers, or the workers of a mix
	readers   int // goroutines that read and do nothing else
	followers int
	timers    int // descriptors that goroutines pause with
	// clients are what goroutines have of partitions: a handle each, and what verifies and counts. Where they are very
	// many, each is made when it is first used, and this is how many may be.
	clients int64
	lazily  bool
	// ledgers are what is counted for each producer and partition, and sequences for each producer and each client that
	// reads in sequence.
	ledgers, sequences int64
	tallies            int64
	spares             int // parts that each worker which is measured may have waiting, beyond the one that it fills
	bytes              int64
}

const (
	// eagerClients are made before the load begins, so that its window has no allocations of theirs.
	eagerClients = 1 << 16
	// clientBytes is what a client takes with the largest handle of a strategy, and handles' share of their log's list.
	clientBytes = 1536
	// logBytes is what the largest model takes for an open log: atomics, whose ring has 2^14 slots.
	logBytes = 512 << 10
	// logGoroutines are those of an open log at most: who wakes, who syncs, who owns.
	logGoroutines = 3
	// logFiles are the descriptors of an open log besides its segments: its directory, and the same for who looks at
	// what is stored.
	logFiles = 2
	// otherFiles are those of a process.
	otherFiles = 64
	// stackBytes is what a goroutine takes.
	stackBytes = 8 << 10
	tallyBytes = 4 * 27648
)

// demandOf counts.
func demandOf(w *workload.Workload) demand {
	d := demand{appenders: w.Producers + w.Workers, followers: w.Replicas * w.Partitions}
	partitions, perReader := int64(w.Partitions), int64(1)
	switch {
	case w.Consumers == 0:
	case readsPrefill(w.Pattern):
		d.readers, perReader = w.Consumers, partitions
	default: // one partition each when it reads in sequence, so that a consumer of several is several goroutines
		d.readers = w.Subscriptions * w.Partitions
	}
	appending, reading := int64(d.appenders)*partitions, int64(d.readers)*perReader
	producers := int64(ledgersOf(w))
	if !readsPrefill(w.Pattern) {
		d.sequences = reading * producers
		if w.Workers > 0 {
			d.sequences += appending * producers
		}
	}
	d.sequences += int64(d.followers) * producers
	d.lazily = appending+reading > eagerClients
	if d.lazily && w.Workers == 0 {
		appending = min(appending, mostAppends(w))
	}
	d.clients = appending + reading + int64(d.followers)
	d.ledgers = partitions * producers
	d.timers = timersOf(w, d.appenders, d.readers)
	d.spares = sparesOf(d.appenders+d.readers, w.Duration)
	d.tallies = d.talliesOf(w)
	d.bytes = d.bytesOf(w)
	return d
}

// ledgersOf is the number of ledgers of a partition: 0 is the prefill, then the workers.
func ledgersOf(w *workload.Workload) int { return 1 + max(w.Producers, w.Workers) }

// mostAppends is how many appends fit what a run may write.
func mostAppends(w *workload.Workload) int64 {
	least := int64(segment.HeaderSize)
	if w.Sizes.Kind == workload.SizesFixed {
		least += int64(w.BatchRecords) * int64(w.RecordSize)
	}
	return max(w.MaxBytes-w.Prefill, 0)/least + 1
}

func timersOf(w *workload.Workload, appenders, readers int) (timers int) {
	if w.Rate > 0 || w.ProduceRate > 0 || w.Search || w.Think > 0 {
		timers += appenders
	}
	if w.ConsumeRate > 0 || w.Think > 0 {
		timers += readers
	}
	return timers
}

// workers are the goroutines that are measured.
func (d *demand) workers() int { return d.appenders + d.readers }

// goroutines are those of a run and of its logs at most.
func (d *demand) goroutines(partitions int) int {
	return d.workers() + d.followers + logGoroutines*partitions
}

func (d *demand) talliesOf(w *workload.Workload) int64 {
	of := func(does role) (tallies int64) {
		for _, t := range newPart(w, does).tallies() {
			if t != nil {
				tallies++
			}
		}
		return tallies
	}
	appends := roleProduce
	if w.Workers > 0 {
		appends = roleBoth
	}
	held := int64(1 + d.spares)
	tallies := held * (int64(d.appenders)*of(appends) + int64(d.readers)*of(roleConsume))
	tallies += int64(d.followers) * of(roleConsume)
	tallies += int64(d.readers+d.followers) + openIntervals*of(roleBoth) // those of checks, and sums
	if w.Workers > 0 {
		tallies += int64(d.appenders)
	}
	return tallies
}

// bytesOf is what all of it takes, in a process without the data.
func (d *demand) bytesOf(w *workload.Workload) int64 {
	sum := float64(d.clients)*clientBytes + float64(d.sequences)*8
	sum += float64(d.appenders)*float64(w.Partitions)*8 + 2*float64(d.ledgers)*float64(unsafe.Sizeof(ledger{}))
	sum += float64(d.tallies) * tallyBytes
	sum += float64(d.appenders) * float64(workload.BatchBytes(w))
	buffers := d.readers + d.followers + w.Workers
	sum += float64(buffers) * float64(w.FetchBytes)
	sum += float64(d.goroutines(w.Partitions))*stackBytes + float64(w.Partitions)*logBytes
	return int64(min(sum, math.MaxInt64/2))
}

// sparesOf is how many parts each of so many workers may have waiting.
func sparesOf(workers int, window time.Duration) int {
	intervals := 1 + int64(window)/intervalLength(workers, window)
	return int(max(1, min(intervals, sparesEach, partsBytes/partBytes/int64(max(workers, 1)))))
}

// lever is the flag that makes most of a load smaller.
func (d *demand) lever(w *workload.Workload) string {
	switch {
	case d.readers > d.appenders && readsPrefill(w.Pattern):
		return "--consumers or --partitions"
	case d.readers > d.appenders:
		return "subscriptions, --partitions or --fetch-bytes"
	case w.Workers > 0:
		return "--workers or --partitions"
	default:
		return "--producers or --partitions"
	}
}
