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
	return told(c, false, outcomeWords{met, ""}, outcomeWords{notMet, "not so: "}, outcomeWords{open, "open: "})
}

// premisesText says which premises are not met, and which this run does not know.
func premisesText(c *results.Claim) string {
	return told(c, true, outcomeWords{notMet, "this machine does not show it, not so: "},
		outcomeWords{open, "this run does not tell whether the machine can show it, open: "})
}

// outcomeWords are what stands before the conditions that have an outcome.
type outcomeWords struct{ outcome, words string }

// told lists the premises or the other conditions by their outcomes, with their figures.
func told(c *results.Claim, premises bool, outcomes ...outcomeWords) string {
	var parts []string
	for _, o := range outcomes {
		var texts []string
		for _, d := range c.Conditions {
			if d.Premise != premises || d.Outcome != o.outcome {
				continue
			}
			value := "not measured"
			if f := c.Figure(d.Figure); f != nil {
				value = f.ValueText()
			}
			texts = append(texts, fmt.Sprintf("%s (%s)", d.Text, value))
		}
		if len(texts) > 0 {
			parts = append(parts, o.words+strings.Join(texts, ", "))
		}
	}
	return strings.Join(parts, "; ")
}
