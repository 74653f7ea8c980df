package results

import (
	"cmp"
	"fmt"
	"strings"
)

// Idea is one step between two strategies that differ in nothing else: what it changes is what it buys.
type Idea struct {
	Name string `json:"name"` // "snapshot reads"
	From string `json:"from"` // strategy without it
	To   string `json:"to"`   // strategy with it
}

// Step is what an idea bought at one point: the ratio, on a metric, of the strategy that has it to the one that does
// not. Where that is a planned comparison it has its interval; else it has no verdict, and the intervals of those of
// one point hold together with 95 %.
type Step struct {
	Idea
	Metric string
	Interval
	// CPU is the same ratio on processor time per operation.
	CPU Interval
	// Planned says that it is a planned comparison.
	Planned bool
	// Reason says why the ratio counts for nothing (a side failed verification, say); "" if it does.
	Reason string
}

// steps are the ideas between strategies that were run at a point, in the order of Meta.Ideas; none where each is a
// planned comparison anyway.
func (s *index) steps(point Cell) []Step {
	metric := s.primary(point.Workload)
	ran := func(strategy string) bool { return len(s.runs[cellAt(point, strategy, "")]) > 0 }
	var steps []Step
	for _, idea := range s.Meta.Ideas {
		if ran(idea.From) && ran(idea.To) {
			steps = append(steps, Step{Idea: idea, Metric: metric})
		}
	}
	unplanned := 0
	for i := range steps {
		steps[i].Planned = s.planned(cellAt(point, steps[i].From, ""), cellAt(point, steps[i].To, ""), metric)
		if !steps[i].Planned {
			unplanned++
		}
	}
	if unplanned == 0 {
		return nil
	}
	for i := range steps {
		step := &steps[i]
		level := 1 - (1-confidence)/float64(unplanned)
		if step.Planned {
			level = s.level
		}
		from, to := cellAt(point, step.From, ""), cellAt(point, step.To, "")
		var distrust string
		step.Interval, distrust, _ = s.compare(to, from, metric, level)
		step.CPU, _ = s.ratio(to, from, MetricCPU, level)
		if distrust != "" {
			step.CPU = logInterval(nil, level)
		}
		step.Reason = cmp.Or(s.sick, distrust)
	}
	return steps
}

// Text is the ratio with its interval, and the sign of no difference or of no verdict where it is one.
func (s *Step) Text() string {
	switch {
	case s.Reason != "":
		return s.Interval.Text() + " " + undecidedSign
	case !s.Excludes1():
		return s.Interval.Text() + " " + noDifferenceSign
	}
	return s.Interval.Text()
}

// StepsTitle begins the title of the table of Section.Steps.
const StepsTitle = "what each idea bought"

// stepsTable says what each idea bought; false where no two strategies differ in one.
func (s *Section) stepsTable() (Table, bool) {
	t := Table{Title: StepsTitle + " (* planned; the others have no verdict, 95 % over each column)"}
	route, gain, cost := Column{Head: "from → to", Left: true}, Column{Head: MetricLabel(s.Workload.Primary), Left: true}, Column{Head: MetricLabel(MetricCPU), Left: true}
	for i := range s.Steps {
		step := &s.Steps[i]
		name := step.Name
		if step.Planned {
			name += " *"
		}
		t.Labels = append(t.Labels, name)
		route.Cells = append(route.Cells, step.From+" → "+step.To)
		gain.Cells = append(gain.Cells, step.Text())
		cost.Cells = append(cost.Cells, step.CPU.Text())
	}
	t.Columns = []Column{route, gain, cost}
	return t, len(s.Steps) > 0
}

// stepsNotes say why steps are worth nothing, where the effects don't say so.
func (s *Section) stepsNotes() []string {
	told := make(map[string]bool)
	for i := range s.Effects {
		told[s.Effects[i].Reason] = true
	}
	var notes []string
	for i := range s.Steps {
		if step := &s.Steps[i]; step.Reason != "" && !told[step.Reason] {
			told[step.Reason] = true
			notes = append(notes, fmt.Sprintf("%s, %s → %s: no telling: %s", step.Name, step.From, step.To, step.Reason))
		}
	}
	return notes
}

// sameAs words the steps to a strategy that bought nothing which shows: "no gain shows of `actor` over `mutex-group` by
// the idea channel (1.05× (0.95–1.16), not planned)". It is "" if there is none.
func (s *Section) sameAs(strategy string) string {
	var gains []string
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.To != strategy || step.Reason != "" || step.Excludes1() || max(step.High, 1/step.Low) > tooWide {
			continue
		}
		gains = append(gains, fmt.Sprintf("from %s over %s (%s)", step.Name, quoted(step.From), step.Interval.Text()))
	}
	if len(gains) == 0 {
		return ""
	}
	return fmt.Sprintf("no gain of %s shows %s", quoted(strategy), strings.Join(gains, ", nor ")) + ", which was not planned to be compared"
}
