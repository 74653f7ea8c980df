package harness

import (
	"os"

	"golang.org/x/sys/unix"

	"tailrace/results"
	"tailrace/workload"
)

// checkOut refuses a directory for the results that holds some already, or could not be made.
func checkOut(out string) error {
	if err := results.CheckUnused(out); err != nil {
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

// checkResources refuses a workload whose clients need more memory or descriptors than there are.
func checkResources(w *workload.Workload, place Place, raw bool) error {
	clients := int64(w.Producers + w.Workers + w.Consumers*w.Partitions + w.Replicas*w.Partitions)
	memory := clients*(int64(w.FetchBytes)+2*partBytes) + partsBytes
	if free := availableMemory(); free > 0 && memory > free/2 {
		return usagef("workload %s: its %d clients need %s for buffers and histograms, and %s of memory are available; lower their number or --fetch-bytes",
			w.Name, clients, results.FormatBytes(float64(memory)), results.FormatBytes(float64(free)))
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return nil
	}
	logs := int64(w.Partitions)
	if raw {
		logs *= int64(1 + w.Producers + w.Workers) // each has its own
	}
	files := int64(64)
	if place.Kind != StorageHeap {
		files += logs + storedBytes(w)/w.SegmentSize
	}
	if w.OpenLoop() || w.Think > 0 {
		files += clients // timers
	}
	if uint64(files) > limit.Max {
		return usagef("workload %s: a run may have %d files open, and the limit is %d; raise it (ulimit -n) or --segment-size, or lower --max-bytes or --partitions",
			w.Name, files, limit.Max)
	}
	return nil
}
