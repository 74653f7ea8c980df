package harness

import (
	"context"
	"sync"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/strategies"
	"tailrace/workload"
)

// A stalling log stands still for a while again and again: all appends wait for the one that the stall has hit.
const (
	stallEvery = 100 * time.Millisecond
	stallTime  = 10 * time.Millisecond
	stallHalf  = int64(stallTime / 2)
)

type stalling struct {
	mu     sync.Mutex
	run    *run
	next   int64 // on the run's clock
	stalls int64 // those of which the window has seen the end, and what was due meanwhile
}

type stallingHandle struct {
	strategies.Handle
	log *stalling
}

func (h stallingHandle) Append(ctx context.Context, b segment.Batch, acks strategies.Acks) (int64, error) {
	s := h.log
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.run.clock.now(); now >= s.next {
		s.next = now + int64(stallEvery)
		time.Sleep(stallTime)
		if s.run.inWindow(now) && s.run.inWindow(now+2*int64(stallTime)) {
			s.stalls++
		}
	}
	return h.Handle.Append(ctx, b, acks)
}

// stalled runs a load on a log that stalls.
func stalled(t *testing.T, w workload.Workload) (stalls int64, totals map[string]*results.Histogram) {
	t.Helper()
	s := &stalling{}
	s.run = wrap(t, specOf(w, "mutex", ""), func(h strategies.Handle) strategies.Handle { return stallingHandle{h, s} })
	o := ends(t, s.run)
	if !o.Run.Valid() {
		t.Fatal(o.Run.Verification.Error)
	}
	return s.stalls, histogramsOf(t, o)
}

// above counts the values of a histogram that are larger than half a stall.
func above(h *results.Histogram) (n int64) {
	for bucket := range h.Buckets() {
		if bucket.Low > stallHalf {
			n += bucket.Count
		}
	}
	return n
}

// TestCoordinatedOmission: whoever would have called while the log stood still waited too. An open loop counts
// them, from their intended time. The calls themselves hardly show the stall, in an open loop or a closed one: each
// client meets it once.
func TestCoordinatedOmission(t *testing.T) {
	const rate = 8000
	w := tiny("stalled")
	w.Producers, w.ProduceRate = 2, rate
	w.Ramp, w.Duration = 20*time.Millisecond, 400*time.Millisecond
	stalls, open := stalled(t, w)
	if stalls == 0 {
		t.Skip("the machine was too busy for a stall inside the window")
	}
	latency, service := open[results.KindProduce], open[results.KindProduceService]
	waited, slow := above(latency), above(service)
	t.Logf("open loop, %d stalls: p99 from the intended time %v, service %v; %d and %d of %d above half a stall", stalls,
		time.Duration(latency.Quantile(0.99)), time.Duration(service.Quantile(0.99)), waited, slow, latency.Count())
	due := stalls * rate * stallHalf / int64(time.Second)
	if waited < due/2 {
		t.Errorf("%d operations waited for more than half a stall, about %d were due in the first halves of %d stalls", waited, due, stalls)
	}
	if slow > waited/4 {
		t.Errorf("%d calls took more than half a stall, and %d operations were late by as much", slow, waited)
	}
	if p99 := latency.Quantile(0.99); due > latency.Count()/50 && p99 < stallHalf {
		t.Errorf("p99 from the intended time is %v, with stalls of %v for a tenth of the time", time.Duration(p99), stallTime)
	}

	w.ProduceRate = 0
	stalls, closed := stalled(t, w)
	latency = closed[results.KindProduce]
	slow = above(latency)
	t.Logf("closed loop, %d stalls: p99 %v; %d of %d above half a stall", stalls, time.Duration(latency.Quantile(0.99)), slow, latency.Count())
	if slow > latency.Count()/100 {
		t.Errorf("%d of %d calls of a closed loop took more than half a stall", slow, latency.Count())
	}
}

// Where one worker does both, reads wait for an append that stands still, and none of them was slow.
func TestCoordinatedOmissionOfAMix(t *testing.T) {
	const rate = 8000
	for _, arrivals := range []string{workload.ArrivalsConstant, workload.ArrivalsPoisson} {
		w := tinyMix()
		w.Workers, w.Rate, w.ProducePercent, w.Arrivals = 2, rate, 50, arrivals
		w.Ramp, w.Duration = 20*time.Millisecond, 250*time.Millisecond
		stalls, totals := stalled(t, w)
		if stalls == 0 {
			t.Skip("the machine was too busy for a stall inside the window")
		}
		waited, slow := above(totals[results.KindConsume]), above(totals[results.KindConsumeService])
		due := stalls * rate / 2 * stallHalf / int64(time.Second)
		t.Logf("%s arrivals, %d stalls: %d reads waited for more than half a stall, %d took as much", arrivals, stalls, waited, slow)
		if waited < due/4 || slow > waited/4 {
			t.Errorf("%s arrivals: %d reads waited for more than half a stall and %d took as much, about %d were due in the first halves of %d stalls",
				arrivals, waited, slow, due, stalls)
		}
	}
}
