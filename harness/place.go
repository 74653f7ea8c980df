package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"tailrace/results"
	"tailrace/workload"
)

const (
	sharedMemory = "/dev/shm"
	// spareBytes stays free beyond what a run may write, besides a sixteenth of that and its indexes: for others
	// on the machine.
	spareBytes = 16 << 20
)

// filesystem is what holds a directory.
type filesystem struct {
	name string
	free int64 // bytes that this user may still write
}

func statFilesystem(path string) (filesystem, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return filesystem{}, &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	f := filesystem{name: "unknown file system", free: int64(st.Bavail) * int64(st.Bsize)}
	// Magic numbers of statfs(2).
	names := map[uint32]string{
		0x01021994: "tmpfs", 0x858458f6: "ramfs", 0xef53: "ext4", 0x58465342: "xfs", 0x9123683e: "btrfs",
		0x794c7630: "overlayfs", 0x2fc12fc1: "zfs", 0xf2f52010: "f2fs", 0x6969: "nfs", 0x65735546: "fuse",
	}
	if name, ok := names[uint32(st.Type)]; ok {
		f.name = name
	}
	return f, nil
}

// room is what may be written: of a file system in memory no more than there is of that.
func (f filesystem) room() int64 {
	if memory := availableMemory(); f.inMemory() && memory > 0 {
		return min(f.free, memory)
	}
	return f.free
}

// TempDir makes a directory of files of no worth in the first of some places that can be written and has need bytes
// left, beside some for others on the machine, and is in memory or is not, as is asked for. The error tells of each
// place why not.
func TempDir(need int64, inMemory bool, pattern string, parents ...string) (string, error) {
	var errs []error
	for _, parent := range parents {
		f, err := statFilesystem(parent)
		switch {
		case err != nil:
		case f.inMemory() != inMemory:
			err = fmt.Errorf("%s is %s", parent, f.name)
		case f.room() < need+spareBytes:
			err = fmt.Errorf("%s has %s free, of the %s that it takes", parent, results.FormatBytes(float64(f.room())), results.FormatBytes(float64(need+spareBytes)))
		default:
			var dir string
			if dir, err = os.MkdirTemp(parent, pattern); err == nil {
				return dir, nil
			}
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("harness: no place for files: %w", errors.Join(errs...))
}

func (f filesystem) inMemory() bool { return f.name == "tmpfs" || f.name == "ramfs" }

func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUsage, fmt.Errorf(format, args...))
}

// placer finds where the runs of a sweep keep their data.
type placer struct {
	storage, dir, out string
	runs              int64  // whose data is on the machine at once
	lever             string // what makes the run that is being placed smaller
	warnings          []string
}

// neededBytes is what the data of a run may take.
func neededBytes(w *workload.Workload) int64 {
	// The two indexes of a segment are preallocated: 16 bytes each for every 4 KiB of log.
	indexes := int64(w.Partitions) * (w.SegmentSize/4096 + 1) * 2 * 16
	return storedBytes(w) + storedBytes(w)/16 + indexes
}

// place chooses for one workload.
func (p *placer) place(w *workload.Workload) (Place, error) {
	switch p.lever = "--max-bytes"; {
	case w.Backlog > 0:
		p.lever = "--backlog or --segment-size"
	case w.PacedBytes() > 0 && !w.Bounded:
		p.lever = "--duration or the rate, or end the window early by --max-bytes"
	}
	need := p.runs*neededBytes(w) + spareBytes
	switch p.storage {
	case StorageHeap:
		if p.dir != "" {
			return Place{}, usagef("--dir %s: nothing is stored in files under --storage heap; leave one of the two out", p.dir)
		}
		if free := availableMemory(); free > 0 && free < need {
			return Place{}, usagef("--storage heap: a run may write %s, and %s of memory are available; lower %s, or choose another storage",
				results.FormatBytes(float64(need)), results.FormatBytes(float64(free)), p.lever)
		}
		return Place{Kind: StorageHeap, Text: "Go heap"}, nil
	case StorageTmpfs, StorageDisk, StorageAuto:
	default:
		return Place{}, usagef("--storage %s: choose auto, tmpfs, disk or heap", p.storage)
	}
	if p.dir != "" {
		return p.given(need)
	}
	if p.storage == StorageDisk || p.storage == StorageAuto && w.Sync != workload.SyncNone {
		return p.disk(need)
	}
	tmpfs, err := p.inspect(sharedMemory, need)
	if err == nil && !tmpfs.inMemory() {
		err = usagef("%s is %s, not tmpfs", sharedMemory, tmpfs.name)
	}
	if err == nil {
		return Place{Kind: StorageTmpfs, Parent: sharedMemory, Text: "tmpfs at " + sharedMemory}, nil
	}
	if p.storage == StorageTmpfs {
		return Place{}, err
	}
	p.warn("workload %s runs on a disk, where write-back is measured more than the model, because tmpfs cannot be used (%s)",
		w.Name, strings.TrimPrefix(err.Error(), ErrUsage.Error()+": "))
	return p.disk(need)
}

// given is a directory that the user has named.
func (p *placer) given(need int64) (Place, error) {
	f, err := p.inspect(p.dir, need)
	if err != nil {
		return Place{}, err
	}
	kind := StorageDisk
	if f.inMemory() {
		kind = StorageTmpfs
	}
	if p.storage != StorageAuto && p.storage != kind {
		return Place{}, usagef("--dir %s is %s, which is not what --storage %s asks for", p.dir, f.name, p.storage)
	}
	return Place{Kind: kind, Parent: p.dir, Text: f.name + " at " + p.dir}, nil
}

// disk is the directory of the results, which is made later.
func (p *placer) disk(need int64) (Place, error) {
	existing, err := existingParent(p.out)
	if err != nil {
		return Place{}, usagef("--out %s: %w", p.out, err)
	}
	f, err := p.inspect(existing, need)
	if err != nil {
		return Place{}, err
	}
	if f.inMemory() {
		if p.storage == StorageDisk {
			return Place{}, usagef("--storage disk: %s is on %s; name a directory on a disk with --dir", existing, f.name)
		}
		p.warn("%s is on %s: syncs cost nothing there, so that results under a sync policy say little; name a directory on a disk with --dir", existing, f.name)
		return Place{Kind: StorageTmpfs, Parent: p.out, Text: f.name + " at the results"}, nil
	}
	return Place{Kind: StorageDisk, Parent: p.out, Text: f.name}, nil
}

// inspect verifies that a directory can be written and has room.
func (p *placer) inspect(dir string, need int64) (filesystem, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return filesystem{}, usagef("%s does not exist; make it, or choose another directory with --dir", dir)
	case err != nil:
		return filesystem{}, usagef("%w", err)
	case !info.IsDir():
		return filesystem{}, usagef("%s is not a directory; choose another with --dir", dir)
	}
	if err := probe(dir); err != nil {
		return filesystem{}, usagef("%s cannot be written (%w); choose another directory with --dir", dir, err)
	}
	f, err := statFilesystem(dir)
	if err != nil {
		return filesystem{}, usagef("%w", err)
	}
	free := f.room()
	if free < need {
		return f, usagef("%s has %s free, and a run may need %s; free some, choose another directory with --dir, or lower %s",
			dir, results.FormatBytes(float64(free)), results.FormatBytes(float64(need)), p.lever)
	}
	return f, nil
}

// existingParent is the directory itself, or the nearest above it that exists.
func existingParent(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	for err == nil {
		if _, statErr := os.Stat(dir); statErr == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir, err
}

// probe reports whether something can be made in a directory: permissions alone don't tell.
func probe(dir string) error {
	made, err := os.MkdirTemp(dir, ".tailrace-probe-")
	var path *fs.PathError
	switch {
	case errors.As(err, &path):
		return path.Err // the directory stands in the caller's text
	case err != nil:
		return err
	}
	return os.Remove(made)
}

func (p *placer) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, w := range p.warnings {
		if w == text {
			return
		}
	}
	p.warnings = append(p.warnings, text)
}
