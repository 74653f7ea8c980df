package harness

import (
	"context"
	"errors"
	"math"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
	"tailrace/workload"
)

// lying is a handle whose answers are planted.
type lying struct {
	strategies.Handle
	base int64
	read []byte
	err  error
}

func (h *lying) Append(context.Context, segment.Batch, strategies.Acks) (int64, error) {
	return h.base, h.err
}

func (h *lying) Read(int64, []byte) ([]byte, error) { return h.read, h.err }

func (h *lying) Wait(context.Context, int64) error { return h.err }

// lied is a worker of a mix whose handle gives planted answers.
func lied(t *testing.T, h *lying) *worker {
	t.Helper()
	_, w := idle(t, tinyMix(), "mutex")
	h.Handle = w.clients[0].handle
	w.clients[0].handle = h
	return w
}

// The offsets that a producer is told rise.
func TestAppendOffsetsRise(t *testing.T) {
	for _, second := range []int64{10, 9, 0, -1} {
		h := &lying{base: 10}
		w := lied(t, h)
		if _, err := w.append(0, nil); err != nil {
			t.Fatal(err)
		}
		h.base = second
		_, err := w.append(0, nil)
		wantViolation(t, err, "producer 1: append at offset", "after one at 10")
	}
}

// No call of a run may fail, and none may come back empty-handed from the prefill.
func TestCallsThatFail(t *testing.T) {
	broken := errors.New("it is broken")
	w := lied(t, &lying{err: broken})
	_, err := w.append(0, nil)
	wantViolation(t, err, "append: it is broken")
	wantViolation(t, w.readPrefill(0, nil), "read: it is broken")
	w.run.spec.Workload.Pattern = workload.Tail
	_, err = w.atEnd(w.clients[0], false)
	wantViolation(t, err, "wait: it is broken")
	wantViolation(t, lied(t, &lying{}).readPrefill(0, nil), "nothing")
}

// A consumer that waits when the run is over has nothing to complain of.
func TestConsumerIsSentHome(t *testing.T) {
	w := lied(t, &lying{err: context.Canceled})
	w.run.spec.Workload.Pattern = workload.Tail
	if done, err := w.atEnd(w.clients[0], false); !done || err != nil {
		t.Errorf("done %t, %v", done, err)
	}
}

// An operation belongs to the window in which it ends; all others are verified and not measured.
func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name          string
		open, closing int64
		want          int64
	}{
		{"inside", 0, math.MaxInt64, 1},
		{"before", math.MaxInt64 - 1, math.MaxInt64, 0},
		{"after", 0, 1, 0},
	} {
		r, w := idle(t, tinyMix(), "mutex")
		r.open = c.open
		r.closing.Store(c.closing)
		if _, err := w.append(0, nil); err != nil {
			t.Fatal(err)
		}
		if err := w.readPrefill(0, nil); err != nil {
			t.Fatal(err)
		}
		if w.part.produce.operations != c.want || w.part.consume.operations != c.want {
			t.Errorf("%s the window: %d appends and %d reads counted, want %d each", c.name, w.part.produce.operations, w.part.consume.operations, c.want)
		}
		if w.clients[0].ledger.records != 1 || w.clients[0].checker.records == 0 {
			t.Errorf("%s the window: the operations were not entered for verification", c.name)
		}
	}
}

// The end-to-end latency counts from the intended time, in the window, for records that have one.
func TestEndToEnd(t *testing.T) {
	r, err := newRun(specOf(tinyTail(), "mutex", ""))
	if err != nil {
		t.Fatal(err)
	}
	workers, _ := r.workers()
	w := workers[len(workers)-1]
	w.readEnd = 5000
	w.visit(1000) // outside of the window
	w.inWindow = true
	w.visit(workload.NoTime)
	if h := counted(w.part.endToEnd); h.Count() != 0 {
		t.Fatalf("%d latencies of records that have none", h.Count())
	}
	w.visit(2000)
	if h := counted(w.part.endToEnd); h.Count() != 1 || h.Max() != 3000 {
		t.Errorf("%d latencies, up to %d ns; want one of 3000", h.Count(), h.Max())
	}
}
