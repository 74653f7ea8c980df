package segment

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
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
	return c, c.Sync.validate()
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

// baseOf is the base offset in the name of any of a segment's files.
func baseOf(name, suffix string) (base int64, ok bool) {
	digits, found := strings.CutSuffix(name, suffix)
	if !found {
		return 0, false
	}
	return parseName(digits + logSuffix)
}

// suffixes are those of a segment's files, in the order in which they are removed: whoever finds a log
// finds a segment.
func suffixes() []string { return []string{timeSuffix, indexSuffix, logSuffix} }

// Files is one open segment: its log and its mapped indexes, and what many writers need to fill them
// side by side. How much is written and committed is the caller's to know.
type Files struct {
	config Config
	base   int64
	log    LogFile
	index  Mapping // nil when the segment is too small for an entry
	times  Mapping // nil exactly when index is

	// Bytes of the mappings, which hold a slot for every interval of the largest log.
	mapped indexes

	// trusted is what readers look things up in: nil until the indexes of a segment that was closed and
	// opened have been compared with sums; then the mappings, or, where they were damaged, a copy made
	// from the log, which Close writes back.
	trusted atomic.Pointer[indexes]
	sums    indexSums // set when the segment is sealed
}

// indexes are the slots of both indexes.
type indexes struct{ offsets, times []byte }

// createFiles makes an empty segment. Where batches are made durable, so is the name of their file.
func createFiles(c Config, base int64) (*Files, error) {
	f, err := openFiles(c, base, slots(c.Size, c.Interval), true)
	if err == nil && !c.Sync.Never() {
		if err = c.Storage.SyncDir(); err != nil {
			err = errors.Join(err, f.release(), removeFiles(c.Storage, base))
		}
	}
	if err != nil {
		return nil, err
	}
	f.trusted.Store(&f.mapped)
	return f, nil
}

// openFiles opens or creates a segment with room for n index slots. What it has made is gone after an
// error.
func openFiles(c Config, base, n int64, create bool) (*Files, error) {
	f := &Files{config: c, base: base}
	var err error
	if f.log, err = c.Storage.OpenLog(Name(base), create); err != nil {
		return nil, err
	}
	err = f.mapIndexes(n, create)
	if err == nil {
		return f, nil
	}
	err = errors.Join(err, f.release())
	if create {
		err = errors.Join(err, removeFiles(c.Storage, base))
	}
	return nil, err
}

func (f *Files) mapIndexes(n int64, create bool) (err error) {
	s, index, times := f.config.Storage, fileName(f.base, indexSuffix), fileName(f.base, timeSuffix)
	if n == 0 {
		if create {
			err = errors.Join(s.Create(index), s.Create(times))
		}
		return err
	}
	if f.index, err = s.MapIndex(index, n*entrySize, create); err != nil {
		return err
	}
	if f.times, err = s.MapIndex(times, n*entrySize, create); err != nil {
		return err
	}
	f.mapped = indexes{f.index.Bytes(), f.times.Bytes()}
	return nil
}

// removeFiles removes those files of a segment that exist.
func removeFiles(s Storage, base int64) error {
	var errs []error
	for _, suffix := range suffixes() {
		if err := s.Remove(fileName(base, suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Base is the offset of the segment's first record.
func (f *Files) Base() int64 { return f.base }

// Fits reports whether a batch can be appended behind size bytes and records records of the segment.
// A segment is rolled exactly when this is false; a batch that does not fit an empty segment fits
// none.
func (f *Files) Fits(b Batch, size, records int64) bool {
	return f.config.Fits(b, size, records) && !b.Overflows(f.base+records)
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
	putEntries(f.mapped.offsets, start, end, f.config.Interval, base, start)
}

// SetTime fills the time index slots of a batch; maxTimestamp is the largest of the segment up to
// and including the batch. Calls must not overlap, go in the order of the log, and come before the
// batch is published.
func (f *Files) SetTime(maxTimestamp, base, start, end int64) {
	putEntries(f.mapped.times, start, end, f.config.Interval, maxTimestamp, base)
}

// Sync makes every byte of the log written before the call durable. It may overlap anything.
func (f *Files) Sync() error { return f.log.Sync() }

// Seal says that the segment will not grow: it cuts the indexes to the slots that size bytes of log own,
// and the log to that size, behind which a failed write may have left a part of a batch. Readers of views
// up to that size may go on; writers may not.
func (f *Files) Seal(size int64) error {
	if err := f.sealLog(size); err != nil {
		return err
	}
	return f.cutIndexes(size)
}

// sealLog is the part of Seal that is not about the index files.
func (f *Files) sealLog(size int64) error {
	written, err := f.log.Size()
	if err == nil && written > size {
		err = f.log.Truncate(size)
	}
	if err != nil {
		return err
	}
	n := slots(size, f.config.Interval) * entrySize
	ix := f.mapped
	if trusted := f.trusted.Load(); trusted != nil {
		ix = *trusted
	}
	f.sums = indexes{ix.offsets[:n], ix.times[:n]}.sums()
	return nil
}

// cutIndexes is the rest of Seal, for which the segment need not be open any more. It takes a descriptor
// for a moment.
func (f *Files) cutIndexes(size int64) error {
	if f.index == nil {
		return nil
	}
	n := slots(size, f.config.Interval) * entrySize
	return errors.Join(
		f.config.Storage.Truncate(fileName(f.base, indexSuffix), n),
		f.config.Storage.Truncate(fileName(f.base, timeSuffix), n))
}

func (ix indexes) sums() indexSums {
	return indexSums{crc32.Checksum(ix.offsets, castagnoli), crc32.Checksum(ix.times, castagnoli)}
}

// Close releases descriptor and mappings. No other call may overlap or follow it.
func (f *Files) Close() error {
	if ix := f.trusted.Load(); ix != nil && ix != &f.mapped {
		copy(f.mapped.offsets, ix.offsets)
		copy(f.mapped.times, ix.times)
	}
	return f.release()
}

// Remove closes sealed segments and removes their files, in the order given. No other call may overlap or
// follow it. It goes on after an error. That a file is gone already is one, too: somebody else is at work in
// the directory.
func Remove(sealed []View) error {
	var errs []error
	for _, v := range sealed {
		errs = append(errs, v.Files.release())
		for _, suffix := range suffixes() {
			errs = append(errs, v.Files.config.Storage.Remove(fileName(v.Files.base, suffix)))
		}
	}
	return errors.Join(errs...)
}

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

func (f *Files) corrupt(position int64, cause error) error { return corrupt(f.base, position, cause) }
