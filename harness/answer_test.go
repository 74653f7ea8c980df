package harness

import (
	"fmt"
	"slices"
	"testing"

	"tailrace/segment"
	"tailrace/workload"
)

// answerOf joins the batches i to j of a log as a read returns them.
func (l *recorded) answerOf(i, j int) []byte {
	return slices.Concat(asBytes(l.batches[i:j])...)
}

func asBytes(batches []segment.Batch) (all [][]byte) {
	for _, b := range batches {
		all = append(all, b)
	}
	return all
}

func TestAnswerAccepts(t *testing.T) {
	l := record(t, segment.NewHeap(), interleaved())
	c := newChecker(l.payload, len(l.ledgers), true)
	next, visits := int64(0), 0
	for i := 0; i < len(l.batches); i += 3 {
		end := min(i+3, len(l.batches))
		var err error
		if next, err = c.answer(l.answerOf(i, end), next, true, func(time int64) {
			visits++
			if time != workload.NoTime {
				t.Errorf("visited time %d, want NoTime", time)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if want := l.batches[end-1].NextOffset(); next != want {
			t.Fatalf("next offset %d, want %d", next, want)
		}
	}
	if int64(visits) != next || c.records != next {
		t.Errorf("%d visits and %d records for %d offsets", visits, c.records, next)
	}
	c.restart()
	if _, err := c.answer(l.answerOf(0, 10), 0, true, nil); err != nil {
		t.Errorf("a second reading from the start: %v", err)
	}
}

// A read at random may ask for the middle of a batch, and return what lies behind the prefill.
func TestAnswerAcceptsAtRandom(t *testing.T) {
	l := record(t, segment.NewHeap(), prefilled())
	c := newChecker(l.payload, len(l.ledgers), true)
	for i, b := range l.batches {
		for offset := b.BaseOffset(); offset < b.NextOffset(); offset++ {
			if _, err := c.answer(l.answerOf(i, len(l.batches)), offset, false, nil); err != nil {
				t.Fatalf("read at %d: %v", offset, err)
			}
		}
	}
}

func TestAnswerRefuses(t *testing.T) {
	const first = 10 // batch that the answer begins with
	l := record(t, segment.NewHeap(), prefilled())
	moved := slices.Clone(l.batches[first-1])
	moved.Stamp(l.batches[first].BaseOffset())
	stranger := slices.Clone(l.build(3, 0, 1))
	stranger.Stamp(l.batches[first].BaseOffset())
	offset := l.batches[first].BaseOffset()
	zeroed := func(p []byte, from, to int) []byte { clear(p[from:to]); return p }
	at := func(i int) int { return len(l.answerOf(first, first+i)) }
	readAt := fmt.Sprintf("read at offset %d:", offset)
	faults := []struct {
		name       string
		answer     []byte
		sequential bool
		says       []string
	}{
		{"cut in the middle of a batch", l.answerOf(first, first+2)[:at(2)-5], false, []string{readAt, "cut off"}},
		{"cut in a header", l.answerOf(first, first+2)[:at(1)+20], false, []string{readAt, "header"}},
		{"stale bytes behind a short read", zeroed(l.answerOf(first, first+2), at(1), at(2)), false, []string{readAt}},
		{"zeros", make([]byte, 200), false, []string{readAt}},
		{"zeros in a record", zeroed(l.answerOf(first, first+2), at(2)-40, at(2)), false,
			[]string{fmt.Sprintf("record at offset %d", l.batches[first+2].BaseOffset()-1)}},
		{"an earlier batch", l.answerOf(first-1, first+1), false, []string{readAt, "first batch has offsets"}},
		{"a later batch", l.answerOf(first+1, first+2), false, []string{readAt, "first batch has offsets"}},
		{"an earlier batch, in sequence", l.answerOf(first-1, first+1), true, []string{readAt, "the first batch begins at"}},
		{"a later batch, in sequence", l.answerOf(first+1, first+2), true, []string{readAt, "the first batch begins at"}},
		{"a gap inside", slices.Concat(l.answerOf(first, first+1), l.answerOf(first+2, first+3)), false,
			[]string{readAt, "follows one that ends at"}},
		{"a batch twice", slices.Concat(l.answerOf(first, first+1), l.answerOf(first, first+1)), false,
			[]string{readAt, "follows one that ends at"}},
		{"other bytes of the prefill under a right offset", moved, false,
			[]string{fmt.Sprintf("record at offset %d", l.batches[first].BaseOffset()), "of producer 0 where"}},
		{"somebody unknown", stranger, false,
			[]string{fmt.Sprintf("record at offset %d", l.batches[first].BaseOffset()), "producer 3, which does not exist"}},
		{"fewer records than offsets", fewerRecords(l.answerOf(first, first+1)), false, []string{"batch at offset"}},
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			c := newChecker(l.payload, len(l.ledgers), true)
			_, err := c.answer(f.answer, offset, f.sequential, nil)
			wantViolation(t, err, f.says...)
		})
	}
}

// fewerRecords takes a record off a batch's count.
func fewerRecords(p []byte) []byte {
	p[60]-- // low byte of the record count
	return p
}

func TestAnswerRefusesWrongSequences(t *testing.T) {
	l := record(t, segment.NewHeap(), nil)
	batch := func(offset int64, producer uint32, sequence int64) []byte {
		b := slices.Clone(l.build(producer, sequence, 1))
		b.Stamp(offset)
		return b
	}
	faults := []struct {
		name   string
		second []byte
		says   string
	}{
		{"the first is lost", batch(1, 2, 1), "record at offset 1: number 1 of producer 2 where 0 was due"},
		{"again", batch(1, 1, 0), "record at offset 1: number 0 of producer 1 where 1 was due"},
		{"one left out", batch(1, 1, 2), "record at offset 1: number 2 of producer 1 where 1 was due"},
		{"unknown", batch(1, 3, 0), "record at offset 1: written by producer 3, which does not exist"},
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			c := newChecker(l.payload, 3, true)
			if _, err := c.answer(batch(0, 1, 0), 0, true, nil); err != nil {
				t.Fatal(err)
			}
			_, err := c.answer(f.second, 1, true, nil)
			wantViolation(t, err, f.says)
		})
	}
}

// A changed byte that no record shows is found by the checksum, which is computed now and then.
func TestAnswerSamplesChecksums(t *testing.T) {
	l := record(t, segment.NewHeap(), []appended{{0, 1}})
	bad := slices.Clone(l.batches[0])
	bad[50] ^= 1 // of the producer id, which nobody reads
	c := newChecker(l.payload, 3, true)
	var err error
	answers := 0
	for err == nil && answers < 2*sampleCRC {
		_, err = c.answer(bad, 0, false, nil)
		answers++
	}
	wantViolation(t, err, "batch at offset 0", "checksum")
	if answers != sampleCRC || c.checksums != 1 {
		t.Errorf("found at answer %d after %d checksums, want answer %d and one", answers, c.checksums, sampleCRC)
	}
}

func TestAnswerAllocatesNothing(t *testing.T) {
	l := record(t, segment.NewHeap(), interleaved())
	p := l.answerOf(0, len(l.batches))
	c := newChecker(l.payload, len(l.ledgers), true)
	visit := func(int64) {}
	if n := testing.AllocsPerRun(100, func() {
		c.restart()
		if _, err := c.answer(p, 0, true, visit); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for an answer, want none", n)
	}
}
