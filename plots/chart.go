package plots

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"tailrace/inorder"
	"tailrace/results"
)

// mostImages is the number of points of a sweep beyond which charts of points are not drawn as PNG.
const mostImages = 100

// Chart is one drawn chart.
type Chart struct {
	Name     string // stable, safe as a file name: "mix-throughput"
	Title    string
	Caption  string // what is drawn, what it was measured from, and what it doesn't show
	Alt      string // what it shows, in words, for who can't see it
	Workload string // "" if the chart is about the whole sweep
	// Point is what the strategies are compared at: a cell of the workload without strategy and arm; empty if the
	// chart is about several points.
	Point results.Cell
	Kind  ChartKind
	SVG   []byte // a document of its own, without identifiers, so that many fit into one page
	PNG   []byte // nil of many points, see WriteCharts
	// noImage leaves PNG out.
	noImage bool
}

// ChartKind says what a chart shows.
type ChartKind string

// The kinds of charts.
const (
	KindMetric    ChartKind = "metric"    // a metric of each run, by strategy: throughput, or the primary one
	KindLatency   ChartKind = "latency"   // latency by percentile
	KindHistogram ChartKind = "histogram" // shares of latencies
	KindEffects   ChartKind = "effects"   // ratios to the baseline
	KindTime      ChartKind = "time"      // throughput, or a quantile of latency, over the time of a run
	KindSteps     ChartKind = "steps"     // what each idea bought
	KindFront     ChartKind = "front"     // throughput against what it costs
	KindTrend     ChartKind = "trend"     // the primary metric along an axis
	KindClaim     ChartKind = "claim"     // the figures of a claim beside their bounds (ClaimChart)
)

// Charts draws every chart of a sweep: for each workload at each point the primary metric, throughput where that is
// another one, what each idea bought, the choice that is left, throughput over time, and for each kind of operation
// its latency by percentile, as a histogram and over time; then the workloads' primary metrics along their axes,
// and the effects. What there is nothing to draw of is left out, but for the metrics, latencies and effects, which
// then say so. It reads the histograms from the sweep's directory; a run whose file is missing or damaged is left
// out, and the sweep gets a warning. PNG is nil where WriteCharts writes none.
func Charts(s *results.Sweep) ([]Chart, error) {
	var charts []Chart
	for chart, err := range drawAll(s) {
		if err != nil {
			return nil, err
		}
		charts = append(charts, chart)
	}
	return charts, nil
}

// drawn is what one job has drawn.
type drawn struct {
	charts   []Chart
	warnings []string
	err      error
}

// drawAll draws the charts of a sweep on all processors, and yields them in their order under their names.
func drawAll(s *results.Sweep) iter.Seq2[Chart, error] {
	all, trends := panels(s), s.Trends()
	effects := effectGroups(s, all)
	draw := func(i int) (d drawn) {
		var list chartList
		switch trend, effect := i-len(all), i-len(all)-len(trends); {
		case trend < 0:
			d.warnings, d.err = list.addPanel(s, &all[i])
		case effect < 0:
			t := &trends[trend]
			d.err = list.add(trendChart(t, processorsAt(&t.Axis, &s.Meta.Environment)))
		default:
			d.err = list.add(effectChart(s, &effects[effect]))
		}
		d.charts = list.charts
		return d
	}
	return func(yield func(Chart, error) bool) {
		names := chartNames{}
		warn := s.Warner()
		for _, d := range inorder.Each(len(all)+len(trends)+len(effects), draw) {
			for _, warning := range d.warnings {
				warn(warning)
			}
			if d.err != nil {
				yield(Chart{}, d.err)
				return
			}
			for _, chart := range d.charts {
				chart.Name = names.unused(chart.Name)
				if !yield(chart, nil) {
					return
				}
			}
		}
	}
}

// chartNames are the names that are taken, each with the number of charts that asked for it.
type chartNames map[string]int

// unused returns a name with a number behind it where it is taken: "a b" and "a-b" would share a file.
func (taken chartNames) unused(name string) string {
	unused := name
	for taken[unused] > 0 {
		taken[name]++
		unused = fmt.Sprintf("%s-%d", name, taken[name])
	}
	taken[unused]++
	return unused
}

// chartList is the charts of one job.
type chartList struct{ charts []Chart }

// add adds what was drawn, unless that failed.
func (l *chartList) add(chart Chart, err error) error {
	if err == nil {
		l.charts = append(l.charts, chart)
	}
	return err
}

// addAny does the same with a chart that there may not be.
func (l *chartList) addAny(chart *Chart, err error) error {
	if chart == nil || err != nil {
		return err
	}
	return l.add(*chart, nil)
}

// addPanel draws the charts of a workload at one point, and returns what is missing in them.
func (l *chartList) addPanel(s *results.Sweep, p *panel) (warnings []string, err error) {
	if results.LowerIsBetter(p.Workload.Primary) {
		err = l.add(metricChart(p, p.Workload.Primary))
	}
	err = errors.Join(err, l.add(throughputChart(p)), l.addAny(stepsChart(p)), l.addAny(frontChart(p)), l.addAny(throughputOverTime(p)))
	if err != nil {
		return nil, err
	}
	latencies, warnings := latenciesOf(s, p)
	for _, of := range latencies {
		if err := errors.Join(l.add(percentileChart(p, &of)), l.add(histogramChart(p, &of)), l.addAny(latencyOverTime(p, of.kind))); err != nil {
			return nil, err
		}
	}
	return warnings, nil
}

// WriteCharts draws every chart of a sweep (see Charts) and writes each into dir, which it makes where
// it is missing, as NAME.svg and NAME.png. Each file is replaced as a whole. Of more than mostImages points, the charts
// of points have no PNG: there would be thousands, which take most of the time, and an older one is removed. What it returns is for WriteReport: the
// charts are without PNG, and those that the page has no room for without SVG.
func WriteCharts(s *results.Sweep, dir string) ([]Chart, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("plots: %w", err)
	}
	var kept album
	for chart, err := range drawAll(s) {
		if err != nil {
			return nil, err
		}
		if err := chart.write(dir); err != nil {
			return nil, fmt.Errorf("plots: %w", err)
		}
		chart.PNG = nil
		kept.add(chart)
	}
	return kept.fitting(mostInline), nil
}

// write writes the files of a chart.
func (c *Chart) write(dir string) error {
	image := filepath.Join(dir, c.Name+".png")
	if err := results.ReplaceMadeFile(filepath.Join(dir, c.Name+".svg"), content(c.SVG)); err != nil {
		return err
	}
	if c.PNG != nil {
		return results.ReplaceMadeFile(image, content(c.PNG))
	}
	if err := os.Remove(image); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// content writes what is there.
func content(of []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(of)
		return err
	}
}

// finish renders a figure into the rest of a chart.
func (c Chart) finish(f *figure) (Chart, error) {
	c.Title = f.title
	if f.message != "" {
		c.Alt = f.message
	}
	var err error
	if c.SVG, err = f.renderSVG(f.title + ". " + c.Alt); err == nil && !c.noImage {
		c.PNG, err = f.renderPNG()
	}
	return c, err
}
