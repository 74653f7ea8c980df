package strategies

import "sync/atomic"

// followers is the progress of all followers, each of which says its own.
//
// The high watermark is one that the least of them had at some moment. It is raised from offsets that are loaded one
// after the other. While all of them only rise, they are there together at the last load. One that goes back says so
// before and after: who meets that leaves the raising to it, who raises when it is done.
type followers struct {
	replicas      []follower
	highWatermark atomic.Int64 // unused without replicas

	goingBack, wentBack atomic.Uint64 // how many have begun to go back, and have done so
}

// follower is the progress of one, on a cache line of its own.
type follower struct {
	offset atomic.Int64
	_      [56]byte
}

func (f *followers) init(replicas int, o Offsets) {
	f.replicas = make([]follower, replicas)
	for i := range f.replicas {
		f.replicas[i].offset.Store(o.LogEnd)
	}
	f.highWatermark.Store(o.HighWatermark)
}

// note stores what a follower says that it has.
func (f *followers) note(replica int, offset int64) {
	r := &f.replicas[replica]
	if offset >= r.offset.Load() {
		r.offset.Store(offset)
		return
	}
	f.goingBack.Add(1)
	r.offset.Store(offset)
	f.wentBack.Add(1)
}

// raise moves the high watermark up to where every follower is. It is called after note. Of two that come at once, the
// one who stored last sees what both have stored.
func (f *followers) raise() {
	wentBack := f.wentBack.Load()
	if f.goingBack.Load() != wentBack {
		return
	}
	end := f.replicas[0].offset.Load()
	for i := range f.replicas[1:] {
		end = min(end, f.replicas[1+i].offset.Load())
	}
	if f.goingBack.Load() != wentBack {
		return
	}
	for {
		last := f.highWatermark.Load()
		if end <= last || f.highWatermark.CompareAndSwap(last, end) {
			return
		}
	}
}

func (h *atomicsHandle) Fetch(replica int, offset int64, buf []byte) ([]byte, error) {
	l := h.log
	if h.closed || !l.gate.enter(&h.pin) {
		return nil, ErrClosed
	}
	defer l.gate.leave(&h.pin)
	if replica < 0 || replica >= len(l.followers.replicas) {
		return nil, ErrReplica
	}
	state := l.picture()
	p, err := state.readFrom(offset, buf, &h.cursor)
	if err == nil && l.followers.replicas[replica].offset.Load() != offset {
		l.followers.note(replica, offset)
		l.followers.raise()
		l.tail.published(l.offsets())
	}
	return p, err
}
