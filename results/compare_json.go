package results

import (
	"encoding/json"
	"io"
)

// changesDocument is the layout of Changes.WriteJSON.
type changesDocument struct {
	Outcome     string           `json:"outcome"`
	Verdict     string           `json:"verdict"`
	Old         Origin           `json:"old"`
	New         Origin           `json:"new"`
	Interleaved bool             `json:"interleaved"`
	Sequential  bool             `json:"allow_sequential"`
	Threshold   float64          `json:"threshold"` // share
	Level       float64          `json:"level"`     // of each interval by itself
	Hidden      *float64         `json:"hidden"`    // see Changes.Hidden; null if there is none
	Changes     []documentChange `json:"changes"`
	OnlyOld     []string         `json:"only_old"`
	OnlyNew     []string         `json:"only_new"`
	NotCompared []string         `json:"not_compared"` // on both sides, without the metrics that were asked for
	Unmatched   []string         `json:"unmatched"`    // only new, and perhaps not new
	RequireAll  bool             `json:"require_all"`
	Violations  []string         `json:"violations"`
	Warnings    []string         `json:"warnings"`
}

type documentChange struct {
	Benchmark string         `json:"benchmark"`
	Metric    string         `json:"metric"`
	Better    string         `json:"better"` // higher, lower or unknown
	Old       documentSample `json:"old"`
	New       documentSample `json:"new"`
	// Null where there are too few runs for them, or a value is 0.
	Ratio   *float64 `json:"ratio"`
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"`
	Verdict string   `json:"verdict"`
	Beyond  bool     `json:"beyond_threshold"`
	Reason  string   `json:"reason,omitempty"`
}

type documentSample struct {
	Runs  int      `json:"runs"`
	Value *float64 `json:"value"`
}

// WriteJSON writes the changes as one JSON object, for scripts. Numbers that are none are null.
func (c *Changes) WriteJSON(w io.Writer) error {
	d := changesDocument{
		Outcome: c.Outcome().String(), Verdict: c.VerdictText(), Old: c.Old, New: c.New, Interleaved: c.Interleaved,
		Sequential: c.Options.AllowSequential, Threshold: c.Options.Threshold, Level: c.Level, Changes: []documentChange{},
		OnlyOld: orEmpty(c.OnlyOld), OnlyNew: orEmpty(c.OnlyNew), NotCompared: orEmpty(c.NotCompared), Unmatched: orEmpty(c.Unmatched),
		RequireAll: c.Options.RequireAll, Violations: orEmpty(c.Violations), Warnings: orEmpty(c.Warnings),
	}
	if share, ok := c.Hidden(); ok {
		d.Hidden = finite(share)
	}
	for i := range c.Changes {
		e := &c.Changes[i]
		d.Changes = append(d.Changes, documentChange{
			Benchmark: e.Benchmark, Metric: e.Metric, Better: map[int]string{-1: "lower", 0: "unknown", 1: "higher"}[e.better],
			Old: documentSample{e.Old.Runs, finite(e.Old.Value)}, New: documentSample{e.New.Runs, finite(e.New.Value)},
			Ratio: finite(e.Ratio), Low: finite(e.Low), High: finite(e.High), Verdict: e.Verdict.String(), Beyond: e.Beyond, Reason: e.Reason,
		})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(d)
}

// orEmpty is a list that JSON writes as one, also without elements.
func orEmpty(list []string) []string { return append([]string{}, list...) }
