package results

import (
	"encoding/json"
	"io"
	"math"
)

// document is the layout of WriteJSON.
type document struct {
	Meta    Meta             `json:"meta"`
	Effects []documentEffect `json:"effects"`
	Cells   []documentCell   `json:"cells"`
}

type documentEffect struct {
	Comparison
	Point  Cell `json:"point"`
	Blocks int  `json:"blocks"`
	// Null where there are too few blocks for them.
	Ratio   *float64 `json:"ratio"`
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"`
	Level   float64  `json:"level"`
	Verdict string   `json:"verdict"`
	Reason  string   `json:"reason,omitempty"`
}

type documentCell struct {
	Cell       Cell               `json:"cell"`
	Runs       int                `json:"runs"`
	Valid      int                `json:"valid"`
	Overloaded int                `json:"overloaded"`
	Medians    map[string]float64 `json:"medians"`
	Bounds     map[string]float64 `json:"bounds,omitempty"` // see CellSummary.Bound
	Harness    *float64           `json:"harness_share"`    // see CellSummary.HarnessShare; null if unknown
}

// WriteJSON writes the sweep's description, its effects and the medians of its cells as one JSON
// object, for scripts. Numbers that are none are null or absent.
func (s *Sweep) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(s.document())
}

func (s *Sweep) document() document {
	d := document{Meta: s.Meta, Effects: []documentEffect{}, Cells: []documentCell{}}
	for _, e := range s.Effects() {
		d.Effects = append(d.Effects, documentEffect{
			Comparison: e.Comparison, Point: e.Point, Blocks: e.Blocks,
			Ratio: finite(e.Ratio), Low: finite(e.Low), High: finite(e.High), Level: e.Level,
			Verdict: e.Verdict.String(), Reason: e.Reason,
		})
	}
	metrics := make(map[string]bool)
	for i := range s.Runs {
		for metric := range s.Runs[i].Metrics {
			metrics[metric] = true
		}
		for metric := range s.Runs[i].Bounds {
			metrics[metric] = true
		}
	}
	for _, c := range s.Cells() {
		medians, bounds := make(map[string]float64), make(map[string]float64)
		for metric := range metrics {
			if median, ok := c.Median(metric); ok {
				medians[metric] = median
			}
			if bound, ok := c.Bound(metric); ok {
				bounds[metric] = bound
			}
		}
		cell := documentCell{Cell: c.Cell, Runs: c.Runs, Valid: c.Valid, Overloaded: c.Overloaded, Medians: medians, Bounds: bounds}
		if share, ok := c.HarnessShare(); ok {
			cell.Harness = &share
		}
		d.Cells = append(d.Cells, cell)
	}
	return d
}

// finite is a number as JSON can hold it.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
