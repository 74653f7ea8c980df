package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Answer says in a sentence what the planned comparisons of one workload, at one point, found.
type Answer struct {
	Workload string
	Point    Cell
	Text     string
	Effects  []Effect // that it rests on
}

// Answers returns an answer for each workload of the sweep that was run, at each point, in the order of
// the tables, and one for a workload whose highest rate was searched for. Names of strategies stand between backquotes.
func (s *Sweep) Answers() []Answer {
	effects := s.Effects()
	var answers []Answer
	for _, name := range s.workloadNames() {
		if searches := s.searches(name); len(searches) > 0 {
			answers = append(answers, Answer{Workload: name, Point: Cell{Workload: name}, Text: name + ": " + searchAnswer(searches) + "."})
			continue
		}
		points := s.points(name)
		for _, point := range points {
			a := Answer{Workload: name, Point: point, Effects: effectsAt(point, effects)}
			where := name
			if label := pointLabel(point, points); label != "" {
				where += " (" + label + ")"
			}
			a.Text = where + ": " + s.answer(a.Effects) + "."
			answers = append(answers, a)
		}
	}
	return answers
}

// answer words the effects of one workload at one point.
func (s *Sweep) answer(effects []Effect) string {
	if len(effects) == 0 {
		return "no comparison was planned"
	}
	if reason, ok := commonReason(effects); ok {
		return "no verdict, because " + reason
	}
	var clauses []string
	for _, group := range byBaseline(effects) {
		clauses = append(clauses, findings(group)...)
	}
	return strings.Join(clauses, "; ") + ", in this sweep"
}

// byBaseline groups effects that have one baseline, in the order of the first of each.
func byBaseline(effects []Effect) [][]Effect {
	var groups [][]Effect
	for _, e := range effects {
		same := func(group []Effect) bool {
			return group[0].Baseline == e.Baseline && group[0].BaselineBuild == e.BaselineBuild
		}
		if at := slices.IndexFunc(groups, same); at >= 0 {
			groups[at] = append(groups[at], e)
		} else {
			groups = append(groups, []Effect{e})
		}
	}
	return groups
}

// findings are the clauses on effects with one baseline.
func findings(effects []Effect) []string {
	var clauses []string
	for _, verdict := range []Verdict{Better, Worse} {
		if clause := differences(effects, verdict); clause != "" {
			clauses = append(clauses, clause)
		}
	}
	if same := withVerdict(effects, NoDifference); len(same) > 0 {
		clauses = append(clauses, fmt.Sprintf("no difference found between %s and %s: one of less than %s could hide",
			strings.Join(names(same), ", "), baselineName(&same[0]), FormatRatio(hidden(same))))
	}
	for _, e := range withVerdict(effects, Undecided) {
		clauses = append(clauses, fmt.Sprintf("no verdict on %s, because %s", quoted(e.Strategy), e.Reason))
	}
	return clauses
}

// baselineName is what an effect's strategy was compared with: a strategy, of another build if it is one.
func baselineName(e *Effect) string {
	if e.BaselineBuild != "" {
		return quoted(e.Baseline) + " of " + e.BaselineBuild
	}
	return quoted(e.Baseline)
}

// thisBuild is what tells an effect's strategy from its baseline, where builds are compared.
func thisBuild(e *Effect) string {
	if e.BaselineBuild != "" {
		return " of this build"
	}
	return ""
}

// hidden is the largest ratio, either way, that the intervals of effects still allow.
func hidden(effects []Effect) float64 {
	most := 1.0
	for _, e := range effects {
		most = max(most, e.High, 1/e.Low)
	}
	return most
}

// commonReason is the reason why all effects are undecided, if it is one.
func commonReason(effects []Effect) (string, bool) {
	if len(effects) == 0 {
		return "", false
	}
	for _, e := range effects {
		if e.Verdict != Undecided || e.Reason != effects[0].Reason {
			return "", false
		}
	}
	return effects[0].Reason, true
}

// differences words the effects of one verdict, the largest first: "`a` completes 1.9× (1.5–2.4) and `b`
// 1.2× (1.1–1.3) the operations of `mutex`".
func differences(effects []Effect, verdict Verdict) string {
	found := withVerdict(effects, verdict)
	if len(found) == 0 {
		return ""
	}
	metric := found[0].Metric
	best := func(a, b Effect) int { return cmp.Compare(b.Ratio, a.Ratio) }
	if LowerIsBetter(metric) == (verdict == Better) {
		best = func(a, b Effect) int { return cmp.Compare(a.Ratio, b.Ratio) }
	}
	slices.SortStableFunc(found, best)
	subject, verb, object := wording(metric)
	possessive := ""
	if subject != "" {
		possessive = "'s"
	}
	var parts []string
	for i, e := range found {
		part := quoted(e.Strategy) + possessive
		if i == 0 {
			part += subject + thisBuild(&e) + " " + verb
		}
		parts = append(parts, part+" "+FormatInterval(e.Ratio, e.Low, e.High))
	}
	return enumerate(parts) + " " + object + " " + baselineName(&found[0])
}

// wording gives the words around a ratio: (whose) what, does, of whose.
func wording(metric string) (subject, verb, object string) {
	switch metric {
	case MetricOps:
		return "", "completes", "the operations of"
	case MetricProduceOps:
		return "", "completes", "the appends of"
	case MetricConsumeOps:
		return "", "completes", "the reads of"
	case MetricDrain:
		return "", "drains the backlog in", "the time of"
	}
	if kind, statistic, ok := latencyParts(metric); ok {
		if kind == KindEndToEnd {
			kind = "end-to-end"
		}
		return " " + kind + " " + statisticLabel(statistic), "is", "that of"
	}
	if LowerIsBetter(metric) {
		return " " + MetricLabel(metric), "is", "that of"
	}
	return "", "reaches", "the " + MetricLabel(metric) + " of"
}

func withVerdict(effects []Effect, verdict Verdict) []Effect {
	return slices.DeleteFunc(slices.Clone(effects), func(e Effect) bool { return e.Verdict != verdict })
}

func names(effects []Effect) []string {
	var list []string
	for _, e := range effects {
		list = append(list, quoted(e.Strategy)+thisBuild(&e))
	}
	return list
}

func quoted(name string) string { return "`" + name + "`" }

// enumerate joins with commas and a last "and".
func enumerate(parts []string) string {
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
