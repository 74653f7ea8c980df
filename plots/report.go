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
	"words":    words,
	"table":    func(workload string, labels []string, g reportGroup) tableView { return tableView{workload, labels, g} },
	"duration": results.FormatDuration,
	"size":     func(bytes int64) string { return results.FormatBytes(float64(bytes)) },
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

// report is what the template shows.
type report struct {
	Title, Headline, Footnote string
	Answers                   []results.Answer
	Alarms                    []string // what a reader has to know before the first number
	Workloads                 []reportWorkload
	SweepCharts               []reportChart
	Verification              []string
	Preflight, BustedError    string
	Health                    []reportHealth
	Warnings                  []string
	Environment               []reportFact
	Settings                  []results.Workload
	Command, Started, Version string
	Seed                      uint64
}

type reportWorkload struct {
	ID, Name string
	Sections []reportSection
}

// tableView is what the table template shows.
type tableView struct {
	Workload string
	Labels   []string
	reportGroup
}

type reportChart struct {
	Caption string
	Inline  template.HTML
}

type reportHealth struct{ Workload, Metric, Interval, Verdict string }

type reportFact struct{ Name, Value string }

func newReport(s *results.Sweep, charts []Chart) *report {
	r := &report{
		Title:        "tailrace: which concurrency model?",
		Headline:     headline(s),
		Footnote:     footnote(s),
		Answers:      s.Answers(),
		Verification: verification(s),
		Preflight:    preflight(s),
		BustedError:  s.Meta.Preflight.BustedError,
		Warnings:     append(append([]string(nil), s.Meta.Warnings...), s.Warnings...),
		Environment:  environment(s),
		Settings:     s.Meta.Workloads,
		Command:      shellLine(s.Meta.Command),
		Started:      s.Meta.Started.UTC().Format("2006-01-02 15:04:05 UTC"),
		Version:      s.Meta.Version,
		Seed:         s.Meta.Seed,
	}
	effects, health := s.Effects(), s.Health()
	for _, p := range panels(s) {
		last := len(r.Workloads) - 1
		if last < 0 || r.Workloads[last].Name != p.workload.Name {
			last++
			r.Workloads = append(r.Workloads, reportWorkload{ID: fmt.Sprintf("workload-%d", last+1), Name: p.workload.Name})
		}
		if len(p.series) > 0 {
			section := newSection(s, &p, effects, health)
			section.Metrics = inline(charts, p.point, KindMetric)
			section.Latencies = inline(charts, p.point, KindLatency, KindHistogram)
			r.Workloads[last].Sections = append(r.Workloads[last].Sections, section)
		}
	}
	r.SweepCharts = inline(charts, results.Cell{}, KindEffects)
	for _, h := range health {
		row := reportHealth{h.Workload, results.MetricLabel(h.Metric), intervalText(h.Interval), "healthy"}
		if !h.Healthy {
			row.Verdict = "not healthy: " + h.Reason
			r.Alarms = append(r.Alarms, h.Workload+": "+h.Reason)
		}
		r.Health = append(r.Health, row)
	}
	r.Alarms = append(r.Alarms, alarms(s)...)
	return r
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

// alarms are the facts about a sweep that stand before its numbers.
func alarms(s *results.Sweep) []string {
	var found []string
	failed := 0
	for i := range s.Runs {
		if !s.Runs[i].Valid() {
			failed++
		}
	}
	if failed > 0 {
		found = append(found, fmt.Sprintf("%d of %d runs failed verification; their numbers count for nothing.", failed, len(s.Runs)))
	}
	if s.Meta.Preflight.BustedCaught <= 0 {
		found = append(found, "The negative control was not caught before the sweep: nothing shows that the checks of this sweep work.")
	}
	if s.Meta.Interrupted {
		found = append(found, "The sweep was ended early; what had finished counts.")
	}
	return found
}
