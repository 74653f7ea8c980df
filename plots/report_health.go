package plots

import (
	"fmt"
	"slices"
	"strings"

	"tailrace/results"
)

// pageVerdict is how far the sweep deserves belief.
type pageVerdict struct {
	Text    string
	Class   string
	Reasons []string
}

// judge says whether a sweep is healthy, in the words of the page. Not to be trusted is one whose A/A arms
// differ, or whose checks did not catch what they must. That much of a measurement is the harness's own
// is no reservation: it is told beside the numbers, and makes differences smaller, not larger.
func judge(s *results.Sweep, summary *results.Summary, alarms []string) pageVerdict {
	preflight := s.Meta.Preflight
	if summary.Distrust != "" || preflight != (results.Preflight{}) && preflight.BustedCaught <= 0 {
		return pageVerdict{"not to be trusted", "bad", alarms}
	}
	if summary.Doubt != "" {
		return pageVerdict{"not to be relied on", "bad", alarms}
	}
	reasons := slices.Clone(alarms)
	switch arms := armsOf(summary.Sections); {
	case len(s.Runs) == 0:
		reasons = append(reasons, "no run has ended")
	case len(s.Meta.Searches) > 0:
	case len(arms) == 0:
		reasons = append(reasons, "there was no A/A arm: nothing shows whether the sweep sees differences where there are none")
	default:
		for _, arm := range arms {
			if !arm.Healthy {
				reasons = append(reasons, fmt.Sprintf("A/A arm of %s: %s", arm.place, arm.Reason))
			}
		}
	}
	effects := effectsOf(summary)
	undecided := 0
	for _, e := range effects {
		if e.Verdict == results.Undecided {
			undecided++
		}
	}
	if undecided > 0 {
		reasons = append(reasons, fmt.Sprintf("no verdict on %d of %d planned comparisons; the notes of their workloads say why", undecided, len(effects)))
	}
	if len(reasons) > 0 {
		return pageVerdict{"with reservations", "doubt", reasons}
	}
	return pageVerdict{"healthy", "good", nil}
}

// arm is an A/A arm and where it ran.
type arm struct {
	results.Health
	place string
}

func armsOf(sections []results.Section) []arm {
	var arms []arm
	for i := range sections {
		for _, health := range sections[i].Health {
			arms = append(arms, arm{health, placeOf(&sections[i])})
		}
	}
	return arms
}

// reportHealth is the section on health.
type reportHealth struct {
	Checks      []healthCheck
	BustedError string
	Arms        *pageTable // nil if there are none; so are those below
	Late        *pageTable
	Harness     *pageTable
}

// healthCheck is one line of the section on health.
type healthCheck struct {
	Name, Outcome string
	Class         string // good, doubt, bad, or "" where there was nothing to check
}

// Word is how the page says the class.
func (c healthCheck) Word() string {
	switch c.Class {
	case "":
		return "–"
	case "doubt":
		return "caution"
	}
	return c.Class
}

func newHealth(s *results.Sweep, summary *results.Summary) reportHealth {
	arms := armsOf(summary.Sections)
	h := reportHealth{
		BustedError: s.Meta.Preflight.BustedError,
		Arms:        armsTable(arms),
		Late:        lateTable(summary.Sections),
		Harness:     harnessTable(summary.Sections),
	}
	h.Checks = []healthCheck{
		verificationCheck(s, summary), preflightCheck(s, summary), armsCheck(arms),
		lateCheck(summary.Sections, h.Late), harnessCheck(summary.Sections, h.Harness), warningsCheck(summary),
	}
	return h
}

func verificationCheck(s *results.Sweep, summary *results.Summary) healthCheck {
	check := healthCheck{Name: "answers", Outcome: strings.Join(summary.Verification, "; "), Class: "good"}
	for i := range s.Runs {
		if s.Runs[i].Verification.Error != "" {
			check.Class = "bad"
			return check
		}
		if !s.Runs[i].Valid() {
			check.Class = "doubt"
		}
	}
	if s.Meta.Interrupted || len(s.Runs) == 0 {
		check.Class = "doubt"
	}
	return check
}

func preflightCheck(s *results.Sweep, summary *results.Summary) healthCheck {
	check := healthCheck{Name: "negative control", Outcome: summary.Preflight, Class: "bad"}
	switch {
	case s.Meta.Preflight.BustedCaught > 0:
		check.Class = "good"
	case s.Meta.Preflight == (results.Preflight{}):
		check.Class = "doubt"
	}
	return check
}

func armsCheck(arms []arm) healthCheck {
	check := healthCheck{Name: "A/A arms", Class: "good"}
	healthy := 0
	for _, arm := range arms {
		switch {
		case arm.Healthy:
			healthy++
		case arm.Excludes1():
			check.Class = "bad"
		case check.Class == "good":
			check.Class = "doubt"
		}
	}
	check.Outcome = fmt.Sprintf("%d of %d healthy", healthy, len(arms))
	if len(arms) == 0 {
		check.Class = ""
		check.Outcome = "none: nothing shows whether this sweep sees differences where there are none"
	}
	return check
}

func lateCheck(sections []results.Section, late *pageTable) healthCheck {
	check := healthCheck{Name: "load on time"}
	paced := 0
	for _, section := range sections {
		if p := section.Point; p.ProduceRate > 0 || p.ConsumeRate > 0 || p.Rate > 0 {
			paced += len(section.Cells)
		}
	}
	switch {
	case paced == 0:
		check.Outcome = "no load had a rate to keep"
	case late == nil:
		check.Outcome, check.Class = fmt.Sprintf("in all %d cells with a rate", paced), "good"
	default:
		check.Class = "doubt"
		check.Outcome = fmt.Sprintf("late in %d of %d cells with a rate: some of their latencies are known as a bound (≤) only", len(late.Rows), paced)
	}
	return check
}

func harnessCheck(sections []results.Section, costly *pageTable) healthCheck {
	check := healthCheck{Name: "harness cost", Outcome: "not known"}
	known := 0
	for _, section := range sections {
		for i := range section.Cells {
			if _, ok := section.Cells[i].HarnessShare(); ok {
				known++
			}
		}
	}
	limit := results.FormatPercent(results.HarnessLimit)
	switch {
	case known == 0:
	case costly == nil:
		check.Outcome, check.Class = fmt.Sprintf("at most %s of what is measured, in all %d cells", limit, known), "good"
	default:
		check.Class = "doubt"
		check.Outcome = fmt.Sprintf("more than %s of what is measured in %d of %d cells (†): true ratios are farther from 1 than those here", limit, len(costly.Rows), known)
	}
	return check
}

func warningsCheck(summary *results.Summary) healthCheck {
	check := healthCheck{Name: "warnings", Outcome: strings.Join(summary.Warnings, "; "), Class: "doubt"}
	if len(summary.Warnings) == 0 {
		check.Outcome, check.Class = "none", "good"
	}
	return check
}

func armsTable(arms []arm) *pageTable {
	t := results.Table{}
	metric, ratio := results.Column{Head: "primary metric", Left: true}, results.Column{Head: "ratio", Left: true}
	for _, arm := range arms {
		t.Labels = append(t.Labels, arm.place)
		metric.Cells = append(metric.Cells, results.MetricLabel(arm.Metric))
		text := arm.Text()
		if arm.Reason != "" {
			text += ": " + arm.Reason
		}
		ratio.Cells = append(ratio.Cells, text)
	}
	t.Columns = []results.Column{metric, ratio}
	return tableOrNone("health", "A/A arms: the baseline against itself, 95 % each.", "workload", t)
}

// lateTable has the cells of which a latency is known as a bound only.
func lateTable(sections []results.Section) *pageTable {
	t := results.Table{}
	where, bounds := results.Column{Head: "in", Left: true}, results.Column{Head: "at most", Left: true}
	for i := range sections {
		for j := range sections[i].Cells {
			c := &sections[i].Cells[j]
			if texts := boundsOf(c); len(texts) > 0 {
				t.Labels = append(t.Labels, c.Cell.Label())
				where.Cells = append(where.Cells, placeOf(&sections[i]))
				bounds.Cells = append(bounds.Cells, strings.Join(texts, ", "))
			}
		}
	}
	t.Columns = []results.Column{where, bounds}
	return tableOrNone("health", "Where the load itself was late, and what latencies are at most for it.", "strategy", t)
}

// boundsOf are the latencies of a cell that are known as a bound only.
func boundsOf(c *results.CellSummary) []string {
	var texts []string
	for _, kind := range []string{results.KindProduce, results.KindConsume, results.KindEndToEnd} {
		for _, statistic := range results.Quantiles {
			metric := results.LatencyMetric(kind, statistic)
			if bound, ok := c.Bound(metric); ok {
				texts = append(texts, results.MetricLabel(metric)+" "+results.FormatMetric(metric, bound))
			}
		}
	}
	return texts
}

// harnessTable has the cells of which the harness takes more than the limit.
func harnessTable(sections []results.Section) *pageTable {
	t := results.Table{}
	where, shares := results.Column{Head: "in", Left: true}, results.Column{Head: "share"}
	for i := range sections {
		for j := range sections[i].Cells {
			c := &sections[i].Cells[j]
			if share, ok := c.HarnessShare(); ok && share > results.HarnessLimit {
				t.Labels = append(t.Labels, c.Cell.Label())
				where.Cells = append(where.Cells, placeOf(&sections[i]))
				shares.Cells = append(shares.Cells, results.FormatPercent(share))
			}
		}
	}
	t.Columns = []results.Column{where, shares}
	return tableOrNone("health", "Where the harness's own work is much of what is measured (†).", "strategy", t)
}

func placeOf(section *results.Section) string {
	if section.Where == "" {
		return section.Workload.Name
	}
	return section.Workload.Name + ", " + section.Where
}

func tableOrNone(about, caption, corner string, t results.Table) *pageTable {
	if len(t.Labels) == 0 {
		return nil
	}
	return newTable(about, caption, corner, t)
}
