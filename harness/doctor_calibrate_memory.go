package harness

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"tailrace/results"
	"tailrace/segment"
)

func (b *bench) clockRead() ([]Calibration, error) {
	c := summarize("clock read", UnitSeconds, "20 to 60 ns with tsc, 1.2 µs with hpet", b.each(5000, func(n int) {
		for range n {
			b.clock.now()
		}
	}))
	const (
		why  = "slow clock source: every operation reads the clock twice, and one of the store takes 1 to 2 µs"
		mend = "see the check of the clock source; in a sandbox (gVisor) or under a tracer, measure outside of it"
	)
	switch {
	case c.Median > 500e-9:
		c.judge(StatusUnfit, why, mend)
	case c.Median > 100e-9:
		c.judge(StatusWarning, why, mend)
	}
	return one(c), nil
}

func (b *bench) histogramRecord() ([]Calibration, error) {
	h := results.NewHistogram()
	return one(summarize("histogram record", UnitSeconds, "4 to 15 ns", b.each(5000, func(n int) {
		for i := range n {
			h.Record(int64(i)*37 + 100)
		}
	}))), nil
}

// publish is what a model does that shows readers a new picture with each append.
func (b *bench) publish() ([]Calibration, error) {
	var current atomic.Pointer[segment.View]
	return one(summarize("publish a view", UnitSeconds, "15 to 100 ns, collection included",
		b.each(5000, func(n int) {
			for i := range n {
				current.Store(&segment.View{Size: int64(i)})
			}
		}))), nil
}

func (b *bench) channel() ([]Calibration, error) {
	requests, replies := make(chan int), make(chan int)
	var echo sync.WaitGroup
	echo.Go(func() {
		for request := range requests {
			replies <- request
		}
	})
	samples := b.each(1000, func(n int) {
		for i := range n {
			requests <- i
			<-replies
		}
	})
	close(requests)
	echo.Wait()
	c := summarize("channel request and reply", UnitSeconds, "0.3 to 1 µs", samples)
	if c.Median > 3e-6 {
		c.judge(StatusWarning, "each hand-over wakes another processor, which an idle one takes long to do: the actor pays it with every append, a mutex does not",
			"keep CPUs out of deep idle states: sudo cpupower idle-set -D 10; in a virtual machine, the host's")
	}
	return one(c), nil
}

func (b *bench) mutexAlone() ([]Calibration, error) {
	var mu sync.Mutex
	count := 0
	return one(summarize("mutex, alone", UnitSeconds, "5 to 20 ns", b.each(5000, func(n int) {
		for range n {
			mu.Lock()
			count++
			mu.Unlock()
		}
	}))), nil
}

func (b *bench) mutexContended() ([]Calibration, error) {
	if err := b.two(); err != nil {
		return nil, err
	}
	const each = 20_000
	var mu sync.Mutex
	count := 0
	return one(summarize("mutex, two contend", UnitSeconds, "15 to 200 ns", repeat(b, func() float64 {
		took := b.together(2, func(int) {
			for range each {
				mu.Lock()
				count++
				mu.Unlock()
			}
		})
		return float64(took) / (2 * each) / 1e9
	}))), nil
}

// falseSharing compares two goroutines that count on words so far apart with two whose words are a page
// apart. Processors keep caches coherent line by line, and some fetch lines in pairs (Intel 64 and IA-32
// Architectures Optimization Reference Manual, "spatial prefetcher").
func (b *bench) falseSharing() ([]Calibration, error) {
	if err := b.two(); err != nil {
		return nil, err
	}
	const (
		counts = 50_000
		word   = 8
		page   = 4096
	)
	// More than 32 KiB: the runtime gives it pages of its own, so that it begins at a line.
	words := make([]atomic.Int64, 64<<10/word)
	apart := func(distance int) float64 {
		return float64(b.together(2, func(i int) {
			w := &words[i*distance/word]
			for range counts {
				w.Add(1)
			}
		}))
	}
	distances := [...]int{word, 64, 128}
	samples := repeat(b, func() (ratios [len(distances)]float64) {
		alone := apart(page)
		for i, distance := range distances {
			ratios[i] = apart(distance) / alone
		}
		return ratios
	})
	usual := [...]string{"3 to 20×", "1.0×", "1.0×"}
	var all []Calibration
	for i, distance := range distances {
		var column []float64
		for _, ratios := range samples {
			column = append(column, ratios[i])
		}
		all = append(all, summarize(fmt.Sprintf("false sharing, %d B apart", distance), UnitRatio, usual[i], column))
	}
	judgePadding(&all[0], &all[1], &all[2])
	return all, nil
}

// judgePadding says how far apart words must be that different processors write. Words in one line are the
// control: where not even they slow each other, the rest says nothing.
func judgePadding(same, at64, at128 *Calibration) {
	const shared = 1.5
	switch {
	case same.Median < shared:
		same.Note = "no effect even in one line: the two hardly ran at the same time, or share a cache"
		return
	case at128.Median > shared:
		at64.Note = "words that different processors write need 256 B between them here"
	case at64.Median > shared:
		at64.Note = "words that different processors write need 128 B between them here"
	default:
		at64.Note = "64 B between words that different processors write are enough"
		return
	}
	at64.judge(StatusWarning, "tailrace pads what its models write from several processors to 64 B: here these words slow each other, which costs the models with pins most",
		"raise the padding in strategies/gate.go and strategies/atomics.go before you compare them here")
}

// parallel is what share of the processors one really gets.
func (b *bench) parallel() ([]Calibration, error) {
	if err := b.two(); err != nil {
		return nil, err
	}
	var sums atomic.Uint64
	compute := func(int) {
		x := uint64(88172645463325252)
		for range 500_000 { // xorshift64, Marsaglia 2003; nothing of it is in memory
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		sums.Add(x) // so that it is computed at all
	}
	c := summarize(fmt.Sprintf("speed of each of %d at once", b.processors), UnitRatio, "0.95 to 1.00×", repeat(b, func() float64 {
		alone := b.together(1, compute)
		return float64(alone) / float64(b.together(b.processors, compute))
	}))
	const why = "the processors that the Go runtime uses are not all there: taken by others, by a quota, or threads of one core"
	switch {
	case c.Median < 0.5:
		c.judge(StatusUnfit, why, fmt.Sprintf("stop what runs beside, or use fewer: tailrace run --cpu %d", max(1, int(c.Median*float64(b.processors)))))
	case c.Median < 0.85:
		c.judge(StatusWarning, why, "see the checks of other processes, quota, turbo and hardware threads")
	}
	return one(c), nil
}

// pauseLength is for how long sleep and pause wait.
const pauseLength = 200 * time.Microsecond

func (b *bench) sleep() ([]Calibration, error) {
	samples := repeat(b, func() float64 {
		began := b.clock.now()
		time.Sleep(pauseLength)
		return float64(max(0, b.clock.now()-began-int64(pauseLength))) / 1e9
	})
	return one(summarizeCalls("time.Sleep(200 µs), late by", "0.06 to 1.1 ms; no load relies on it", samples)), nil
}

// pause is how late the pauses of an open loop are.
func (b *bench) pause() ([]Calibration, error) {
	p, err := newPauser(b.clock)
	if err != nil {
		return nil, err
	}
	defer p.close()
	samples := repeat(b, func() float64 {
		at := b.clock.now() + int64(pauseLength)
		p.until(at)
		return float64(max(0, b.clock.now()-at)) / 1e9
	})
	c := summarizeCalls("our pause of 200 µs, late by", "0.1 µs, p99 1 to 20 µs", samples)
	switch {
	case c.Median > 20e-6:
		c.judge(StatusUnfit, "an open loop cannot keep its schedule here, so that paced loads have no quantiles",
			"see the checks of other processes, steal and timer slack; compare closed loops alone: --workloads mix,ingest,durable")
	case c.P90 > 20e-6:
		c.judge(StatusWarning, "an open loop is late in one of ten pauses, so that quantiles of paced loads are suppressed",
			"see the checks of other processes and steal; keep CPUs out of deep idle states: sudo cpupower idle-set -D 10")
	}
	return one(c), nil
}
