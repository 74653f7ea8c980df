package torture

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"

	"tailrace/segment"
	"tailrace/strategies"
)

// lookAtOffsets looks at nothing else, and as often as it can: what is shown of two moments is shown between two loads.
func (m *moments) lookAtOffsets(*rand.Rand) error {
	h := m.log.NewHandle()
	defer h.Close()
	looks := int64(0)
	defer func() { m.looks.Add(looks) }()
	for ; !m.over.Load(); looks++ {
		giveWay(looks)
		first := m.done.Load()
		o := h.Offsets()
		if m.options.Sync == segment.EveryBatch() {
			if synced := m.log.LastSynced(); synced < o.LogEnd {
				return violationf("the log end is %d, each batch is synced before it is shown, and all below %d is", o.LogEnd, synced)
			}
		}
		if m.states[first].Offsets == o {
			continue
		}
		during := m.states[first : m.begun.Load()+1]
		if !slices.ContainsFunc(during, func(s moment) bool { return s.Offsets == o }) {
			return violationf("the offsets are %+v, and were that at no moment of the call: %+v", o, during)
		}
	}
	return nil
}

// giveWay lets others run after some turns of a tight loop: on one processor they would wait for 10 ms each time.
func giveWay(turn int64) {
	if turn%64 == 63 {
		runtime.Gosched()
	}
}

// readTheOldest reads what is trimmed next.
func (m *moments) readTheOldest(*rand.Rand) error {
	h := m.log.NewHandle()
	defer h.Close()
	buf := make([]byte, maxBatch)
	looks := int64(0)
	defer func() { m.looks.Add(looks) }()
	for ; !m.over.Load(); looks++ {
		giveWay(looks)
		first := m.done.Load()
		at := m.states[first].Start
		p, err := h.Read(at, buf)
		during := m.states[first : m.begun.Load()+1]
		if !slices.ContainsFunc(during, func(s moment) bool { return m.mayRead(s, at, p, err) }) {
			return violationf("a read at %d gives %d bytes, %v, which was right at no moment of the call: %+v", at, len(p), err, during)
		}
	}
	return nil
}

// look compares what it is shown with the moments of its call.
func (m *moments) look(random *rand.Rand) error {
	h := m.log.NewHandle()
	defer h.Close()
	buf := make([]byte, 4*maxBatch)
	looks := int64(0)
	defer func() { m.looks.Add(looks) }()
	for ; !m.over.Load(); looks++ {
		giveWay(looks)
		first := m.done.Load()
		state := m.states[first]
		var judge func(moment) bool
		what, at := "the offsets", int64(0)
		var got any
		switch n := random.IntN(8); {
		case n < 5 || state.LogEnd == 0:
			o := h.Offsets()
			got, judge = o, func(s moment) bool { return s.Offsets == o }
		case n == 5:
			what, at = "a read", max(0, draw(random, state.Start-1, state.Start, state.HighWatermark-1, state.HighWatermark))
			p, err := h.Read(at, buf)
			got, judge = err, func(s moment) bool { return m.mayRead(s, at, p, err) }
		case n == 6:
			at = state.Start + random.Int64N(state.HighWatermark-state.Start+1)
			what = "a look for the time of an offset"
			found, err := h.OffsetForTime(10*at - random.Int64N(10))
			got = found
			judge = func(s moment) bool { return err == nil && found == min(max(at, s.Start), s.HighWatermark) }
		default:
			what, at = "a wait", state.HighWatermark-1
			if at < 0 {
				continue
			}
			err := h.Wait(m.crew.ctx, at)
			got, judge = err, func(moment) bool { return err == nil || m.crew.ctx.Err() != nil }
		}
		last := m.begun.Load()
		during := m.states[first : last+1]
		if !slices.ContainsFunc(during, judge) {
			return violationf("%s (%d) gives %+v, which was right at no moment of the call: the offsets were %+v", what, at, got, during)
		}
	}
	return nil
}

// mayRead judges an answer by what there was at one moment.
func (m *moments) mayRead(s moment, offset int64, p []byte, err error) bool {
	switch {
	case errors.Is(err, strategies.ErrOutOfRange):
		return offset < s.Start || offset > s.HighWatermark
	case err != nil || offset < s.Start || offset > s.HighWatermark:
		return false
	case offset == s.HighWatermark:
		return len(p) == 0
	}
	batches := m.batches[:s.batches]
	i := sort.Search(len(batches), func(i int) bool { return batches[i].NextOffset() > offset })
	got := len(p) > 0
	for ; len(p) > 0 && i < len(batches) && batches[i].NextOffset() <= s.HighWatermark && bytes.HasPrefix(p, batches[i]); i++ {
		p = p[len(batches[i]):]
	}
	return got && len(p) == 0
}
