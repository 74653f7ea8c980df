package segment

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	// MaxSize is the largest segment size: positions and offsets relative to the base fit in 31
	// bits, as in Kafka.
	MaxSize = math.MaxInt32

	// DefaultSize and DefaultInterval are what a zero Config means.
	DefaultSize     = 64 << 20
	DefaultInterval = 4096

	logSuffix   = ".log"
	indexSuffix = ".index"
	timeSuffix  = ".timeindex"
)

// SyncPolicy says when appended data is made durable.
type SyncPolicy int8

const (
	// SyncNone leaves it to the kernel's write-back.
	SyncNone SyncPolicy = iota
	// SyncBatch calls fdatasync before a batch is published and acknowledged.
	SyncBatch
)

// Config is what a partition's segments have in common.
type Config struct {
	Storage  Storage
	Size     int64 // bytes at which a segment is rolled
	Interval int64 // bytes of log between index slots
	Sync     SyncPolicy
}

func (c Config) withDefaults() (Config, error) {
	if c.Size == 0 {
		c.Size = DefaultSize
	}
	if c.Interval == 0 {
		c.Interval = DefaultInterval
	}
	if c.Size < MinBatch || c.Size > MaxSize {
		return c, fmt.Errorf("segment: segment size of %d bytes is outside %d to %d", c.Size, MinBatch, MaxSize)
	}
	if c.Interval < 1 || c.Interval > MaxSize {
		return c, fmt.Errorf("segment: index interval of %d bytes is outside 1 to %d", c.Interval, MaxSize)
	}
	return c, nil
}

// Name is the name of a log file: its base offset in 20 digits.
func Name(base int64) string { return fileName(base, logSuffix) }

func fileName(base int64, suffix string) string { return fmt.Sprintf("%020d%s", base, suffix) }

// parseName is the inverse of Name.
func parseName(name string) (base int64, ok bool) {
	digits, found := strings.CutSuffix(name, logSuffix)
	if !found || len(digits) != 20 {
		return 0, false
	}
	base, err := strconv.ParseInt(digits, 10, 64)
	return base, err == nil && base >= 0 && Name(base) == name // ParseInt takes signs too
}

// Files is one open segment: its log and its mapped indexes, and what many writers need to fill them
// side by side. It holds no state that changes: how much is written and committed is the caller's.
type Files struct {
	config Config
	base   int64
	log    LogFile
	index  Mapping // nil when the segment is too small for an entry
	times  Mapping // nil exactly when index is

	// Bytes of the mappings, which hold a slot for every interval of the largest log.
	indexBytes []byte
	timeBytes  []byte
}

// createFiles makes an empty segment. Where batches are made durable, so is the name of their file.
func createFiles(c Config, base int64) (*Files, error) {
	f, err := openFiles(c, base, slots(c.Size, c.Interval), true)
	if err == nil && c.Sync == SyncBatch {
		if err = c.Storage.SyncDir(); err != nil {
			err = errors.Join(err, f.release())
		}
	}
	return f, err
}

// openFiles opens or creates a segment with room for n index slots.
func openFiles(c Config, base, n int64, create bool) (f *Files, err error) {
	f = &Files{config: c, base: base}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.release())
		}
	}()
	if f.log, err = c.Storage.OpenLog(Name(base), create); err != nil {
		return f, err
	}
	if n == 0 {
		if create {
			err = errors.Join(c.Storage.Create(fileName(base, indexSuffix)), c.Storage.Create(fileName(base, timeSuffix)))
		}
		return f, err
	}
	if f.index, err = c.Storage.MapIndex(fileName(base, indexSuffix), n*entrySize, create); err != nil {
		return f, err
	}
	if f.times, err = c.Storage.MapIndex(fileName(base, timeSuffix), n*entrySize, create); err != nil {
		return f, err
	}
	f.indexBytes, f.timeBytes = f.index.Bytes(), f.times.Bytes()
	return f, nil
}

// Base is the offset of the segment's first record.
func (f *Files) Base() int64 { return f.base }

// Fits reports whether a batch can be appended behind size bytes and records records of the segment.
// A segment is rolled exactly when this is false; a batch that does not fit an empty segment fits
// none.
func (f *Files) Fits(b Batch, size, records int64) bool {
	return f.config.Fits(b, size, records)
}

// Fits is Files.Fits for a segment that need not exist yet.
func (c Config) Fits(b Batch, size, records int64) bool {
	if c.Size == 0 {
		c.Size = DefaultSize
	}
	return size+int64(len(b)) <= c.Size && records+int64(b.RecordCount()) <= MaxSize
}

// WriteAt writes a batch at its position in the log. Calls may overlap if their ranges do not.
func (f *Files) WriteAt(b Batch, position int64) error { return f.log.Pwrite(b, position) }

// SetIndex fills the offset index slots of the batch with this base offset that occupies [start, end)
// of the log. Calls for different batches may overlap; it must come before the batch is published.
func (f *Files) SetIndex(base, start, end int64) {
	putEntries(f.indexBytes, start, end, f.config.Interval, base, start)
}

// SetTime fills the time index slots of a batch; maxTimestamp is the largest of the segment up to
// and including the batch. Calls must not overlap, go in the order of the log, and come before the
// batch is published.
func (f *Files) SetTime(maxTimestamp, base, start, end int64) {
	putEntries(f.timeBytes, start, end, f.config.Interval, maxTimestamp, base)
}

// Sync makes every byte of the log written before the call durable. It may overlap anything.
func (f *Files) Sync() error { return f.log.Sync() }

// Seal says that the segment will not grow: it cuts the indexes to the slots that size bytes of log own,
// and the log to that size, behind which a failed write may have left a part of a batch. Readers of views
// up to that size may go on; writers may not.
func (f *Files) Seal(size int64) error {
	written, err := f.log.Size()
	if err == nil && written > size {
		err = f.log.Truncate(size)
	}
	if err != nil {
		return err
	}
	n := slots(size, f.config.Interval) * entrySize
	if f.index == nil {
		return nil
	}
	return errors.Join(
		f.config.Storage.Truncate(fileName(f.base, indexSuffix), n),
		f.config.Storage.Truncate(fileName(f.base, timeSuffix), n))
}

// Close releases descriptor and mappings. No other call may overlap or follow it.
func (f *Files) Close() error { return f.release() }

func (f *Files) release() error {
	var errs []error
	if f.log != nil {
		errs = append(errs, f.log.Close())
	}
	for _, m := range []Mapping{f.index, f.times} {
		if m != nil {
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(errs...)
}

func (f *Files) corrupt(position int64, cause error) error {
	return &CorruptError{File: Name(f.base), Position: position, Cause: cause}
}
