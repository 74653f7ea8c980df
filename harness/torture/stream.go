package torture

import (
	"errors"

	"tailrace/segment"
	"tailrace/strategies"
)

// stream verifies a log in its order.
type stream struct {
	next      int64
	gaps      bool  // whether records of a producer may be missing
	sequences []int // by producer: the next one
	visit     func(producer, sequence int, offset int64)
	records   int64
}

func newStream(producers int, gaps bool) *stream {
	return &stream{gaps: gaps, sequences: make([]int, producers)}
}

// jump goes on at a later offset.
func (s *stream) jump(offset int64) { s.next, s.gaps = offset, true }

// add takes the bytes of one read: it must continue the last one.
func (s *stream) add(p []byte) error {
	return split(p, func(b segment.Batch) error {
		if b.BaseOffset() != s.next {
			return violationf("a batch has offset %d where %d was due", b.BaseOffset(), s.next)
		}
		s.next = b.NextOffset()
		return eachMessage(b, len(s.sequences), s.record)
	})
}

func (s *stream) record(producer, sequence int, offset int64) error {
	if want := s.sequences[producer]; sequence < want || sequence > want && !s.gaps {
		return violationf("the record at offset %d is number %d of producer %d where %d was due", offset, sequence, producer, want)
	}
	s.sequences[producer] = sequence + 1
	s.records++
	if s.visit != nil {
		s.visit(producer, sequence, offset)
	}
	return nil
}

// eachMessage verifies the bytes of a batch's records, all of which must be of one producer.
func eachMessage(b segment.Batch, producers int, visit func(producer, sequence int, offset int64) error) error {
	r, writer := b.Records(), -1
	for r.Next() {
		producer, sequence, ok := parseMessage(r.Record.Value)
		if !ok || producer >= producers || writer >= 0 && producer != writer {
			return violationf("the record at offset %d is none that was appended there", r.Record.Offset)
		}
		writer = producer
		if err := visit(producer, sequence, r.Record.Offset); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return violationf("the batch at offset %d: %v", b.BaseOffset(), err)
	}
	return nil
}

// outcome is what one append came to.
type outcome struct {
	sequence int // of its first record
	records  int
	base     int64 // −1 where it was not told
	err      error
}

// ledger compares what producers were told with what is in the log, from where it starts.
type ledger struct {
	start   int64
	offsets []map[int]int64 // by producer and sequence number
}

func newLedger(producers int, start int64) *ledger {
	l := &ledger{start: start, offsets: make([]map[int]int64, producers)}
	for i := range l.offsets {
		l.offsets[i] = map[int]int64{}
	}
	return l
}

func (l *ledger) visit(producer, sequence int, offset int64) { l.offsets[producer][sequence] = offset }

// check verifies one append. That no record is there twice follows from the order of the numbers.
func (l *ledger) check(producer int, o outcome) error {
	found := l.offsets[producer]
	first, stored := found[o.sequence]
	for i := range o.records {
		if at, ok := found[o.sequence+i]; ok != stored || ok && at != first+int64(i) {
			return violationf("the batch of record %d of producer %d is there in part", o.sequence, producer)
		}
	}
	switch {
	case o.base >= 0 && o.base < l.start:
		return nil // it was trimmed
	case o.base >= 0 && !stored:
		return violationf("record %d of producer %d was acknowledged at offset %d, and is missing", o.sequence, producer, o.base)
	case o.base >= 0 && first != o.base:
		return violationf("record %d of producer %d is at offset %d, and was acknowledged at %d", o.sequence, producer, first, o.base)
	case cancelled(o.err) && stored:
		return violationf("record %d of producer %d was cancelled before it began, and is at offset %d", o.sequence, producer, first)
	case errors.Is(o.err, strategies.ErrFailed) && stored:
		return violationf("record %d of producer %d failed, and is at offset %d", o.sequence, producer, first)
	}
	return nil
}
