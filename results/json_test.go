package results_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/results/resultstest"
)

func TestDocument(t *testing.T) {
	sweep := resultstest.Sweep(1)
	var out bytes.Buffer
	if err := sweep.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Meta    results.Meta
		Effects []struct {
			results.Comparison
			Ratio   *float64
			Verdict string
		}
		Cells []struct {
			Cell    results.Cell
			Medians map[string]float64
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Meta.Seed != sweep.Meta.Seed {
		t.Errorf("seed %d, want %d", got.Meta.Seed, sweep.Meta.Seed)
	}
	effects, cells := sweep.Effects(), sweep.Cells()
	if len(got.Effects) != len(effects) || len(got.Cells) != len(cells) {
		t.Fatalf("%d effects and %d cells, want %d and %d", len(got.Effects), len(got.Cells), len(effects), len(cells))
	}
	for i, e := range got.Effects {
		want := effects[i]
		if e.Comparison != want.Comparison || e.Ratio == nil || *e.Ratio != want.Ratio || e.Verdict != want.Verdict.String() {
			t.Errorf("effect %+v, want %+v", e, want)
		}
	}
	for i, c := range got.Cells {
		want, ok := cells[i].Median(results.MetricCPU)
		if median, has := c.Medians[results.MetricCPU]; c.Cell != cells[i].Cell || has != ok || median != want {
			t.Errorf("cell %+v, want %+v with a median of %v", c, cells[i].Cell, want)
		}
	}
}

func TestDocumentHoldsNoNumbersThatAreNone(t *testing.T) {
	sweep := resultstest.Sweep(1)
	sweep.Runs = sweep.Runs[:1]
	var out bytes.Buffer
	if err := sweep.WriteJSON(&out); err != nil {
		t.Fatalf("a sweep of one run: %v", err)
	}
	if text := out.String(); !strings.Contains(text, `"low": null`) {
		t.Errorf("an interval of one block is not null:\n%s", text)
	}
}
