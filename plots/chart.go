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
	// Point is what the strategies are compared at: a cell of the workload without strategy and arm.
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
)

// Charts draws every chart of a sweep: for each workload the primary metric, throughput where that is
// another one, latency by percentile and latency histogram for each kind of operation; then the
// effects. It reads the histograms from the sweep's directory; a file that is missing or damaged is
// an error.
func Charts(s *results.Sweep) ([]Chart, error) {
	var charts []Chart
	taken := make(map[string]int)
	add := func(chart Chart, err error) error {
		taken[chart.Name]++
		if n := taken[chart.Name]; n > 1 { // "a b" and "a-b" would share a file
			chart.Name += fmt.Sprintf("-%d", n)
		}
		charts = append(charts, chart)
		return err
	}
	for _, p := range panels(s) {
		var err error
		if results.LowerIsBetter(p.Workload.Primary) {
			err = add(metricChart(&p, p.Workload.Primary))
		}
		if err = errors.Join(err, add(throughputChart(&p))); err != nil {
			return nil, err
		}
		latencies, err := latenciesOf(s, &p)
		if err != nil {
			return nil, err
		}
		for _, l := range latencies {
			if err := errors.Join(add(percentileChart(&p, &l)), add(histogramChart(&p, &l))); err != nil {
				return nil, err
			}
		}
	}
	if err := add(effectChart(s)); err != nil {
		return nil, err
	}
	return charts, nil
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
