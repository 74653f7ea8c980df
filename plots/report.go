package plots

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tailrace/results"
)

//go:embed report.html.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"words":  words,
	"metric": results.MetricLabel,
	"table": func(about, caption, rows string, t results.Table) tableView {
		return tableView{about, caption, rows, t}
	},
}).Parse(reportText))

// WriteReport writes a sweep and its charts (see Charts) as one HTML file that loads nothing: styles
// and charts are in it, and it has no script. It makes the directory of path where it is missing, and
// replaces the file as a whole.
func WriteReport(s *results.Sweep, charts []Chart, path string) error {
	var page bytes.Buffer
	if err := reportTemplate.Execute(&page, newReport(s, charts)); err != nil {
		return fmt.Errorf("plots: report: %w", err)
	}
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = writeFile(path, page.Bytes())
	}
	if err != nil {
		return fmt.Errorf("plots: report: %w", err)
	}
	return nil
}

// report is what the template shows: a summary with the charts.
type report struct {
	results.Summary
	Alarms      []string // what a reader has to know before the first number
	Workloads   []reportWorkload
	SweepCharts []reportChart
	Health      []results.Health
	CPUModel    string
	BustedError string
	Version     string
}

type reportWorkload struct {
	ID, Name string
	Sections []reportSection
}

// reportSection is one workload at one point.
type reportSection struct {
	results.Section
	Metrics, Latencies []reportChart
}

// tableView is what the table template shows.
type tableView struct {
	About, Caption string
	Rows           string // what the rows are
	results.Table
}

type reportChart struct {
	Caption string
	Inline  template.HTML
}

func newReport(s *results.Sweep, charts []Chart) *report {
	r := &report{
		Summary:     s.Summary(),
		SweepCharts: inline(charts, results.Cell{}, KindEffects),
		Health:      s.Health(),
		CPUModel:    s.Meta.Environment.CPUModel,
		BustedError: s.Meta.Preflight.BustedError,
		Version:     s.Meta.Version,
	}
	for _, section := range r.Sections {
		last := len(r.Workloads) - 1
		if last < 0 || r.Workloads[last].Name != section.Workload.Name {
			last++
			r.Workloads = append(r.Workloads, reportWorkload{ID: fmt.Sprintf("workload-%d", last+1), Name: section.Workload.Name})
		}
		shown := reportSection{Section: section}
		if len(section.Cells) > 0 {
			shown.Metrics = inline(charts, section.Point, KindMetric)
			shown.Latencies = inline(charts, section.Point, KindLatency, KindHistogram)
		}
		r.Workloads[last].Sections = append(r.Workloads[last].Sections, shown)
	}
	r.Alarms = alarms(s, &r.Summary)
	return r
}

// alarms picks from a summary what stands before the numbers of a sweep because they are worth less for
// it.
func alarms(s *results.Sweep, summary *results.Summary) []string {
	var found []string
	if summary.Distrust != "" {
		found = append(found, "this sweep is not to be trusted: "+summary.Distrust)
	}
	if s.Meta.Interrupted || slices.ContainsFunc(s.Runs, func(r results.Run) bool { return !r.Valid() }) {
		found = append(found, summary.Verification...)
	}
	if s.Meta.Preflight.BustedCaught <= 0 {
		found = append(found, summary.Preflight)
	}
	return append(found, summary.Warnings...)
}

// inline picks the charts of a point, prepared to stand inside a page: in HTML an svg element needs no
// namespace.
func inline(charts []Chart, point results.Cell, kinds ...ChartKind) []reportChart {
	var picked []reportChart
	for _, c := range charts {
		if c.Point == point && slices.Contains(kinds, c.Kind) {
			svg := strings.Replace(string(c.SVG), ` xmlns="http://www.w3.org/2000/svg"`, "", 1)
			picked = append(picked, reportChart{c.Caption, template.HTML(svg)})
		}
	}
	return picked
}

// words escapes a sentence for HTML and sets what stands between backquotes as code.
func words(sentence string) template.HTML {
	var out strings.Builder
	parts := strings.Split(sentence, "`")
	for i, part := range parts {
		escaped := template.HTMLEscapeString(part)
		switch {
		case i%2 == 1 && i < len(parts)-1:
			out.WriteString("<code>" + escaped + "</code>")
		case i%2 == 1:
			out.WriteString("`" + escaped) // the last backquote has no partner
		default:
			out.WriteString(escaped)
		}
	}
	return template.HTML(out.String())
}
