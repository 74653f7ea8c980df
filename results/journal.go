package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
)

// Errors that callers decide on; test with errors.Is.
var (
	// ErrExists: the directory holds results already.
	ErrExists = errors.New("directory holds results already")
	// ErrForeign: the directory holds other files, and none of what is to be written there.
	ErrForeign = errors.New("the directory holds other files")
	// ErrSchema: the results were written by another version with another layout.
	ErrSchema = errors.New("unknown schema version")
	// ErrInUse: another process, or another Writer, is adding to the directory's results.
	ErrInUse = errors.New("results are being written by another process")
)

// Names within a sweep directory.
const (
	metaFile    = "meta.json"
	runsFile    = "runs.jsonl"
	planFile    = "plan.json"
	benchFile   = "bench.txt"
	summaryFile = "summary.md"
	csvFile     = "summary.csv"
	latencyDir  = "latency"
	ombDir      = "omb"
	chartsDir   = "charts"
)

// Sweep is what a sweep directory holds.
type Sweep struct {
	Dir      string // where it was read from; "" if it never was in a directory
	Meta     Meta
	Runs     []Run    // in the order of execution
	Warnings []string // what was wrong with the files without making them useless
	stripped bool     // the latency logs were left out when the directory was copied
}

// Writer writes a sweep directory while the sweep goes on. It is used by one goroutine at a time, and of
// all processes one has a Writer for a directory, until Close or its end.
type Writer struct {
	sweep    Sweep
	runs     *os.File
	size     int64    // of what runs holds in whole lines
	made     []string // directories that Create made, the outermost first
	reopened bool
}

// Create begins a sweep directory: it makes dir where it is missing, latency/ and charts/ in it, and
// writes meta.json, in which the sweep is interrupted until Finish says otherwise: so it is if the process
// is killed. A directory that holds results already is refused with ErrExists and left as it is. What
// Create made before it failed, it removes.
func Create(dir string, meta *Meta) (_ *Writer, err error) {
	if err := CheckUnused(dir); err != nil {
		return nil, err
	}
	w := &Writer{sweep: Sweep{Dir: dir}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Discard())
		}
	}()
	if err := w.makeDir(dir); err != nil {
		return nil, err
	}
	runs, err := os.OpenFile(filepath.Join(dir, runsFile), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	// Of two sweeps that begin in one directory at once, one is refused.
	if err := lock(runs); err != nil {
		return nil, errors.Join(fmt.Errorf("results: %s: %w", dir, err), runs.Close())
	}
	if info, err := runs.Stat(); err != nil || info.Size() > 0 {
		return nil, errors.Join(fmt.Errorf("results: %s: %w", dir, ErrExists), runs.Close())
	}
	w.runs = runs
	for _, name := range []string{latencyDir, chartsDir} {
		if err := w.makeDir(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	begun := *meta
	begun.Interrupted = true
	if err := w.writeMeta(&begun); err != nil {
		return nil, err
	}
	return w, nil
}

// makeDir makes a directory and those above it that are missing, and remembers which.
func (w *Writer) makeDir(dir string) error {
	missing := []string{}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	slices.Reverse(missing)
	w.made = append(w.made, missing...)
	for _, made := range missing {
		if err := syncDir(filepath.Dir(made)); err != nil {
			return fmt.Errorf("results: %w", err)
		}
	}
	return nil
}

func (w *Writer) writeMeta(meta *Meta) error {
	w.sweep.Meta = *meta
	w.sweep.Meta.Schema = Schema
	return w.sweep.replace(metaFile, func(out io.Writer) error {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(&w.sweep.Meta)
	})
}

// WritePlan writes plan.json: JSON that says what is to be run, whose content is the caller's.
func (w *Writer) WritePlan(data []byte) error {
	return w.sweep.replace(planFile, func(out io.Writer) error {
		_, err := out.Write(data)
		return err
	})
}

// Update replaces the description of a sweep that goes on.
func (w *Writer) Update(meta *Meta) error { return w.writeMeta(meta) }

// Add writes one run, which is durable when Add returns: first its histograms, by interval and kind, to a
// file of their own, whose path it sets in run.Latency, then its line in runs.jsonl. It also sets
// run.Schema. A run that can't be written leaves no line behind, and further runs may be added.
func (w *Writer) Add(run *Run, intervals []IntervalHistograms) error {
	return w.AddEach(run, each(intervals))
}

// AddEach is Add for intervals that are made one at a time: a long run has thousands, and their histograms
// take gigabytes together. It may go through the sequence more than once. An error in it is returned, and the
// run is not written.
func (w *Writer) AddEach(run *Run, intervals iter.Seq2[IntervalHistograms, error]) error {
	run.Latency = ""
	for i, err := range intervals {
		if err != nil {
			return err
		}
		if len(i.Histograms) > 0 {
			run.Latency = latencyDir + "/" + latencyName(run)
			break
		}
	}
	return w.add(run, func(out io.Writer) error { return writeHlog(out, run.Start, intervals) })
}

// add writes a run, and the file that it names with latencies.
func (w *Writer) add(run *Run, latencies func(io.Writer) error) error {
	if w.runs == nil {
		return fmt.Errorf("results: run %d: %w", run.Index, os.ErrClosed)
	}
	if !w.sweep.Meta.Interrupted { // a finished sweep was reopened
		meta := w.sweep.Meta
		meta.Interrupted = true
		if err := w.writeMeta(&meta); err != nil {
			return err
		}
	}
	run.Schema = Schema
	line, err := json.Marshal(run)
	if err != nil {
		return fmt.Errorf("results: run %d: %w", run.Index, err)
	}
	line = append(line, '\n')
	if run.Latency != "" {
		if err := w.sweep.replace(run.Latency, latencies); err != nil {
			return err
		}
	}
	_, err = w.runs.Write(line)
	if err == nil {
		err = w.runs.Sync()
	}
	if err != nil {
		// Half a line in the middle of the file would make all of it unreadable.
		return errors.Join(fmt.Errorf("results: run %d: %w", run.Index, err), w.runs.Truncate(w.size))
	}
	w.size += int64(len(line))
	w.sweep.Runs = append(w.sweep.Runs, *run)
	return nil
}

// latencyName names the file of a run's histograms: order of execution, cell and block, in characters
// that are safe in every shell.
func latencyName(run *Run) string {
	strategy := run.Cell.Strategy
	for _, part := range []string{run.Cell.Arm, run.Cell.Build} {
		if part != "" {
			strategy += "-" + part
		}
	}
	return safeName(fmt.Sprintf("%04d-%s-%s-b%d", run.Index, run.Cell.Workload, strategy, run.Block)) + hlogExtension
}

// Finish ends the sweep: it rewrites meta.json and writes the files of Sweep.WriteFiles. The Writer can't be
// used after, whether Finish fails or not.
func (w *Writer) Finish(meta *Meta) error {
	// meta.json last: it says that the sweep is finished. The other files are of the new description already.
	w.sweep.Meta = *meta
	w.sweep.Meta.Schema = Schema
	return errors.Join(
		w.sweep.WriteFiles(),
		w.writeMeta(meta),
		w.Close(),
	)
}

// Discard takes back a sweep in which nothing has finished: everything that Create made, except
// directories that hold anything else. Results that have runs, or were there before, are only closed.
func (w *Writer) Discard() error {
	if w.reopened || len(w.sweep.Runs) > 0 || w.runs == nil && len(w.made) == 0 {
		return w.Close()
	}
	if w.runs != nil {
		for _, name := range []string{runsFile, metaFile, planFile} {
			_ = os.Remove(filepath.Join(w.sweep.Dir, name))
		}
	}
	for _, dir := range slices.Backward(w.made) {
		_ = os.Remove(dir)
	}
	w.made = nil
	return w.Close()
}

// Close ends writing without the files that Finish writes. A second call does nothing.
func (w *Writer) Close() error {
	if w.runs == nil {
		return nil
	}
	err := w.runs.Close()
	w.runs = nil
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}
