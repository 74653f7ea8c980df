package results

import (
	"cmp"
	"maps"
	"slices"
)

// index is a sweep with its runs by cell, and with what is asked at every cell and is the same for all. Going through
// all runs for each cell, or through all cells for each point, would take the square of their number.
//
// It is made where questions begin, and not kept: it does not see what is changed in the sweep after.
type index struct {
	*Sweep
	runs      map[Cell][]*Run // by cell, in the order of execution
	arms      map[Cell][]*Run // the same of all arms together, by the cell without arm
	names     []string        // of Meta.Workloads, then of any others that were run
	workloads map[string]*indexedWorkload
	sessions  []session
	level     float64  // confidence of the interval of one planned comparison
	health    []Health // see Sweep.Health
	sick      string   // which A/A arm differs; "" if none does
}

// indexedWorkload is what was run of a workload.
type indexedWorkload struct {
	points []Cell          // in the order of concurrency
	keys   []cellKey       // in which the points differ
	cells  []Cell          // in the order that Sweep.Cells describes
	at     map[Cell][]Cell // the same by point
	blocks []int           // ascending
}

// index goes through the runs once.
func (s *Sweep) index() *index {
	x := &index{
		Sweep: s, runs: make(map[Cell][]*Run), arms: make(map[Cell][]*Run),
		names: s.workloadNames(), workloads: make(map[string]*indexedWorkload), sessions: s.sessions(),
	}
	points := make(map[Cell]bool)
	blocks := make(map[string]map[int]bool) // by workload
	for i := range s.Runs {
		run := &s.Runs[i]
		cell, point := run.Cell, run.Cell.Point()
		w := x.workloads[cell.Workload]
		if w == nil {
			w = &indexedWorkload{}
			x.workloads[cell.Workload], blocks[cell.Workload] = w, make(map[int]bool)
		}
		if len(x.runs[cell]) == 0 {
			w.cells = append(w.cells, cell)
		}
		if !points[point] {
			points[point] = true
			w.points = append(w.points, point)
		}
		blocks[cell.Workload][run.Block] = true
		x.runs[cell] = append(x.runs[cell], run)
		cell.Arm = ""
		x.arms[cell] = append(x.arms[cell], run)
	}
	compare := s.cellOrder()
	for name, w := range x.workloads {
		slices.SortStableFunc(w.points, comparePoints)
		slices.SortStableFunc(w.cells, compare)
		w.keys = differingKeys(w.points)
		w.at = byPoint(w.cells, func(c *Cell) Cell { return *c })
		w.blocks = slices.Sorted(maps.Keys(blocks[name]))
	}
	x.level = x.plannedLevel()
	x.health = x.findHealth()
	x.sick = sickness(x.health)
	return x
}

// workloadNames are those of Meta.Workloads, then any others that were run.
func (s *Sweep) workloadNames() []string {
	var names []string
	known := make(map[string]bool)
	for _, w := range s.Meta.Workloads {
		names, known[w.Name] = append(names, w.Name), true
	}
	for i := range s.Runs {
		if name := s.Runs[i].Cell.Workload; !known[name] {
			names, known[name] = append(names, name), true
		}
	}
	return names
}

// cellOrder is the order of cells that Cells describes.
func (s *Sweep) cellOrder() func(a, b Cell) int {
	planned := make(map[string]int)
	for i, p := range s.Meta.Planned {
		if _, known := planned[p.Strategy]; !known {
			planned[p.Strategy] = i
		}
	}
	rank := func(c Cell) int {
		switch at, known := planned[c.Strategy]; {
		case c.Arm != "":
			return len(s.Meta.Planned) + 2
		case c.Strategy == s.Meta.Baseline:
			return 0
		case known:
			return 1 + at
		}
		return len(s.Meta.Planned) + 1
	}
	return func(a, b Cell) int {
		return cmp.Or(comparePoints(a, b), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Strategy, b.Strategy), cmp.Compare(a.Build, b.Build))
	}
}

// workloadRun is what was run of a workload; nothing of one that was not.
func (s *index) workloadRun(name string) *indexedWorkload {
	if w := s.workloads[name]; w != nil {
		return w
	}
	return &indexedWorkload{}
}

// points are the points at which a workload was run, in the order of concurrency.
func (s *index) points(workload string) []Cell { return s.workloadRun(workload).points }

// cellsOf are the cells of a workload that were run, in the order that Sweep.Cells describes.
func (s *index) cellsOf(workload string) []Cell { return s.workloadRun(workload).cells }

// keys are those in which the points of a workload differ.
func (s *index) keys(workload string) []cellKey { return s.workloadRun(workload).keys }

// pointLabel names what distinguishes a point from the others of its workload; "" if it is the only one.
func (s *index) pointLabel(point Cell) string {
	return pointLabel(point, s.keys(point.Workload))
}

// byPoint puts together what belongs to one point, in its order.
func byPoint[T any](all []T, cell func(*T) Cell) map[Cell][]T {
	found := make(map[Cell][]T)
	for i := range all {
		point := cell(&all[i]).Point()
		found[point] = append(found[point], all[i])
	}
	return found
}
