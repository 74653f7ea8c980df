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

// Answers returns an answer for each workload of the sweep that was run, in the order of the tables: on its planned
// comparisons; then, where it was run at one point, on the choice that is left; and where it was run along
// axes, on how the comparisons go along them. A workload whose highest rate was searched for has one on that. Names
// of strategies stand between backquotes.
func (s *Sweep) Answers() []Answer {
	x := s.index()
	effects := x.effects()
	return x.answers(x.sections(effects), x.trends(effects))
}

func (s *index) answers(sections []Section, trends []Trend) []Answer {
	var answers []Answer
	for i := range sections {
		section := &sections[i]
		name := section.Workload.Name
		a := Answer{Workload: name, Point: section.Point, Effects: section.Effects}
		switch {
		case len(section.Searches) > 0:
			a.Text = name + ": " + searchAnswer(section.Searches) + "."
		case len(section.Cells) == 0:
			continue
		case slices.ContainsFunc(trends, func(t Trend) bool { return t.Workload == name }):
			if i > 0 && sections[i-1].Workload.Name == name {
				last := &answers[len(answers)-1]
				last.Effects = append(last.Effects, section.Effects...)
				continue
			}
			a.Point, a.Effects = Cell{Workload: name}, slices.Clone(section.Effects)
		default:
			a.Text = s.pointAnswer(section)
		}
		answers = append(answers, a)
	}
	for i := range answers {
		if a := &answers[i]; a.Text == "" {
			a.Text = s.trendAnswer(a, trends)
		}
	}
	return answers
}

// pointAnswer words what was found of a workload at one point.
func (s *index) pointAnswer(section *Section) string {
	text := section.Workload.Name + parenthesis(section.Where) + ": " + s.answer(section.Effects)
	if same := section.sameAs(leader(section.Effects)); same != "" {
		text += "; " + same
	}
	text += "."
	if section.Front != nil && !hopeless(section.Effects) {
		front := section.Front.Text(section.Point)
		text += " " + strings.ToUpper(front[:1]) + front[1:] + "."
	}
	return text
}

// trendAnswer words how the comparisons of a workload go along its axes, and where their order changes.
func (s *index) trendAnswer(a *Answer, trends []Trend) string {
	var texts []string
	for i := range trends {
		t := &trends[i]
		if t.Workload != a.Workload {
			continue
		}
		text := "along " + t.Label() + parenthesis(t.Where) + ": "
		switch reason, common := commonReason(t.Effects); {
		case len(t.Effects) == 0:
			text += "no comparison was planned"
		case common:
			text += s.noVerdict(reason)
		default:
			clauses := t.segmentNotes()
			for j := range t.Crossovers {
				if c := &t.Crossovers[j]; !c.Planned { // the stretches say the others
					clauses = append(clauses, c.Text(&t.Axis, t.Metric))
				}
			}
			text += strings.Join(clauses, "; ") + ", in this sweep"
		}
		texts = append(texts, text)
	}
	return a.Workload + ", " + strings.Join(texts, ". Also ") + "."
}

// leader is the strategy with the largest gain of those that are better than their baseline; "" if none is.
func leader(effects []Effect) string {
	best := -1
	for i := range effects {
		if e := &effects[i]; e.Verdict == Better && e.BaselineBuild == "" && (best < 0 || better(e.Metric, e.Ratio, effects[best].Ratio)) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return effects[best].Strategy
}

// answer words the effects of one workload at one point.
func (s *index) answer(effects []Effect) string {
	if len(effects) == 0 {
		return "no comparison was planned"
	}
	if reason, ok := commonReason(effects); ok {
		return s.noVerdict(reason)
	}
	var clauses []string
	for _, group := range byBaseline(effects) {
		clauses = append(clauses, findings(group)...)
	}
	return strings.Join(clauses, "; ") + ", in this sweep"
}

// noVerdict says that there is none, and why. What makes the whole sweep worth nothing is told once, before the
// answers (Summary.Distrust).
func (s *index) noVerdict(reason string) string {
	if reason == s.sick {
		return "no verdict, since this sweep is not to be trusted"
	}
	return "no verdict, because " + reason
}

// byBaseline groups effects that a sentence can compare with one baseline, the same strategy of the same build.
func byBaseline(effects []Effect) [][]Effect {
	return groupBy(effects, func(e Effect) [2]string { return [2]string{e.Baseline, e.BaselineBuild} })
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
		clauses = append(clauses, fmt.Sprintf("no difference found between %s and %s (%s)",
			strings.Join(names(same), ", "), baselineName(&same[0]), hiddenWords(hidden(same))))
	}
	return append(clauses, undecidedClauses(withVerdict(effects, Undecided))...)
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

// tooWide is the ratio that an interval may not hide if it is to tell anything.
const tooWide = 3

// hopeless reports whether effects tell nothing: no difference was found, and any could hide.
func hopeless(effects []Effect) bool {
	same := withVerdict(effects, NoDifference)
	return len(effects) > 0 && len(same) == len(effects) && hidden(same) > tooWide
}

// hiddenWords say what a ratio that intervals allow means.
func hiddenWords(most float64) string {
	if most > tooWide {
		return "the blocks are too few, or the machine too busy, to tell"
	}
	return "one of less than " + FormatRatio(most) + " could hide"
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

// enumerate joins with commas and a last "and", and alternatives with a last "or".
func enumerate(parts []string) string    { return joinLast(parts, " and ") }
func alternatives(parts []string) string { return joinLast(parts, " or ") }

func joinLast(parts []string, word string) string {
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + word + parts[last]
}
