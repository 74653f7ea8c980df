package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tailrace/results"
)

// panel is what one chart compares: the strategies under one workload at one concurrency.
type panel struct {
	workload results.Workload
	point    results.Cell
	suffix   string // tells the panels of a workload apart in file names: "" if there is one
	where    string // the same in words
	series   []series
}

// series is one strategy of a panel.
type series struct {
	results.CellSummary
	label string // strategy, or "A/A"
	style Style
	runs  []*results.Run // the valid ones, in the order of execution
}

// panels groups the cells of a sweep, in the order of results.Sweep.Cells. A workload of which no cell
// was run has an empty panel.
func panels(s *results.Sweep) []panel {
	runs := make(map[results.Cell][]*results.Run)
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Valid() {
			runs[run.Cell] = append(runs[run.Cell], run)
		}
	}
	points := make(map[string][]results.Cell) // by workload
	members := make(map[results.Cell][]series)
	workloads := slices.Clone(s.Meta.Workloads)
	for _, summary := range s.Cells() {
		point := pointOf(summary.Cell)
		if !slices.ContainsFunc(workloads, func(w results.Workload) bool { return w.Name == point.Workload }) {
			workloads = append(workloads, results.Workload{Name: point.Workload})
		}
		if len(members[point]) == 0 {
			points[point.Workload] = append(points[point.Workload], point)
		}
		label := summary.Cell.Label()
		members[point] = append(members[point], series{summary, label, StyleOf(label), runs[summary.Cell]})
	}
	var all []panel
	for _, workload := range workloads {
		workload.Primary = cmp.Or(workload.Primary, results.MetricOps)
		for _, point := range points[workload.Name] {
			p := panel{workload: workload, point: point, series: members[point]}
			p.suffix, p.where = differences(point, points[workload.Name])
			all = append(all, p)
		}
		if len(points[workload.Name]) == 0 {
			all = append(all, panel{workload: workload})
		}
	}
	return all
}

// pointOf is a cell without its strategy: what strategies are compared at.
func pointOf(cell results.Cell) results.Cell {
	cell.Strategy, cell.Arm = "", ""
	return cell
}

// differences names the dimensions in which a point differs from others: "-workers-4" for file
// names and "workers 4" for titles.
func differences(point results.Cell, others []results.Cell) (suffix, words string) {
	var parts []string
	for i, d := range dimensions(point) {
		differs := func(other results.Cell) bool { return dimensions(other)[i].value != d.value }
		if slices.ContainsFunc(others, differs) {
			parts = append(parts, d.name+" "+d.value)
		}
	}
	words = strings.Join(parts, ", ")
	if words != "" {
		suffix = "-" + fileName(words)
	}
	return suffix, words
}

type dimension struct{ name, value string }

// dimensions lists what points can differ in, named as in bench.txt.
func dimensions(c results.Cell) []dimension {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return []dimension{
		{"producers", strconv.Itoa(c.Producers)},
		{"consumers", strconv.Itoa(c.Consumers)},
		{"workers", strconv.Itoa(c.Workers)},
		{"produce", number(c.ProducePercent) + "%"},
		{"partitions", strconv.Itoa(c.Partitions)},
		{"record-size", strconv.Itoa(c.RecordSize)},
		{"batch-records", strconv.Itoa(c.BatchRecords)},
		{"fetch-bytes", strconv.Itoa(c.FetchBytes)},
		{"pattern", c.Pattern},
		{"produce-rate", number(c.ProduceRate)},
		{"consume-rate", number(c.ConsumeRate)},
		{"acks", c.Acks},
		{"sync", c.Sync},
		{"gomaxprocs", strconv.Itoa(c.GOMAXPROCS)},
		{"storage", c.Storage},
	}
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
	return fileName(p.workload.Name) + p.suffix + "-" + what
}

// title begins the title of a chart of the panel.
func (p *panel) title(what string) string {
	if p.where == "" {
		return fmt.Sprintf("%s: %s", p.workload.Name, what)
	}
	return fmt.Sprintf("%s (%s): %s", p.workload.Name, p.where, what)
}

// openLoop reports whether any role of the panel is paced.
func (p *panel) openLoop() bool { return p.point.ProduceRate > 0 || p.point.ConsumeRate > 0 }

// leftOut says, in sentences, which runs of the panel don't count.
func (p *panel) leftOut() []string {
	var sentences []string
	for _, m := range p.series {
		if m.Valid < m.Runs {
			sentences = append(sentences, fmt.Sprintf("%s failed verification in %d of %d runs: those are left out.",
				m.label, m.Runs-m.Valid, m.Runs))
		}
	}
	return sentences
}
