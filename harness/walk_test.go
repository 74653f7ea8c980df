package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
	"tailrace/workload"
)

const testRecordSize = 64

// recorded is a log that mutex wrote, and what its producers know of it.
type recorded struct {
	storage segment.Storage
	payload *workload.Payload
	ledgers []ledger
	batches []segment.Batch // in the order of the log
	files   []string        // the file of each batch
	at      []int64         // and its position
}

// appended is one batch of a log to be written: who writes, how many records.
type appended struct {
	producer uint32
	records  int
}

// interleaved is three producers taking irregular turns, over several segments.
func interleaved() []appended {
	var plan []appended
	for i := range 40 {
		plan = append(plan, appended{producer: uint32(i * i % 7 % 3), records: 1 + i%3})
	}
	return plan
}

// prefilled is the log of a run: the prefill of producer 0, then others in turns.
func prefilled() []appended {
	var plan []appended
	for i := range 30 {
		a := appended{producer: 0, records: 1 + i%3}
		if i >= 15 {
			a.producer = 1 + uint32(i%2)
		}
		plan = append(plan, a)
	}
	return plan
}

// record writes a log with the strategy mutex.
func record(t *testing.T, storage segment.Storage, plan []appended) *recorded {
	t.Helper()
	l := &recorded{
		storage: storage,
		payload: workload.NewPayload(1, &workload.Workload{RecordSize: testRecordSize}),
		ledgers: make([]ledger, 3),
	}
	mutex, err := strategies.Find("mutex")
	if err != nil {
		t.Fatal(err)
	}
	log, err := mutex.Open(strategies.Options{Storage: storage, SegmentSize: 2 << 10})
	if err != nil {
		t.Fatal(err)
	}
	handle := log.NewHandle()
	for _, a := range plan {
		b := l.build(a.producer, l.ledgers[a.producer].records, a.records)
		base, err := handle.Append(context.Background(), b, strategies.AcksLeader)
		if err != nil {
			t.Fatal(err)
		}
		l.ledgers[a.producer].add(base, int64(a.records), true)
	}
	if err := handle.Close(); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	l.load(t)
	return l
}

// build encodes a batch of a producer.
func (l *recorded) build(producer uint32, sequence int64, records int) segment.Batch {
	var builder segment.Builder
	builder.Reset()
	for i := range records {
		l.payload.Fill(builder.Value(1000, testRecordSize), producer, uint64(sequence+int64(i)), workload.NoTime)
	}
	return builder.Finish()
}

func (l *recorded) load(t *testing.T) {
	t.Helper()
	err := segment.Scan(l.storage, func(file string, b segment.Batch, position int64) error {
		l.batches = append(l.batches, slices.Clone(b))
		l.files = append(l.files, file)
		l.at = append(l.at, position)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// write overwrites the log file of batch i from the batch's position on.
func (l *recorded) write(t *testing.T, i int, p []byte) {
	t.Helper()
	file, err := l.storage.OpenLog(l.files[i], false)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Pwrite(p, l.at[i]); err != nil {
		t.Fatal(err)
	}
}

// rewrite replaces all of the log by batches in one file.
func (l *recorded) rewrite(t *testing.T, batches []segment.Batch) {
	t.Helper()
	l.storage = segment.NewHeap()
	file, err := l.storage.OpenLog(segment.Name(0), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.PwriteBatches(batches, 0); err != nil {
		t.Fatal(err)
	}
}

// walk goes over the log and compares it with the ledgers.
func (l *recorded) walk() (*walker, error) {
	return l.walkAs(true, false)
}

func (l *recorded) walkAs(told, private bool) (*walker, error) {
	w := newWalker(l.payload, len(l.ledgers), told, private)
	return w, w.finish(l.storage, l.ledgers)
}

// restamped gives batches the offsets that a log would give them.
func restamped(batches []segment.Batch) []segment.Batch {
	next := int64(0)
	for _, b := range batches {
		b.Stamp(next)
		next = b.NextOffset()
	}
	return batches
}

// onStorages runs a test on both kinds of storage.
func onStorages(t *testing.T, test func(t *testing.T, storage segment.Storage)) {
	t.Run("heap", func(t *testing.T) { test(t, segment.NewHeap()) })
	t.Run("dir", func(t *testing.T) {
		dir, err := segment.OpenDir(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		test(t, lasting{dir})
	})
}

// lasting is a storage that stays open when its log closes it.
type lasting struct{ segment.Storage }

func (lasting) Close() error { return nil }

func wantViolation(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no violation; want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the violation is %q; want it to say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the violation has several lines: %q", err)
	}
}

func TestWalkSoundLog(t *testing.T) {
	onStorages(t, func(t *testing.T, storage segment.Storage) {
		l := record(t, storage, interleaved())
		if l.files[0] == l.files[len(l.files)-1] {
			t.Fatal("the log has one segment; the test wants a roll in it")
		}
		seen, err := l.walk()
		if err != nil {
			t.Fatal(err)
		}
		var batches, records int64
		for _, a := range interleaved() {
			batches++
			records += int64(a.records)
		}
		if seen.batches != batches || seen.records != records || seen.ahead != 0 {
			t.Errorf("walked %d batches and %d records, %d of them ahead; want %d, %d and 0",
				seen.batches, seen.records, seen.ahead, batches, records)
		}
	})
}

func TestWalkFindsDamage(t *testing.T) {
	const victim = 17
	faults := []struct {
		name   string
		damage func(t *testing.T, l *recorded)
		says   func(l *recorded) []string
	}{
		{"a flipped byte of a value", func(t *testing.T, l *recorded) {
			b := slices.Clone(l.batches[victim])
			b[len(b)-2] ^= 1
			l.write(t, victim, b)
		}, func(l *recorded) []string { return []string{l.files[victim], fmt.Sprint(l.at[victim]), "checksum"} }},
		{"a flipped byte of the base offset", func(t *testing.T, l *recorded) {
			b := slices.Clone(l.batches[victim])
			b[7] ^= 1 // outside the checksum
			l.write(t, victim, b)
		}, func(l *recorded) []string {
			return []string{l.files[victim], fmt.Sprintf("at byte %d", l.at[victim]),
				fmt.Sprintf("where %d was due", l.batches[victim].BaseOffset())}
		}},
		{"a batch of zeros", func(t *testing.T, l *recorded) {
			l.write(t, victim, make([]byte, len(l.batches[victim])))
		}, func(l *recorded) []string { return []string{l.files[victim], fmt.Sprint(l.at[victim])} }},
		{"half a batch at the end", func(t *testing.T, l *recorded) {
			last := len(l.batches) - 1
			l.at[last] += int64(len(l.batches[last]))
			l.write(t, last, l.batches[last][:30])
		}, func(l *recorded) []string { return []string{l.files[len(l.files)-1]} }},
		{"zeros at the end", func(t *testing.T, l *recorded) {
			last := len(l.batches) - 1
			l.at[last] += int64(len(l.batches[last]))
			l.write(t, last, make([]byte, 100))
		}, func(l *recorded) []string { return []string{l.files[len(l.files)-1]} }},
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			onStorages(t, func(t *testing.T, storage segment.Storage) {
				l := record(t, storage, interleaved())
				says := f.says(l)
				f.damage(t, l)
				_, err := l.walk()
				wantViolation(t, err, says...)
			})
		})
	}
}

func TestWalkFindsWrongHistories(t *testing.T) {
	// Two batches of producer 1, next to each other among those of one producer.
	second := func(l *recorded) (i, j int) {
		i = slices.IndexFunc(l.batches, func(b segment.Batch) bool { return l.producerOf(b) == 1 })
		j = i + 1 + slices.IndexFunc(l.batches[i+1:], func(b segment.Batch) bool { return l.producerOf(b) == 1 })
		return i, j
	}
	faults := []struct {
		name   string
		change func(l *recorded) []segment.Batch
		says   []string
	}{
		{"a batch is missing, and leaves a gap", func(l *recorded) []segment.Batch {
			return slices.Delete(l.batches, 5, 6)
		}, []string{segment.Name(0), "where", "was due"}},
		{"a batch is missing, and others took its offsets", func(l *recorded) []segment.Batch {
			i, _ := second(l)
			return restamped(slices.Delete(l.batches, i, i+1))
		}, []string{"record at offset", "of producer 1 where 0 was due"}},
		{"a batch is there twice", func(l *recorded) []segment.Batch {
			return restamped(slices.Insert(l.batches, 9, slices.Clone(l.batches[8])))
		}, []string{"record at offset", "was due"}},
		{"a batch is there twice at the same offset", func(l *recorded) []segment.Batch {
			return slices.Insert(l.batches, 9, slices.Clone(l.batches[8]))
		}, []string{segment.Name(0), "was due"}},
		{"two batches of a producer are swapped", func(l *recorded) []segment.Batch {
			i, j := second(l)
			l.batches[i], l.batches[j] = l.batches[j], l.batches[i]
			return restamped(l.batches)
		}, []string{"record at offset", "of producer 1 where 0 was due"}},
		{"batches of two producers are swapped", func(l *recorded) []segment.Batch {
			i := slices.IndexFunc(l.batches[1:], func(b segment.Batch) bool {
				return l.producerOf(b) != l.producerOf(l.batches[0]) && b.RecordCount() != l.batches[0].RecordCount()
			}) + 1
			for k := i; k > 0; k-- { // to the front, past those of others
				l.batches[k], l.batches[k-1] = l.batches[k-1], l.batches[k]
			}
			return restamped(l.batches)
		}, []string{"producer", "not at the offsets that it was told"}},
		{"the last batch is lost", func(l *recorded) []segment.Batch {
			return l.batches[:len(l.batches)-1]
		}, []string{"producer", "acknowledged", "in the log"}},
		{"everything is lost", func(l *recorded) []segment.Batch {
			return nil
		}, []string{"producer 0", "acknowledged, 0 in the log"}},
		{"somebody unknown wrote a batch", func(l *recorded) []segment.Batch {
			return restamped(append(l.batches, slices.Clone(l.build(3, 0, 1))))
		}, []string{"record at offset", "producer 3, which does not exist"}},
		{"two producers share a batch", func(l *recorded) []segment.Batch {
			var builder segment.Builder
			builder.Reset()
			for producer := range uint32(2) {
				l.payload.Fill(builder.Value(1000, testRecordSize), producer, uint64(l.ledgers[producer].records), 0)
			}
			return restamped(append(l.batches, builder.Finish()))
		}, []string{"record at offset", "in another's batch"}},
		{"a batch that nobody was told of", func(l *recorded) []segment.Batch {
			return restamped(append(l.batches, slices.Clone(l.build(2, l.ledgers[2].records, 1))))
		}, []string{"producer 2", "acknowledged"}},
		{"a record of other bytes under a right checksum", func(l *recorded) []segment.Batch {
			other := &recorded{payload: workload.NewPayload(2, &workload.Workload{RecordSize: testRecordSize})}
			l.batches[6] = other.build(l.producerOf(l.batches[6]), 0, int(l.batches[6].RecordCount()))
			return restamped(l.batches)
		}, []string{"record at offset", "filler"}},
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			l := record(t, segment.NewHeap(), interleaved())
			l.rewrite(t, slices.Clone(l.batches))
			if _, err := l.walk(); err != nil {
				t.Fatalf("before the fault: %v", err)
			}
			l.rewrite(t, f.change(l))
			_, err := l.walk()
			wantViolation(t, err, f.says...)
		})
	}
}

// producerOf is who wrote a batch.
func (l *recorded) producerOf(b segment.Batch) uint32 {
	r := b.Records()
	r.Next()
	producer, _, _, err := l.payload.Check(r.Record.Value)
	if err != nil {
		panic(err) // of the test's own batches
	}
	return producer
}

func TestWalkFindsWrongAnswersToProducers(t *testing.T) {
	plan := interleaved()
	refill := func(l *recorded, told func(i int, base int64) int64) {
		l.ledgers = make([]ledger, len(l.ledgers))
		for i, b := range l.batches {
			l.ledgers[plan[i].producer].add(told(i, b.BaseOffset()), int64(plan[i].records), true)
		}
	}
	l := record(t, segment.NewHeap(), plan)
	refill(l, func(_ int, base int64) int64 { return base })
	if _, err := l.walk(); err != nil {
		t.Fatalf("right answers: %v", err)
	}
	for i := range l.batches {
		for _, by := range []int64{-1, 1, 1 << 40} {
			refill(l, func(j int, base int64) int64 {
				if j == i {
					return base + by
				}
				return base
			})
			_, err := l.walk()
			wantViolation(t, err, fmt.Sprintf("producer %d:", plan[i].producer), "offsets that it was told")
		}
	}
}

func TestWalkFindsDroppedAck(t *testing.T) {
	for producer := range 3 {
		for _, told := range []bool{false, true} {
			l := record(t, segment.NewHeap(), interleaved())
			l.ledgers[producer].records++
			_, err := l.walkAs(told, false)
			wantViolation(t, err, fmt.Sprintf("producer %d: %d records acknowledged, %d in the log",
				producer, l.ledgers[producer].records, l.ledgers[producer].records-1))
		}
	}
}

// private logs of several producers in one storage leave gaps between them, and none inside.
func TestWalkPrivateLogs(t *testing.T) {
	l := record(t, segment.NewHeap(), nil)
	l.storage = segment.NewHeap()
	var all []segment.Batch
	for producer := range uint32(3) {
		base := int64(producer) << 40
		var batches []segment.Batch
		for i := range int64(4) {
			b := slices.Clone(l.build(producer, i, 1))
			b.Stamp(base + i)
			l.ledgers[producer].add(base+i, 1, true)
			batches = append(batches, b)
		}
		file, err := l.storage.OpenLog(segment.Name(base), true)
		if err != nil {
			t.Fatal(err)
		}
		if err := file.PwriteBatches(batches, 0); err != nil {
			t.Fatal(err)
		}
		all = append(all, batches...)
	}
	if _, err := l.walkAs(true, true); err != nil {
		t.Errorf("sound private logs: %v", err)
	}
	_, err := l.walkAs(true, false)
	wantViolation(t, err, segment.Name(1<<40), "was due")

	all[6].Stamp(all[6].BaseOffset() + 1)
	file, err := l.storage.OpenLog(segment.Name(1<<40), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.PwriteBatches(all[4:8], 0); err != nil {
		t.Fatal(err)
	}
	_, err = l.walkAs(true, true)
	wantViolation(t, err, segment.Name(1<<40), "was due")
}
