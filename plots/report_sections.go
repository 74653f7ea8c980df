package plots

import (
	"fmt"
	"slices"
	"strings"

	"tailrace/results"
)

// manyPoints is the number of points of a workload from which the page shows them closed.
const manyPoints = 4

// reportWorkload is one workload at all its points.
type reportWorkload struct {
	ID, Name string
	Several  bool // points, so that each has a heading
	Folded   bool // they are closed until somebody asks
	Points   []reportPoint
}

// reportPoint is one workload at one point.
type reportPoint struct {
	ID, Where   string
	Finding     string // of the planned comparisons, in few words
	Description string
	Comparison  []*pageTable // the planned one, or the searches; none if nothing was run
	Metrics     []pageChart
	Notes       []string

	Front, Steps             []*pageTable
	FrontCharts, StepsCharts []pageChart
	Roles                    []*pageTable
	Latencies                []pageChart
	Histograms, Times        []pageChart
	Details                  []*pageTable
	Files                    []pageChart // in place of all charts, where the page has no room for them
}

func reportWorkloads(summary *results.Summary, charts []Chart) []reportWorkload {
	at := make(map[results.Cell][]Chart)
	for _, c := range charts {
		at[c.Point] = append(at[c.Point], c)
	}
	brief := isBrief(summary)
	var workloads []reportWorkload
	for _, section := range summary.Sections {
		last := len(workloads) - 1
		if last < 0 || workloads[last].Name != section.Workload.Name {
			last++
			workloads = append(workloads, reportWorkload{ID: workloadID(last), Name: section.Workload.Name})
		}
		w := &workloads[last]
		if brief && len(section.Tables) > 1 {
			section.Tables = section.Tables[:1]
		}
		point := newPoint(&section, at[section.Point])
		point.ID = pointID(last, len(w.Points))
		w.Points = append(w.Points, point)
		w.Several = len(w.Points) > 1
		w.Folded = len(w.Points) >= manyPoints
	}
	return workloads
}

func workloadID(workload int) string { return fmt.Sprintf("workload-%d", workload+1) }
func pointID(workload, point int) string {
	return fmt.Sprintf("workload-%d-point-%d", workload+1, point+1)
}

func newPoint(section *results.Section, charts []Chart) reportPoint {
	p := reportPoint{Where: section.Where, Description: section.Description, Notes: section.Notes, Finding: finding(section.Effects)}
	name := section.Workload.Name
	if section.Where != "" {
		name += ", " + section.Where
	}
	for i, t := range section.Tables {
		switch {
		case i == 0 && t.Title == "":
			p.Comparison = append(p.Comparison, newTable(name, "planned comparison", "strategy", t))
		case i == 0:
			p.Comparison = append(p.Comparison, newTable(name, t.Title, "strategy", t))
		case strings.HasPrefix(t.Title, results.FrontTitle):
			p.Front = append(p.Front, newTable(name, t.Title, "strategy", t))
		case strings.HasPrefix(t.Title, results.StepsTitle):
			p.Steps = append(p.Steps, newTable(name, t.Title, "idea", t))
		case t.Detail:
			p.Details = append(p.Details, newTable(name, t.Title, "strategy", t))
		default:
			p.Roles = append(p.Roles, newTable(name, t.Title, "strategy", t))
		}
	}
	if len(section.Cells) == 0 {
		return p
	}
	if slices.ContainsFunc(charts, func(c Chart) bool { return c.SVG == nil && chapterOf(c.Kind) == chapterOf(KindMetric) }) {
		p.Files = linksOf(pick(charts, func(*Chart) bool { return true }))
		return p
	}
	for kind, list := range map[ChartKind]*[]pageChart{
		KindMetric: &p.Metrics, KindFront: &p.FrontCharts, KindSteps: &p.StepsCharts,
		KindLatency: &p.Latencies, KindHistogram: &p.Histograms, KindTime: &p.Times,
	} {
		*list = inline(charts, section.Point, kind)
	}
	return p
}

// finding says what the comparisons of one point found: the strategies that are better or worse.
func finding(effects []results.Effect) string {
	var parts []string
	for _, verdict := range verdicts {
		var names []string
		for _, e := range effects {
			if e.Verdict == verdict {
				names = append(names, "`"+e.Strategy+"`")
			}
		}
		if len(names) > 0 {
			parts = append(parts, verdictWords[verdict]+": "+strings.Join(names, ", "))
		}
	}
	return strings.Join(parts, " · ")
}

// reportTrend is how one workload goes along one axis.
type reportTrend struct {
	ID, Title     string
	Workload, Key string // what goes along which axis
	Tables        []*pageTable
	Charts        []pageChart
	Notes         []string
}

func reportTrends(summary *results.Summary, charts []Chart) []reportTrend {
	var trends []reportTrend
	drawn := make(map[string]int) // of a workload's charts
	for i := range summary.Trends {
		trend := &summary.Trends[i]
		shown := reportTrend{
			ID: fmt.Sprintf("trend-%d", i+1), Title: trend.Workload + " by " + trend.Key,
			Workload: trend.Workload, Key: trend.Key, Notes: trend.Notes(),
		}
		if trend.Where != "" {
			shown.Title += ", " + trend.Where
		}
		for _, t := range trend.Tables() {
			shown.Tables = append(shown.Tables, newTable(shown.Title, t.Title, trendCorner(trend, &t), t))
		}
		// The charts of a workload are in the order of its trends; what is left over stands at the last.
		found := pick(charts, func(c *Chart) bool { return c.Kind == KindTrend && c.Workload == trend.Workload })
		from := min(drawn[trend.Workload], len(found))
		to := min(from+1, len(found))
		if i+1 == len(summary.Trends) || summary.Trends[i+1].Workload != trend.Workload {
			to = len(found)
		}
		shown.Charts = found[from:to]
		drawn[trend.Workload] = to
		trends = append(trends, shown)
	}
	return trends
}

// trendCorner says what the rows of a table of a trend are: strategies, or points of the axis.
func trendCorner(trend *results.Trend, t *results.Table) string {
	for _, label := range t.Labels {
		if !slices.ContainsFunc(trend.Lines, func(l results.Line) bool { return l.Label == label }) {
			return trend.Key
		}
	}
	return "strategy"
}
