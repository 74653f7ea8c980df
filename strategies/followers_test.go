package strategies

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// The high watermark is one that all followers had at the same moment, also where one goes back while another raises it
// from what it has seen of each.
func TestHighWatermarkOfOneMoment(t *testing.T) {
	const rounds, replicas, first, last = 300, 2000, 0, 2000 - 1
	for range rounds {
		var f followers
		f.init(replicas, Offsets{HighWatermark: 10, LogEnd: 20})
		f.note(last, 10)
		var raising sync.WaitGroup
		var raised, done atomic.Bool
		raising.Go(func() {
			for !done.Load() {
				f.raise()
				raised.Store(true)
			}
		})
		for !raised.Load() {
			runtime.Gosched()
		}
		f.note(first, 5)
		f.note(last, 20)
		f.raise()
		done.Store(true)
		raising.Wait()
		if hw := f.highWatermark.Load(); hw != 10 {
			t.Fatalf("the high watermark is %d: follower %d had 10 until follower %d had 5", hw, last, first)
		}
	}
}

// Whoever meets a follower that is going back leaves it to that to raise the high watermark.
func TestHighWatermarkBesideOneThatGoesBack(t *testing.T) {
	var f followers
	f.init(2, Offsets{HighWatermark: 0, LogEnd: 0})
	f.goingBack.Add(1) // as note does first
	f.note(0, 10)
	f.note(1, 10)
	f.raise()
	if hw := f.highWatermark.Load(); hw != 0 {
		t.Errorf("the high watermark is %d while a follower goes back", hw)
	}
	f.wentBack.Add(1)
	f.raise()
	if hw := f.highWatermark.Load(); hw != 10 {
		t.Errorf("the high watermark is %d when all have 10", hw)
	}
}
