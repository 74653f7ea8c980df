package main

import (
	"bytes"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tailrace/segment"
	"tailrace/workload"
)

// makelog DIR closed|open|kafka writes the same log each time: of ours, closed in order or left without a sync, or
// one that Kafka could have left after a compaction.
func makelog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: makelog DIR closed|open|kafka")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	if args[1] == "kafka" {
		kafkaLog(ts, dir)
		return
	}
	storage, err := segment.OpenDir(dir)
	ts.Check(err)
	config := segment.Config{Storage: storage, Size: 400, Interval: 128}
	if args[1] == "open" {
		config.Interval = segment.DefaultInterval // nothing says that it is another
	}
	p, err := segment.Open(config)
	ts.Check(err)
	var sealed []segment.View
	active := p.Active
	for i, value := range []string{"one", strings.Repeat("long ", 30), "three", "\x00\xff", "five"} {
		var b segment.Builder
		b.Add(1700000000000+int64(i), []byte("key"), []byte(value))
		b.Add(1700000000000-int64(i), nil, nil)
		batch := b.Finish()
		if _, ok := active.Add(batch); !ok {
			next, err := active.Roll()
			ts.Check(err)
			sealed = append(sealed, active.Publish())
			active = next
			active.Add(batch)
		}
		ts.Check(active.Write())
	}
	if args[1] == "closed" {
		ts.Check(p.Checkpoint.Close(sealed, active.Publish(), false))
	} else {
		ts.Check(segment.Close(sealed, active.Publish()))
	}
	ts.Check(storage.Close())
}

func kafkaLog(ts *testscript.TestScript, dir string) {
	record := func(offset int32, key, value string, headers ...kmsg.Header) []byte {
		r := kmsg.Record{OffsetDelta: offset, Key: []byte(key), Value: []byte(value), Headers: headers}
		r.Length = int32(len(r.AppendTo(nil)) - 1)
		return r.AppendTo(nil)
	}
	var log []byte
	for _, b := range []kmsg.RecordBatch{
		{FirstOffset: 100, LastOffsetDelta: 4, NumRecords: 2, Attributes: 0x10, ProducerID: 7, ProducerEpoch: 1, FirstSequence: 3,
			Records: append(record(1, "k", "v", kmsg.Header{Key: "h", Value: []byte("x")}), record(4, "", "w")...)},
		{FirstOffset: 110, NumRecords: 1, Attributes: 0x30, ProducerID: 7, ProducerEpoch: 1, FirstSequence: -1,
			Records: record(0, "\x00\x00\x00\x01", "\x00\x00\x00\x00\x00\x00")},
		{FirstOffset: 120, LastOffsetDelta: 9, NumRecords: 10, Attributes: 0x4, ProducerID: -1, FirstSequence: -1, Records: []byte("compressed")},
		{FirstOffset: 130, LastOffsetDelta: 3, ProducerID: 8, FirstSequence: -1},
	} {
		b.Magic, b.PartitionLeaderEpoch = 2, 5
		b.FirstTimestamp, b.MaxTimestamp = 1700000000000, 1700000000000
		b.Length = int32(49 + len(b.Records))
		b.CRC = int32(crc32.Checksum(b.AppendTo(nil)[21:], crc32.MakeTable(crc32.Castagnoli)))
		log = b.AppendTo(log)
	}
	for name, content := range map[string][]byte{
		"00000000000000000100.log":       log,
		"00000000000000000100.index":     append([]byte{0, 0, 0, 10, 0, 0, 0, 82}, make([]byte, 16)...),
		"00000000000000000100.timeindex": append([]byte{0, 0, 1, 0x8b, 0xcf, 0xe5, 0x68, 0, 0, 0, 0, 10}, make([]byte, 12)...),
		"leader-epoch-checkpoint":        []byte("0\n1\n5 100\n"),
		"partition.metadata":             []byte("version: 0\n"),
		"00000000000000000134.snapshot":  bytes.Repeat([]byte{1}, 10),
	} {
		ts.Check(os.WriteFile(filepath.Join(dir, name), content, 0o644))
	}
}

// flip FILE BYTE flips the lowest bit of a byte.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip FILE BYTE")
	}
	at, err := workload.ParseCount(args[1])
	ts.Check(err)
	p, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	p[at] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), p, 0o644))
}
