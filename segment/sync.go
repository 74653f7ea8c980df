package segment

import (
	"fmt"
	"time"
)

// SyncPolicy says when appended data is made durable with fdatasync. The zero value leaves it to the
// kernel's write-back. At most one of the limits is set.
type SyncPolicy struct {
	// Bytes: a batch with which this many bytes are not synced yet is published and acknowledged only
	// when it and all before it are. 0 means no such limit; 1 syncs for every batch.
	Bytes int64
	// Interval: within this time, a sync of what is published begins, beside the appends. 0 means never.
	Interval time.Duration
}

// EveryBatch makes each batch durable before it is published and acknowledged.
func EveryBatch() SyncPolicy { return SyncPolicy{Bytes: 1} }

// EveryBytes leaves less than n bytes of what is published and acknowledged not durable.
func EveryBytes(n int64) SyncPolicy { return SyncPolicy{Bytes: n} }

// EveryInterval syncs in the background.
func EveryInterval(d time.Duration) SyncPolicy { return SyncPolicy{Interval: d} }

// Never reports whether the policy never syncs.
func (p SyncPolicy) Never() bool { return p == SyncPolicy{} }

// Due reports whether to sync before so many bytes that are not synced are published.
func (p SyncPolicy) Due(unsynced int64) bool {
	return p.Bytes > 0 && unsynced >= p.Bytes
}

// String is as the command line has it: none, batch, a number of bytes or a duration.
func (p SyncPolicy) String() string {
	switch {
	case p.Never():
		return "none"
	case p == EveryBatch():
		return "batch"
	case p.Bytes != 0:
		return fmt.Sprintf("%dB", p.Bytes)
	default:
		return p.Interval.String()
	}
}

func (p SyncPolicy) validate() error {
	if p.Bytes < 0 || p.Interval < 0 || p.Bytes > 0 && p.Interval > 0 {
		return fmt.Errorf("segment: no such sync policy: every %d bytes and every %v", p.Bytes, p.Interval)
	}
	return nil
}
