package plots

import (
	"fmt"
	"math"
	"strings"

	"tailrace/results"
)

// The bins of a latency histogram, and the share of operations that is cut off at each end so that
// a few outliers don't press the rest together.
const (
	binsPerDecade = 20
	cutShare      = 0.0005
)

// histogramChart draws how the latencies of all runs are distributed, over bins of equal width on a
// logarithmic axis.
func histogramChart(p *panel, l *latency) (Chart, error) {
	f := &figure{title: p.title(l.words + " histogram"), width: figureWidth, height: figureHeight}
	f.x = scale{log: true, format: results.FormatDuration}
	f.y = scale{format: results.FormatPercent}
	f.y.cover(0)
	f.xTitle, f.yTitle = "latency", "share of operations"

	low, high := math.Inf(1), math.Inf(-1)
	for i := range l.curves {
		low = min(low, float64(max(1, l.curves[i].merged.Quantile(cutShare)))/1e9)
		high = max(high, float64(max(1, l.curves[i].merged.Quantile(1-cutShare)))/1e9)
	}
	var alt []string
	for i := range l.curves {
		c := &l.curves[i]
		outline, peak := binOutline(c.merged, low, high)
		if len(outline) == 0 {
			continue
		}
		for _, q := range outline {
			f.x.cover(q.x)
			f.y.cover(q.y)
		}
		alt = append(alt, fmt.Sprintf("%s peaks at %s", c.label, results.FormatDuration(peak.x)))
		f.legend = append(f.legend, legendEntry{name: c.label, style: c.style})
		f.plotters = append(f.plotters, curvePlotter(c.style, outline, []point{peak}))
	}
	if len(f.legend) == 0 {
		f.message = noRuns
	}
	caption := []string{measuredFrom(p, l.kind), fmt.Sprintf(
		"All valid runs together, %d bins a decade; a marker is at each peak. At each end, 0.05 %% of the operations may lie outside the chart.", binsPerDecade)}
	return Chart{
		Name:     p.name(fileName(l.kind) + "-histogram"),
		Workload: p.Workload.Name,
		Point:    p.Point,
		noImage:  p.noImages,
		Kind:     KindHistogram,
		Caption:  strings.Join(append(caption, p.notes()...), " "),
		Alt:      strings.Join(alt, ", ") + ".",
	}.finish(f)
}

// binOutline returns the corners of a histogram's steps between two latencies in seconds, and the
// middle of the highest; nothing if no value lies between them. Shares are of all operations, those
// outside included.
func binOutline(h *results.Histogram, low, high float64) (outline []point, peak point) {
	// One bin more at each end, since the middle of a bucket may lie beyond the quantile in it.
	first := int(math.Floor(math.Log10(low)*binsPerDecade)) - 1
	last := int(math.Floor(math.Log10(high)*binsPerDecade)) + 1
	shares := make([]float64, last-first+1)
	total := float64(h.Count())
	for b := range h.Buckets() {
		ns := (float64(b.Low) + float64(b.High)) / 2
		if b.High >= h.Max() {
			ns = float64(h.Max()) // the bucket of all values above the range has no other middle
		}
		if bin := int(math.Floor(math.Log10(ns/1e9)*binsPerDecade)) - first; bin >= 0 && bin < len(shares) {
			shares[bin] += float64(b.Count) / total
		}
	}
	edge := func(bin int) float64 { return math.Pow(10, float64(first+bin)/binsPerDecade) }
	outline = append(outline, point{edge(0), 0})
	for bin, share := range shares {
		// Corners between equal steps are left out: most of a long tail is one.
		if share != outline[len(outline)-1].y {
			outline = append(outline, point{edge(bin), outline[len(outline)-1].y}, point{edge(bin), share})
		}
		if share > peak.y {
			peak = point{math.Sqrt(edge(bin) * edge(bin+1)), share}
		}
	}
	if peak.y == 0 {
		return nil, peak
	}
	end := edge(len(shares))
	return append(outline, point{end, outline[len(outline)-1].y}, point{end, 0}), peak
}
