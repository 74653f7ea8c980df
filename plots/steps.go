package plots

import (
	"fmt"
	"strings"
)

// stepRoom is the width, in points, for the name of an idea and of its two strategies.
const stepRoom = 190

// stepsChart draws what each idea bought at a panel's point; nil if no two strategies were run that differ in one.
func stepsChart(p *panel) (*Chart, error) {
	if len(p.Steps) == 0 {
		return nil, nil
	}
	metric := p.Workload.Primary
	var rows []forestRow
	var alt, doubts []string
	for i := range p.Steps {
		step := &p.Steps[i]
		if i == 0 || step.Metric != metric {
			metric = step.Metric
			rows = append(rows, forestRow{text: betterSide(metric) + " better"})
		}
		text := step.Interval.Text()
		if step.Reason != "" {
			text += " ?"
			doubts = append(doubts, fmt.Sprintf("%s, %s → %s, counts for nothing: %s.", step.Name, step.From, step.To, plain(step.Reason)))
		}
		row := newForestRow(step.Name+"\n"+changeOf(step.From, step.To, textStyle(textSize), stepRoom), step.To, step.Interval, text)
		if step.Reason != "" {
			row.style.Color = pale(row.style.Color)
		}
		if row.shown() {
			alt = append(alt, fmt.Sprintf("%s (%s → %s) %s", step.Name, step.From, step.To, text))
		}
		rows = append(rows, row)
	}
	f, drawn, cut := newForest(p.title("what each idea bought"), 34, 150, rows)
	f.rowRoom = stepRoom
	f.xTitle = "ratio of the strategy with the idea to the one without"
	if drawn == 0 {
		f.message = noRatio
	}
	caption := []string{"Each row is two strategies that differ in one idea only: the geometric mean of their ratios in the same block, with its interval. " +
		"The intervals hold together with 95 %. These comparisons were not planned and have no verdict."}
	if cut {
		caption = append(caption, goesOn)
	}
	chart, err := Chart{
		Name:     p.name("steps"),
		Workload: p.Workload.Name,
		Point:    p.Point,
		noImage:  p.noImages,
		Kind:     KindSteps,
		Caption:  strings.Join(append(caption, doubts...), " "),
		Alt:      strings.Join(alt, "; ") + ".",
	}.finish(f)
	return &chart, err
}

// plain takes the backquotes off the names in a sentence.
func plain(sentence string) string { return strings.ReplaceAll(sentence, "`", "") }
