package results

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
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

// Kinds are the kinds of latency in the order in which files, tables and charts show them.
var Kinds = []string{
	KindProduce, KindConsume, KindEndToEnd, KindProduceService, KindConsumeService,
	KindProduceLateness, KindConsumeLateness,
}

// WriteHlog writes histograms as an HdrHistogram log: one line each, tagged with its key, over one
// interval of length seconds from start, both to the millisecond. Kinds come first, in their order.
// Empty histograms have no line. An empty tag, or one with a comma, white space or "]" in it, is refused.
func WriteHlog(w io.Writer, start time.Time, length float64, hists map[string]*Histogram) error {
	var out bytes.Buffer
	seconds := float64(start.UnixMilli()) / 1000
	fmt.Fprintln(&out, "#[Latencies in nanoseconds, one tag a kind]")
	fmt.Fprintln(&out, hlogVersion)
	fmt.Fprintf(&out, "#[StartTime: %.3f (seconds since epoch), %s]\n", seconds, start.UTC().Format(time.RFC3339))
	fmt.Fprintf(&out, "#[BaseTime: %.3f (seconds since epoch)]\n", seconds)
	fmt.Fprintln(&out, hlogLegend)
	for _, tag := range tagOrder(hists) {
		h := hists[tag]
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
		fmt.Fprintf(&out, "%s%s]\n", hlogExact, h.exact())
		fmt.Fprintf(&out, "Tag=%s,0.000,%.3f,%.6f,%s\n", tag, length, float64(h.max)/1e6, payload)
	}
	_, err := w.Write(out.Bytes())
	return err
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

// ReadHlog reads the histograms of a log that WriteHlog wrote, by tag. It skips nothing: anything
// else than a comment, the legend or a sound line is an error, which names the line as name:line.
func ReadHlog(r io.Reader, name string) (map[string]*Histogram, error) {
	hists := make(map[string]*Histogram)
	in := bufio.NewReader(r)
	exact := ""
	versioned := false
	for number := 1; ; number++ {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			break
		}
		if err == io.EOF {
			err = fmt.Errorf("the line is cut short")
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case err != nil:
		case line == hlogVersion:
			versioned = true
		case strings.HasPrefix(line, hlogExact) && strings.HasSuffix(line, "]"):
			exact = line[len(hlogExact) : len(line)-1]
		case strings.HasPrefix(line, "#"), line == hlogLegend:
		case !versioned:
			err = fmt.Errorf("no line %q before the first histogram", hlogVersion)
		default:
			err = readHlogLine(line, exact, hists)
			exact = ""
		}
		if err != nil {
			return nil, fmt.Errorf("results: %s:%d: %w", name, number, err)
		}
	}
	if !versioned {
		return nil, fmt.Errorf("results: %s: no line %q", name, hlogVersion)
	}
	return hists, nil
}

// readHlogLine adds the histogram of one line to hists.
func readHlogLine(line, exact string, hists map[string]*Histogram) error {
	fields := strings.Split(line, ",")
	if len(fields) != 5 || !strings.HasPrefix(fields[0], "Tag=") {
		return fmt.Errorf("want Tag=tag,start,length,max,histogram, have %d fields", len(fields))
	}
	tag := strings.TrimPrefix(fields[0], "Tag=")
	if tag == "" {
		return fmt.Errorf("the tag is empty")
	}
	if _, ok := hists[tag]; ok {
		return fmt.Errorf("a second histogram with the tag %q", tag)
	}
	for _, number := range fields[1:4] {
		if v, err := strconv.ParseFloat(number, 64); err != nil || !(v >= 0) {
			return fmt.Errorf("%q is not a number of seconds or milliseconds", number)
		}
	}
	if exact == "" {
		return fmt.Errorf("no line %q… before the histogram %q", hlogExact, tag)
	}
	h, err := decodeHistogram(exact, fields[4])
	if err != nil {
		return fmt.Errorf("histogram %q: %w", tag, err)
	}
	hists[tag] = h
	return nil
}
