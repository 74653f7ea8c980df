package results_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tailrace/results"
)

// refereeLog is a latency log for other programs to read.
type refereeLog struct {
	path string
	// intervals are what they see of it: all but the values above the range, which the buckets do not hold.
	intervals []results.IntervalHistograms
}

// newRefereeLog writes a log of many intervals and all kinds. Its values lie in the whole range and above it. Not
// every kind is in every interval.
func newRefereeLog(t *testing.T) *refereeLog {
	t.Helper()
	const intervals, samples = 30, 1000
	random := rand.New(rand.NewPCG(1, 2))
	log := &refereeLog{path: filepath.Join(tempDir(t), "run.hlog")}
	var written []results.IntervalHistograms
	for i := range intervals {
		whole, seen := make(map[string]*results.Histogram), make(map[string]*results.Histogram)
		for _, kind := range results.Kinds {
			if kind == results.KindEndToEnd && i < 10 {
				continue
			}
			whole[kind], seen[kind] = results.NewHistogram(), results.NewHistogram()
			for range samples {
				v := int64(math.Exp(random.Float64() * math.Log(60e9)))
				whole[kind].Record(v)
				seen[kind].Record(v)
			}
		}
		whole[results.KindProduce].Record(int64(61+i) * second)
		start := float64(i) / 10
		written = append(written, results.IntervalHistograms{Start: start, Length: 0.1, Histograms: whole})
		log.intervals = append(log.intervals, results.IntervalHistograms{Start: start, Length: 0.1, Histograms: seen})
	}
	var content bytes.Buffer
	if err := results.WriteHlog(&content, hlogStart, written); err != nil {
		t.Fatal(err)
	}
	write(t, log.path, content.String())
	return log
}

// sameQuantile compares another program's percentile, an upper end of a bucket, with ours.
func sameQuantile(t *testing.T, what string, h *results.Histogram, percentile, theirs float64) {
	t.Helper()
	rank := percentile / 100 * float64(h.Count())
	if math.Abs(rank-math.Round(rank)) > 1e-6 {
		return // they round a broken rank up, and we to the nearest
	}
	ours := h.Quantile(percentile / 100)
	for b := range h.Buckets() {
		if b.Low <= ours && ours <= b.High {
			if float64(b.High) != theirs {
				t.Errorf("%s: percentile %v is %v, not in our bucket from %d to %d", what, percentile, theirs, b.Low, b.High)
			}
			return
		}
	}
	t.Errorf("%s: percentile %v, %d, lies in no bucket", what, percentile, ours)
}

// javaProcessor finds HdrHistogram's HistogramLogProcessor.
func javaProcessor(t *testing.T) (command []string) {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("no java in PATH")
	}
	for _, name := range []string{"HdrHistogram.jar", "hdrhistogram.jar"} {
		if jar := filepath.Join("/usr/share/java", name); exists(jar) {
			return []string{java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", jar, "org.HdrHistogram.HistogramLogProcessor"}
		}
	}
	t.Skip("no HdrHistogram.jar in /usr/share/java (Debian: libhdrhistogram-java)")
	return nil
}

// TestJavaReadsHlog has HdrHistogram's own processor read a log, and compares the percentiles that it prints: of
// each interval, of all intervals so far, and the distribution of them all, which is to be that of our .hgrm files.
func TestJavaReadsHlog(t *testing.T) {
	long(t)
	command := javaProcessor(t)
	log := newRefereeLog(t)
	run := func(arguments ...string) string {
		arguments = append(slices.Clone(command[1:]), append([]string{"-i", log.path}, arguments...)...)
		out, err := exec.Command(command[0], arguments...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	_, tags, _ := strings.Cut(run("-listtags"), "\n")
	if got, want := strings.Fields(tags), slices.Sorted(slices.Values(results.Kinds)); !slices.Equal(got, want) {
		t.Errorf("tags %q, want %q", got, want)
	}
	for kind, total := range results.Total(log.intervals) {
		base := filepath.Join(tempDir(t), kind)
		run("-tag", kind, "-outputValueUnitRatio", "1", "-o", base)
		compareIntervals(t, kind, log.intervals, read(t, base))
		compareDistributions(t, kind, total, read(t, base+".hgrm"))
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// compareIntervals compares Java's lines, each of one interval and of the sum up to its end, with the intervals.
func compareIntervals(t *testing.T, kind string, intervals []results.IntervalHistograms, log string) {
	t.Helper()
	if !strings.Contains(log, "#[StartTime: 1793611800.123 ") {
		t.Errorf("%s: java read another start time:\n%.200s", kind, log)
	}
	sum := results.NewHistogram()
	for line := range strings.Lines(log) {
		var end float64
		var count, total int64
		var i, s [6]float64
		n, err := fmt.Sscanf(line, "%f: I:%d ( %f %f %f ) T:%d ( %f %f %f %f %f %f )",
			&end, &count, &i[0], &i[1], &i[2], &total, &s[0], &s[1], &s[2], &s[3], &s[4], &s[5])
		if n == 0 {
			continue // header
		}
		at := slices.IndexFunc(intervals, func(i results.IntervalHistograms) bool { return math.Abs(i.Start+i.Length-end) < 0.002 })
		if err != nil || at < 0 || intervals[at].Histograms[kind] == nil {
			t.Fatalf("%s: %q: %v", kind, line, err)
		}
		h := intervals[at].Histograms[kind]
		sum.Merge(h)
		if count != h.Count() || total != sum.Count() {
			t.Errorf("%s: %d values and %d in all, want %d and %d", kind, count, total, h.Count(), sum.Count())
		}
		for column, percentile := range []float64{50, 90, 100} {
			sameQuantile(t, kind+" "+line[:6], h, percentile, i[column])
		}
		for column, percentile := range []float64{50, 90, 99, 99.9, 99.99, 100} {
			sameQuantile(t, kind+" up to "+line[:6], sum, percentile, s[column])
		}
	}
	if want := results.Total(intervals)[kind].Count(); sum.Count() != want {
		t.Errorf("%s: java has %d values, want %d", kind, sum.Count(), want)
	}
}

// hgrmRow is a row of a percentile distribution.
type hgrmRow struct {
	value, percentile float64
	count             int64
}

// parseHgrm reads a percentile distribution, and the numbers in its last lines.
func parseHgrm(t *testing.T, text string) (rows []hgrmRow, footer []float64) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 0; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		switch {
		case n == 0:
			if strings.Join(fields, " ") != "Value Percentile TotalCount 1/(1-Percentile)" {
				t.Fatalf("header %q", lines.Text())
			}
		case n == 1 && len(fields) == 0:
		case strings.HasPrefix(lines.Text(), "#["):
			for _, field := range fields {
				if v, err := strconv.ParseFloat(strings.Trim(field, ",]"), 64); err == nil {
					footer = append(footer, v)
				}
			}
		default:
			var row hgrmRow
			var inverse float64
			n, err := fmt.Sscanf(lines.Text(), "%f %f %d %f", &row.value, &row.percentile, &row.count, &inverse)
			if n < 3 || n == 3 && row.percentile != 1 || n == 4 && math.Abs(inverse*(1-row.percentile)-1) > 0.01 {
				t.Fatalf("row %q: %v", lines.Text(), err)
			}
			rows = append(rows, row)
		}
	}
	return rows, footer
}

// compareDistributions compares Java's distribution with ours of the same values. Java's has no rows between the one
// in which it reaches the largest value and the last, and is in nanoseconds.
func compareDistributions(t *testing.T, kind string, h *results.Histogram, java string) {
	t.Helper()
	_, java, _ = strings.Cut(java, "]\n") // two lines of its own come first
	_, java, _ = strings.Cut(java, "]\n")
	theirs, theirFooter := parseHgrm(t, java)
	ours, ourFooter := parseHgrm(t, hgrm(t, h))
	if len(theirs) < 50 {
		t.Fatalf("%s: java has %d rows", kind, len(theirs))
	}
	for _, want := range theirs {
		at := slices.IndexFunc(ours, func(r hgrmRow) bool { return math.Abs(r.percentile-want.percentile) < 1e-12 })
		if at < 0 {
			t.Errorf("%s: no row for %v", kind, want.percentile)
			continue
		}
		got := ours[at]
		ns := int64(math.Round(got.value * 1e6))
		off := math.Abs(float64(ns) - want.value)
		// Java has upper ends of buckets instead of the exact smallest and largest value.
		if exact := ns == h.Min() || ns == h.Max(); got.count != want.count || off > 0 && !(exact && off < want.value/1000) {
			t.Errorf("%s: %+v, java has %+v", kind, got, want)
		}
	}
	// Mean, deviation, maximum, count, buckets, sub-buckets: the first three of Java's are of buckets.
	for i, want := range theirFooter {
		tolerance := 0.0
		if i < 3 {
			want /= 1e6
			tolerance = []float64{1e-5, 1e-5, 1e-3}[i] * want
		}
		if len(ourFooter) != len(theirFooter) || math.Abs(ourFooter[i]-want) > tolerance {
			t.Fatalf("%s: the last lines have %v, java's %v", kind, ourFooter, theirFooter)
		}
	}
}

// TestJavaScriptReadsHlog has hdr-histogram-js read a log, and compares all lines and their sums.
func TestJavaScriptReadsHlog(t *testing.T) {
	long(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node in PATH")
	}
	installed := os.Getenv("HDR_HISTOGRAM_JS")
	if installed == "" {
		t.Skip("HDR_HISTOGRAM_JS does not name the folder in which npm install --no-save hdr-histogram-js@3.0.1 was run")
	}
	log := newRefereeLog(t)
	percentiles := []string{"50", "75", "90", "99", "99.9", "99.99", "100"}
	command := exec.Command(node, append([]string{filepath.Join("testdata", "hdr-histogram-js", "percentiles.js"), log.path}, percentiles...)...)
	command.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(installed, "node_modules"))
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	type found struct {
		Tag        string
		Count      int64
		Values     []float64
		Start, End float64
	}
	var got struct {
		Tags          []string
		Lines, Totals []found
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%.500s", err, out)
	}
	compare := func(what string, f found, h *results.Histogram) {
		if f.Count != h.Count() || len(f.Values) != len(percentiles) {
			t.Fatalf("%s: %d values, want %d", what, f.Count, h.Count())
		}
		for i, p := range percentiles {
			percentile, _ := strconv.ParseFloat(p, 64)
			sameQuantile(t, what, h, percentile, f.Values[i])
		}
	}
	slices.Sort(got.Tags)
	if want := slices.Sorted(slices.Values(results.Kinds)); !slices.Equal(got.Tags, want) {
		t.Errorf("tags %q, want %q", got.Tags, want)
	}
	left := got.Lines
	for _, interval := range log.intervals {
		for range interval.Histograms {
			if len(left) == 0 {
				t.Fatalf("%d lines are too few", len(got.Lines))
			}
			line := left[0]
			left = left[1:]
			what := fmt.Sprintf("%s from %v s", line.Tag, interval.Start)
			begun := float64(hlogStart.UnixMilli()) + 1000*interval.Start
			if math.Abs(line.Start-begun) > 0.5 || math.Abs(line.End-begun-1000*interval.Length) > 0.5 {
				t.Errorf("%s: from %v to %v ms", what, line.Start, line.End)
			}
			compare(what, line, interval.Histograms[line.Tag])
		}
	}
	totals := results.Total(log.intervals)
	if len(left) > 0 || len(got.Totals) != len(totals) {
		t.Errorf("%d lines too many, and %d sums, want %d", len(left), len(got.Totals), len(totals))
	}
	for _, total := range got.Totals {
		compare("all of "+total.Tag, total, totals[total.Tag])
	}
}
