package strategies

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"tailrace/segment"
)

// BenchmarkPublish replaces the picture of a partition with so many segments.
func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("strategy=actor/segments=%d", n), func(b *testing.B) {
			a := &partitionActor{partition: partition{state: partitionState{sealed: make([]sealedSegment, n)}}}
			b.ReportAllocs()
			for b.Loop() {
				a.publish()
			}
		})
		b.Run(fmt.Sprintf("strategy=actor-plain/segments=%d", n), func(b *testing.B) {
			a := &partitionActor{partition: partition{state: partitionState{sealed: make([]sealedSegment, n)}}}
			b.ReportAllocs()
			for b.Loop() {
				a.copyList()
				a.publish()
			}
		})
	}
}

// BenchmarkAppendBesideWaiters appends to a log whose consumers are all blocked in Wait, and wakes them all.
// Until they are blocked again, nothing is measured.
func BenchmarkAppendBesideWaiters(b *testing.B) {
	for _, s := range List {
		if s.Kind != Core {
			continue
		}
		for _, n := range []int{0, 1000} {
			b.Run(fmt.Sprintf("strategy=%s/waiters=%d", s.Name, n), func(b *testing.B) { appendBesideWaiters(b, s, n) })
		}
	}
}

func appendBesideWaiters(b *testing.B, s Strategy, n int) {
	log, err := s.Open(Options{Storage: segment.NewHeap()})
	if err != nil {
		b.Fatal(err)
	}
	h := log.NewHandle()
	var end *waiters
	var wg sync.WaitGroup
	for range n {
		h := log.NewHandle()
		end = tailOf(log).highWatermark
		wg.Go(func() {
			for next := int64(0); h.Wait(context.Background(), next) == nil; next++ {
			}
		})
	}
	var builder segment.Builder
	builder.Add(1, nil, make([]byte, 950))
	batch := builder.Finish()
	latencies := make([]time.Duration, 0, b.N)
	for range b.N {
		for end != nil && end.blocked() < n {
			runtime.Gosched()
		}
		start := time.Now()
		if _, err := h.Append(context.Background(), batch, AcksLeader); err != nil {
			b.Fatal(err)
		}
		latencies = append(latencies, time.Since(start))
	}
	b.StopTimer()
	slices.Sort(latencies)
	b.ReportMetric(float64(latencies[len(latencies)/2]), "produce-p50-ns")
	b.ReportMetric(float64(latencies[len(latencies)*99/100]), "produce-p99-ns")
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	wg.Wait()
}

// blocked counts the waiters in the list.
func (w *waiters) blocked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for x := w.list.next; x != &w.list; x = x.next {
		n++
	}
	return n
}

func tailOf(l Log) tail {
	switch l := l.(type) {
	case *mutexLog:
		return l.tail
	case *rwmutexLog:
		return l.tail
	case *atomicsLog:
		return l.tail
	case *partitionActor:
		return l.tail
	}
	return tail{}
}
