package torture

import (
	"math"
	"sync"
	"sync/atomic"
)

// progress is what followers have said to have, by their fetches. A fetch takes effect at some moment between its call
// and its return: until then, the follower has at most the more, and at least the less, of what it said before and says
// now.
type progress struct {
	mu          sync.Mutex
	said        []int64 // by follower: with its last fetch
	more, less  []int64
	most, least atomic.Int64
}

func newProgress(followers int) *progress {
	p := &progress{said: make([]int64, followers), more: make([]int64, followers), less: make([]int64, followers)}
	p.look()
	return p
}

// allows is an offset that the high watermark has not passed so far: at no moment could all followers have had more. It
// is to be asked for after the high watermark.
func (p *progress) allows() int64 { return p.most.Load() }

// demands is an offset that the high watermark has come to: at some moment all followers had at least that. It is to be
// asked for before the high watermark.
func (p *progress) demands() int64 { return p.least.Load() }

// fetching is called before a follower's fetch at an offset.
func (p *progress) fetching(replica int, offset int64) {
	p.set(replica, max(p.said[replica], offset), min(p.said[replica], offset))
}

// fetched is called after it; noted says whether it was carried out.
func (p *progress) fetched(replica int, offset int64, noted bool) {
	if noted {
		p.said[replica] = offset // its follower's alone
	}
	p.set(replica, p.said[replica], p.said[replica])
}

func (p *progress) set(replica int, more, less int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.more[replica], p.less[replica] = more, less
	p.look()
}

// look raises both bounds. Without followers the high watermark is the log end.
func (p *progress) look() {
	most, least := int64(math.MaxInt64), int64(math.MaxInt64)
	for i := range p.more {
		most, least = min(most, p.more[i]), min(least, p.less[i])
	}
	if len(p.more) == 0 {
		least = 0
	}
	raise(&p.most, most)
	raise(&p.least, least)
}
