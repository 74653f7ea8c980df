package results

import (
	"cmp"
	"fmt"
	"slices"
)

// isControl reports whether a strategy is no candidate: the limit, the cost of the harness, and the one whose
// answers are wrong on purpose.
func isControl(strategy string) bool {
	return strategy == limitStrategy || strategy == costStrategy || strategy == "busted"
}

// duel is a pair of candidates along an axis. Its signs, one a point, are 1 where the first leads by more than
// chance, −1 where the second does, and 0 where neither does or nothing counts.
type duel struct {
	first, second string
	planned       bool
	signs         []int
}

// findCrossovers looks at each pair of candidates for changes of their order. A planned comparison keeps its
// verdicts; the intervals of all other pairs share a confidence of their own.
func (s *index) findCrossovers(t *Trend) {
	duels := t.duels()
	unplanned := 0
	for i := range duels {
		if !duels[i].planned {
			unplanned++
		}
	}
	level := 1 - (1-confidence)/float64(max(1, unplanned*len(t.Points)))
	trusted := make(map[Cell]bool)
	for _, line := range t.Lines {
		for _, point := range t.Points {
			cell := cellAt(point, line.Label, "")
			trusted[cell] = s.distrust(cell, t.Metric) == ""
		}
	}
	for i := range duels {
		d := &duels[i]
		for _, point := range t.Points {
			a, b := cellAt(point, d.first, ""), cellAt(point, d.second, "")
			sign := 0
			switch {
			case d.planned:
				sign = t.plannedSign(d, point)
			case trusted[a] && trusted[b]:
				ratio, _ := s.ratio(a, b, t.Metric, level)
				sign = ratio.sign(t.Metric)
			}
			d.signs = append(d.signs, sign)
		}
		t.Crossovers = append(t.Crossovers, d.crossovers()...)
	}
	t.Pairs = len(duels)
	slices.SortStableFunc(t.Crossovers, func(a, b Crossover) int { return cmp.Or(cmp.Compare(a.Low, b.Low), cmp.Compare(a.High, b.High)) })
}

// duels are the pairs of candidates among the lines.
func (t *Trend) duels() []duel {
	var duels []duel
	for i, first := range t.Lines {
		for _, second := range t.Lines[i+1:] {
			if isControl(first.Label) || isControl(second.Label) {
				continue
			}
			d := duel{first: first.Label, second: second.Label}
			d.planned = slices.ContainsFunc(t.Effects, d.isOf)
			duels = append(duels, d)
		}
	}
	return duels
}

// isOf reports whether an effect compares the two, of this build.
func (d *duel) isOf(e Effect) bool {
	return e.BaselineBuild == "" && (e.Strategy == d.first && e.Baseline == d.second || e.Strategy == d.second && e.Baseline == d.first)
}

func (t *Trend) plannedSign(d *duel, point Cell) int {
	for _, e := range t.Effects {
		if e.Point != point || !d.isOf(e) {
			continue
		}
		sign := 0
		switch e.Verdict {
		case Better:
			sign = 1
		case Worse:
			sign = -1
		}
		if e.Strategy == d.second {
			sign = -sign
		}
		return sign
	}
	return 0
}

// sign is 1 if the interval says that the strategy is better, −1 if it says that the baseline is, else 0.
func (i Interval) sign(metric string) int {
	switch {
	case !i.Excludes1():
		return 0
	case (i.Ratio < 1) == LowerIsBetter(metric):
		return 1
	}
	return -1
}

// crossovers are the changes from one sign to the opposite one.
func (d *duel) crossovers() []Crossover {
	var found []Crossover
	low := -1 // the last point with a sign
	for i, sign := range d.signs {
		if sign == 0 {
			continue
		}
		if low >= 0 && d.signs[low] == -sign {
			c := Crossover{Before: d.first, After: d.second, Low: low, High: i, Planned: d.planned}
			if sign > 0 {
				c.Before, c.After = d.second, d.first
			}
			others := func(want int) func(int) bool { return func(sign int) bool { return sign != want } }
			c.Throughout = !slices.ContainsFunc(d.signs[:low], others(-sign)) && !slices.ContainsFunc(d.signs[i:], others(sign))
			found = append(found, c)
		}
		low = i
	}
	return found
}

// Text is the crossover in a sentence without an end: "`rwmutex` leads in op/s up to 5 %, `mutex` from 25 % on".
func (c *Crossover) Text(a *Axis, metric string) string {
	verb := "leads in " + MetricLabel(metric)
	if LowerIsBetter(metric) {
		verb = "has the lower " + MetricLabel(metric)
	}
	low, high := "at "+a.words(a.Values[c.Low]), "at "+a.words(a.Values[c.High])
	if c.Throughout && c.Low > 0 {
		low = "up to " + a.words(a.Values[c.Low])
	}
	if c.Throughout && c.High < len(a.Values)-1 {
		high = "from " + a.words(a.Values[c.High]) + " on"
	}
	text := fmt.Sprintf("%s %s %s, %s %s", quoted(c.Before), verb, low, quoted(c.After), high)
	switch c.High - c.Low {
	case 1:
	case 2:
		text += fmt.Sprintf("; at %s neither is known to be ahead", a.words(a.Values[c.Low+1]))
	default:
		text += fmt.Sprintf("; from %s to %s neither is known to be ahead", a.Format(a.Values[c.Low+1]), a.words(a.Values[c.High-1]))
	}
	if !c.Planned {
		text += " (not planned)"
	}
	return text
}
