package harness

import (
	"errors"
	"fmt"

	"tailrace/segment"
	"tailrace/workload"
)

// violation is a wrong answer, in a sentence.
type violation struct{ text string }

func (v *violation) Error() string { return v.text }

func violationf(format string, args ...any) error {
	return &violation{text: fmt.Sprintf(format, args...)}
}

// sampleCRC is how rarely a consumer computes a checksum: it costs half as much as the pread itself.
const sampleCRC = 64

// checker verifies what one consumer reads from one partition. It is used by one goroutine.
type checker struct {
	payload   *workload.Payload
	producers int
	// sequences are the next ones expected of each producer, where reads are in sequence; else nil.
	sequences []int64

	batches, checksums, records int64

	_ [128]byte // as in worker
}

func newChecker(p *workload.Payload, producers int, sequential bool) *checker {
	c := &checker{payload: p, producers: producers}
	if sequential {
		// The capacity keeps two checkers' sequences on different cache lines.
		c.sequences = make([]int64, producers, producers+16)
	}
	return c
}

// restart expects the beginning of the log again.
func (c *checker) restart() { clear(c.sequences) }

// answer verifies what a read at an offset returned, which is not empty, and calls visit with the
// intended time of each record. With sequential, the read must begin at the offset and continue the
// one before. It returns the offset after the last record.
func (c *checker) answer(p []byte, offset int64, sequential bool, visit func(time int64)) (next int64, err error) {
	next = -1
	for len(p) > 0 {
		var b segment.Batch
		if b, p, err = segment.NextBatch(p); err != nil {
			return 0, violationf("read at offset %d: %v", offset, err)
		}
		switch base := b.BaseOffset(); {
		case next >= 0 && base != next:
			return 0, violationf("read at offset %d: a batch at offset %d follows one that ends at %d", offset, base, next)
		case next < 0 && sequential && base != offset:
			return 0, violationf("read at offset %d: the first batch begins at %d", offset, base)
		case next < 0 && (base > offset || b.NextOffset() <= offset):
			return 0, violationf("read at offset %d: the first batch has offsets %d to %d", offset, base, b.NextOffset()-1)
		}
		next = b.NextOffset()
		if err := c.batch(b, sequential, visit); err != nil {
			return 0, err
		}
	}
	return next, nil
}

func (c *checker) batch(b segment.Batch, sequential bool, visit func(time int64)) error {
	c.batches++
	if c.batches%sampleCRC == 0 {
		c.checksums++
		if err := b.CheckCRC(); err != nil {
			return violationf("batch at offset %d: %v", b.BaseOffset(), err)
		}
	}
	r := b.Records()
	for r.Next() {
		c.records++
		producer, sequence, time, err := checkRecord(c.payload, &r.Record, c.producers)
		if err != nil {
			return err
		}
		if err := c.order(producer, sequence, r.Record.Offset, sequential); err != nil {
			return err
		}
		if visit != nil {
			visit(time)
		}
	}
	if err := r.Err(); err != nil {
		return violationf("batch at offset %d: %v", b.BaseOffset(), err)
	}
	return nil
}

// order verifies that each producer's records come in its order without a gap. Out of sequence, that
// can be said of the prefill alone, which begins the log.
func (c *checker) order(producer int, sequence, offset int64, sequential bool) error {
	want := sequence
	switch {
	case sequential:
		want = c.sequences[producer]
		c.sequences[producer] = sequence + 1
	case producer == 0:
		want = offset
	}
	return inOrder(producer, sequence, want, offset)
}

// checkRecord verifies the bytes of a record, and that its producer is one of so many.
func checkRecord(payload *workload.Payload, r *segment.Record, producers int) (producer int, sequence, time int64, err error) {
	id, number, time, err := payload.Check(r.Value)
	switch {
	case err != nil:
		return 0, 0, 0, violationf("record at offset %d: %v", r.Offset, err)
	case int(id) >= producers:
		return 0, 0, 0, violationf("record at offset %d: written by producer %d, which does not exist", r.Offset, id)
	}
	return int(id), int64(number), time, nil
}

// inOrder verifies that a record is the one that was due of its producer.
func inOrder(producer int, sequence, want, offset int64) error {
	if sequence != want {
		return violationf("record at offset %d: number %d of producer %d where %d was due", offset, sequence, producer, want)
	}
	return nil
}

// ledger is what one producer knows of its appends to one partition. The walk over the log computes
// the same from the other end.
type ledger struct {
	records int64 // acknowledged, or sent where nothing is acknowledged
	// offsets folds the base offsets of the batches in their order into one number, so that an offset
	// told wrong is seen without a list of all.
	offsets uint64
}

func (l *ledger) add(base, records int64, told bool) {
	l.records += records
	if told {
		l.offsets = l.offsets*0x9e3779b97f4a7c15 + uint64(base) + 1
	}
}

// walker reads the log of a partition from its files, every checksum and every record, and computes the
// ledgers of its producers from what is there. In a sustained run it goes ahead of the trimming, segment
// by segment; otherwise over the whole log when the run is over.
type walker struct {
	payload   *workload.Payload
	producers int
	told      bool
	private   bool     // the logs of several producers stand in one storage without following each other
	found     []ledger // while it walks
	next      int64    // offset that is due

	batches, records int64
	ahead            int64 // of the records, those read before the run was over
}

func newWalker(payload *workload.Payload, producers int, told, private bool) *walker {
	return &walker{payload: payload, producers: producers, told: told, private: private}
}

// begin makes the ledgers. Those of many producers and partitions are not all there at once, unless all are walked over
// ahead.
func (w *walker) begin() {
	if w.found == nil {
		w.found = make([]ledger, w.producers)
	}
}

// segment walks over one segment that is complete.
func (w *walker) segment(storage segment.Storage, base int64) error {
	w.begin()
	err := asViolation(segment.ScanSegment(storage, base, w.batch))
	w.ahead = w.records
	return err
}

// finish walks over what there is, and compares it with the ledgers of the producers, by number.
func (w *walker) finish(storage segment.Storage, ledgers []ledger) error {
	w.begin()
	defer func() { w.found = nil }()
	bases, err := segment.Bases(storage)
	if err != nil {
		return asViolation(err)
	}
	ahead := int64(0)
	if w.ahead > 0 {
		ahead = w.next
	}
	for _, base := range bases {
		// One that was walked over ahead may still be there: while the next is being begun, it is the active one.
		if base < ahead {
			continue
		}
		if err := asViolation(segment.ScanSegment(storage, base, w.batch)); err != nil {
			return err
		}
	}
	for producer, want := range ledgers {
		switch got := w.found[producer]; {
		case got.records != want.records:
			return violationf("producer %d: %d records acknowledged, %d in the log", producer, want.records, got.records)
		case w.told && got.offsets != want.offsets:
			return violationf("producer %d: its batches are not at the offsets that it was told", producer)
		}
	}
	return nil
}

// asViolation makes a violation of whatever a walk has found.
func asViolation(err error) error {
	var v *violation
	if err != nil && !errors.As(err, &v) {
		return violationf("%v", err)
	}
	return err
}

// batch enters a batch into the ledger of its producer.
func (w *walker) batch(file string, b segment.Batch, position int64) error {
	if base := b.BaseOffset(); base != w.next && (!w.private || position != 0) {
		return violationf("%s at byte %d: a batch at offset %d where %d was due", file, position, base, w.next)
	}
	w.next = b.NextOffset()
	w.batches++
	var l *ledger
	r := b.Records()
	for r.Next() {
		w.records++
		producer, sequence, _, err := checkRecord(w.payload, &r.Record, w.producers)
		if err != nil {
			return err
		}
		if l != nil && l != &w.found[producer] {
			return violationf("record at offset %d: producer %d in another's batch", r.Record.Offset, producer)
		}
		l = &w.found[producer]
		if err := inOrder(producer, sequence, l.records, r.Record.Offset); err != nil {
			return err
		}
		l.add(0, 1, false)
	}
	if err := r.Err(); err != nil {
		return violationf("batch at offset %d: %v", b.BaseOffset(), err)
	}
	if l != nil {
		l.add(b.BaseOffset(), 0, w.told)
	}
	return nil
}
