package plots

import (
	"fmt"
	"slices"
	"strings"

	"tailrace/results"
)

// mostTableCells is how many cells the tables of all points have together if the page shows them all.
const mostTableCells = 60_000

// isBrief reports whether the page has only the first table of each point.
func isBrief(summary *results.Summary) bool {
	cells := 0
	for _, section := range summary.Sections {
		for _, t := range section.Tables {
			cells += len(t.Labels) * len(t.Columns)
		}
	}
	return cells > mostTableCells
}

// elsewhere says what the page leaves to the files beside it.
func elsewhere(summary *results.Summary, charts []Chart) []string {
	var sentences []string
	if isBrief(summary) {
		sentences = append(sentences, fmt.Sprintf("The sweep has %d points: the page has one table of each. `summary.md` has the others.", len(summary.Sections)))
	}
	var left []string
	for chapter, name := range []string{"trends", "effects", "points"} {
		if slices.ContainsFunc(charts, func(c Chart) bool { return c.SVG == nil && chapterOf(c.Kind) == chapter }) {
			left = append(left, name)
		}
	}
	if len(left) > 0 {
		sentences = append(sentences, fmt.Sprintf("The charts of %s are too many for one page: it links to them in `charts/`, beside it.", strings.Join(left, " and ")))
	}
	return sentences
}

// linksOf are links to charts of one point, named without the point.
func linksOf(charts []pageChart) []pageChart {
	for i := range charts {
		title := charts[i].Title
		charts[i].Title = strings.TrimSpace(title[strings.LastIndex(title, ": ")+1:])
	}
	return charts
}
