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
)

// Load reads a sweep directory. A last line of runs.jsonl that was cut short, as a crash leaves it, is
// left out with a warning; any other malformed line is an error that names file and line, and so is
// a run that is there twice. Results of
// another schema are refused with ErrSchema.
func Load(dir string) (*Sweep, error) {
	s, _, err := load(dir)
	return s, err
}

// mostBlocks bounds the numbers of blocks, which are counted through where sweeps are merged.
const mostBlocks = 1_000_000

// journalEnd is how runs.jsonl ends.
type journalEnd struct {
	whole        int64 // bytes of all lines that count
	torn         int   // number of the last line, if that does not count; else 0
	unterminated bool  // the last line that counts has no line break
}

func load(dir string) (*Sweep, journalEnd, error) {
	s := &Sweep{Dir: dir}
	path := filepath.Join(dir, metaFile)
	text, err := readRegular(path)
	if err != nil {
		return nil, journalEnd{}, err
	}
	if err := unmarshalSchema(text, &s.Meta); err != nil {
		return nil, journalEnd{}, fmt.Errorf("results: %s: %w", path, err)
	}
	path = filepath.Join(dir, runsFile)
	end, err := s.loadRuns(path)
	if err != nil {
		return nil, end, err
	}
	if err := s.checkOnce(); err != nil {
		return nil, end, fmt.Errorf("results: %s: %w", path, err)
	}
	s.findLatencies()
	if end.torn > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s:%d: the last line is cut short, its run is left out", path, end.torn))
	}
	return s, end, nil
}

// checkOnce refuses a run that is there twice, under two numbers: it would count twice. Runs of which it is not known
// when they began are not told apart.
func (s *Sweep) checkOnce() error {
	first := make(map[runIdentity]int)
	for i := range s.Runs {
		run := &s.Runs[i]
		if run.Start.IsZero() {
			continue
		}
		id := s.identity(run)
		if index, ok := first[id]; ok {
			return fmt.Errorf("run %d is run %d once more, of the same host, start, seed and cell", run.Index, index)
		}
		first[id] = run.Index
	}
	return nil
}

// findLatencies notes that the latency logs were left out when the directory was copied, as they are most of it.
func (s *Sweep) findLatencies() {
	if !slices.ContainsFunc(s.Runs, func(r Run) bool { return r.Latency != "" }) {
		return
	}
	if _, err := os.Stat(filepath.Join(s.Dir, latencyDir)); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.stripped = true
	s.Warnings = append(s.Warnings, fmt.Sprintf("%s is without %s/: no distributions of latency are drawn, and .hgrm files and %s/ are not written", s.Dir, latencyDir, ombDir))
	for i := range s.Runs {
		s.Runs[i].Latency = ""
	}
}

func (s *Sweep) loadRuns(path string) (end journalEnd, err error) {
	text, err := readRegular(path)
	if err != nil {
		return end, err
	}
	lineOf := make(map[int]int) // of a run's index
	number := 0
	for line := range bytes.Lines(text) {
		number++
		var run Run
		err := unmarshalSchema(line, &run)
		if err != nil && isTorn(line, end.whole+int64(len(line)) == int64(len(text))) {
			end.torn = number
			break
		}
		if err == nil && (run.Block < 0 || run.Block > mostBlocks || run.Index < 0) {
			err = fmt.Errorf("run %d in block %d: there are runs from 0 on in blocks 0 to %d", run.Index, run.Block, mostBlocks)
		}
		if err == nil && lineOf[run.Index] != 0 {
			err = fmt.Errorf("run %d is on line %d already", run.Index, lineOf[run.Index])
		}
		if err != nil {
			return end, fmt.Errorf("results: %s:%d: %w", path, number, err)
		}
		lineOf[run.Index] = number
		s.Runs = append(s.Runs, run)
		end.whole += int64(len(line))
		end.unterminated = !bytes.HasSuffix(line, []byte("\n"))
	}
	slices.SortStableFunc(s.Runs, func(a, b Run) int { return a.Index - b.Index })
	return end, nil
}

// isTorn reports whether a malformed line is what a crash leaves of a line that was being written: the
// last one, without its end, or after a loss of power with zeros where its bytes were to be.
func isTorn(line []byte, last bool) bool {
	return last && (!bytes.HasSuffix(line, []byte("\n")) || bytes.IndexByte(line, 0) >= 0)
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

// Histograms reads the latencies of one of the sweep's runs over its whole window, by kind. A run without
// any gives an empty map. A log that has not as many as the run's Samples say is an error: a part of it is lost, or it
// is that of another run.
func (s *Sweep) Histograms(run *Run) (map[string]*Histogram, error) {
	return s.histogramsOf(run, nil)
}

// histogramsOf is Histograms for some kinds alone, all if there are none: the others are not decoded.
func (s *Sweep) histogramsOf(run *Run, kinds []string) (map[string]*Histogram, error) {
	total := make(map[string]*Histogram)
	err := s.latencies(run, func(file io.Reader, path string) error {
		return scanHlog(file, path, func(line *hlogLine) error {
			if len(kinds) > 0 && !slices.Contains(kinds, line.tag) {
				return nil
			}
			return line.addTo(total)
		})
	})
	if err != nil {
		return nil, err
	}
	return total, run.checkSamples(total, kinds)
}

// checkSamples compares the numbers of latencies in a run's log, of some kinds or of all, with those of the run.
func (r *Run) checkSamples(histograms map[string]*Histogram, kinds []string) error {
	if r.Latency == "" {
		return nil
	}
	for _, kind := range Kinds {
		samples, known := r.Samples[kind]
		if !known || len(kinds) > 0 && !slices.Contains(kinds, kind) {
			continue
		}
		found := int64(0)
		if h := histograms[kind]; h != nil {
			found = h.Count()
		}
		if found != samples {
			return fmt.Errorf("results: %s has %d %s latencies, and the run had %d", r.Latency, found, kind, samples)
		}
	}
	return nil
}

// Intervals reads the latencies of one of the sweep's runs by interval of its window, see ReadHlog. A run
// without any gives none.
func (s *Sweep) Intervals(run *Run) (intervals []IntervalHistograms, err error) {
	err = s.latencies(run, func(file io.Reader, path string) (err error) {
		intervals, err = ReadHlog(file, path)
		return err
	})
	return intervals, err
}

// latencies opens the latency file of a run, if it has one.
func (s *Sweep) latencies(run *Run, read func(file io.Reader, path string) error) error {
	if run.Latency == "" {
		return nil
	}
	if !filepath.IsLocal(run.Latency) {
		return fmt.Errorf("results: run %d: latency file %q lies outside the sweep", run.Index, run.Latency)
	}
	path := filepath.Join(s.Dir, run.Latency)
	file, err := openRegular(path)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	defer file.Close()
	return read(file, path)
}

// ReadPlan reads what Writer.WritePlan wrote into a sweep directory. Without one the error is fs.ErrNotExist.
func ReadPlan(dir string) ([]byte, error) {
	return readRegular(filepath.Join(dir, planFile))
}
