package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// kafkaBatch decodes the first batch of p with franz-go, and nothing of this package, and compares its
// checksum. It returns the records and the rest of p.
func kafkaBatch(t testing.TB, p []byte) (kmsg.RecordBatch, []record, []byte) {
	t.Helper()
	b := kmsg.NewRecordBatch()
	if err := b.ReadFrom(p); err != nil {
		t.Fatal(err)
	}
	size := 12 + int(b.Length)
	if crc := referenceCRC(p[21:size]); uint32(b.CRC) != crc {
		t.Fatalf("CRC is %08x, want %08x", uint32(b.CRC), crc)
	}
	if b.Magic != 2 {
		t.Fatalf("magic is %d", b.Magic)
	}
	var records []record
	rest := b.Records
	for i := range b.NumRecords {
		length, n := binary.Varint(rest)
		if n <= 0 || length > int64(len(rest)-n) {
			t.Fatalf("record %d is cut off", i)
		}
		r := kmsg.NewRecord()
		if err := r.ReadFrom(rest[:n+int(length)]); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		if r.OffsetDelta != i || len(r.Headers) != 0 {
			t.Fatalf("record %d has offset delta %d and %d headers", i, r.OffsetDelta, len(r.Headers))
		}
		records = append(records, record{b.FirstTimestamp + r.TimestampDelta64, r.Key, r.Value})
		rest = rest[n+int(length):]
	}
	if len(rest) > 0 {
		t.Fatalf("%d bytes behind the last record", len(rest))
	}
	return b, records, p[size:]
}

func TestKafkaReadsBuilder(t *testing.T) {
	r := newRand(1)
	var builder Builder
	for range 500 {
		want := randomRecords(r)
		builder.Reset()
		largest := want[0].timestamp
		for _, x := range want {
			builder.Add(x.timestamp, x.key, x.value)
			largest = max(largest, x.timestamp)
		}
		b := builder.Finish()
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		got, records, rest := kafkaBatch(t, b)
		if !equalRecords(records, want) || len(rest) > 0 {
			t.Fatalf("franz-go reads %v, want %v", records, want)
		}
		if !equalRecords(decode(t, b), want) {
			t.Fatalf("Records reads %v, want %v", decode(t, b), want)
		}
		if got.MaxTimestamp != largest || got.FirstTimestamp != want[0].timestamp || got.LastOffsetDelta != int32(len(want)-1) ||
			got.ProducerID != -1 || got.ProducerEpoch != -1 || got.FirstSequence != -1 || got.Attributes != 0 {
			t.Fatalf("franz-go reads the header %+v", got)
		}
	}
}

// The files of a directory are read without this package: every record is there, in order, under the
// offset that Add returned.
func TestKafkaReadsLog(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := openPartition(t, Config{Storage: s, Size: 4000, Interval: 256})
	p.fill(2, 120)
	p.close()
	if len(p.sealed) < 5 {
		t.Fatalf("only %d rolls", len(p.sealed))
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	next, offset := 0, int64(0)
	for _, name := range names {
		log, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for len(log) > 0 {
			var b kmsg.RecordBatch
			var records []record
			b, records, log = kafkaBatch(t, log)
			if b.FirstOffset != offset || !equalRecords(records, decode(t, p.batches[next].batch)) {
				t.Fatalf("%s: batch %d at offset %d is not what was written", name, next, b.FirstOffset)
			}
			offset += int64(b.NumRecords)
			next++
		}
	}
	if next != len(p.batches) {
		t.Fatalf("franz-go finds %d batches, want %d", next, len(p.batches))
	}
}

// kafkaEncode encodes with franz-go alone.
func kafkaEncode(b kmsg.RecordBatch, records []kmsg.Record) Batch {
	for i, r := range records {
		r.OffsetDelta = int32(i)
		r.Length = 0
		r.Length = int32(len(r.AppendTo(nil)) - 1) // all but the one byte of a zero length
		b.Records = r.AppendTo(b.Records)
	}
	b.Magic = 2
	b.NumRecords = int32(max(len(records), int(b.NumRecords)))
	b.LastOffsetDelta = b.NumRecords - 1
	b.Length = int32(49 + len(b.Records))
	b.CRC = int32(referenceCRC(b.AppendTo(nil)[21:]))
	return b.AppendTo(nil)
}

func TestKafkaWrites(t *testing.T) {
	b := kafkaEncode(kmsg.RecordBatch{
		FirstOffset: 1000, PartitionLeaderEpoch: 3, FirstTimestamp: 50, MaxTimestamp: 70,
		ProducerID: 12, ProducerEpoch: 4, FirstSequence: 99,
	}, []kmsg.Record{
		{Key: []byte("k"), Value: []byte("v"), Headers: []kmsg.Header{{Key: "h", Value: []byte("x")}, {Key: "null"}}},
		{TimestampDelta64: 20, Value: []byte{}},
		{TimestampDelta64: -1 << 40, Key: []byte{}, Headers: []kmsg.Header{{Key: "", Value: []byte{}}}},
	})
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
	if b.ProducerID() != 12 || b.ProducerEpoch() != 4 || b.BaseSequence() != 99 || b.BaseOffset() != 1000 || b.MaxTimestamp() != 70 {
		t.Error("header fields differ")
	}
	want := []record{
		{50, []byte("k"), []byte("v")},
		{70, nil, []byte{}},
		{50 - 1<<40, []byte{}, nil},
	}
	if got := decode(t, b); !equalRecords(got, want) {
		t.Errorf("decoded %v, want %v", got, want)
	}
	headers := []struct {
		n   int
		raw []byte
	}{
		{2, []byte{2, 'h', 2, 'x', 8, 'n', 'u', 'l', 'l', 1}},
		{0, nil},
		{1, []byte{0, 0}},
	}
	it := b.Records()
	for i := 0; it.Next(); i++ {
		if it.Record.Headers != headers[i].n || !bytes.Equal(it.Record.RawHeaders, headers[i].raw) {
			t.Errorf("record %d has %d headers % x", i, it.Record.Headers, it.Record.RawHeaders)
		}
	}
}

// Compressed records are stored and read back, and not decoded; a lookup gives the batch.
func TestKafkaWritesCompressed(t *testing.T) {
	b := kafkaEncode(kmsg.RecordBatch{
		Attributes: 1, FirstTimestamp: 50, MaxTimestamp: 70, NumRecords: 400, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		Records: []byte("an opaque block"),
	}, nil)
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
	it := b.Records()
	if it.Next() || !errors.Is(it.Err(), ErrCompressed) {
		t.Errorf("records of a compressed batch: %v, want ErrCompressed", it.Err())
	}
	eachStorage(t, func(t *testing.T, s Storage) {
		p := openPartition(t, Config{Storage: s, Interval: 64})
		p.append(build(record{timestamp: 1}), bytes.Clone(b), build(record{timestamp: 90}))
		p.check()
		v := p.active.Publish()
		if v.End != 402 {
			t.Errorf("end offset is %d, want 402", v.End)
		}
		if offset, found, err := v.OffsetForTime(60, &Cursor{}); offset != 1 || !found || err != nil {
			t.Errorf("OffsetForTime = %d, %t, %v, want the batch's base offset 1", offset, found, err)
		}
		got, err := v.Read(200, make([]byte, len(b)), &Cursor{})
		if err != nil || !bytes.Equal(got, p.batches[1].batch) {
			t.Errorf("Read inside the batch = %d bytes, %v", len(got), err)
		}
		p.close()
	})
}
