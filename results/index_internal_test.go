package results

import (
	"fmt"
	"slices"
	"testing"
)

// indexedSweep has two workloads at several points, both arms of the baseline, and two builds; Meta knows one workload.
func indexedSweep() *Sweep {
	s := &Sweep{Meta: Meta{
		Baseline: "mutex", Workloads: []Workload{{Name: "mix"}},
		Planned: []Comparison{{Workload: "mix", Strategy: "actor", Baseline: "mutex", Metric: MetricOps}},
	}}
	for block := range 3 {
		for i := range 24 {
			cell := Cell{Workload: []string{"other", "mix"}[i%2], Strategy: []string{"raw", "actor", "mutex"}[i%3], Workers: 4 - i/6}
			switch {
			case cell.Strategy == "mutex" && i%4 == 0:
				cell.Arm = "A/A"
			case i%5 == 0:
				cell.Build = "old"
			}
			s.Runs = append(s.Runs, Run{Index: len(s.Runs), Block: 2 - block, Cell: cell, Metrics: map[string]float64{MetricOps: float64(100 + i + block)}})
		}
	}
	return s
}

func TestIndexHasEachRun(t *testing.T) {
	s := indexedSweep()
	x := s.index()
	if !slices.Equal(x.names, []string{"mix", "other"}) {
		t.Errorf("workloads %q", x.names)
	}
	runs := 0
	for _, name := range x.names {
		cells := x.cellsOf(name)
		if order := s.cellOrder(); !slices.IsSortedFunc(cells, order) || len(slices.Compact(slices.Clone(cells))) != len(cells) {
			t.Errorf("%s has the cells %+v", name, cells)
		}
		for _, cell := range cells {
			runs += len(x.runs[cell])
			for i := range s.Runs {
				run := &s.Runs[i]
				if of := run.Cell == cell; slices.Contains(x.runs[cell], run) != of {
					t.Errorf("run %d is of %+v: %t", i, cell, of)
				}
				code := run.Cell
				code.Arm = ""
				if !slices.Contains(x.arms[code], run) {
					t.Errorf("run %d is not among those of all arms", i)
				}
			}
			if inOrder := func(a, b *Run) int { return a.Index - b.Index }; !slices.IsSortedFunc(x.runs[cell], inOrder) {
				t.Errorf("runs of %+v are not in the order of execution", cell)
			}
			if !slices.Contains(x.workloadRun(name).at[cell.Point()], cell) {
				t.Errorf("%+v is not at its point", cell)
			}
		}
		var workers []int
		for _, point := range x.points(name) {
			workers = append(workers, point.Workers)
			if got, want := x.pointLabel(point), fmt.Sprint("workers ", point.Workers); got != want {
				t.Errorf("label %q, want %q", got, want)
			}
		}
		if !slices.Equal(workers, []int{1, 2, 3, 4}) || !slices.Equal(x.workloadRun(name).blocks, []int{0, 1, 2}) {
			t.Errorf("%s at %v workers in the blocks %v", name, workers, x.workloadRun(name).blocks)
		}
	}
	if runs != len(s.Runs) {
		t.Errorf("%d runs of %d", runs, len(s.Runs))
	}
	if x.points("none") != nil || x.cellsOf("none") != nil {
		t.Error("a workload that was not run has points or cells")
	}
}

func TestIndexIsNotKept(t *testing.T) {
	s := indexedSweep()
	if e := s.Effects()[0]; e.Blocks != 3 {
		t.Fatalf("%+v", e)
	}
	s.Runs = slices.DeleteFunc(s.Runs, func(r Run) bool { return r.Block == 1 })
	if e := s.Effects()[0]; e.Blocks != 2 {
		t.Errorf("%d blocks are left, want 2", e.Blocks)
	}
	for i := range s.Runs {
		s.Runs[i].Verification.Error = "wrong"
	}
	if e := s.Effects()[0]; e.Verdict != Undecided || e.Blocks != 0 {
		t.Errorf("effect %+v of runs that are all wrong", e)
	}
}
