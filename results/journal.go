package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Errors that callers decide on; test with errors.Is.
var (
	// ErrExists: the directory holds results already.
	ErrExists = errors.New("directory holds results already")
	// ErrSchema: the results were written by another version with another layout.
	ErrSchema = errors.New("unknown schema version")
)

// Names within a sweep directory.
const (
	metaFile    = "meta.json"
	runsFile    = "runs.jsonl"
	benchFile   = "bench.txt"
	summaryFile = "summary.md"
	latencyDir  = "latency"
	chartsDir   = "charts"
)

// Sweep is what a sweep directory holds.
type Sweep struct {
	Dir      string // where it was read from; "" if it never was in a directory
	Meta     Meta
	Runs     []Run    // in the order of execution
	Warnings []string // what was wrong with the files without making them useless
}

// Writer writes a sweep directory while the sweep goes on. It is used by one goroutine at a time.
type Writer struct {
	sweep Sweep
	runs  *os.File
	size  int64    // of what runs holds in whole lines
	made  []string // directories that Create made, the outermost first
}

// Create begins a sweep directory: it makes dir where it is missing, latency/ and charts/ in it, and
// writes meta.json. A directory that holds results already is refused with ErrExists and left as it
// is. What Create made before it failed, it removes.
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
	// O_EXCL: of two sweeps that begin in one directory at once, one is refused.
	runs, err := os.OpenFile(filepath.Join(dir, runsFile), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("results: %s: %w", dir, ErrExists)
	}
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	w.runs = runs
	for _, name := range []string{latencyDir, chartsDir} {
		if err := w.makeDir(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	if err := w.writeMeta(meta); err != nil {
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
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	slices.Reverse(missing)
	w.made = append(w.made, missing...)
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

// Add writes one run, which is durable when Add returns: first its histograms, by kind, to a file of
// their own, whose path it sets in run.Latency, then its line in runs.jsonl. It also sets run.Schema.
// A run that can't be written leaves no line behind, and further runs may be added.
func (w *Writer) Add(run *Run, hists map[string]*Histogram) error {
	run.Schema = Schema
	run.Latency = ""
	if len(hists) > 0 {
		run.Latency = latencyDir + "/" + latencyName(run)
	}
	line, err := json.Marshal(run)
	if err != nil {
		return fmt.Errorf("results: run %d: %w", run.Index, err)
	}
	line = append(line, '\n')
	if run.Latency != "" {
		err := w.sweep.replace(run.Latency, func(out io.Writer) error {
			return WriteHlog(out, run.Start, run.Window, hists)
		})
		if err != nil {
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
	if run.Cell.Arm != "" {
		strategy += "-" + run.Cell.Arm
	}
	safe := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-':
			return r
		}
		return '_'
	}
	name := fmt.Sprintf("%04d-%s-%s-b%d", run.Index, run.Cell.Workload, strategy, run.Block)
	return strings.Map(safe, name) + ".hlog"
}

// Finish ends the sweep: it rewrites meta.json and writes bench.txt and summary.md. The Writer can't be
// used after, whether Finish fails or not.
func (w *Writer) Finish(meta *Meta) error {
	return errors.Join(
		w.writeMeta(meta),
		w.sweep.WriteFiles(),
		w.Close(),
	)
}

// Discard takes back a sweep in which nothing has finished: everything that Create made, except
// directories that hold anything else.
func (w *Writer) Discard() error {
	if w.runs == nil && len(w.made) == 0 {
		return nil
	}
	if w.runs != nil {
		_ = os.Remove(filepath.Join(w.sweep.Dir, runsFile))
		_ = os.Remove(filepath.Join(w.sweep.Dir, metaFile))
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

// Load reads a sweep directory. A last line of runs.jsonl that was cut short, as a crash leaves it, is
// left out with a warning; any other malformed line is an error that names file and line. Results of
// another schema are refused with ErrSchema.
func Load(dir string) (*Sweep, error) {
	s := &Sweep{Dir: dir}
	path := filepath.Join(dir, metaFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if err := unmarshalSchema(text, &s.Meta); err != nil {
		return nil, fmt.Errorf("results: %s: %w", path, err)
	}
	if err := s.loadRuns(filepath.Join(dir, runsFile)); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Sweep) loadRuns(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	lineOf := make(map[int]int) // of a run's index
	number := 0
	for line := range bytes.Lines(text) {
		number++
		var run Run
		err := unmarshalSchema(line, &run)
		if err != nil && !bytes.HasSuffix(line, []byte("\n")) {
			s.Warnings = append(s.Warnings, fmt.Sprintf("%s:%d: the last line is cut short, its run is left out", path, number))
			break
		}
		if err == nil && lineOf[run.Index] != 0 {
			err = fmt.Errorf("run %d is on line %d already", run.Index, lineOf[run.Index])
		}
		if err != nil {
			return fmt.Errorf("results: %s:%d: %w", path, number, err)
		}
		lineOf[run.Index] = number
		s.Runs = append(s.Runs, run)
	}
	slices.SortStableFunc(s.Runs, func(a, b Run) int { return a.Index - b.Index })
	return nil
}

// unmarshalSchema decodes JSON of the one schema that this version knows.
func unmarshalSchema(text []byte, into any) error {
	// The version first: another one's fields may not even decode.
	var versioned struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(text, &versioned); err != nil {
		return err
	}
	if versioned.Schema != Schema {
		return fmt.Errorf("%w %d, this version reads %d", ErrSchema, versioned.Schema, Schema)
	}
	return json.Unmarshal(text, into)
}

// Histograms reads the latencies of one of the sweep's runs, by kind. A run without any gives an empty
// map.
func (s *Sweep) Histograms(run *Run) (map[string]*Histogram, error) {
	if run.Latency == "" {
		return map[string]*Histogram{}, nil
	}
	if !filepath.IsLocal(run.Latency) {
		return nil, fmt.Errorf("results: run %d: latency file %q lies outside the sweep", run.Index, run.Latency)
	}
	path := filepath.Join(s.Dir, run.Latency)
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	defer file.Close()
	return ReadHlog(file, path)
}
