package harness

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"tailrace/segment"
)

// scratch is where calibrations have their files: a directory in memory and one on the disk that is
// examined. They are used through the store's own calls.
type scratch struct {
	memory, disk       segment.Storage // nil where there is none
	memoryErr, diskErr error           // why
	diskName           string          // of its file system
	diskInMemory       bool
	dir                string // that was examined
	roots              []string
}

func newScratch(m *machine) *scratch {
	s := &scratch{memoryErr: fmt.Errorf("%s is no tmpfs", sharedMemory), dir: m.dir}
	if f, err := m.filesystem(sharedMemory); err == nil && f.inMemory() {
		s.memory, s.memoryErr = s.open(sharedMemory)
	}
	s.disk, s.diskErr = s.open(m.dir)
	if f, err := m.filesystem(m.dir); err == nil {
		s.diskName, s.diskInMemory = f.name, f.inMemory()
	}
	return s
}

// scratchBytes is the most that one file of a calibration takes.
const scratchBytes = 8 << 20

func (s *scratch) open(parent string) (segment.Storage, error) {
	if f, err := statFilesystem(parent); err == nil && f.free < 8*scratchBytes {
		return nil, fmt.Errorf("%s is full", parent)
	}
	root, err := os.MkdirTemp(parent, "tailrace-doctor-")
	if err != nil {
		return nil, err
	}
	s.roots = append(s.roots, root)
	dir, err := segment.OpenDir(filepath.Join(root, "0000"))
	if err != nil {
		return nil, err
	}
	return dir, nil
}

// close removes all files.
func (s *scratch) close() error {
	var errs []error
	for _, storage := range []segment.Storage{s.memory, s.disk} {
		if storage != nil {
			errs = append(errs, storage.Close())
		}
	}
	for _, root := range s.roots {
		errs = append(errs, os.RemoveAll(root))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("harness: files of the calibration: %w", err)
	}
	return nil
}

// using calls measure with a new file of a storage.
func using(storage segment.Storage, missing error, name string, measure func(segment.LogFile) ([]Calibration, error)) (found []Calibration, err error) {
	if missing != nil {
		return nil, missing
	}
	file, err := storage.OpenLog(name, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close(), storage.Remove(name)) }()
	return measure(file)
}

// kibibyte is the record of the default workloads.
const kibibyte = 1 << 10

func (b *bench) pread() ([]Calibration, error) {
	storage, missing, where := b.files.memory, b.files.memoryErr, sharedMemory
	if missing != nil {
		storage, missing, where = b.files.disk, b.files.diskErr, b.files.diskName
	}
	return using(storage, missing, "pread.log", func(file segment.LogFile) ([]Calibration, error) {
		if err := file.Pwrite(make([]byte, scratchBytes), 0); err != nil {
			return nil, err
		}
		small, err := b.reads(file, kibibyte, fmt.Sprintf("pread 1 KiB, %s", where), "0.3 to 1.5 µs")
		if err != nil {
			return nil, err
		}
		if small.Median > 5e-6 {
			small.judge(StatusWarning, "system calls are slow here, and hide what the models differ in",
				"measure outside of sandboxes and tracers (gVisor, strace, audit rules), or without system calls: --storage heap")
		}
		large, err := b.reads(file, 64*kibibyte, fmt.Sprintf("pread 64 KiB, %s", where), "4 to 15 µs")
		return []Calibration{small, large}, err
	})
}

func (b *bench) reads(file segment.LogFile, size int, name, usual string) (Calibration, error) {
	buffer := make([]byte, size)
	random := rand.New(rand.NewPCG(1, 2))
	var failed error
	samples := b.each(200, func(n int) {
		for range n {
			if _, err := file.Pread(buffer, random.Int64N(int64(scratchBytes/size))*int64(size)); err != nil {
				failed = err
			}
		}
	})
	return summarize(name, UnitSeconds, usual, samples), failed
}

func (b *bench) pwriteMemory() ([]Calibration, error) {
	return using(b.files.memory, b.files.memoryErr, "pwrite.log", func(file segment.LogFile) ([]Calibration, error) {
		c, err := b.writes(file, "pwrite 1 KiB, "+sharedMemory, "0.4 to 3 µs")
		return one(c), err
	})
}

func (b *bench) pwriteDisk() ([]Calibration, error) {
	return using(b.files.disk, b.files.diskErr, "pwrite.log", func(file segment.LogFile) ([]Calibration, error) {
		c, err := b.writes(file, "pwrite 1 KiB, "+b.files.diskName, "0.5 to 7 µs, into the page cache")
		if c.Median > 50e-6 {
			c.judge(StatusWarning, "writes wait for the device, so that every model is as fast as that",
				"look for the mount option sync: findmnt -o OPTIONS -T "+b.files.dir+"; or choose another disk with --dir")
		}
		return one(c), err
	})
}

// writes appends to a file, and begins again where it would become large.
func (b *bench) writes(file segment.LogFile, name, usual string) (Calibration, error) {
	const batch = 256
	record := make([]byte, kibibyte)
	var position int64
	var failed error
	samples := repeat(b, func() float64 {
		if position+batch*kibibyte > scratchBytes {
			failed = errors.Join(failed, file.Truncate(0))
			position = 0
		}
		began := b.clock.now()
		for range batch {
			if err := file.Pwrite(record, position); err != nil {
				failed = err
			}
			position += kibibyte
		}
		return float64(b.clock.now()-began) / batch / 1e9
	})
	return summarize(name, UnitSeconds, usual, samples), failed
}

// fdatasync is what a sync on every batch costs: of one appended KiB, the write apart.
func (b *bench) fdatasync() ([]Calibration, error) {
	return using(b.files.disk, b.files.diskErr, "sync.log", func(file segment.LogFile) ([]Calibration, error) {
		record := make([]byte, kibibyte)
		var position int64
		var failed error
		samples := repeat(b, func() float64 {
			err := file.Pwrite(record, position)
			position = (position + kibibyte) % scratchBytes
			began := b.clock.now()
			err = errors.Join(err, file.Sync())
			if err != nil {
				failed = err
			}
			return float64(b.clock.now()-began) / 1e9
		})
		c := summarizeCalls("fdatasync after 1 KiB, "+b.files.diskName,
			"0.01 to 5 ms on an SSD, 5 to 20 ms else", samples)
		judgeSync(&c, b.files.diskInMemory, b.files.dir)
		return one(c), failed
	})
}

func judgeSync(c *Calibration, inMemory bool, dir string) {
	switch {
	case inMemory: // the check of the disk warns
		c.Note = "it is memory: nothing is made durable"
	case c.Median < 10e-6:
		c.judge(StatusWarning, "the disk acknowledges without writing: results under a sync policy are of a cache",
			"look for nobarrier, for eatmydata, and for what the disk says of its cache: findmnt -o OPTIONS -T "+dir+"; echo $LD_PRELOAD; grep . /sys/block/*/queue/write_cache")
	case c.Median > 20e-3:
		c.judge(StatusWarning, "a window of 0.4 s holds few syncs, so that results under a sync policy are coarse",
			"lengthen it: --duration 2s; or choose another disk with --dir")
	}
}
