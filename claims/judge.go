package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tailrace/results"
)

// Outcomes of a condition.
const (
	met    = "met"
	notMet = "not met"
	open   = "open"
)

// judge gives a claim its verdict: by the rule that package documentation states, from its figures alone.
func judge(c *results.Claim) {
	for i := range c.Conditions {
		condition := &c.Conditions[i]
		condition.Outcome = outcome(condition, c.Figure(condition.Figure))
	}
	switch {
	case c.Verdict == results.NotMeasured:
		return
	case c.Reason != "":
		c.Verdict = results.NotSettled
	case slices.ContainsFunc(c.Conditions, func(d results.Condition) bool { return d.Premise && d.Outcome != met }):
		c.Verdict = results.NotSettled
		c.Reason = premisesText(c)
	default:
		c.Verdict = together(c.Conditions)
	}
	c.Finding = finding(c)
}

// premisesText says which premises are not met, and which this run does not know.
func premisesText(c *results.Claim) string {
	var parts []string
	for _, part := range []struct{ outcome, words string }{{notMet, "this machine does not show it, not so: "}, {open, "this run does not tell whether the machine can show it, open: "}} {
		if text := wording(c, func(d results.Condition) bool { return d.Premise && d.Outcome == part.outcome }); text != "" {
			parts = append(parts, part.words+text)
		}
	}
	return strings.Join(parts, "; ")
}

// outcome compares the interval of a figure with the bound of a condition.
func outcome(d *results.Condition, f *results.Figure) string {
	if f == nil || math.IsNaN(f.Low) || math.IsNaN(f.High) {
		return open
	}
	switch {
	case d.AtLeast != nil && f.Low >= *d.AtLeast, d.AtMost != nil && f.High <= *d.AtMost:
		return met
	case d.AtLeast != nil && f.High < *d.AtLeast, d.AtMost != nil && f.Low > *d.AtMost:
		return notMet
	}
	return open
}

// together is the verdict of conditions that are no premises.
func together(conditions []results.Condition) results.ClaimVerdict {
	count := make(map[string]int)
	for _, d := range conditions {
		if !d.Premise {
			count[d.Outcome]++
		}
	}
	switch {
	case count[met] > 0 && count[notMet] > 0:
		return results.HoldsInPart
	case count[open] > 0 || count[met]+count[notMet] == 0:
		return results.NotSettled
	case count[met] > 0:
		return results.Holds
	}
	return results.DoesNotHold
}

// finding says what the verdict rests on.
func finding(c *results.Claim) string {
	var parts []string
	for _, part := range []struct{ outcome, words string }{{met, ""}, {notMet, "not so: "}, {open, "open: "}} {
		text := wording(c, func(d results.Condition) bool { return !d.Premise && d.Outcome == part.outcome })
		if text != "" {
			parts = append(parts, part.words+text)
		}
	}
	return strings.Join(parts, "; ")
}

// wording lists the conditions that are such, with their figures.
func wording(c *results.Claim, such func(results.Condition) bool) string {
	var texts []string
	for _, d := range c.Conditions {
		if !such(d) {
			continue
		}
		text := d.Text
		if f := c.Figure(d.Figure); f != nil {
			text += fmt.Sprintf(" (%s)", f.ValueText())
		} else {
			text += " (not measured)"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}
