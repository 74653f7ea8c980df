package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"tailrace/results"
)

// mostPoints is how many points the lines of a chart over time may have together: more are slow to draw, and
// lie within one another.
const mostPoints = 1200

// shortestShare is the share of an interval that its run's last has to last: less holds too few operations to
// make a rate.
const shortestShare = 0.1

// timeline is how something went in the runs of one strategy.
type timeline struct {
	label    string
	style    Style
	segments [][]point // seconds since the window opened; between two of them is a gap
}

// throughputOverTime draws the operations a second in each interval of a panel's runs; nil if none has two
// intervals.
func throughputOverTime(p *panel) (*Chart, error) {
	kinds, what := operationKinds(throughputMetric(p))
	return drawOverTime(p, &overTime{
		name: "throughput-time", title: what + " over time", yTitle: what + ", more is better",
		y:       scale{format: results.FormatRate},
		caption: "Operations a second in each interval of the window.",
		value: func(run *results.Run, s stretch) float64 {
			var sum int64
			for _, kind := range kinds {
				operations := run.Series.Operations[kind]
				for _, n := range operations[min(s.first, len(operations)):min(s.end, len(operations))] {
					sum += n
				}
			}
			if sum < 0 {
				return math.NaN()
			}
			return float64(sum) / s.length
		},
		group: "the mean",
	})
}

// operationKinds are the kinds of operation that a rate counts, and the words for it.
func operationKinds(metric string) (kinds []string, what string) {
	for _, kind := range []string{results.KindProduce, results.KindConsume} {
		if strings.HasPrefix(metric, kind+"-") {
			return []string{kind}, kind + " op/s"
		}
	}
	return []string{results.KindProduce, results.KindConsume}, results.MetricOps
}

// latencyOverTime draws the p99 of one kind of latency in each interval of a panel's runs; nil if none has two
// intervals that carry one.
func latencyOverTime(p *panel, kind string) (*Chart, error) {
	metric := results.LatencyMetric(kind, "p99")
	what := results.MetricLabel(metric)
	return drawOverTime(p, &overTime{
		name: fileName(kind) + "-p99-time", title: what + " over time", yTitle: what + ", less is better",
		y:       scale{log: true, format: results.FormatDuration},
		caption: measuredFrom(p, kind) + " The p99 of each interval of the window; a line has a gap where a run does not carry one, for too few samples or a late load.",
		latency: true,
		value: func(run *results.Run, s stretch) float64 {
			highest := math.NaN()
			quantiles := run.Series.Quantiles[metric]
			for _, q := range quantiles[min(s.first, len(quantiles)):min(s.end, len(quantiles))] {
				if q != nil && !(*q <= highest) {
					highest = *q
				}
			}
			return highest
		},
		group: "the highest",
	})
}

// overTime says what a chart over time shows.
type overTime struct {
	name, title, yTitle, caption string
	y                            scale
	latency                      bool // has no bound in a cell that was overloaded
	// value is what a run has in a stretch of its intervals: NaN if nothing.
	value func(run *results.Run, s stretch) float64
	group string // what value takes of several intervals
}

func drawOverTime(p *panel, o *overTime) (*Chart, error) {
	f := &figure{title: p.title(o.title), width: figureWidth, height: figureHeight, y: o.y}
	f.x = scale{format: formatMoment}
	f.x.cover(0)
	if !f.y.log {
		f.y.cover(0)
	}
	f.xTitle, f.yTitle = "time since the window opened", o.yTitle
	group := intervalsPerPoint(p)
	var alt, left []string
	for i := range p.series {
		m := &p.series[i]
		if o.latency && m.Overloaded > 0 {
			continue
		}
		runs, other := sameIntervals(m.runs)
		if m.label == "null" && len(runs) > 0 {
			left = append(left, withoutNull)
			continue
		}
		if other > 0 {
			left = append(left, fmt.Sprintf("%d runs of %s have intervals of another length and are left out.", other, m.label))
		}
		t := timeline{label: m.label, style: m.style, segments: segmentsOf(runs, group, o.value, f)}
		if len(t.segments) == 0 {
			continue
		}
		f.legend = append(f.legend, legendEntry{name: t.label, style: t.style})
		for _, points := range t.segments {
			f.plotters = append(f.plotters, t.plotter(points))
		}
		low, high := extremes(t.segments)
		alt = append(alt, fmt.Sprintf("%s from %s to %s", t.label, f.y.format(low), f.y.format(high)))
	}
	if len(f.legend) == 0 {
		return nil, nil
	}
	caption := []string{o.caption, "Each point is the median across the runs that lasted so long."}
	if group > 1 {
		caption = append(caption, fmt.Sprintf("It stands for %d intervals, of which each run gives %s.", group, o.group))
	}
	chart, err := Chart{
		Name:     p.name(o.name),
		Workload: p.Workload.Name,
		Point:    p.Point,
		noImage:  p.noImages,
		Kind:     KindTime,
		Caption:  strings.Join(slices.Concat(caption, left, p.notes()), " "),
		Alt:      "Lowest and highest points: " + strings.Join(alt, ", ") + ".",
	}.finish(f)
	return &chart, err
}

// formatMoment is a time on an axis that begins at 0.
func formatMoment(seconds float64) string {
	if seconds == 0 {
		return "0"
	}
	return results.FormatDuration(seconds)
}

// intervals is how many intervals a run's series has.
func intervals(run *results.Run) int {
	most := 0
	for _, operations := range run.Series.Operations {
		most = max(most, len(operations))
	}
	for _, quantiles := range run.Series.Quantiles {
		most = max(most, len(quantiles))
	}
	return most
}

// intervalsPerPoint is how many intervals become one point, so that a panel's chart is drawn in no time.
func intervalsPerPoint(p *panel) int {
	longest, lines := 0, 0
	for i := range p.series {
		runs, _ := sameIntervals(p.series[i].runs)
		if len(runs) == 0 {
			continue
		}
		lines++
		for _, run := range runs {
			longest = max(longest, intervals(run))
		}
	}
	if lines == 0 {
		return 1
	}
	most := max(60, mostPoints/lines)
	return (longest + most - 1) / most
}

// sameIntervals returns the runs with a series whose intervals are as long as those of the first, and the
// number of those of another length.
func sameIntervals(runs []*results.Run) (same []*results.Run, other int) {
	for _, run := range runs {
		switch {
		case run.Series == nil || !(run.Series.Interval > 0) || math.IsInf(run.Series.Interval, 1):
		case len(same) > 0 && run.Series.Interval != same[0].Series.Interval:
			other++
		default:
			same = append(same, run)
		}
	}
	return same, other
}

// stretch is what one point of a run stands for: some of its intervals, from first up to but without end.
type stretch struct {
	first, end    int
	start, length float64 // seconds
}

// stretches cuts the intervals of a run into groups. The last interval ends with the window.
func stretches(run *results.Run, group int) []stretch {
	var all []stretch
	interval := run.Series.Interval
	length := func(i int) float64 {
		if !(run.Window > 0) {
			return interval
		}
		return min(interval, run.Window-float64(i)*interval)
	}
	for i := range intervals(run) {
		switch {
		case length(i) < shortestShare*interval:
			return all
		case i%group == 0:
			all = append(all, stretch{first: i, start: float64(i) * interval})
		}
		last := &all[len(all)-1]
		last.end, last.length = i+1, last.length+length(i)
	}
	return all
}

// segmentsOf returns the medians across runs over time, without those that the axes of f can't show, cut where
// one is missing; nil if there are no two moments. The axes cover them.
func segmentsOf(runs []*results.Run, group int, value func(*results.Run, stretch) float64, f *figure) [][]point {
	var values [][]float64 // by stretch, of the runs that lasted so long
	var middles []float64
	for _, run := range runs {
		for i, s := range stretches(run, group) {
			if i == len(values) {
				values, middles = append(values, nil), append(middles, s.start+s.length/2)
			}
			values[i] = append(values[i], value(run, s))
		}
	}
	if len(values) < 2 {
		return nil
	}
	var segments [][]point
	open := false
	for i, of := range values {
		slices.SortFunc(of, cmp.Compare[float64]) // NaN first
		median := results.Median(of)
		if math.IsNaN(of[0]) || !f.x.accepts(middles[i]) || !f.y.accepts(median) {
			open = false
			continue
		}
		f.x.cover(middles[i])
		f.y.cover(median)
		if !open {
			segments, open = append(segments, nil), true
		}
		last := &segments[len(segments)-1]
		*last = append(*last, point{middles[i], median})
	}
	return segments
}

func extremes(segments [][]point) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, points := range segments {
		for _, p := range points {
			low, high = min(low, p.y), max(high, p.y)
		}
	}
	return low, high
}

// plotter draws a segment with some eight markers.
func (t *timeline) plotter(points []point) plot.Plotter {
	var marks []point
	step := max(1, len(points)/8)
	for i := step / 2; i < len(points); i += step {
		marks = append(marks, points[i])
	}
	return curvePlotter(t.style, points, marks)
}
