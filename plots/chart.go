package plots

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tailrace/results"
)

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
	PNG   []byte
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
// out, and the sweep gets a warning.
func Charts(s *results.Sweep) ([]Chart, error) {
	var list chartList
	for _, p := range panels(s) {
		if err := list.addPanel(s, &p); err != nil {
			return nil, err
		}
	}
	for _, t := range s.Trends() {
		if err := list.add(trendChart(&t, processorsAt(&t.Axis, &s.Meta.Environment))); err != nil {
			return nil, err
		}
	}
	effects, err := effectCharts(s)
	for _, chart := range effects {
		err = errors.Join(err, list.add(chart, nil))
	}
	if err != nil {
		return nil, err
	}
	return list.charts, nil
}

// chartList is charts of distinct names.
type chartList struct {
	charts []Chart
	taken  map[string]bool
}

// add adds what was drawn, unless that failed.
func (l *chartList) add(chart Chart, err error) error {
	if err != nil {
		return err
	}
	name := chart.Name
	for n := 2; l.taken[name]; n++ { // "a b" and "a-b" would share a file
		name = fmt.Sprintf("%s-%d", chart.Name, n)
	}
	if l.taken == nil {
		l.taken = make(map[string]bool)
	}
	l.taken[name] = true
	chart.Name = name
	l.charts = append(l.charts, chart)
	return nil
}

// addAny does the same with a chart that there may not be.
func (l *chartList) addAny(chart *Chart, err error) error {
	if chart == nil || err != nil {
		return err
	}
	return l.add(*chart, nil)
}

// addPanel draws the charts of a workload at one point.
func (l *chartList) addPanel(s *results.Sweep, p *panel) error {
	var err error
	if results.LowerIsBetter(p.Workload.Primary) {
		err = l.add(metricChart(p, p.Workload.Primary))
	}
	err = errors.Join(err, l.add(throughputChart(p)), l.addAny(stepsChart(p)), l.addAny(frontChart(p)), l.addAny(throughputOverTime(p)))
	if err != nil {
		return err
	}
	latencies, err := latenciesOf(s, p)
	if err != nil {
		return err
	}
	for _, of := range latencies {
		if err := errors.Join(l.add(percentileChart(p, &of)), l.add(histogramChart(p, &of)), l.addAny(latencyOverTime(p, of.kind))); err != nil {
			return err
		}
	}
	return nil
}

// WriteCharts draws every chart of a sweep (see Charts) and writes each into dir, which it makes where
// it is missing, as NAME.svg and NAME.png. Each file is replaced as a whole.
func WriteCharts(s *results.Sweep, dir string) ([]Chart, error) {
	charts, err := Charts(s)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("plots: %w", err)
	}
	for _, c := range charts {
		err := errors.Join(
			writeFile(filepath.Join(dir, c.Name+".svg"), c.SVG),
			writeFile(filepath.Join(dir, c.Name+".png"), c.PNG))
		if err != nil {
			return nil, fmt.Errorf("plots: %w", err)
		}
	}
	return charts, nil
}

// writeFile replaces a file as a whole, so that a reader never sees half of one.
func writeFile(path string, content []byte) error {
	return results.ReplaceFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// finish renders a figure into the rest of a chart.
func (c Chart) finish(f *figure) (Chart, error) {
	c.Title = f.title
	if f.message != "" {
		c.Alt = f.message
	}
	var err error
	c.SVG, c.PNG, err = f.render(f.title + ". " + c.Alt)
	return c, err
}
