package plots

import (
	"fmt"
	"strings"

	"tailrace/results"
)

// panel is what one chart compares: the strategies under one workload at one concurrency.
type panel struct {
	results.Section
	suffix string // tells the panels of a workload apart in file names: "" if there is one
	series []series
	// noImages leaves out the PNG of its charts.
	noImages bool
}

// series is one strategy of a panel.
type series struct {
	results.CellSummary
	label string // see results.Cell.Label
	style Style
	runs  []*results.Run // the valid ones, in the order of execution
}

// panels returns the sections of a sweep with their runs and styles. A workload of which no cell was run
// has an empty panel, and one whose highest rate was searched for has none: its runs are at different rates.
func panels(s *results.Sweep) []panel {
	runs := make(map[results.Cell][]*results.Run)
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Valid() {
			runs[run.Cell] = append(runs[run.Cell], run)
		}
	}
	var all []panel
	for _, section := range s.Sections() {
		if len(section.Searches) > 0 {
			continue
		}
		p := panel{Section: section}
		if section.Where != "" {
			p.suffix = "-" + fileName(section.Where)
		}
		for _, c := range section.Cells {
			label := c.Cell.Label()
			p.series = append(p.series, series{c, label, StyleOf(label), runs[c.Cell]})
		}
		all = append(all, p)
	}
	for i := range all {
		all[i].noImages = len(all) > mostImages
	}
	return all
}

// fileName turns words into a name that is safe in any file system and URL.
func fileName(words string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, words)
	safe = strings.Trim(safe, "-.")
	for strings.Contains(safe, "--") {
		safe = strings.ReplaceAll(safe, "--", "-")
	}
	const longest = 120
	if len(safe) > longest {
		safe = safe[:longest]
	}
	if safe == "" {
		return "unnamed"
	}
	return safe
}

// name is the stable file name of a chart of the panel, without extension.
func (p *panel) name(what string) string {
	return fileName(p.Workload.Name) + p.suffix + "-" + what
}

// title begins the title of a chart of the panel.
func (p *panel) title(what string) string {
	if p.Where == "" {
		return fmt.Sprintf("%s: %s", p.Workload.Name, what)
	}
	return fmt.Sprintf("%s (%s): %s", p.Workload.Name, p.Where, what)
}

// notes says, in sentences, which runs of the panel don't count.
func (p *panel) notes() []string {
	var sentences []string
	for i := range p.series {
		for _, note := range p.series[i].Notes() {
			sentences = append(sentences, note+".")
		}
	}
	return sentences
}
