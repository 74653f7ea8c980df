package plots

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tailrace/results"
)

// golden compares a chart with its golden files, the image pixel by pixel. Fused multiply-add rounds differently
// elsewhere.
func golden(t *testing.T, c Chart) {
	t.Helper()
	svg, img := filepath.Join("testdata", c.Name+".svg"), filepath.Join("testdata", c.Name+".png")
	if *update {
		for path, content := range map[string][]byte{svg: c.SVG, img: c.PNG} {
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if runtime.GOARCH != "amd64" {
		return
	}
	want, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(c.SVG, want) {
		t.Errorf("%s differs from %s; look at it, then run the test with -update", c.Name, svg)
	}
	if want, err = os.ReadFile(img); err != nil {
		t.Fatal(err)
	}
	if got, want := pixels(t, c.PNG), pixels(t, want); got.Bounds() != want.Bounds() || !bytes.Equal(got.Pix, want.Pix) {
		t.Errorf("%s differs from %s; look at it, then run the test with -update", c.Name, img)
	}
}

// pixels decodes an image.
func pixels(t *testing.T, encoded []byte) *image.NRGBA {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	flat := image.NewNRGBA(img.Bounds())
	draw.Draw(flat, flat.Bounds(), img, img.Bounds().Min, draw.Src)
	return flat
}

// drawnCase is a chart with golden files.
type drawnCase struct {
	name string
	draw func() (Chart, error)
}

// some draws a chart that there has to be.
func some(chart *Chart, err error) (Chart, error) {
	if chart == nil {
		return Chart{}, fmt.Errorf("nothing is drawn: %v", err)
	}
	return *chart, err
}

// drawnCases are what no sweep of the fixture has, and what is hard to draw well.
func drawnCases() []drawnCase {
	with := func(p *panel, edit func(p *panel)) *panel {
		edit(p)
		return p
	}
	plainPanel := fixturePanel(len(fixtureSpeeds), nil)
	steps := with(fixturePanel(1, nil), func(p *panel) { p.Steps = fixtureSteps() })
	front := with(fixturePanel(1, nil), func(p *panel) { p.Front = fixtureFront() })
	crowd := crowdedPanel()
	equal := fixturePanel(4, func(r *results.Run) {
		r.Metrics[results.MetricOps] = 5e5
		addSeries(r)
	})
	gaps := fixturePanel(3, func(r *results.Run) {
		if r.Cell.Strategy == "rwmutex" {
			r.Metrics[results.MetricOps] = 0
		}
		addSeries(r)
		for i, q := range r.Series.Quantiles["produce-p99-sec"] {
			if q != nil && (i%4 == 1 || r.Cell.Strategy == "rwmutex" && i%2 == 1) {
				*q = []float64{0, math.NaN(), math.Inf(1), -1}[i%4]
			}
		}
	})
	single := fixturePanel(1, func(r *results.Run) {
		if r.Index > 0 {
			r.Verification.Error = "offset 3 has other bytes"
		}
	})
	cut := latency{kind: results.KindProduce, words: "produce latency", ticks: results.PercentileTicks()}
	for i := range plainPanel.series {
		of := latencyCurve{label: plainPanel.series[i].label, style: plainPanel.series[i].style}
		for n := range cut.ticks {
			seconds := math.NaN()
			if n < 3+2*i {
				seconds = 1e-6 * float64(10+n+i)
			}
			of.seconds = append(of.seconds, seconds)
		}
		cut.curves = append(cut.curves, of)
	}
	return []drawnCase{
		{"steps", func() (Chart, error) { return some(stepsChart(steps)) }},
		{"front", func() (Chart, error) { return some(frontChart(front)) }},
		{"trend", func() (Chart, error) { return trendChart(fixtureTrend(), 8) }},
		{"trend-latency", func() (Chart, error) { return trendChart(latencyTrend(), 0) }},
		{"crowd-throughput", func() (Chart, error) { return throughputChart(crowd) }},
		{"crowd-time", func() (Chart, error) { return some(throughputOverTime(crowd)) }},
		{"crowd-steps", func() (Chart, error) { return some(stepsChart(crowd)) }},
		{"crowd-front", func() (Chart, error) { return some(frontChart(crowd)) }},
		{"crowd-trend", func() (Chart, error) { return trendChart(crowdedTrend(), 8) }},
		{"equal-throughput", func() (Chart, error) { return throughputChart(equal) }},
		{"equal-time", func() (Chart, error) { return some(throughputOverTime(equal)) }},
		{"equal-trend", func() (Chart, error) { return trendChart(equalTrend(), 0) }},
		{"gaps-time", func() (Chart, error) { return some(latencyOverTime(gaps, results.KindProduce)) }},
		{"zeros-time", func() (Chart, error) { return some(throughputOverTime(gaps)) }},
		{"single-throughput", func() (Chart, error) { return throughputChart(single) }},
		{"single-trend", func() (Chart, error) { return trendChart(singleTrend(), 2) }},
		{"cut-latency", func() (Chart, error) { return percentileChart(plainPanel, &cut) }},
	}
}

// crowded renames a number into one of twelve strategies, most with names of 60 letters.
func crowded(i int) string {
	if i < 4 {
		return []string{"mutex", "rwmutex", "atomics", "actor"}[i]
	}
	return fmt.Sprintf("strategy-%02d-", i) + strings.Repeat("of-a-long-name-", 4)[:48]
}

const crowd = 12

func crowdedPanel() *panel {
	byName := make(map[string]string)
	p := fixturePanel(crowd, func(r *results.Run) {
		label := r.Cell.Label()
		if byName[label] == "" {
			byName[label] = crowded(len(byName))
		}
		r.Cell.Strategy, r.Cell.Arm = byName[label], ""
		addSeries(r)
	})
	p.Workload.Name = "a workload with a name of some sixty letters, as from a file"
	p.Front = &results.Front{Metrics: fixtureFront().Metrics}
	for i := range crowd {
		m := results.Member{Label: crowded(i), Values: []float64{5e5 + 4e4*float64(i%5), 1e-6 * float64(5+i%3), 2e-6}}
		if i%3 == 2 {
			m.DominatedBy = "mutex"
		}
		p.Front.Members = append(p.Front.Members, m)
		step := fixtureSteps()[i%4]
		step.Name, step.From, step.To = "an idea whose name is as long as this one", crowded(i), crowded((i+1)%crowd)
		p.Steps = append(p.Steps, step)
	}
	return p
}

func crowdedTrend() *results.Trend {
	t := fixtureTrend()
	t.Values = []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	line := t.Lines[0]
	t.Lines, t.Crossovers = nil, nil
	for i := range crowd {
		law := fixtureFit(2e5+2e4*float64(i), 0.05*float64(i%4), 0.001*float64(i))
		of := results.Line{Label: crowded(i)}
		if i%2 == 0 {
			of.Fit = &law
		} else {
			of.Unfitted = line.Unfitted
		}
		for _, v := range t.Values {
			median := law.At(v)
			of.Levels = append(of.Levels, results.Level{Value: v, Values: []float64{0.95 * median, 1.05 * median}, Median: median})
		}
		t.Lines = append(t.Lines, of)
		t.Crossovers = append(t.Crossovers, results.Crossover{Before: crowded(i), After: crowded((i + 5) % crowd), Low: i, High: i + 2})
	}
	return t
}

// latencyTrend is a p99 by share of appends, from 0 on: a linear axis, and a logarithmic one.
func latencyTrend() *results.Trend {
	t := &results.Trend{
		Axis:     results.Axis{Workload: "tail", Key: "produce", Where: "workers 4", Values: []float64{0, 5, 10, 50, 100}},
		Metric:   results.LatencyMetric(results.KindProduce, "p99"),
		Unfitted: "the scaling law is one of throughput",
	}
	for i, label := range []string{"mutex", "mutex@other", "actor"} {
		line := results.Line{Label: label}
		for n, v := range t.Values {
			median := 1e-5 * math.Pow(4, float64(n)) / float64(1+i)
			if label == "actor" {
				median = 2e-4
			}
			line.Levels = append(line.Levels, results.Level{Value: v, Values: []float64{median / 2, median * 2}, Median: median})
		}
		t.Lines = append(t.Lines, line)
	}
	t.Crossovers = []results.Crossover{{Before: "mutex", After: "actor", Low: 2, High: 3}, {Before: "mutex@other", After: "actor", Low: 3, High: 4}}
	return t
}

func equalTrend() *results.Trend {
	t := fixtureTrend()
	t.Crossovers, t.Unfitted = nil, "the throughput is the same everywhere"
	for i := range t.Lines {
		t.Lines[i].Fit = nil
		for n := range t.Lines[i].Levels {
			t.Lines[i].Levels[n] = results.Level{Value: t.Values[n], Values: []float64{5e5, 5e5}, Median: 5e5}
		}
	}
	return t
}

func singleTrend() *results.Trend {
	t := fixtureTrend()
	t.Values, t.Lines, t.Crossovers = []float64{2}, t.Lines[:1], nil
	t.Lines[0].Levels, t.Lines[0].Fit, t.Lines[0].Unfitted = t.Lines[0].Levels[1:2], nil, "it was run at one level only"
	return t
}

func TestGoldenCharts(t *testing.T) {
	t.Parallel()
	for _, test := range drawnCases() {
		t.Run(test.name, func(t *testing.T) {
			c := within(t, test.draw)
			checkChart(t, c)
			checkLegible(t, c)
			c.Name = test.name
			golden(t, c)
		})
	}
}
