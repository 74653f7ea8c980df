package results

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The format is version 1.3 of HdrHistogram's log, as Java's HistogramLogWriter writes it and its
// HistogramLogProcessor and the plotters on the web read it: times in seconds, the maximum in
// milliseconds, values in nanoseconds. Intervals are relative to the base time. What the buckets
// can't tell (see Histogram) stands in a comment before each line, which other readers skip.
const (
	hlogVersion = "#[Histogram log format version 1.3]"
	hlogLegend  = `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`
	hlogExact   = "#[Exact: "
)

// IntervalHistograms are the latencies of one interval of a run's window, by kind.
type IntervalHistograms struct {
	Start      float64 // seconds from the moment at which the window opened
	Length     float64 // seconds
	Histograms map[string]*Histogram
}

// Total returns the histograms of all intervals together, by kind. They are copies.
func Total(intervals []IntervalHistograms) map[string]*Histogram {
	total := make(map[string]*Histogram)
	for _, interval := range intervals {
		for kind, h := range interval.Histograms {
			if total[kind] == nil {
				total[kind] = NewHistogram()
			}
			total[kind].Merge(h)
		}
	}
	return total
}

// Kinds are the kinds of latency in the order in which files, tables and charts show them.
var Kinds = []string{
	KindProduce, KindConsume, KindEndToEnd, KindProduceService, KindConsumeService,
	KindProduceLateness, KindConsumeLateness,
}

// WriteHlog writes the histograms of the intervals of a window that opened at start as an HdrHistogram
// log: one line for each interval and kind, tagged with the kind, in the order of the intervals, kinds in
// theirs. Times are to the millisecond. Empty histograms have no line. An empty tag, or one with a comma,
// white space or "]" in it, is refused, and so is an interval that begins before the window.
func WriteHlog(w io.Writer, start time.Time, intervals []IntervalHistograms) error {
	return writeHlog(w, start, each(intervals))
}

// each are intervals that are all there, and sound.
func each(intervals []IntervalHistograms) iter.Seq2[IntervalHistograms, error] {
	return func(yield func(IntervalHistograms, error) bool) {
		for _, i := range intervals {
			if !yield(i, nil) {
				return
			}
		}
	}
}

func writeHlog(w io.Writer, start time.Time, intervals iter.Seq2[IntervalHistograms, error]) error {
	var out bytes.Buffer
	seconds := float64(start.UnixMilli()) / 1000
	fmt.Fprintln(&out, "#[Latencies in nanoseconds, one tag a kind]")
	fmt.Fprintln(&out, hlogVersion)
	fmt.Fprintf(&out, "#[StartTime: %.3f (seconds since epoch), %s]\n", seconds, start.UTC().Format(time.RFC3339))
	fmt.Fprintf(&out, "#[BaseTime: %.3f (seconds since epoch)]\n", seconds)
	fmt.Fprintln(&out, hlogLegend)
	for i, err := range intervals {
		if err != nil {
			return err
		}
		if err := writeInterval(&out, &i); err != nil {
			return err
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

func writeInterval(out *bytes.Buffer, interval *IntervalHistograms) error {
	if !isFinite(interval.Start) || interval.Start < 0 || !isFinite(interval.Length) || interval.Length < 0 {
		return fmt.Errorf("results: an interval of %v s from %v s can't be written", interval.Length, interval.Start)
	}
	for _, tag := range tagOrder(interval.Histograms) {
		h := interval.Histograms[tag]
		if h.Count() == 0 {
			continue
		}
		if tag == "" || strings.ContainsAny(tag, ", \t\r\n]") {
			return fmt.Errorf("results: %q can't be the tag of a histogram", tag)
		}
		payload, err := h.encode()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s%s]\n", hlogExact, h.exact())
		fmt.Fprintf(out, "Tag=%s,%.3f,%.3f,%.6f,%s\n", tag, interval.Start, interval.Length, float64(h.max)/1e6, payload)
	}
	return nil
}

// tagOrder returns the keys of hists, kinds first.
func tagOrder(hists map[string]*Histogram) []string {
	var tags []string
	for _, kind := range Kinds {
		if _, ok := hists[kind]; ok {
			tags = append(tags, kind)
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(hists)) {
		if !slices.Contains(Kinds, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}

// ReadHlog reads the intervals of a log that WriteHlog wrote, in the order of their starts. Lines with the
// same tag and start are added up. It skips nothing: anything else than a comment, the legend or a sound
// line is an error, which names the line as name:line. Each histogram takes 220 KB; Sweep.Histograms keeps
// the sums alone.
func ReadHlog(r io.Reader, name string) ([]IntervalHistograms, error) {
	var intervals []IntervalHistograms
	at := make(map[float64]int) // index by start
	err := scanHlog(r, name, func(line *hlogLine) error {
		i, ok := at[line.start]
		if !ok {
			i = len(intervals)
			at[line.start] = i
			intervals = append(intervals, IntervalHistograms{Start: line.start, Histograms: make(map[string]*Histogram)})
		}
		intervals[i].Length = max(intervals[i].Length, line.length)
		return line.addTo(intervals[i].Histograms)
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(intervals, func(a, b IntervalHistograms) int { return cmp.Compare(a.Start, b.Start) })
	return intervals, nil
}

// hlogLine is one histogram of a log.
type hlogLine struct {
	tag            string
	start, length  float64
	exact, payload string // see Histogram.addEncoded
	inflater       *inflater
}

// addTo adds the values of the line to the histogram of its tag.
func (l *hlogLine) addTo(hists map[string]*Histogram) error {
	if hists[l.tag] == nil {
		hists[l.tag] = NewHistogram()
	}
	if err := hists[l.tag].addEncoded(l.exact, l.payload, l.inflater); err != nil {
		return fmt.Errorf("histogram %q: %w", l.tag, err)
	}
	return nil
}

// scanHlog gives the histograms of a log to use. They are for one goroutine: all are decoded into the same memory.
func scanHlog(r io.Reader, name string, use func(*hlogLine) error) error {
	in := bufio.NewReader(r)
	exact := ""
	versioned := false
	var shared inflater
	for number := 1; ; number++ {
		text, err := in.ReadString('\n')
		if err == io.EOF && text == "" {
			break
		}
		if err == io.EOF {
			err = errors.New("the line is cut short")
		}
		switch text = strings.TrimSuffix(text, "\n"); {
		case err != nil:
		case text == hlogVersion:
			versioned = true
		case strings.HasPrefix(text, hlogExact) && strings.HasSuffix(text, "]"):
			exact = text[len(hlogExact) : len(text)-1]
		case strings.HasPrefix(text, "#"), text == hlogLegend:
		case !versioned:
			err = fmt.Errorf("no line %q before the first histogram", hlogVersion)
		default:
			var line *hlogLine
			if line, err = parseHlogLine(text, exact); err == nil {
				line.inflater = &shared
				err = use(line)
			}
			exact = ""
		}
		if err != nil {
			return fmt.Errorf("results: %s:%d: %w", name, number, err)
		}
	}
	if !versioned {
		return fmt.Errorf("results: %s: no line %q", name, hlogVersion)
	}
	return nil
}

func parseHlogLine(text, exact string) (*hlogLine, error) {
	fields := strings.Split(text, ",")
	if len(fields) != 5 || !strings.HasPrefix(fields[0], "Tag=") {
		return nil, fmt.Errorf("want Tag=tag,start,length,max,histogram, have %d fields", len(fields))
	}
	line := &hlogLine{tag: strings.TrimPrefix(fields[0], "Tag="), exact: exact, payload: fields[4]}
	if line.tag == "" {
		return nil, errors.New("the tag is empty")
	}
	var largest float64 // the exact values have it too
	for i, number := range []*float64{&line.start, &line.length, &largest} {
		v, err := strconv.ParseFloat(fields[1+i], 64)
		if err != nil || !isFinite(v) || v < 0 {
			return nil, fmt.Errorf("%q is not a number of seconds or milliseconds", fields[1+i])
		}
		*number = v
	}
	if exact == "" {
		return nil, fmt.Errorf("no line %q… before the histogram %q", hlogExact, line.tag)
	}
	return line, nil
}
