package harness

import (
	"math"
	"testing"
	"time"

	"tailrace/workload"
)

// A pause never ends before its time, however short it is.
func TestUntilIsNeverEarly(t *testing.T) {
	c := newClock()
	p, err := newPauser(c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	pauses := []time.Duration{-time.Millisecond, 0, 1, time.Microsecond, spinBefore - 1, spinBefore, spinBefore + 1,
		50 * time.Microsecond, 300 * time.Microsecond, 2 * time.Millisecond}
	for range 20 {
		for _, pause := range pauses {
			at := c.now() + int64(pause)
			p.until(at)
			if now := c.now(); now < at {
				t.Errorf("a pause of %v ended %v early", pause, time.Duration(at-now))
			}
		}
	}
}

func TestClock(t *testing.T) {
	c := newClock()
	last := c.now()
	for range 1000 {
		now := c.now()
		if now < last {
			t.Fatalf("the clock went from %d to %d", last, now)
		}
		last = now
	}
	for _, at := range []int64{0, 1_500_000, 3_600_000_000_000} {
		if got, want := c.wall(at), c.epoch.Add(time.Duration(at)).UnixMilli(); got != want {
			t.Errorf("at %d ns the wall clock is %d ms, want %d", at, got, want)
		}
	}
}

// idle is a run that is open and does not end, and a worker of it.
func idle(tb testing.TB, w workload.Workload, strategy string) (*run, *worker) {
	tb.Helper()
	r, err := newRun(specOf(w, strategy, ""))
	if err != nil {
		tb.Fatal(err)
	}
	r.ctx = tb.Context()
	if err := r.prefill(); err != nil {
		tb.Fatal(err)
	}
	r.ctx = tb.Context()
	workers, _ := r.workers()
	r.closing.Store(int64(time.Hour))
	workers[0].boundary = math.MaxInt64 // nobody collects the parts of its intervals
	return r, workers[0]
}

// Whoever comes in time waits for it, whoever is late does not, and the schedule is not moved.
func TestDue(t *testing.T) {
	w := openLoop()
	r, producer := idle(t, w, "null")
	steady := r.pace(producer, w.ProduceRate, 1, 0)
	interval := int64(float64(time.Second) / w.ProduceRate)
	now := r.clock.now()
	r.start = now
	if first, _, _ := producer.due(steady, now); first != r.start {
		t.Errorf("the first operation is due %d ns after the start", first-r.start)
	}
	intended, wait, stop := producer.due(steady, now)
	if intended != r.start+interval || wait != steady.pauser || stop {
		t.Errorf("in time: intended %d, wait %p, stop %t", intended-r.start, wait, stop)
	}
	if end, err := producer.append(intended, wait); err != nil || end < intended {
		t.Errorf("the append that was to wait ended %d ns early, %v", intended-end, err)
	}
	late := r.start + 100*interval
	intended, wait, stop = producer.due(steady, late)
	if intended != r.start+2*interval || wait != nil || stop {
		t.Errorf("late: intended %d, wait %p, stop %t", intended-r.start, wait, stop)
	}
	intended, wait, stop = producer.due(nil, late)
	if intended != late || wait != nil || stop {
		t.Errorf("closed loop: intended %d, want the end of the last call", intended)
	}
	r.closing.Store(r.start)
	for _, paced := range []*pace{nil, steady} {
		if _, _, stop := producer.due(paced, late); !stop {
			t.Error("the run is over, and an operation is due")
		}
	}
	if r.pace(producer, 0, 1, 0) != nil {
		t.Error("no rate has a pace")
	}
}

// What a worker does for an operation allocates nothing; the rest is the strategy's.
func TestWorkerAllocatesNothing(t *testing.T) {
	mix, paced := tinyMix(), tinyMix()
	paced.Rate = 4000
	for name, w := range map[string]workload.Workload{"mix": mix, "paced": paced} {
		r, worker := idle(t, w, "null")
		wait, err := newPauser(r.clock)
		if err != nil {
			t.Fatal(err)
		}
		defer wait.close()
		for range 10 { // the builder grows its buffer
			if _, err := worker.append(r.clock.now(), wait); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(200, func() {
			if _, err := worker.append(r.clock.now(), wait); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations an append, want none", name, n)
		}
		if n := testing.AllocsPerRun(200, func() {
			if err := worker.readPrefill(r.clock.now(), wait); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations a read, want none", name, n)
		}
	}
}

// Nor does the check of what a read returned, with end-to-end latencies.
func TestConsumerAllocatesNothing(t *testing.T) {
	w := tinyTail()
	w.Prefill = 64 << 10
	r, err := newRun(specOf(w, "mutex", ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.prefill(); err != nil {
		t.Fatal(err)
	}
	r.ctx = t.Context()
	workers, _ := r.workers()
	r.closing.Store(int64(time.Hour))
	consumer := workers[len(workers)-1]
	c := consumer.clients[0]
	if n := testing.AllocsPerRun(200, func() {
		c.checker.restart()
		if n, err := consumer.read(c, 0, 0, nil, true); err != nil || n == 0 {
			t.Fatalf("read %d bytes, %v", n, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a read, want none", n)
	}
}

// The costs that a run reports of a strategy that does nothing are those of the harness: no memory.
func TestNullAllocatesNothing(t *testing.T) {
	w := tinyMix()
	w.Duration = 50 * time.Millisecond
	o := mustPerform(t, specOf(w, "null", ""))
	operations := o.Run.Samples["produce"] + o.Run.Samples["consume"]
	if operations < 20_000 {
		t.Skipf("only %d operations, which the cost of measuring does not vanish among", operations)
	}
	if per := o.Run.Metrics["allocs/op"]; per > 0.01 {
		t.Errorf("%v allocations an operation (of %d), want none", per, operations)
	}
}
