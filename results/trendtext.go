package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Title names the trend: "share along share of appends".
func (t *Trend) Title() string { return t.Workload + " along " + t.Label() + parenthesis(t.Where) }

// Notes says what the trend shows, in sentences without an end: where the order of two strategies changes, how
// each planned comparison goes along the axis, and what the scaling law says or why none was fitted.
func (t *Trend) Notes() []string {
	var notes []string
	for i := range t.Crossovers {
		notes = append(notes, t.Crossovers[i].Text(&t.Axis, t.Metric))
	}
	if t.Pairs > 0 && len(t.Crossovers) == 0 {
		notes = append(notes, fmt.Sprintf("no change of order found, among %s of strategies", counted(t.Pairs, "pair", "pairs")))
	}
	notes = append(notes, t.segmentNotes()...)
	switch {
	case !slices.Contains(clientKeys, t.Key): // nobody expects a law there
		return notes
	case t.Unfitted != "":
		return append(notes, "no scaling law fitted: "+t.Unfitted)
	}
	for i := range t.Lines {
		if f := t.Lines[i].Fit; f != nil {
			notes = append(notes, fmt.Sprintf("%s: contention %s, coherency %s, %s", quoted(t.Lines[i].Label), f.Contention.percent(), f.Coherency.percent(), f.peakWords(&t.Axis)))
		}
	}
	for _, text := range t.unfitted() {
		notes = append(notes, "no scaling law fitted to "+text)
	}
	return notes
}

// unfitted are the reasons why lines have no fit, each with the lines that it holds for, unless it holds for all.
func (t *Trend) unfitted() []string {
	var reasons []string
	lines := make(map[string][]string)
	for _, line := range t.Lines {
		if line.Unfitted == "" {
			continue
		}
		if lines[line.Unfitted] == nil {
			reasons = append(reasons, line.Unfitted)
		}
		lines[line.Unfitted] = append(lines[line.Unfitted], quoted(line.Label))
	}
	var texts []string
	for _, reason := range reasons {
		if len(lines[reason]) == len(t.Lines) {
			return []string{reason}
		}
		texts = append(texts, enumerate(lines[reason])+": "+reason)
	}
	return texts
}

// segmentNotes are those on the planned comparisons: the stretches of the axis with one verdict.
func (t *Trend) segmentNotes() []string {
	if reason, ok := commonReason(t.Effects); ok {
		return []string{"no verdict: " + reason}
	}
	type stretch struct{ baseline, words string }
	var stretches []stretch // in the order of the first comparison of each
	strategies := make(map[stretch][]string)
	for rest := t.Effects; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Comparison == rest[0].Comparison {
			n++
		}
		same := stretch{baselineName(&rest[0]), t.segments(rest[:n])}
		if strategies[same] == nil {
			stretches = append(stretches, same)
		}
		strategies[same] = append(strategies[same], quoted(rest[0].Strategy)+thisBuild(&rest[0]))
		rest = rest[n:]
	}
	var notes []string
	for _, same := range stretches {
		notes = append(notes, fmt.Sprintf("%s against %s: %s", enumerate(strategies[same]), same.baseline, same.words))
	}
	return notes
}

// segments words the effects of one comparison: "no difference found at 1 (one of less than 1.20× could hide), better
// at 2–16 (1.40× to 2.10×, intervals within 1.31–2.30)".
func (t *Trend) segments(effects []Effect) string {
	var parts []string
	for len(effects) > 0 {
		n := 1
		for n < len(effects) && effects[n].Verdict == effects[0].Verdict {
			n++
		}
		part := effects[0].Verdict.String() + " at " + t.at(effects[0].Point)
		if effects[0].Verdict == Undecided {
			part = "no verdict at " + t.at(effects[0].Point)
		}
		if n > 1 {
			part += "–" + t.at(effects[n-1].Point)
		}
		parts = append(parts, part+stretchNumbers(effects[:n]))
		effects = effects[n:]
	}
	return strings.Join(parts, ", ")
}

// stretchNumbers are what was found at points with one verdict.
func stretchNumbers(effects []Effect) string {
	least, most := effects[0], effects[0]
	low, high := effects[0].Low, effects[0].High
	for _, e := range effects[1:] {
		if e.Ratio < least.Ratio {
			least = e
		}
		if e.Ratio > most.Ratio {
			most = e
		}
		low, high = min(low, e.Low), max(high, e.High)
	}
	switch {
	case effects[0].Verdict == Undecided:
		return ""
	case effects[0].Verdict == NoDifference:
		return parenthesis(hiddenWords(hidden(effects)))
	case len(effects) == 1:
		return ": " + effects[0].Interval.Text()
	}
	ratios := FormatRatio(least.Ratio)
	if most := FormatRatio(most.Ratio); most != ratios {
		ratios += " to " + most
	}
	return fmt.Sprintf(" (%s, intervals within %s–%s)", ratios, formatRatioNumber(low), formatRatioNumber(high))
}

// at writes the place of a point on the axis.
func (t *Trend) at(point Cell) string {
	if i := slices.Index(t.Points, point); i >= 0 {
		return t.Format(t.Values[i])
	}
	return absent
}

// Tables are the medians, a row for each strategy and a column for each point, and the fitted laws, if there are
// any.
func (t *Trend) Tables() []Table {
	medians := Table{Title: MetricLabel(t.Metric) + " by " + t.Label()}
	for _, line := range t.Lines {
		medians.Labels = append(medians.Labels, line.Label)
	}
	for _, value := range t.Values {
		column := Column{Head: t.Format(value)}
		for _, line := range t.Lines {
			text := absent
			if i := slices.IndexFunc(line.Levels, func(l Level) bool { return l.Value == value }); i >= 0 {
				text = FormatMetric(t.Metric, line.Levels[i].Median)
			}
			column.Cells = append(column.Cells, text)
		}
		medians.Columns = append(medians.Columns, column)
	}
	laws := Table{Title: "scaling law", Columns: []Column{{Head: "rate of one"}, {Head: "contention"}, {Head: "coherency"}, {Head: "peak"}}}
	for _, line := range t.Lines {
		f := line.Fit
		if f == nil {
			continue
		}
		laws.Labels = append(laws.Labels, line.Label)
		for i, text := range []string{
			fmt.Sprintf("%s (%s–%s)", FormatMetric(t.Metric, f.Rate.Value), FormatMetric(t.Metric, f.Rate.Low), FormatMetric(t.Metric, f.Rate.High)),
			f.Contention.percent(), f.Coherency.percent(), f.peakNumber(),
		} {
			laws.Columns[i].Cells = append(laws.Columns[i].Cells, text)
		}
	}
	if len(laws.Labels) == 0 {
		return []Table{medians}
	}
	return []Table{medians, laws}
}

// percent is a share with its interval: 3.1 % (2.0–4.4).
func (c Coefficient) percent() string {
	return fmt.Sprintf("%s %% (%s–%s)", percentNumber(c.Value), percentNumber(c.Low), percentNumber(c.High))
}

// percentNumber has two significant digits at least, however small the share: a coherency of a hundredth of a
// percent limits how far a strategy scales.
func percentNumber(share float64) string {
	switch percent := 100 * share; {
	case percent == 0:
		return "0"
	case percent < 0.0001:
		return "<0.0001"
	case percent < 1:
		return strconv.FormatFloat(percent, 'f', 1-int(math.Floor(math.Log10(percent))), 64)
	case percent < 9.95:
		return strconv.FormatFloat(percent, 'f', 1, 64)
	default:
		return formatCount(percent)
	}
}

// farBeyond is how many times the last level a peak may lie beyond it for its place to mean something.
const farBeyond = 10

// last is the highest level that the law was fitted to; 0 without any.
func (f *Fit) last() float64 {
	if len(f.Levels) == 0 {
		return 0
	}
	return f.Levels[len(f.Levels)-1]
}

// peakWords say where throughput is highest.
func (f *Fit) peakWords(a *Axis) string {
	last := f.last()
	switch {
	case math.IsInf(f.Peak, 1):
		return "no peak"
	case f.Peak > farBeyond*last:
		return "peak far beyond what was measured"
	case f.Peak > last:
		return "peak at " + a.words(math.Round(f.Peak)) + ", beyond what was measured"
	}
	return "peak at " + a.words(max(1, math.Round(f.Peak)))
}

// peakNumber is the peak in a table, with ">" where only that much is known.
func (f *Fit) peakNumber() string {
	limit := farBeyond * f.last()
	switch {
	case math.IsInf(f.Peak, 1):
		return "none"
	case f.Peak > limit:
		return ">" + formatCount(limit)
	}
	return formatCount(max(1, math.Round(f.Peak)))
}
