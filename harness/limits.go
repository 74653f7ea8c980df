package harness

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"tailrace/results"
	"tailrace/workload"
)

// checkOut refuses a directory for the results that holds some already, or could not be made.
func checkOut(out string) error {
	switch err := results.CheckPlace(out); {
	case errors.Is(err, results.ErrForeign):
		return usagef("--out %s: %w and no results; name a new directory, or an empty one", out, results.ErrForeign)
	case err != nil:
		return usagef("--out %s already holds results; name another directory, or remove it", out)
	}
	existing, err := existingParent(out)
	if err != nil {
		return usagef("--out %s: %w", out, err)
	}
	if info, err := os.Stat(existing); err != nil || !info.IsDir() {
		return usagef("--out %s: %s is not a directory; name another", out, existing)
	}
	if err := probe(existing); err != nil {
		return usagef("--out %s: %s cannot be written (%w); name another directory", out, existing, err)
	}
	if f, err := statFilesystem(existing); err == nil && f.free < resultBytes {
		return usagef("--out %s: %s has %s free, and results need up to %s; free some, or name another directory",
			out, existing, results.FormatBytes(float64(f.free)), results.FormatBytes(resultBytes))
	}
	return nil
}

// storedBytes bounds what a run has on its storage at once. A sustained one has what is unread, what is
// about to be trimmed, and what comes in while the keeper looks elsewhere.
func storedBytes(w *workload.Workload) int64 {
	if w.Backlog > 0 {
		return min(w.MaxBytes, w.Prefill+3*w.Backlog+4*w.SegmentSize*int64(w.Partitions))
	}
	return w.MaxBytes
}

// resultBytes is room for the results of a large sweep: a histogram log and a line for each run, charts,
// report.
const resultBytes = 64 << 20

// Fits reports whether a load can be run and this machine has the memory and the descriptors for it, with memory to
// spare.
func Fits(w *workload.Workload) bool {
	load := *w
	load.MaxBytes = load.Bound()
	if load.Validate() != nil {
		return false
	}
	d := demandOf(&load)
	free, files := availableMemory(), descriptors()
	return (free <= 0 || d.bytes <= free/2) && d.files(&load, Place{Kind: StorageDisk}, rawIsLimit(&load)) <= files
}

// descriptors is how many this process may have open.
func descriptors() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt64
	}
	return int64(min(limit.Max, math.MaxInt64))
}

// checkResources refuses a load whose goroutines need more memory or descriptors than there are.
func checkResources(w *workload.Workload, place Place, raw bool) error {
	d := demandOf(w)
	smaller := "lower " + d.lever(w)
	if w.Source != "" {
		smaller += ", or give --scale if the file is one of OpenMessaging Benchmark"
	}
	data := int64(0)
	if place.Kind != StorageDisk {
		data = neededBytes(w)
	}
	if free := availableMemory(); free > 0 && d.bytes > free-data {
		return usagef("workload %s: its %d goroutines, with %d handles of %d logs, may need %s of memory, besides %s of data, and %s are available; %s",
			w.Name, d.goroutines(w.Partitions), d.clients, w.Partitions,
			results.FormatBytes(float64(d.bytes)), results.FormatBytes(float64(data)), results.FormatBytes(float64(free)), smaller)
	}
	if files, most := d.files(w, place, raw), descriptors(); files > most {
		return usagef("workload %s: a run may have %d files open, and the limit is %d; raise it (ulimit -n) or --segment-size, or %s",
			w.Name, files, most, smaller)
	}
	return nil
}

// files is how many descriptors a run has open at most.
func (d *demand) files(w *workload.Workload, place Place, raw bool) int64 {
	files := int64(otherFiles + d.timers)
	if place.Kind == StorageHeap {
		return files
	}
	logs := int64(w.Partitions)
	if raw {
		logs += int64(d.appenders) * int64(w.Partitions) // each has its own
	}
	return files + logFiles*int64(w.Partitions) + logs + storedBytes(w)/w.SegmentSize
}
