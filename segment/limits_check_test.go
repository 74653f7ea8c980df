package segment

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// changed is a copy of a batch with some of its bytes changed, under a right checksum.
func changed(b Batch, change func(b Batch)) Batch {
	b = slices.Clone(b)
	change(b)
	binary.BigEndian.PutUint32(b[atCRC:], b.checksum())
	return b
}

// isInvalid reports whether an error says that a batch is invalid, and why.
func isInvalid(err error, problem string) bool {
	return errors.Is(err, ErrInvalid) && strings.Contains(err.Error(), problem)
}

// Records under a right checksum that contradict the header, or each other.
func TestCheckFindsWrongRecords(t *testing.T) {
	const firstDelta, secondDelta = HeaderSize + 3, HeaderSize + minRecord + 4 + 3 // of records with 4 bytes of value
	at := func(at int, x byte) func(b Batch) { return func(b Batch) { b[at] = x } }
	for _, test := range []struct {
		name, problem string
		change        func(b Batch)
	}{
		{"first offset delta 1", "do not ascend by one", at(firstDelta, 2)},
		{"equal offset deltas", "do not ascend by one", at(secondDelta, 0)},
		{"a delta above the last", "do not ascend by one", at(secondDelta, 4)},
		{"descending deltas", "do not ascend by one", func(b Batch) { b[firstDelta], b[secondDelta] = 2, 0 }},
		{"bytes after the last record", "bytes after the last record", func(b Batch) { b[secondDelta-3] -= 2; b[len(b)-2] = 0; b[secondDelta+2] -= 2 }},
		{"a record longer than the batch", "malformed", at(secondDelta-3, 60)},
		{"a record of another length", "malformed", at(HeaderSize, 22)},
	} {
		b := changed(build(record{1, nil, []byte("abcd")}, record{1, nil, []byte("abcd")}), test.change)
		if err := b.Check(); !isInvalid(err, test.problem) {
			t.Errorf("%s: Check = %v, want %q", test.name, err, test.problem)
		}
	}
}

// A batch without records is none, in whatever form.
func TestCheckFindsEmptyBatches(t *testing.T) {
	header := changed(build(record{})[:HeaderSize], func(b Batch) { b[atLength+3] = HeaderSize - lengthOverhead })
	for name, b := range map[string]Batch{
		"nil":                          nil,
		"no records":                   new(Builder).Finish(),
		"header alone":                 header,
		"header, compressed":           changed(header, func(b Batch) { b[atAttributes+1] = 1 }),
		"count 0":                      compressed(100, 0, 1),
		"count 0, last delta 0":        changed(compressed(100, 1, 1), func(b Batch) { binary.BigEndian.PutUint32(b[atRecordCount:], 0) }),
		"negative count":               compressed(100, -1, 1),
		"lowest count":                 compressed(100, math.MinInt32, 1),
		"records, none of which count": changed(build(record{}), func(b Batch) { binary.BigEndian.PutUint32(b[atRecordCount:], 0) }),
	} {
		if err := b.Check(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: Check = %v", name, err)
		}
	}
}

// A batch that claims a timestamp that its records do not have would lead lookups astray, in either
// direction.
func TestCheckFindsWrongTimestamps(t *testing.T) {
	put := func(at int, ts int64) func(b Batch) {
		return func(b Batch) { binary.BigEndian.PutUint64(b[at:], uint64(ts)) }
	}
	for _, test := range []struct {
		name   string
		change func(b Batch)
		valid  bool
	}{
		{"as built", func(Batch) {}, true},
		{"max above all records", put(atMaxTimestamp, 31), false},
		{"max below the largest", put(atMaxTimestamp, 29), false},
		{"max of the first record", put(atMaxTimestamp, 10), false},
		{"lowest max", put(atMaxTimestamp, math.MinInt64), false},
		{"highest max", put(atMaxTimestamp, math.MaxInt64), false},
		{"base moved", put(atBaseTimestamp, 11), false},
		{"all moved", func(b Batch) { put(atBaseTimestamp, 11)(b); put(atMaxTimestamp, 31)(b) }, true},
		{"base wraps", func(b Batch) { put(atBaseTimestamp, math.MaxInt64-5)(b); put(atMaxTimestamp, math.MaxInt64-5)(b) }, true},
		{"append time", func(b Batch) { b[atAttributes+1] = appendTime; put(atMaxTimestamp, 5)(b) }, true},
		{"compressed", func(b Batch) { b[atAttributes+1] = 4; put(atMaxTimestamp, 5)(b) }, true},
	} {
		b := changed(build(record{timestamp: 10}, record{timestamp: 30}, record{timestamp: -5}), test.change)
		if err := b.Check(); (err == nil) != test.valid || err != nil && !isInvalid(err, "max timestamp") {
			t.Errorf("%s: Check = %v, want valid %t", test.name, err, test.valid)
		}
	}
}
