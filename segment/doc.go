// Package segment stores one partition's log as Kafka does: record batches in segments, each a .log
// with a sparse offset index and a sparse time index beside it. It has no locks and no goroutines;
// every exported method says which calls may overlap it, and the concurrency is the caller's.
//
// # Files
//
// A segment is three files, named by the 20-digit offset of its first record:
//
//	00000000000000065536.log        Kafka RecordBatch v2 batches, one behind the other
//	00000000000000065536.index      16-byte entries: offset int64, position int64
//	00000000000000065536.timeindex  16-byte entries: timestamp int64, offset int64
//
// All numbers are big-endian. The log is read with pread; the indexes are mapped into memory.
//
// # The sparse index
//
// Which entries exist is a function of the log's bytes alone. Slot k (k ≥ 1), at byte 16(k−1) of
// the .index, belongs to the batch that contains byte k·interval of the .log: its base offset and
// its position. A batch that spans several such bytes repeats its entry. With P > 0 bytes committed,
// slots 1 to (P−1)/interval are visible. So each writer derives its own slots from its own range of
// the log, without a counter that writers share, and the same appends give the same bytes under any
// interleaving and after a rebuild.
//
// Slot k of the .timeindex belongs to the same batch: the largest timestamp of the segment up to and
// including that batch, and the batch's base offset. Being a prefix maximum, it is set by whoever
// moves the committed position over the batch, before that is published.
//
// # Reading
//
// A View is an immutable picture of a segment: which bytes of it are committed. A lookup is a binary
// search over the visible slots and a scan from there; a read is then one pread of the region that
// holds the batch, straight into the caller's buffer.
package segment
