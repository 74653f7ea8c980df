package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// ClaimVerdict is what an experiment says of a claim.
type ClaimVerdict string

// The verdicts.
const (
	Holds       ClaimVerdict = "holds"
	DoesNotHold ClaimVerdict = "does not hold"
	HoldsInPart ClaimVerdict = "holds in part"
	NotSettled  ClaimVerdict = "not settled by this run"
	NotMeasured ClaimVerdict = "not measurable in Go"
)

// Claims are the claims of the article that the project implements, each with the outcome of its experiment:
// claims.json.
type Claims struct {
	Schema  int       `json:"schema"`
	Version string    `json:"version"` // of tailrace
	Command []string  `json:"command"` // as typed
	Seed    uint64    `json:"seed"`
	Started time.Time `json:"started"`
	Quick   bool      `json:"quick,omitempty"`
	// Level is the confidence of each interval: those of all conditions of all claims hold together with 95 %.
	Level       float64     `json:"level"`
	Environment Environment `json:"environment"`
	Warnings    []string    `json:"warnings,omitempty"`
	Claims      []Claim     `json:"claims"`
}

// Claim is one claim, how it was put to the test, and what came out.
type Claim struct {
	Name       string       `json:"name"`       // "mutex-turns"
	Model      string       `json:"model"`      // what it is about: mutex, rwmutex, atomics, actor, storage, throughput
	Sentence   string       `json:"sentence"`   // the claim in our words
	Experiment string       `json:"experiment"` // what is run and measured
	Conditions []Condition  `json:"conditions"` // the rule
	Figures    []Figure     `json:"figures"`
	Verdict    ClaimVerdict `json:"verdict"`
	// Finding says in a sentence what the verdict rests on, and where the line runs of one that holds in part.
	Finding string `json:"finding"`
	// Limits say what the experiment can't show on the machine that ran it, or anywhere.
	Limits string `json:"limits,omitempty"`
	// Reason says why there is no verdict: what failed, or why nothing can be measured.
	Reason string `json:"reason,omitempty"`
}

// Condition is a part of a rule, fixed before anything is measured: the figure lies at or above AtLeast, or at or
// below AtMost; one of the two is given.
type Condition struct {
	Text    string   `json:"text"`   // "two readers read no more than one"
	Figure  string   `json:"figure"` // name
	AtLeast *float64 `json:"at_least,omitempty"`
	AtMost  *float64 `json:"at_most,omitempty"`
	// Premise says that the condition is about the machine and not about the claim: where it does not hold,
	// nothing is settled.
	Premise bool   `json:"premise,omitempty"`
	Outcome string `json:"outcome"` // met, not met, or open
}

// Figure is a measured number with its interval, at the confidence of Claims.Level by itself.
type Figure struct {
	Name   string  `json:"name"`
	Text   string  `json:"text"` // for readers: "reads/s of 2 readers over those of 1, mutex"
	Unit   string  `json:"unit"` // "×" for ratios; else as in metrics: "s", "B", "1/op"
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Blocks int     `json:"blocks"` // pairs of runs, or repetitions; 0 for what is counted and has no spread
}

// NewFigure returns the figure of values whose logarithms are given: the geometric mean, with Student's t interval
// at a level of confidence. Without values it is NaN, and its ends are with fewer than two.
func NewFigure(name, text, unit string, logs []float64, level float64) Figure {
	i := logInterval(logs, level)
	return Figure{Name: name, Text: text, Unit: unit, Value: i.Ratio, Low: i.Low, High: i.High, Blocks: i.Blocks}
}

// ValueText is the value with its interval and unit: "1.94× (1.53–2.46)", "84 ns (80–91)", "3".
func (f *Figure) ValueText() string {
	format := f.format()
	switch {
	case math.IsNaN(f.Value):
		return absent
	case f.Low == f.High:
		return format(f.Value)
	case math.IsNaN(f.Low) || math.IsNaN(f.High):
		return format(f.Value) + " without an interval"
	case f.Unit == "×":
		return FormatInterval(f.Value, f.Low, f.High)
	}
	value, low, high := format(f.Value), format(f.Low), format(f.High)
	if unit := " " + f.Unit; f.plain() && f.Unit != "" {
		cut := func(text string) string { return strings.TrimSuffix(text, unit) }
		return fmt.Sprintf("%s (%s–%s)%s", cut(value), cut(low), cut(high), unit)
	}
	return fmt.Sprintf("%s (%s–%s)", value, low, high)
}

// plain reports whether numbers of the figure's unit have no prefixes.
func (f *Figure) plain() bool { return !slices.Contains([]string{"×", "s", "B", "%"}, f.Unit) }

// format writes numbers of the figure's unit.
func (f *Figure) format() func(float64) string {
	switch f.Unit {
	case "×":
		return FormatRatio
	case "s":
		return FormatDuration
	case "B":
		return FormatBytes
	case "%":
		return FormatPercent
	}
	return func(v float64) string {
		if !isFinite(v) {
			return absent
		}
		text := fmt.Sprintf("%.3g", v)
		if large := math.Abs(v); large < 1e9 && (large >= 1000 || v == math.Trunc(v)) {
			text = fmt.Sprintf("%.0f", v) // what was counted, or would have an exponent
		}
		if f.Unit != "" {
			text += " " + f.Unit
		}
		return text
	}
}
