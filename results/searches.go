package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// searches are those of one workload.
func (s *Sweep) searches(workload string) []Search {
	return slices.DeleteFunc(slices.Clone(s.Meta.Searches), func(x Search) bool { return x.Workload != workload })
}

// bracket is where the highest rate that a strategy sustains lies, as far as a search knows.
func (x *Search) bracket() (low, high float64) {
	if x.Fail <= 0 {
		return x.Pass, math.Inf(1)
	}
	return min(x.Pass, x.Fail), max(x.Pass, x.Fail)
}

// overlaps reports whether the brackets of two searches leave open which strategy sustains more.
func (x *Search) overlaps(y *Search) bool {
	low, high := x.bracket()
	otherLow, otherHigh := y.bracket()
	return low < otherHigh && otherLow < high
}

// words say what a strategy sustains.
func (x *Search) words() string {
	name := quoted(x.Strategy)
	if x.Reason != "" {
		return name + " came to no end: " + x.Reason
	}
	switch {
	case x.Pass <= 0 && x.Fail <= 0:
		return name + " was not tried"
	case x.Pass <= 0:
		return name + " sustains less than " + formatCount(x.Fail) + " records/s"
	case x.Fail <= 0:
		return name + " sustains " + formatCount(x.Pass) + " records/s, the highest rate that was tried"
	case x.Fail <= x.Pass:
		return fmt.Sprintf("%s passed %s records/s and failed %s", name, formatCount(x.Pass), formatCount(x.Fail))
	}
	return fmt.Sprintf("%s sustains %s–%s records/s", name, formatCount(x.Pass), formatCount(x.Fail))
}

// objectives are those of all searches, in words; false if they differ.
func objectives(searches []Search) (string, bool) {
	for i := range searches {
		if !slices.Equal(searches[i].Objectives, searches[0].Objectives) {
			return "", false
		}
	}
	return cmp.Or(strings.Join(searches[0].Objectives, " and "), "keeping up"), true
}

// searchAnswer words the searches of one workload, the highest rate first.
func searchAnswer(searches []Search) string {
	sorted := slices.Clone(searches)
	slices.SortStableFunc(sorted, func(a, b Search) int { return cmp.Compare(b.Pass, a.Pass) })
	var clauses []string
	for i := range sorted {
		clause := sorted[i].words()
		if _, same := objectives(searches); !same {
			own, _ := objectives(sorted[i : i+1])
			clause += " under " + own
		}
		clauses = append(clauses, clause)
	}
	text := enumerate(clauses)
	if common, same := objectives(searches); same {
		text += ", under " + common
	}
	return text + overlapWords(sorted) + ", in this sweep"
}

// overlapWords say which strategies are not told apart; "" if there is nothing to tell apart.
func overlapWords(searches []Search) string {
	var open []string
	pairs := 0
	for i := range searches {
		for j := range i {
			pairs++
			if searches[i].overlaps(&searches[j]) {
				open = append(open, quoted(searches[j].Strategy)+" and "+quoted(searches[i].Strategy))
			}
		}
	}
	switch {
	case len(open) == 0:
		return ""
	case len(open) == pairs && pairs > 1:
		return "; all of these brackets overlap: no verdict on which sustains most"
	}
	return "; no verdict between " + strings.Join(open, ", nor between ") + ", whose brackets overlap"
}

// searchNotes say what a bracket is.
var searchNotes = []string{
	"passed: the highest rate that met the objectives, and met them again; failed: the lowest that did not",
	"one search each is no comparison: the same strategy, searched again on a machine whose runs differ by 10 %, ends elsewhere more often than not; " +
		"for a verdict, compare at a given rate between the brackets, in blocks",
}

// howLong says for how long a rate had to be kept.
func howLong(w Workload) []string {
	if !(w.Duration > 0) {
		return nil
	}
	return []string{fmt.Sprintf("each rate had to be kept for a ramp of %s and a window of %s; a longer --duration shows what fills up slowly",
		FormatDuration(w.Ramp), FormatDuration(w.Duration))}
}

// searchSection is what was found of a workload whose highest rate was searched for.
func searchSection(w Workload, searches []Search) Section {
	return Section{
		Workload: w, Point: Cell{Workload: w.Name}, Description: w.Description, Searches: searches,
		Tables: []Table{searchTable(searches), probeTable(searches)},
		Notes:  slices.Concat(w.Notes, limits(searches), howLong(w), searchNotes),
	}
}

func searchTable(searches []Search) Table {
	t := Table{Title: "records/s"}
	passed, failed, under, probes := Column{Head: "passed"}, Column{Head: "failed"}, Column{Head: "under", Left: true}, Column{Head: "probes"}
	rate := func(v float64) string {
		if v <= 0 {
			return absent
		}
		return formatCount(v)
	}
	common, same := objectives(searches)
	for i := range searches {
		x := &searches[i]
		t.Labels = append(t.Labels, searchLabel(searches, i))
		passed.Cells = append(passed.Cells, rate(x.Pass))
		failed.Cells = append(failed.Cells, rate(x.Fail))
		own, _ := objectives(searches[i : i+1])
		under.Cells = append(under.Cells, own)
		probes.Cells = append(probes.Cells, fmt.Sprint(len(x.Probes)))
	}
	t.Columns = []Column{passed, failed, under, probes}
	if same {
		t.Title = "records/s under " + common
		t.Columns = []Column{passed, failed, probes}
	}
	return t
}

// searchLabel is the strategy of a search, and the number of processors where there are several.
func searchLabel(searches []Search, i int) string {
	x := &searches[i]
	differs := func(y Search) bool { return y.GOMAXPROCS != x.GOMAXPROCS }
	if slices.ContainsFunc(searches, differs) {
		return fmt.Sprintf("%s %s %d", x.Strategy, gomaxprocsKey, x.GOMAXPROCS)
	}
	return x.Strategy
}

// unknownFrom is the lowest rate that failed, if no run there could be judged; else 0.
func (x *Search) unknownFrom() float64 {
	unknown := 0.0
	for _, probe := range x.Probes {
		switch {
		case probe.Rate != x.Fail:
		case probe.Passed || !probe.Unknown:
			return 0
		default:
			unknown = probe.Rate
		}
	}
	return unknown
}

// limits say where a search did not look.
func limits(searches []Search) []string {
	var notes []string
	for i := range searches {
		x := &searches[i]
		switch {
		case x.Reason != "":
			notes = append(notes, searchLabel(searches, i)+": "+x.Reason)
		case x.unknownFrom() > 0:
			notes = append(notes, fmt.Sprintf("%s: at %s/s nobody knows, since the load itself was late or samples were too few: it may sustain more",
				searchLabel(searches, i), formatCount(x.unknownFrom())))
		case x.Floor > 0 && x.Fail > 0 && x.Fail <= x.Floor:
			notes = append(notes, fmt.Sprintf("%s: nothing below %s/s was tried, where a window has too few samples for its objectives; a longer --duration has more",
				searchLabel(searches, i), formatCount(x.Floor)))
		}
	}
	return notes
}

// probeTable has the probes of all searches in their order.
func probeTable(searches []Search) Table {
	t := Table{Title: "probes", Detail: true}
	rates, outcomes := Column{Head: "records/s"}, Column{Head: "outcome", Left: true}
	for i := range searches {
		for _, probe := range searches[i].Probes {
			outcome := "failed"
			if probe.Passed {
				outcome = "passed"
			}
			if probe.Confirms {
				outcome += " when repeated"
			}
			switch {
			case probe.Reason != "":
				outcome += ": " + probe.Reason
			case len(probe.Measured) > 0:
				outcome += ": " + strings.Join(probe.Measured, ", ")
			}
			t.Labels = append(t.Labels, searchLabel(searches, i))
			rates.Cells = append(rates.Cells, formatCount(probe.Rate))
			outcomes.Cells = append(outcomes.Cells, outcome)
		}
	}
	t.Columns = []Column{rates, outcomes}
	return t
}
