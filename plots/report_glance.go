package plots

import (
	"slices"
	"strings"

	"tailrace/results"
)

// decision is what the page says first of one workload, and how it goes along its axes.
type decision struct {
	Text   string
	Trends []reportTrend
}

// decisions are the answers of a sweep.
func decisions(summary *results.Summary, trends []reportTrend) []decision {
	var list []decision
	for _, answer := range summary.Answers {
		d := decision{Text: answer.Text}
		for _, trend := range trends {
			if trend.Workload == answer.Workload {
				d.Trends = append(d.Trends, trend)
			}
		}
		list = append(list, d)
	}
	return list
}

// verdicts are in the order in which they are told.
var verdicts = []results.Verdict{results.Better, results.Worse, results.NoDifference, results.Undecided}

var verdictWords = map[results.Verdict]string{
	results.Better: "better", results.Worse: "worse", results.NoDifference: "no difference found", results.Undecided: "no verdict",
}

// The signs stand beside the words, so that a row can be read at a glance.
var verdictSigns = map[results.Verdict]string{
	results.Better: "▲", results.Worse: "▼", results.NoDifference: "~", results.Undecided: "?",
}

var verdictClasses = map[results.Verdict]string{
	results.Better: "better", results.Worse: "worse", results.NoDifference: "same", results.Undecided: "same",
}

// The number of rows beyond which the glance has one line for each, and that of strategies beyond which their
// columns are narrow.
const (
	longGlance = 8
	wideGlance = 5
)

// glance is the table of all planned comparisons: a row for each workload, point and baseline, and a
// column for each strategy. It is nil if there are none.
func glance(summary *results.Summary) *pageTable {
	strategies, several := compared(summary)
	if len(strategies) == 0 {
		return nil
	}
	t := &pageTable{Label: "all planned comparisons", Corner: "workload",
		Caption: "At a glance: ratio to the baseline, with its interval. ▲ better, ▼ worse, ~ no difference found, ? no verdict."}
	if several {
		t.Heads = append(t.Heads, pageHead{"at", true})
	}
	t.Heads = append(t.Heads, pageHead{"baseline", true})
	for _, strategy := range strategies {
		t.Heads = append(t.Heads, pageHead{strategy, true})
	}
	workload, point := -1, 0
	for i := range summary.Sections {
		section := &summary.Sections[i]
		if point++; i == 0 || summary.Sections[i-1].Workload.Name != section.Workload.Name {
			workload, point = workload+1, 0
		}
		for _, effects := range rowsOf(section.Effects) {
			row := pageRow{Label: section.Workload.Name, Link: workloadID(workload)}
			if several {
				row.Cells = append(row.Cells, pageCell{Text: section.Where, Class: "left"})
				if section.Where != "" {
					row.Link = pointID(workload, point)
				}
			}
			row.Cells = append(row.Cells, glanceBaseline(section, &effects[0]))
			for _, strategy := range strategies {
				row.Cells = append(row.Cells, glanceCell(effects, strategy))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	t.Sortable = len(t.Rows) > 1
	t.Narrow = len(strategies) > wideGlance
	t.Compact = t.Narrow || len(t.Rows) > longGlance
	return t
}

// compared are the strategies of the planned comparisons, each once, and whether one of the workloads has
// several points.
func compared(summary *results.Summary) (strategies []string, several bool) {
	for _, section := range summary.Sections {
		several = several || section.Where != ""
		for _, e := range section.Effects {
			if !slices.Contains(strategies, e.Strategy) {
				strategies = append(strategies, e.Strategy)
			}
		}
	}
	return strategies, several
}

// rowsOf groups effects into the rows of the table: those with one baseline. Comparisons of each strategy with itself of
// another build have as many baselines as strategies, and one row: its baseline is "each".
func rowsOf(effects []results.Effect) [][]results.Effect {
	var groups [][]results.Effect
	for _, e := range effects {
		same := func(group []results.Effect) bool {
			return group[0].BaselineBuild == e.BaselineBuild && (e.BaselineBuild != "" || group[0].Baseline == e.Baseline)
		}
		if at := slices.IndexFunc(groups, same); at >= 0 {
			groups[at] = append(groups[at], e)
		} else {
			groups = append(groups, []results.Effect{e})
		}
	}
	return groups
}

// glanceBaseline is what the strategies of a row are compared with, what was measured of it, and as which
// metric.
func glanceBaseline(section *results.Section, e *results.Effect) pageCell {
	cell := pageCell{Text: e.Baseline, Note: results.MetricLabel(e.Metric), Class: "left"}
	if results.LowerIsBetter(e.Metric) {
		cell.Note += ", less is better"
	}
	if e.BaselineBuild != "" {
		cell.Text = "each of " + e.BaselineBuild
		return cell
	}
	for i := range section.Cells {
		c := &section.Cells[i]
		if c.Cell.Strategy != e.Baseline || c.Cell.Arm != "" || c.Cell.Build != "" {
			continue
		}
		if median, ok := c.Median(e.Metric); ok {
			cell.Text += " " + results.FormatMetric(e.Metric, median)
		} else if bound, ok := c.Bound(e.Metric); ok {
			cell.Text += " ≤ " + results.FormatMetric(e.Metric, bound)
		}
	}
	return cell
}

func glanceCell(effects []results.Effect, strategy string) pageCell {
	at := slices.IndexFunc(effects, func(e results.Effect) bool { return e.Strategy == strategy })
	if at < 0 {
		return pageCell{Numeric: true, Class: "left"}
	}
	e := &effects[at]
	cell := pageCell{Numeric: true, Class: "left " + verdictClasses[e.Verdict], Sign: verdictSigns[e.Verdict], Note: verdictWords[e.Verdict]}
	if e.Verdict != results.Undecided { // a ratio that counts for nothing would be remembered all the same
		ratio, interval, _ := strings.Cut(e.Interval.Text(), " ")
		cell.Text, cell.Detail, cell.Sort = ratio, interval, formatSort(e.Ratio)
	}
	return cell
}
