package plots

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tailrace/results"
)

//go:embed page/page.html.tmpl page/parts.html.tmpl
var pageFiles embed.FS

//go:embed page/style.css
var pageStyle string

//go:embed page/script.js
var pageScript string

var pageTemplate = template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
	"words": words,
	"count": func(n int, noun string) string {
		if n != 1 {
			noun += "s"
		}
		return fmt.Sprintf("%d %s", n, noun)
	},
}).ParseFS(pageFiles, "page/*.tmpl"))

// WriteReport writes a sweep and its charts (see Charts) as one HTML file that loads nothing: styles,
// charts and a small script, which sorts tables and copies commands, are in it, and without the script
// nothing of it is missing. Where claims.json lies beside the sweep, the page has a chapter on it. It makes the directory of path where it is missing, and replaces the file as
// a whole. A chart without SVG is a link to charts/NAME.svg beside the page. Of very many points the page has the
// first table each; it says so where anything is left to files.
func WriteReport(s *results.Sweep, charts []Chart, path string) error {
	r := newReport(s, charts)
	var err error
	if r.Claims, err = newReportClaims(s.Dir); err != nil {
		return fmt.Errorf("plots: report: %w", err)
	}
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, r); err != nil {
		return fmt.Errorf("plots: report: %w", err)
	}
	err = os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = results.ReplaceFile(path, content(page.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("plots: report: %w", err)
	}
	return nil
}

// report is what the template shows: a summary with the charts.
type report struct {
	results.Summary
	Style  template.CSS
	Script template.JS
	Policy string // what the page may load: nothing

	Verdict   pageVerdict
	Decisions []decision
	Glance    *pageTable // nil if nothing was compared
	Alarms    []string   // what a reader has to know before the first number
	Elsewhere []string   // what the page leaves to files
	Workloads []reportWorkload
	Trends    []reportTrend
	Effects   []pageChart
	// LongEffects says that their chart is longer than a screen.
	LongEffects bool
	Claims      *reportClaims // nil if none were tested
	Health      reportHealth

	CPUModel string
	OwnMix   string
	Settings *pageTable // nil if there are none
	Version  string
}

// longEffects is the number of comparisons beyond which their chart is closed until somebody asks.
const longEffects = 24

func newReport(s *results.Sweep, charts []Chart) *report {
	summary := s.Summary()
	r := &report{
		Summary:   summary,
		Style:     template.CSS(pageStyle),
		Script:    template.JS(pageScript),
		Policy:    policy(pageScript),
		Glance:    glance(&summary),
		Alarms:    alarms(s, &summary),
		Elsewhere: elsewhere(&summary, charts),
		Workloads: reportWorkloads(&summary, charts),
		CPUModel:  s.Meta.Environment.CPUModel,
		OwnMix:    ownMix(s.Meta.Command),
		Version:   s.Meta.Version,
	}
	r.Trends = reportTrends(&summary, charts)
	r.Decisions = decisions(&summary, r.Trends)
	if n := len(effectsOf(&summary)); n > 0 {
		r.Effects = inline(charts, results.Cell{}, KindEffects)
		r.LongEffects = n > longEffects
	}
	r.Verdict = judge(s, &summary, r.Alarms)
	r.Health = newHealth(s, &summary)
	if len(summary.Settings.Labels) > 0 {
		r.Settings = newTable("settings", "What each run did before and while it was measured.", summary.Settings.Title, summary.Settings)
	}
	return r
}

// policy is the Content-Security-Policy of the page: no request at all, and of scripts only its own.
func policy(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// alarms picks from a summary what stands before the numbers of a sweep because they are worth less for
// it.
func alarms(s *results.Sweep, summary *results.Summary) []string {
	var found []string
	if summary.Distrust != "" {
		found = append(found, "this sweep is not to be trusted: "+summary.Distrust)
	}
	if summary.Doubt != "" {
		found = append(found, "the findings are not to be relied on: "+summary.Doubt)
	}
	if s.Meta.Interrupted || slices.ContainsFunc(s.Runs, func(r results.Run) bool { return !r.Valid() }) {
		found = append(found, summary.Verification...)
	}
	if s.Meta.Preflight.BustedCaught <= 0 {
		found = append(found, summary.Preflight)
	}
	return append(found, summary.Warnings...)
}

// effectsOf are the planned comparisons of all workloads and points.
func effectsOf(summary *results.Summary) []results.Effect {
	var effects []results.Effect
	for _, answer := range summary.Answers {
		effects = append(effects, answer.Effects...)
	}
	return effects
}

// pageChart is a chart inside the page.
type pageChart struct {
	Title, Caption string
	Inline         template.HTML
	Link           string // of the file, where there is nothing inline
}

// inline picks the charts of a point.
func inline(charts []Chart, point results.Cell, kinds ...ChartKind) []pageChart {
	return pick(charts, func(c *Chart) bool { return c.Point == point && slices.Contains(kinds, c.Kind) })
}

// pick prepares charts to stand inside a page: in HTML an svg element needs no namespace.
func pick(charts []Chart, wanted func(*Chart) bool) []pageChart {
	var picked []pageChart
	for i := range charts {
		c := &charts[i]
		switch {
		case !wanted(c):
		case c.SVG == nil:
			picked = append(picked, pageChart{Title: c.Title, Link: "charts/" + c.Name + ".svg"})
		default:
			svg := strings.Replace(string(c.SVG), ` xmlns="http://www.w3.org/2000/svg"`, "", 1)
			picked = append(picked, pageChart{Title: c.Title, Caption: c.Caption, Inline: template.HTML(svg)})
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
