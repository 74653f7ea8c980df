package resultstest_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"tailrace/results"
	"tailrace/results/resultstest"
)

func TestSweepIsTheSameForTheSameSeed(t *testing.T) {
	one, same, other := resultstest.Sweep(7), resultstest.Sweep(7), resultstest.Sweep(8)
	if !reflect.DeepEqual(one, same) {
		t.Error("two sweeps of one seed differ")
	}
	if reflect.DeepEqual(one.Runs, other.Runs) {
		t.Error("sweeps of two seeds are equal")
	}
	if len(one.Runs) != 96 {
		t.Errorf("%d runs, want 96", len(one.Runs))
	}
}

func TestWriteGivesTheSweepWithItsLatencies(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sweep")
	if err := resultstest.Write(dir, 7); err != nil {
		t.Fatal(err)
	}
	got, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := resultstest.Sweep(7)
	if !reflect.DeepEqual(got.Meta, want.Meta) {
		t.Errorf("meta\n%+v\nwant\n%+v", got.Meta, want.Meta)
	}
	if len(got.Runs) != len(want.Runs) {
		t.Fatalf("%d runs, want %d", len(got.Runs), len(want.Runs))
	}
	for i := range got.Runs {
		run := &got.Runs[i]
		hists, err := got.Histograms(run)
		if err != nil {
			t.Fatal(err)
		}
		for kind, samples := range run.Samples {
			if h := hists[kind]; h == nil || h.Count() != samples {
				t.Fatalf("run %d: the %s histogram is not that of its %d samples", run.Index, kind, samples)
			}
		}
		run.Latency = ""
		if !reflect.DeepEqual(*run, want.Runs[i]) {
			t.Fatalf("run %d\n%+v\nwant\n%+v", i, *run, want.Runs[i])
		}
	}
}
