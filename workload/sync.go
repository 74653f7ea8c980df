package workload

import (
	"strings"
	"time"
)

// ParseSync reads when appends are made durable: "none", "batch", after a number of bytes ("1MiB") or at
// an interval ("10ms"); and returns it in the form in which it is written everywhere. Errors: *FieldError.
func ParseSync(s string) (string, error) {
	s = strings.TrimSpace(s)
	if s == SyncNone || s == SyncBatch {
		return s, nil
	}
	if bytes, err := ParseSize(s); err == nil && bytes > 0 {
		return FormatSize(bytes), nil
	}
	if interval, err := time.ParseDuration(s); err == nil && interval >= minSyncInterval {
		return interval.String(), nil
	}
	return "", fieldError("sync", s, "unknown; give %s, %s, a size as in 1MiB, or a time as in 10ms", SyncNone, SyncBatch)
}

// minSyncInterval is the shortest that a timer keeps; whoever wants less wants every batch.
const minSyncInterval = time.Millisecond

// SyncLimits is the sync policy of a valid workload in numbers: bytes may be appended, or time may pass,
// before what was appended is made durable. No more than one of them is set; 1 byte is every batch.
func (w *Workload) SyncLimits() (bytes int64, interval time.Duration) {
	switch w.Sync {
	case SyncNone:
		return 0, 0
	case SyncBatch:
		return 1, 0
	}
	if bytes, err := ParseSize(w.Sync); err == nil {
		return bytes, 0
	}
	interval, _ = time.ParseDuration(w.Sync) // valid
	return 0, interval
}

// describeSync is the policy in prose, "" if nothing is synced.
func (w *Workload) describeSync() string {
	switch bytes, interval := w.SyncLimits(); {
	case interval > 0:
		return "sync every " + interval.String()
	case bytes > 1:
		return "sync every " + proseSize(bytes)
	case bytes == 1:
		return "sync on every batch"
	default:
		return ""
	}
}
