package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tailrace/results"
)

// mostEffectRows is how many rows one effect chart has: more stand in several.
const mostEffectRows = 24

// effectGroups are the rows of the effect charts: the ratio of each planned comparison to its baseline, with its
// interval, and the A/A arms, in one chart, or where that would be too tall to read in several, of one workload each.
// A sweep in which nothing but highest rates was searched for has none.
func effectGroups(s *results.Sweep, all []panel) []effectGroup {
	groups := effectsByPoint(all)
	if len(groups) == 0 && len(s.Meta.Searches) > 0 {
		return nil
	}
	var one effectGroup
	for _, g := range groups {
		one.rows = append(one.rows, g.rows...)
	}
	if len(one.rows) <= mostEffectRows {
		return []effectGroup{one}
	}
	return packed(groups)
}

// effectGroup is some of the rows of a sweep's effects: those at one point, or at several of one workload.
type effectGroup struct {
	workload string // "" for all workloads
	part     string // "1 of 2", if the workload has several groups
	rows     []forestRow
}

// packed joins the groups of one workload as long as there are not too many rows, and numbers those of a workload
// that is left with several.
func packed(groups []effectGroup) []effectGroup {
	var joined []effectGroup
	parts := make(map[string]int)
	for _, g := range groups {
		if last := len(joined) - 1; last >= 0 && joined[last].workload == g.workload && len(joined[last].rows)+len(g.rows) <= mostEffectRows {
			joined[last].rows = append(joined[last].rows, g.rows...)
			continue
		}
		joined = append(joined, g)
		parts[g.workload]++
	}
	number := make(map[string]int)
	for i := range joined {
		g := &joined[i]
		number[g.workload]++
		if n := parts[g.workload]; n > 1 {
			g.part = fmt.Sprintf("%d of %d", number[g.workload], n)
		}
	}
	return joined
}

func effectChart(s *results.Sweep, g *effectGroup) (Chart, error) {
	name, title := "effects", "effects: ratio to the baseline"
	if g.workload != "" {
		name += "-" + fileName(g.workload)
		title = g.workload + ": ratio to the baseline"
	}
	if g.part != "" {
		title += ", " + g.part
	}
	f, drawn, cut := newForest(title, 24, 190, g.rows)
	f.xTitle = "ratio to " + cmp.Or(s.Meta.Baseline, "the baseline")
	if s.Meta.Against != nil {
		f.xTitle = "ratio to the same strategy of " + s.Meta.Against.Label
	}
	if drawn == 0 {
		f.message = noRuns
		switch {
		case len(s.Meta.Planned) == 0:
			f.message = "no comparison was planned"
		case slices.ContainsFunc(s.Runs, func(r results.Run) bool { return r.Valid() }):
			f.message = noRatio
		}
	}
	var alt []string
	for i := range g.rows {
		if row := &g.rows[i]; row.shown() {
			alt = append(alt, row.label+" "+row.text)
		}
	}
	caption := "Geometric mean of the ratios to the baseline in the same block, with its interval: 95 % over all planned comparisons together, " +
		"95 % by itself for A/A, which is the baseline under a second label and has to contain 1. The arrow of the heading points to the side of 1 that is better."
	if cut {
		caption += " " + goesOn
	}
	return Chart{Name: name, Workload: g.workload, Kind: KindEffects, Caption: caption, Alt: strings.Join(alt, "; ") + "."}.finish(f)
}

// goesOn is what a caption says of drawEnd's arrows.
const goesOn = "An interval with an arrow goes on beyond the chart."

// effectsByPoint lists the rows by workload and point, in the order of the planned comparisons.
func effectsByPoint(all []panel) []effectGroup {
	var groups []effectGroup
	for i := range all {
		p := &all[i]
		if len(p.series) == 0 || len(p.Effects)+len(p.Health) == 0 {
			continue
		}
		metric := p.Workload.Primary
		if len(p.Effects) > 0 {
			metric = p.Effects[len(p.Effects)-1].Metric
		}
		rows := []forestRow{{label: p.Workload.Name + ":", text: headingText(p, metric)}}
		for _, e := range p.Effects {
			text := e.Text()
			if e.Verdict == results.Better || e.Verdict == results.Worse {
				text += " " + e.Verdict.String()
			}
			rows = append(rows, newForestRow(e.Strategy, e.Strategy, e.Interval, text))
		}
		for _, h := range p.Health {
			rows = append(rows, newForestRow("A/A", "A/A", h.Interval, h.Text()))
		}
		groups = append(groups, effectGroup{workload: p.Workload.Name, rows: rows})
	}
	return groups
}

// newForestRow is a row in the style of a strategy.
func newForestRow(label, strategy string, ratio results.Interval, text string) forestRow {
	style := StyleOf(strategy)
	return forestRow{label, text, &style, ratio}
}

// headingText heads the ratios of a metric at a panel's point, with an arrow to the better side.
func headingText(p *panel, metric string) string {
	text := betterSide(metric)
	if p.Where != "" {
		return p.Where + ": " + text
	}
	return text + " better"
}

func betterSide(metric string) string {
	if results.LowerIsBetter(metric) {
		return results.MetricLabel(metric) + " ←"
	}
	return results.MetricLabel(metric) + " →"
}
