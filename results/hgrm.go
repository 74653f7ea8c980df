package results

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
)

const (
	hlogExtension = ".hlog"
	hgrmExtension = ".hgrm"
)

var hgrmName = regexp.MustCompile(`^[0-9]{4,}-.*-(produce|consume|e2e)\.hgrm$`)

// distributionKinds are the kinds of latency that get .hgrm files. The others explain these and are in the logs.
var distributionKinds = []string{KindProduce, KindConsume, KindEndToEnd}

// How HdrHistogram lays out its buckets for the range of a Histogram: they double so often, each half of
// them with half as many sub-buckets as the first.
const (
	hdrBuckets    = 26
	hdrSubBuckets = 2 * subBuckets
)

// WritePercentiles writes the distribution as text in the form of HdrHistogram's outputPercentileDistribution
// (Java), which its plotter on the web reads: a row for each of PercentileTicks, with the lowest value, in
// milliseconds to the nanosecond, that so many percent of the values reach at most, and how many do. Values above the
// range count as the maximum. Without values there is only the last row, of 100 %.
func (h *Histogram) WritePercentiles(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	ticks := PercentileTicks()
	count, reached := h.Count(), int64(0)
	row := func(value int64) { // of the next tick
		percentile := ticks[0] / 100
		ticks = ticks[1:]
		if len(ticks) == 0 {
			fmt.Fprintf(out, "%12.6f %2.12f %10d\n", milliseconds(value), percentile, reached)
			return
		}
		fmt.Fprintf(out, "%12.6f %2.12f %10d %14.2f\n", milliseconds(value), percentile, reached, 1/(1-percentile))
	}
	var squares float64
	for b := range h.Buckets() {
		reached += b.Count
		// Unlike a quantile's rank, which is rounded, this one is not: as many values as the row says lie at
		// or below its value.
		for len(ticks) > 1 && 100*float64(reached)/float64(count) >= ticks[0] {
			row(min(max(b.High, h.min), h.max))
		}
		middle := float64(b.Low) + math.Ceil(float64(b.High-b.Low)/2)
		squares += float64(b.Count) * (middle - h.Mean()) * (middle - h.Mean())
	}
	if count == 0 {
		ticks = ticks[len(ticks)-1:]
	}
	row(h.max)
	deviation := math.Sqrt(squares / float64(max(1, count)))
	fmt.Fprintf(out, "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n", h.Mean()/1e6, deviation/1e6)
	fmt.Fprintf(out, "#[Max     = %12.6f, Total count    = %12d]\n", milliseconds(h.max), count)
	fmt.Fprintf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n", hdrBuckets, hdrSubBuckets)
	return out.Flush()
}

func milliseconds(ns int64) float64 { return float64(ns) / 1e6 }

// writeDistributions writes latency/….hgrm, for each run that was verified one for each of distributionKinds.
func (s *Sweep) writeDistributions() error {
	return s.fileSet(latencyDir, hgrmName).replaceAll(len(s.Runs), func(i int) made { return s.distributions(&s.Runs[i]) })
}

// distributions are the .hgrm files of a run.
func (s *Sweep) distributions(run *Run) (m made) {
	if !run.Valid() {
		return m
	}
	histograms, err := s.histogramsOf(run, distributionKinds)
	if err != nil {
		m.warning = fmt.Sprintf("the latencies of run %d are in no .hgrm file: %v", run.Index, err)
		return m
	}
	for _, kind := range distributionKinds {
		if h := histograms[kind]; h != nil && h.Count() > 0 && m.err == nil {
			m.err = m.add(strings.TrimSuffix(latencyName(run), hlogExtension)+"-"+kind+hgrmExtension, h.WritePercentiles)
		}
	}
	return m
}
