package main

import (
	"encoding/json"
	"io"

	"tailrace/segment"
)

// jsonDump writes a JSON object per line.
type jsonDump struct {
	path    string
	encoder *json.Encoder
}

func newJSONDump(w io.Writer, path string) *jsonDump {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return &jsonDump{path, encoder}
}

type jsonPoint struct {
	BaseOffset int64 `json:"base_offset"`
	Position   int64 `json:"position"`
	Offset     int64 `json:"offset"`
}

type jsonDirectory struct {
	Type          string     `json:"type"`
	Path          string     `json:"path"`
	Format        string     `json:"format"`
	LogStart      int64      `json:"log_start"`
	LogEnd        int64      `json:"log_end"`
	Segments      int        `json:"segments"`
	Clean         *bool      `json:"clean"`
	RecoveryPoint *jsonPoint `json:"recovery_point"`
	IndexInterval *int64     `json:"index_interval"`
	OtherFiles    []string   `json:"other_files"`
}

type jsonIndexFile struct {
	File    string `json:"file"`
	Format  string `json:"format"`
	Size    int64  `json:"size"`
	Entries int64  `json:"entries"`
}

type jsonSegment struct {
	Type           string        `json:"type"`
	File           string        `json:"file"`
	BaseOffset     int64         `json:"base_offset"`
	EndOffset      int64         `json:"end_offset"`
	Size           int64         `json:"size"`
	Valid          int64         `json:"valid"`
	Allocated      int64         `json:"allocated"`
	Batches        int64         `json:"batches"`
	Records        int64         `json:"records"`
	FirstTimestamp *int64        `json:"first_timestamp"`
	LastTimestamp  *int64        `json:"last_timestamp"`
	MaxTimestamp   *int64        `json:"max_timestamp"`
	Index          jsonIndexFile `json:"index"`
	TimeIndex      jsonIndexFile `json:"time_index"`
}

type jsonBatch struct {
	Type          string `json:"type"`
	File          string `json:"file"`
	Position      int64  `json:"position"`
	Size          int64  `json:"size"`
	Magic         int8   `json:"magic"`
	BaseOffset    int64  `json:"base_offset"`
	LastOffset    int64  `json:"last_offset"`
	Records       *int32 `json:"records"`
	BaseTimestamp int64  `json:"base_timestamp"`
	MaxTimestamp  int64  `json:"max_timestamp"`
	TimestampType string `json:"timestamp_type"`
	Compression   string `json:"compression"`
	Transactional bool   `json:"transactional"`
	Control       bool   `json:"control"`
	LeaderEpoch   int32  `json:"leader_epoch"`
	ProducerID    int64  `json:"producer_id"`
	ProducerEpoch int16  `json:"producer_epoch"`
	BaseSequence  int32  `json:"base_sequence"`
	CRC           uint32 `json:"crc"`
	Sound         bool   `json:"crc_ok"`
}

type jsonHeader struct {
	Key   string `json:"key"`
	Value []byte `json:"value"`
}

type jsonRecord struct {
	Type      string       `json:"type"`
	File      string       `json:"file"`
	Position  int64        `json:"position"`
	Offset    int64        `json:"offset"`
	Timestamp int64        `json:"timestamp"`
	Key       []byte       `json:"key"`
	Value     []byte       `json:"value"`
	Headers   []jsonHeader `json:"headers"`
}

type jsonIndexEntry struct {
	Type        string `json:"type"`
	File        string `json:"file"`
	Position    int64  `json:"position"`
	Format      string `json:"format"`
	Offset      int64  `json:"offset"`
	LogPosition int64  `json:"log_position"`
}

type jsonTimeIndexEntry struct {
	Type      string `json:"type"`
	File      string `json:"file"`
	Position  int64  `json:"position"`
	Format    string `json:"format"`
	Timestamp int64  `json:"timestamp"`
	Offset    int64  `json:"offset"`
}

type jsonSlot struct {
	Type        string `json:"type"`
	File        string `json:"file"`
	Position    int64  `json:"position"`
	Of          string `json:"of"`
	Valid       bool   `json:"valid"`
	Counts      bool   `json:"counts"`
	Sequence    int64  `json:"sequence"`
	BaseOffset  int64  `json:"base_offset"`
	LogPosition int64  `json:"log_position"`
	Offset      int64  `json:"offset"`
}

type jsonClean struct {
	Type          string `json:"type"`
	File          string `json:"file"`
	Position      int64  `json:"position"`
	IndexInterval int64  `json:"index_interval"`
	BaseOffset    int64  `json:"base_offset"`
	EndOffset     int64  `json:"end_offset"`
	Size          int64  `json:"size"`
	MaxTimestamp  int64  `json:"max_timestamp"`
	IndexCRC      uint32 `json:"index_crc"`
	TimeIndexCRC  uint32 `json:"timeindex_crc"`
}

type jsonFault struct {
	Type     string `json:"type"`
	File     string `json:"file"`
	Position int64  `json:"position"`
	Problem  string `json:"problem"`
	Effect   string `json:"effect"`
	Meaning  string `json:"meaning"`
}

type jsonVerified struct {
	Type     string `json:"type"`
	Segments int    `json:"segments"`
	Batches  int64  `json:"batches"`
	Records  int64  `json:"records"`
	Bytes    int64  `json:"bytes"`
}

func (d *jsonDump) verified(v segment.Verified) error {
	return d.encoder.Encode(jsonVerified{"verified", v.Segments, v.Batches, v.Records, v.Bytes})
}

func (d *jsonDump) item(i segment.Item) error {
	switch i := i.(type) {
	case *segment.Directory:
		return d.encoder.Encode(d.directory(i))
	case *segment.Segment:
		return d.encoder.Encode(d.segment(i))
	case *segment.StoredBatch:
		return d.encoder.Encode(d.batch(i))
	case *segment.StoredRecord:
		headers := []jsonHeader{}
		for _, h := range i.Headers {
			headers = append(headers, jsonHeader(h))
		}
		return d.encoder.Encode(jsonRecord{"record", i.File, i.Position, i.Offset, i.Timestamp, i.Key, i.Value, headers})
	case *segment.IndexEntry:
		return d.encoder.Encode(jsonIndexEntry{"index", i.File, i.Position, i.Format.String(), i.Offset, i.LogPosition})
	case *segment.TimeIndexEntry:
		return d.encoder.Encode(jsonTimeIndexEntry{"timeindex", i.File, i.Position, i.Format.String(), i.Timestamp, i.Offset})
	case *segment.CheckpointSlot:
		p := i.Point
		return d.encoder.Encode(jsonSlot{"slot", i.File, i.Position, slotName(i), i.Valid, i.Counts, i.Sequence, p.Base, p.Position, p.Offset})
	case *segment.CleanSegment:
		return d.encoder.Encode(jsonClean{"clean", i.File, i.Position, i.Interval, i.Base, i.End, i.Size, i.MaxTimestamp, i.IndexCRC, i.TimeIndexCRC})
	case *segment.Fault:
		return d.encoder.Encode(jsonFault{"fault", i.File, i.Position, plainText(i.Cause.Error()), i.Effect.String(), i.Effect.Meaning()})
	}
	return nil
}

func (d *jsonDump) directory(i *segment.Directory) jsonDirectory {
	j := jsonDirectory{
		Type: "directory", Path: d.path, Format: "other", LogStart: i.Start, LogEnd: i.End,
		Segments: i.Segments, OtherFiles: []string{},
	}
	if i.Ours {
		j.Format, j.Clean, j.IndexInterval = "tailrace", &i.Clean, &i.Interval
		j.RecoveryPoint = &jsonPoint{i.Point.Base, i.Point.Position, i.Point.Offset}
	}
	for _, f := range i.Others {
		j.OtherFiles = append(j.OtherFiles, f.Name)
	}
	return j
}

func (d *jsonDump) segment(i *segment.Segment) jsonSegment {
	j := jsonSegment{
		Type: "segment", File: i.File, BaseOffset: i.Base, EndOffset: i.End, Size: i.Size, Valid: i.Valid,
		Allocated: i.Zeros, Batches: i.Batches, Records: i.Records,
		Index:     jsonIndexFile{i.Index.File, i.Index.Format.String(), i.Index.Size, i.Index.Entries},
		TimeIndex: jsonIndexFile{i.TimeIndex.File, i.TimeIndex.Format.String(), i.TimeIndex.Size, i.TimeIndex.Entries},
	}
	if i.Batches > 0 {
		j.FirstTimestamp, j.LastTimestamp, j.MaxTimestamp = &i.FirstTimestamp, &i.LastTimestamp, &i.MaxTimestamp
	}
	return j
}

func (d *jsonDump) batch(i *segment.StoredBatch) jsonBatch {
	j := jsonBatch{
		Type: "batch", File: i.File, Position: i.Position, Size: i.Size, Magic: i.Magic,
		BaseOffset: i.BaseOffset, LastOffset: i.LastOffset, Records: &i.Records,
		BaseTimestamp: i.BaseTimestamp, MaxTimestamp: i.MaxTimestamp, TimestampType: "create",
		Compression: i.Compression, Transactional: i.Transactional, Control: i.Control,
		LeaderEpoch: i.LeaderEpoch, ProducerID: i.ProducerID, ProducerEpoch: i.ProducerEpoch, BaseSequence: i.BaseSequence,
		CRC: i.CRC, Sound: i.Sound,
	}
	if i.AppendTime {
		j.TimestampType = "append"
	}
	if i.Records < 0 {
		j.Records = nil
	}
	return j
}
