package torture

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"tailrace/strategies"
)

// kind is what an operation of a history does. A call that takes effect in two steps is two operations: an
// append for all replicas stores, and then is acknowledged; a fetch reads, and notes the progress.
type kind int

const (
	storing kind = iota
	replicated
	reading
	fetching
	noting
	seeking
	looking
	trimming
	retaining
	waiting
	waitingEnd
)

// input is an operation as it was called.
type input struct {
	kind    kind
	batch   int   // that is appended
	offset  int64 // that is asked for, waited for, or below which is trimmed
	replica int
	buffer  int64 // bytes of a reader's
	bytes   int64 // to retain
	time    int64 // that is looked for
}

// output is what came back.
type output struct {
	base       int64 // where a batch was stored, −1 if that was not told; the offset found for a time
	batches    []int // that were read
	outOfRange bool
	need       int64 // size of the batch that the buffer was too small for, or 0
	offsets    strategies.Offsets
}

// batchInfo is what the model knows of a batch.
type batchInfo struct {
	count, size int64
	times       []int64 // of its records
	bytes       []byte
	acks        strategies.Acks
}

const maxFollowers = 4

// logState is the model's partition. It is compared with ==.
//
// Where segments end is not in the contract, so a trim leaves open how far the start moves: it is on a batch
// boundary in [startMin, startMax], and answers narrow that down.
type logState struct {
	batches            string // a byte for each batch, in order
	startMin, startMax int64
	hw, leo            int64
	noted              [maxFollowers]int64
}

// partitionModel judges the histories of one set of batches.
type partitionModel struct {
	batches   []batchInfo
	followers int
}

func (m *partitionModel) porcupine() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return logState{} },
		Step: func(s, in, out any) (bool, any) {
			state := s.(logState)
			ok := m.step(&state, in.(input), out.(output))
			return ok, state
		},
		DescribeOperation: func(in, out any) string { return describe(in.(input), out.(output)) },
		DescribeState: func(s any) string {
			state := s.(logState)
			return fmt.Sprintf("batches %v, start %d–%d, high watermark %d, log end %d, followers %v",
				[]byte(state.batches), state.startMin, state.startMax, state.hw, state.leo, state.noted[:m.followers])
		},
	}
}

// step carries out an operation; false if it can't have had this output in this state.
func (m *partitionModel) step(s *logState, in input, out output) bool {
	switch in.kind {
	case storing:
		return m.store(s, in.batch, out.base)
	case replicated, waiting:
		return in.offset < s.hw
	case waitingEnd:
		return in.offset < s.leo
	case reading:
		return m.read(s, s.hw, in, out)
	case fetching:
		return m.read(s, s.leo, in, out)
	case noting:
		s.noted[in.replica] = in.offset
		m.raise(s)
		return true
	case seeking:
		return m.seek(s, in.time, out.base)
	case looking:
		o := out.offsets
		return o.HighWatermark == s.hw && o.LogEnd == s.leo && o.Start == m.boundary(s, o.Start) &&
			m.startsAtLeast(s, o.Start) && m.startsAtMost(s, o.Start)
	case trimming:
		s.startMax = max(s.startMax, m.last(s, func(base int64) bool { return base <= in.offset }))
		return true
	default: // retaining
		size := m.size(s)
		s.startMax = max(s.startMax, m.last(s, func(base int64) bool { return size(base) >= in.bytes }))
		return true
	}
}

func (m *partitionModel) store(s *logState, batch int, base int64) bool {
	if base >= 0 && base != s.leo {
		return false
	}
	s.batches += string([]byte{byte(batch)})
	s.leo += m.batches[batch].count
	m.raise(s)
	return true
}

func (m *partitionModel) raise(s *logState) {
	end := s.leo
	for _, noted := range s.noted[:m.followers] {
		end = min(end, noted)
	}
	s.hw = max(s.hw, end)
}

func (m *partitionModel) read(s *logState, end int64, in input, out output) bool {
	switch {
	case out.outOfRange:
		return in.offset > end || m.startsAtLeast(s, in.offset+1)
	case in.offset > end:
		return false
	case in.offset == end:
		return out.need == 0 && len(out.batches) == 0 && m.startsAtMost(s, in.offset)
	}
	i, base := m.find(s, in.offset)
	if !m.startsAtMost(s, base) {
		return false
	}
	if out.need > 0 {
		return out.need == m.batches[s.batches[i]].size && out.need > in.buffer
	}
	for _, batch := range out.batches {
		if base >= end || i == len(s.batches) || int(s.batches[i]) != batch {
			return false
		}
		base += m.batches[batch].count
		i++
	}
	return len(out.batches) > 0 && base <= end
}

// seek: the answer is the first record that is not too early, and none from the start on lies before it.
func (m *partitionModel) seek(s *logState, time, found int64) bool {
	if found > s.hw {
		return false
	}
	before, base := int64(-1), int64(0)
	matches, within := false, found
	for _, batch := range []byte(s.batches) {
		for i, t := range m.batches[batch].times {
			offset := base + int64(i)
			if t < time || offset > found || offset >= s.hw {
				continue
			}
			if offset == found {
				matches, within = true, base
			} else {
				before = offset
			}
		}
		base += m.batches[batch].count
	}
	return (matches || found == s.hw) && m.startsAtLeast(s, before+1) && m.startsAtMost(s, within)
}

// startsAtLeast narrows the start down; false if that leaves none.
func (m *partitionModel) startsAtLeast(s *logState, offset int64) bool {
	if offset > s.startMin {
		s.startMin = m.boundary(s, offset)
	}
	return s.startMin <= s.startMax
}

func (m *partitionModel) startsAtMost(s *logState, offset int64) bool {
	s.startMax = min(s.startMax, offset)
	return s.startMin <= s.startMax
}

// boundary is the first offset from one on at which a batch begins, or the log ends; beyond the end, it is
// the offset.
func (m *partitionModel) boundary(s *logState, offset int64) int64 {
	base := int64(0)
	for i := 0; base < offset && i < len(s.batches); i++ {
		base += m.batches[s.batches[i]].count
	}
	return max(base, offset)
}

// find gives the batch that holds an offset below the log end.
func (m *partitionModel) find(s *logState, offset int64) (i int, base int64) {
	for next := int64(0); ; i++ {
		base, next = next, next+m.batches[s.batches[i]].count
		if offset < next {
			return i, base
		}
	}
}

// last is the largest boundary, no higher than the high watermark, up to which a trim may go.
func (m *partitionModel) last(s *logState, may func(base int64) bool) int64 {
	base, last := int64(0), int64(0)
	for i := 0; base <= s.hw; i++ {
		if may(base) {
			last = base
		}
		if i == len(s.batches) {
			break
		}
		base += m.batches[s.batches[i]].count
	}
	return last
}

// size gives the bytes of log from a boundary on.
func (m *partitionModel) size(s *logState) func(base int64) int64 {
	return func(from int64) int64 {
		base, size := int64(0), int64(0)
		for _, batch := range []byte(s.batches) {
			if base >= from {
				size += m.batches[batch].size
			}
			base += m.batches[batch].count
		}
		return size
	}
}
