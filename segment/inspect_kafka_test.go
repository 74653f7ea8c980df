package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// kafkaLog encodes what Kafka could leave after a compaction: gaps in and between batches, leader epochs,
// compressed batches, a control batch, and one that is empty.
func kafkaLog() (log []byte, batches []StoredBatch) {
	marker := []kmsg.Record{{Key: []byte{0, 0, 0, 1}, Value: make([]byte, 6)}}
	records := []kmsg.Record{
		{TimestampDelta64: 3, Key: []byte("k"), Headers: []kmsg.Header{{Key: "h", Value: []byte("x")}, {Key: "null"}}},
		{Value: []byte("v")},
	}
	for _, b := range []struct {
		kmsg.RecordBatch
		records     []kmsg.Record
		last        int32
		compression string
	}{
		{kmsg.RecordBatch{FirstOffset: 1000, PartitionLeaderEpoch: 2, Attributes: 0x10, ProducerID: 5}, records, 9, "none"},
		{kmsg.RecordBatch{FirstOffset: 1020, PartitionLeaderEpoch: 2, Attributes: 0x30, ProducerID: 5}, marker, 0, "none"},
		{kmsg.RecordBatch{FirstOffset: 1021, PartitionLeaderEpoch: 3, Attributes: 1, NumRecords: 7, Records: []byte("gzip")}, nil, 6, "gzip"},
		{kmsg.RecordBatch{FirstOffset: 1040, PartitionLeaderEpoch: 3, Attributes: 4 | 8, NumRecords: 2, Records: []byte("zstd")}, nil, 1, "zstd"},
		{kmsg.RecordBatch{FirstOffset: 1050, PartitionLeaderEpoch: 4, ProducerID: 6}, nil, 4, "none"},
	} {
		b.FirstTimestamp, b.MaxTimestamp = 50, 60
		encoded := kafkaEncode(b.RecordBatch, b.records)
		binary.BigEndian.PutUint32(encoded[atLastOffsetDelta:], uint32(b.last))
		binary.BigEndian.PutUint32(encoded[atCRC:], referenceCRC(encoded[atAttributes:]))
		batches = append(batches, StoredBatch{
			Position: int64(len(log)), Size: int64(len(encoded)), BaseOffset: b.FirstOffset, LastOffset: b.FirstOffset + int64(b.last),
			Records: max(b.NumRecords, int32(len(b.records))), LeaderEpoch: b.PartitionLeaderEpoch, Compression: b.compression,
			Transactional: b.Attributes&0x10 != 0, Control: b.Attributes&0x20 != 0, AppendTime: b.Attributes&8 != 0,
		})
		log = append(log, encoded...)
	}
	return log, batches
}

// kafkaMessages encodes message sets of magic 0 and 1.
func kafkaMessages() []byte {
	put := func(p []byte, at int, v uint32) []byte { binary.BigEndian.PutUint32(p[at:], v); return p }
	old := kmsg.MessageV0{Offset: 3, Key: []byte("k"), Value: []byte("v")}
	p := old.AppendTo(nil)
	put(put(p, atLength, uint32(len(p)-lengthOverhead)), atMessageCRC, crc32.ChecksumIEEE(p[atMagic:]))
	newer := kmsg.MessageV1{Offset: 9, Magic: 1, Attributes: 2, Timestamp: 1234, Value: []byte("snappy")}
	q := newer.AppendTo(nil)
	put(put(q, atLength, uint32(len(q)-lengthOverhead)), atMessageCRC, crc32.ChecksumIEEE(q[atMagic:]))
	return append(p, q...)
}

func TestInspectKafka(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		log, want := kafkaLog()
		files := map[string][]byte{
			"00000000000000001000.log":       append(bytes.Clone(log), make([]byte, 5000)...), // allocated ahead
			"00000000000000001000.index":     append(binary.BigEndian.AppendUint64(nil, 21<<32|uint64(want[2].Position)), make([]byte, 80)...),
			"00000000000000001000.timeindex": append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, 60), 21), make([]byte, 120)...),
			"00000000000000001060.log":       {},
			"00000000000000001060.snapshot":  {1, 2, 3},
			"leader-epoch-checkpoint":        []byte("0\n0\n"),
			"partition.metadata":             []byte("version: 0\n"),
		}
		for name, p := range files {
			replace(t, s, name, p)
		}
		items, err := inspect(t, s, InspectOptions{Records: true})
		if err != nil {
			t.Fatal(err)
		}
		if d := items[0].(*Directory); d.Ours || d.Start != 1000 || d.End != 1060 || len(d.Others) != 3 || d.Others[0].What != "producer state, of Kafka" {
			t.Errorf("directory %+v", d)
		}
		segment := only[*Segment](items)[0]
		if segment.Valid != int64(len(log)) || segment.Zeros != 5000 || segment.End != 1055 || segment.Index.Format != Kafka || segment.TimeIndex.Entries != 1 {
			t.Errorf("segment %+v", segment)
		}
		for i, got := range only[*StoredBatch](items) {
			w := want[i]
			if got.Position != w.Position || got.Size != w.Size || got.BaseOffset != w.BaseOffset || got.LastOffset != w.LastOffset || got.Records != w.Records ||
				got.LeaderEpoch != w.LeaderEpoch || got.Compression != w.Compression || got.Transactional != w.Transactional ||
				got.Control != w.Control || got.AppendTime != w.AppendTime || !got.Sound {
				t.Errorf("batch %d is %+v, want %+v", i, got, w)
			}
		}
		records := only[*StoredRecord](items)
		if len(records) != 3 || records[0].Timestamp != 53 || len(records[0].Headers) != 2 || records[0].Headers[0].Key != "h" ||
			string(records[0].Headers[0].Value) != "x" || records[0].Headers[1].Value != nil || records[1].Offset != 1001 {
			t.Errorf("records %+v", records)
		}
		if e := only[*IndexEntry](items); len(e) != 1 || e[0].Offset != 1021 || e[0].LogPosition != want[2].Position {
			t.Errorf("index %+v", e)
		}
		if e := only[*TimeIndexEntry](items); len(e) != 1 || e[0].Offset != 1021 || e[0].Timestamp != 60 {
			t.Errorf("time index %+v", e)
		}
		sound, err := Verify(t.Context(), s, InspectOptions{})
		if want := (Verified{Segments: 2, Batches: 5, Records: 12, Bytes: int64(len(log))}); sound != want || err != nil {
			t.Errorf("Verify = %+v, %v, want %+v", sound, err, want)
		}
		// The log alone, under any name.
		replace(t, s, "orders", log)
		if sound, err = Verify(t.Context(), s, InspectOptions{File: "orders"}); sound.Batches != 5 || err != nil {
			t.Errorf("Verify = %+v, %v", sound, err)
		}
	})
}

func TestVerifyKafkaFaults(t *testing.T) {
	log, batches := kafkaLog()
	index := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, 21<<32|50), 40<<32|90)
	for name, test := range map[string]struct {
		file     string
		position int64
		damage   func(log, index []byte) ([]byte, []byte)
	}{
		"checksum": {Name(1000), batches[2].Position, func(log, index []byte) ([]byte, []byte) {
			log[batches[3].Position-1] ^= 1
			return log, index
		}},
		"offsets go back": {Name(1000), batches[1].Position, func(log, index []byte) ([]byte, []byte) {
			binary.BigEndian.PutUint64(log[batches[1].Position:], 1009)
			return log, index
		}},
		"below the name": {Name(1000), 0, func(log, index []byte) ([]byte, []byte) {
			binary.BigEndian.PutUint64(log, 999)
			return log, index
		}},
		"cut off": {Name(1000), batches[4].Position, func(log, index []byte) ([]byte, []byte) { return log[:len(log)-1], index }},
		"no zeros": {Name(1000), int64(len(log)), func(log, index []byte) ([]byte, []byte) {
			return append(append(log, make([]byte, 200)...), 1), index
		}},
		"index beyond the log": {fileName(1000, indexSuffix), 8, func(log, index []byte) ([]byte, []byte) {
			index[13] = 1
			return log, index
		}},
	} {
		s := NewHeap()
		log, index := test.damage(bytes.Clone(log), bytes.Clone(index))
		replace(t, s, Name(1000), log)
		replace(t, s, fileName(1000, indexSuffix), index)
		var fault *Fault
		if _, err := Verify(t.Context(), s, InspectOptions{}); !errors.As(err, &fault) || fault.File != test.file || fault.Position != test.position {
			t.Errorf("%s: %v, want %s at %d", name, err, test.file, test.position)
		}
	}
}

func TestInspectOldMessages(t *testing.T) {
	s := NewHeap()
	replace(t, s, Name(3), kafkaMessages())
	items, err := inspect(t, s, InspectOptions{Records: true})
	got := only[*StoredBatch](items)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d messages, %v", len(got), err)
	}
	if m := got[0]; m.Magic != 0 || m.BaseOffset != 3 || m.Records != 1 || m.MaxTimestamp != -1 || m.Compression != "none" || !m.Sound {
		t.Errorf("message of magic 0 is %+v", m)
	}
	if m := got[1]; m.Magic != 1 || m.LastOffset != 9 || m.Records != -1 || m.MaxTimestamp != 1234 || m.Compression != "snappy" || !m.Sound {
		t.Errorf("message of magic 1 is %+v", m)
	}
	if sound, err := Verify(t.Context(), s, InspectOptions{}); sound.Batches != 2 || err != nil {
		t.Errorf("Verify = %+v, %v", sound, err)
	}
}
