package harness

import (
	"slices"
	"sync"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// recorder is what one worker measures of one kind of operation in one interval of the window.
type recorder struct {
	latency *tally // from the intended start in an open loop, else from the actual one
	// Open loop only.
	service  *tally // from the actual start
	lateness *tally // how much of that is the load's own, see worker.late

	operations, records, bytes int64
	empty                      int64 // reads that found nothing: no operations, but calls that were due
}

func newRecorder(openLoop bool) recorder {
	r := recorder{latency: newTally()}
	if openLoop {
		r.service, r.lateness = newTally(), newTally()
	}
	return r
}

// add records an operation that began late through the load's own fault by some time.
func (r *recorder) add(intended, start, end, late int64, records, bytes int64) {
	r.operations++
	r.records += records
	r.bytes += bytes
	if r.service == nil {
		r.latency.record(end - start)
		return
	}
	r.latency.record(end - intended)
	r.service.record(end - start)
	r.lateness.record(late)
}

// merge adds what another worker measured.
func (r *recorder) merge(from *recorder) {
	r.count(from)
	for _, pair := range [][2]*tally{{r.latency, from.latency}, {r.service, from.service}, {r.lateness, from.lateness}} {
		if pair[0] != nil && pair[1] != nil {
			pair[0].add(pair[1])
		}
	}
}

// count adds the numbers alone.
func (r *recorder) count(from *recorder) {
	r.operations += from.operations
	r.records += from.records
	r.bytes += from.bytes
	r.empty += from.empty
}

func (r *recorder) reset() {
	for _, t := range []*tally{r.latency, r.service, r.lateness} {
		if t != nil {
			t.reset()
		}
	}
	r.operations, r.records, r.bytes, r.empty = 0, 0, 0, 0
}

// role is what a worker does.
type role int

// The roles; a worker of a mix has both.
const (
	roleProduce role = 1 << iota
	roleConsume
	roleBoth = roleProduce | roleConsume
)

// part is what one worker measures in one interval of the window.
type part struct {
	role             role
	interval         int64    // number, from the start of the window
	produce, consume recorder // of a role that the part does not have, empty
	endToEnd         *tally   // nil for who does not follow the end of the log

	_ [128]byte // as in worker
}

// newPart is an empty part for a role in this load.
func newPart(load *workload.Workload, does role) *part {
	p := &part{role: does}
	if does&roleProduce != 0 {
		p.produce = newRecorder(load.ProduceRate > 0 || load.Rate > 0)
	}
	if does&roleConsume != 0 {
		p.consume = newRecorder(load.ConsumeRate > 0 || load.Rate > 0)
		if load.Pattern == workload.Tail && load.DrainRatio == 0 {
			p.endToEnd = newTally() // the age of a record that is read later says nothing
		}
	}
	return p
}

func (p *part) merge(from *part) {
	p.produce.merge(&from.produce)
	p.consume.merge(&from.consume)
	if p.endToEnd != nil && from.endToEnd != nil {
		p.endToEnd.add(from.endToEnd)
	}
}

func (p *part) reset() {
	p.produce.reset()
	p.consume.reset()
	if p.endToEnd != nil {
		p.endToEnd.reset()
	}
}

// tallies are those of a part by the kind of latency.
func (p *part) tallies() map[string]*tally {
	return map[string]*tally{
		results.KindProduce: p.produce.latency, results.KindConsume: p.consume.latency, results.KindEndToEnd: p.endToEnd,
		results.KindProduceService: p.produce.service, results.KindConsumeService: p.consume.service,
		results.KindProduceLateness: p.produce.lateness, results.KindConsumeLateness: p.consume.lateness,
	}
}

// Intervals of the window are 100 ms long; longer with more than intervalWorkers workers, so that handing
// parts over stays below a thousandth of the work, and in windows of more than two minutes, so that a
// result stays of a size that can be read.
const (
	shortestInterval = 100 * time.Millisecond
	intervalWorkers  = 64
	mostIntervals    = 1200
)

func intervalLength(workers int, window time.Duration) int64 {
	length := shortestInterval * time.Duration(1+(workers-1)/intervalWorkers)
	return int64(length * max(1, (window+mostIntervals*length-1)/(mostIntervals*length)))
}

// keptInterval is what all workers measured in one interval.
type keptInterval struct {
	number     int64
	operations [2]int64 // produce, consume
	tallies    map[string]keptTally
}

// collector takes the parts of all workers and adds them up by interval. While the window is open it keeps
// what it is given, up to a number of parts, and adds up only as much as is needed to have parts to give
// back: a short run is not disturbed at all.
type collector struct {
	run    *run
	given  chan *part
	wait   int                      // how many parts may wait to be added up, so that every worker still finds a spare one
	spare  [roleBoth + 1]chan *part // by role
	done   sync.WaitGroup
	window *part           // all intervals, but for tallies
	open   map[int64]*part // sums of intervals that still get parts, by number
	kept   []keptInterval
}

// openIntervals is how many intervals are added up at once. A worker that was inside a call for longer
// hands over a part of one that is closed, which then is there twice.
const openIntervals = 4

// Of the parts that wait to be used or added up there are sparesEach a worker, which is enough for windows of
// half a second to be added up after their end; fewer if they would take more than partsBytes. partBytes is
// what one takes which has three tallies. More of them in long windows would all be used in turn, each with
// pages of its own: 200 MiB after a minute, where the run itself needs 20.
const (
	sparesEach = 6
	partsBytes = 128 << 20
	partBytes  = 3 * tallyBytes
)

func newCollector(r *run, workers []*worker) *collector {
	c := &collector{run: r, open: make(map[int64]*part), window: &part{}}
	load := &r.spec.Workload
	each := sparesOf(len(workers), load.Duration)
	c.given = make(chan *part, each*len(workers))
	c.wait = (each - 1) * len(workers)
	var with [len(c.spare)]int
	for _, w := range workers {
		with[w.role]++
	}
	for does, n := range with {
		c.spare[does] = make(chan *part, each*n)
		for range each * n {
			c.spare[does] <- newPart(load, role(does)) // made inside the window, they would count as the load's allocations
		}
	}
	return c
}

// collect adds up until close.
func (c *collector) collect() {
	defer c.done.Done()
	var pending []*part
	for p := range c.given {
		pending = append(pending, p)
		if len(pending) > c.wait {
			c.take(pending[0])
			pending = slices.Delete(pending, 0, 1)
		}
	}
	for _, p := range pending {
		c.take(p)
	}
	for _, number := range c.numbers() {
		c.keep(number)
	}
}

// take adds one part up and offers it for use again.
func (c *collector) take(p *part) {
	sum := c.open[p.interval]
	if sum == nil {
		for numbers := c.numbers(); len(numbers) >= openIntervals; numbers = numbers[1:] {
			c.keep(numbers[0])
		}
		sum = newPart(&c.run.spec.Workload, roleBoth)
		sum.interval = p.interval
		c.open[p.interval] = sum
	}
	sum.merge(p)
	p.reset()
	select {
	case c.spare[p.role] <- p:
	default:
	}
}

// numbers are those of the open intervals, ascending.
func (c *collector) numbers() []int64 {
	var numbers []int64
	for n := range c.open {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers
}

// keep closes an interval.
func (c *collector) keep(number int64) {
	sum := c.open[number]
	delete(c.open, number)
	c.window.produce.count(&sum.produce)
	c.window.consume.count(&sum.consume)
	k := keptInterval{number: number, operations: [2]int64{sum.produce.operations, sum.consume.operations}, tallies: map[string]keptTally{}}
	for kind, t := range sum.tallies() {
		if t != nil && (t.low < t.high || t.over > 0) {
			k.tallies[kind] = t.kept()
		}
	}
	c.kept = append(c.kept, k)
}

// close ends collecting, when no worker hands anything over any more.
func (c *collector) close() {
	close(c.given)
	c.done.Wait()
	slices.SortStableFunc(c.kept, func(a, b keptInterval) int { return int(a.number - b.number) })
}
