package results

import (
	"cmp"
	"slices"
	"strings"
)

// Section is what was found of one workload at one point: part of a Summary.
type Section struct {
	// Workload has its primary metric filled in where Meta names none.
	Workload Workload
	Point    Cell // see Cell.Point
	// Where names what distinguishes the point from the others of its workload ("workers 4"); "" if it is
	// the only one.
	Where       string
	Description string

	Cells   []CellSummary // in the order of Sweep.Cells; empty if the workload was not run
	Effects []Effect
	Health  []Health
	// Steps are what ideas bought here, where strategies were run that differ in one; Front is the choice that is
	// left, nil where fewer than two strategies can be compared.
	Steps []Step
	Front *Front
	// Searches are those for the highest rate of the workload; then there are no cells, effects and health.
	Searches []Search
	Tables   []Table // the planned comparison, then one a role, whose rows are cells; or the searches
	Notes    []string
}

// Table is one table of texts: a cell for each row in each column.
type Table struct {
	Title   string
	Labels  []string // of the rows
	Columns []Column
	// Detail is set on a table for readers with more room than a terminal has.
	Detail bool
}

// Column is one column of a table: a heading and a cell for each row.
type Column struct {
	Head  string
	Cells []string
	Left  bool // aligned to the left, as words are
}

// Sections returns what was found of each workload, at each point where one was run at several
// concurrencies, in the order of Cells. A workload that was not run has a section without cells, and one
// whose highest rate was searched for has a single one with the searches, whatever rates were tried.
func (s *Sweep) Sections() []Section {
	x := s.index()
	return x.sections(x.effects())
}

func (s *index) sections(all []Effect) []Section {
	cells := byPoint(s.cells(), func(c *CellSummary) Cell { return c.Cell })
	effects := byPoint(all, func(e *Effect) Cell { return e.Point })
	health := byPoint(s.health, func(h *Health) Cell { return h.Point })
	var sections []Section
	for _, name := range s.names {
		w := s.workload(name)
		w.Primary = s.primary(name)
		points := s.points(name)
		if searches := s.searches(name); len(searches) > 0 {
			sections = append(sections, searchSection(w, searches))
			continue
		}
		own := make(map[Cell]string) // descriptions of points
		for _, p := range w.Points {
			own[p.Cell] = p.Description
		}
		for _, point := range points {
			section := Section{Workload: w, Point: point, Where: s.pointLabel(point), Cells: cells[point], Effects: effects[point], Health: health[point]}
			section.Description = describe(w.Description, own, point, section.Where)
			section.Steps = s.steps(point)
			section.Front = s.front(&section)
			section.fillTables(s)
			section.Notes = slices.Concat(w.Notes, s.cellNotes(&section), section.mixNotes(), s.sustainedNotes(&section), effectNotes(section.Effects), section.stepsNotes())
			sections = append(sections, section)
		}
		if len(points) == 0 {
			sections = append(sections, Section{
				Workload: w, Point: Cell{Workload: name}, Description: w.Description,
				Notes: append(slices.Clone(w.Notes), "no run of this workload has ended"),
			})
		}
	}
	return sections
}

// describe is the description of a workload at a point: the point's own if there is one, with the number of
// processors, else that of the workload and what is special about the point. It names the kind of loop.
func describe(description string, own map[Cell]string, point Cell, where string) string {
	if of, ok := own[point.anywhere()]; ok {
		description = of
		_, processors, several := strings.Cut(where, gomaxprocsKey+" ")
		if where = ""; several {
			where = gomaxprocsKey + " " + processors
		}
	}
	var parts []string
	for _, part := range []string{description, where} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if !strings.Contains(description, "loop") {
		if point.ProduceRate > 0 || point.ConsumeRate > 0 || point.Rate > 0 {
			parts = append(parts, "open loop")
		} else {
			parts = append(parts, "closed loop")
		}
	}
	return strings.Join(parts, ", ")
}

// differingKeys are the keys in which cells differ.
func differingKeys(cells []Cell) []cellKey {
	var keys []cellKey
	for _, key := range cellKeys {
		differs := func(other Cell) bool { return key.value(other) != key.value(cells[0]) }
		if slices.ContainsFunc(cells, differs) {
			keys = append(keys, key)
		}
	}
	return keys
}

// pointLabel names what distinguishes a point from others, given the keys in which they differ; "" if there are none.
func pointLabel(point Cell, keys []cellKey) string {
	var parts []string
	for _, key := range keys {
		parts = append(parts, key.key+" "+cmp.Or(key.value(point), "0"))
	}
	return strings.Join(parts, ", ")
}

// cellNotes are the notes on the cells of a section, but for what its effects tell.
func (s *index) cellNotes(section *Section) []string {
	var notes []string
	for i := range section.Cells {
		c := &section.Cells[i]
		distrust := s.distrust(cellAt(section.Point, c.Cell.Strategy, c.Cell.Build), section.Workload.Primary)
		told := func(e Effect) bool { return e.Reason == distrust }
		if distrust == "" || !slices.ContainsFunc(section.Effects, told) {
			notes = append(notes, c.Notes()...)
		}
	}
	return notes
}

func effectNotes(effects []Effect) []string {
	if reason, ok := commonReason(effects); ok {
		return []string{"no verdict: " + reason}
	}
	var notes []string
	for _, group := range byReason(effects, func(e *Effect) string { return e.Verdict.String() + ": " + e.Reason }) {
		if group.effects[0].Reason == "" {
			continue
		}
		var strategies []string
		for _, e := range group.effects {
			strategies = append(strategies, quoted(e.Strategy))
		}
		notes = append(notes, enumerate(strategies)+": "+group.reason)
	}
	return notes
}
