package plots

import (
	"fmt"
	"testing"

	"tailrace/results"
)

// BenchmarkCharts draws a sweep of 1,000 runs in 84 cells: seven strategies at twelve points, each with its steps and
// its front, a hundred intervals a run, and six trends.
func BenchmarkCharts(b *testing.B) {
	s := &results.Sweep{Meta: fixtureMeta()}
	histograms := make(map[int]map[string]*results.Histogram)
	for i := range 1008 {
		strategy := []string{"mutex", "rwmutex", "atomics", "actor", "mutex-rcu", "mutex-group", "raw"}[i%7]
		run, of := fixtureRun(i, i/84, strategy, "", 1+float64(i%7)/4)
		run.Cell.Workers = 1 + i/7%12
		addSeries(run)
		for range 3 {
			for kind, operations := range run.Series.Operations {
				run.Series.Operations[kind] = append(operations, operations...)
			}
			for metric, quantiles := range run.Series.Quantiles {
				run.Series.Quantiles[metric] = append(quantiles, quantiles...)
			}
		}
		run.Window = 8.8
		s.Runs = append(s.Runs, *run)
		histograms[i] = of
	}
	for b.Loop() {
		var list chartList
		for _, p := range panels(s) {
			p.Steps, p.Front = fixtureSteps(), fixtureFront()
			if _, err := list.addPanel(s, &p); err != nil {
				b.Fatal(err)
			}
			for _, kind := range chartedKinds[:2] {
				l := latency{kind: kind.kind, words: kind.words, ticks: results.PercentileTicks()}
				for i := range p.series {
					var of curveBuilder
					for _, run := range p.series[i].runs {
						of.add(histograms[run.Index][kind.kind], nil, l.ticks)
					}
					l.curves = append(l.curves, of.curve(&p.series[i]))
				}
				for _, draw := range []func() (Chart, error){
					func() (Chart, error) { return percentileChart(&p, &l) },
					func() (Chart, error) { return histogramChart(&p, &l) },
					func() (Chart, error) { return some(latencyOverTime(&p, kind.kind)) },
				} {
					if err := list.add(draw()); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		for range 6 {
			if err := list.add(trendChart(fixtureTrend(), 8)); err != nil {
				b.Fatal(err)
			}
		}
		if len(list.charts) != 12*10+6 {
			b.Fatal(fmt.Sprint(len(list.charts), " charts"))
		}
	}
}
