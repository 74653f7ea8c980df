package results

import (
	"encoding/json"
	"io"
	"math"
)

// document is the layout of WriteJSON.
type document struct {
	Meta     Meta             `json:"meta"`
	Distrust string           `json:"distrust,omitempty"` // see Summary.Distrust
	Warnings []string         `json:"warnings,omitempty"`
	Answers  []documentAnswer `json:"answers"`
	Effects  []documentEffect `json:"effects"`
	Steps    []documentStep   `json:"steps"`  // what ideas bought
	Fronts   []documentFront  `json:"fronts"` // what choice is left
	Trends   []documentTrend  `json:"trends"`
	Cells    []documentCell   `json:"cells"`
}

type documentAnswer struct {
	Workload string `json:"workload"`
	Text     string `json:"text"` // names of strategies stand between backquotes
}

// documentInterval is an Interval; null where there are too few blocks for a number.
type documentInterval struct {
	Blocks int      `json:"blocks"`
	Ratio  *float64 `json:"ratio"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Level  float64  `json:"level"`
}

type documentStep struct {
	Idea
	Point  Cell             `json:"point"`
	Metric string           `json:"metric"`
	Gain   documentInterval `json:"gain"`
	CPU    documentInterval `json:"cpu"`
	Reason string           `json:"reason,omitempty"`
}

type documentFront struct {
	Point   Cell             `json:"point"`
	Metrics []string         `json:"metrics"`
	Members []documentMember `json:"members"`
}

type documentMember struct {
	Label       string    `json:"label"`
	Medians     []float64 `json:"medians"` // by metric
	BestAt      []string  `json:"best_at"`
	DominatedBy string    `json:"dominated_by,omitempty"`
}

type documentTrend struct {
	Workload   string              `json:"workload"`
	Key        string              `json:"key"`
	Where      string              `json:"where,omitempty"`
	Metric     string              `json:"metric"`
	Values     []float64           `json:"values"` // along the axis
	Crossovers []documentCrossover `json:"crossovers"`
	Fits       []documentFit       `json:"fits"`
	Unfitted   string              `json:"unfitted,omitempty"` // why no line has a fit
}

type documentCrossover struct {
	Before  string  `json:"before"` // leads up to Low
	After   string  `json:"after"`  // from High on
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Planned bool    `json:"planned"`
}

type documentFit struct {
	Label      string      `json:"label"`
	Rate       Coefficient `json:"rate"`
	Contention Coefficient `json:"contention"`
	Coherency  Coefficient `json:"coherency"`
	Peak       *float64    `json:"peak"` // null if it never falls
}

type documentEffect struct {
	Comparison
	Point Cell `json:"point"`
	documentInterval
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
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

// WriteJSON writes the sweep's description, what it found and the medians of its cells as one JSON
// object, for scripts. Numbers that are none are null or absent.
func (s *Sweep) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(s.index().document())
}

func (s *index) document() document {
	effects := s.effects()
	d := document{
		Meta: s.Meta, Distrust: s.sick, Warnings: s.Warnings, Answers: []documentAnswer{}, Effects: []documentEffect{},
		Steps: []documentStep{}, Fronts: []documentFront{}, Trends: []documentTrend{}, Cells: []documentCell{},
	}
	d.addChoices(s, effects)
	for _, e := range effects {
		d.Effects = append(d.Effects, documentEffect{
			Comparison: e.Comparison, Point: e.Point, documentInterval: asDocument(e.Interval), Verdict: e.Verdict.String(), Reason: e.Reason,
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
	for _, c := range s.cells() {
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

// addChoices adds what is more than a planned comparison.
func (d *document) addChoices(s *index, effects []Effect) {
	sections, trends := s.sections(effects), s.trends(effects)
	for _, a := range s.answers(sections, trends) {
		d.Answers = append(d.Answers, documentAnswer{a.Workload, a.Text})
	}
	for _, section := range sections {
		for _, step := range section.Steps {
			d.Steps = append(d.Steps, documentStep{
				Idea: step.Idea, Point: section.Point, Metric: step.Metric, Gain: asDocument(step.Interval), CPU: asDocument(step.CPU), Reason: step.Reason,
			})
		}
		if section.Front == nil {
			continue
		}
		front := documentFront{Point: section.Point, Metrics: section.Front.Metrics}
		for _, m := range section.Front.Members {
			front.Members = append(front.Members, documentMember{m.Label, m.Values, append([]string{}, m.BestAt...), m.DominatedBy})
		}
		d.Fronts = append(d.Fronts, front)
	}
	for _, t := range trends {
		trend := documentTrend{
			Workload: t.Workload, Key: t.Key, Where: t.Where, Metric: t.Metric, Values: t.Values, Unfitted: t.Unfitted,
			Crossovers: []documentCrossover{}, Fits: []documentFit{},
		}
		for _, c := range t.Crossovers {
			trend.Crossovers = append(trend.Crossovers, documentCrossover{c.Before, c.After, t.Values[c.Low], t.Values[c.High], c.Planned})
		}
		for _, line := range t.Lines {
			if f := line.Fit; f != nil {
				trend.Fits = append(trend.Fits, documentFit{line.Label, f.Rate, f.Contention, f.Coherency, finite(f.Peak)})
			}
		}
		d.Trends = append(d.Trends, trend)
	}
}

func asDocument(i Interval) documentInterval {
	return documentInterval{Blocks: i.Blocks, Ratio: finite(i.Ratio), Low: finite(i.Low), High: finite(i.High), Level: i.Level}
}

// finite is a number as JSON can hold it.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
