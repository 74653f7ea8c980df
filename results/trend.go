package results

import "slices"

// Axis is a dimension along which points of a workload lie that are equal in everything else: what a list
// on the command line swept.
type Axis struct {
	Workload string
	// Key is the dimension's name in benchmark names and flags: "workers", "producers", "produce" (the share
	// of appends in percent), "record-size", "gomaxprocs".
	Key string
	// Where names what else distinguishes these points from others of their workload ("producers 4"); "" if
	// nothing does.
	Where string
	// Points are ascending along the axis, at least two, and Values what each has there.
	Points []Cell
	Values []float64
}

// Trend is how the primary metric of a workload goes along one axis, for each strategy.
type Trend struct {
	Axis
	Metric string
	// Lines are the strategies that were run at two points at least, controls included, in the order of
	// tables. A/A arms and other builds are not among them.
	Lines []Line
	// Effects are those of the planned comparisons on the metric, each comparison's at ascending points.
	Effects []Effect
	// Pairs is how many pairs of candidates were looked at for crossovers: 0 in a sweep that is not to be
	// trusted.
	Pairs int
	// Crossovers are ascending by where they begin.
	Crossovers []Crossover
	// Unfitted says why no line has a fit; "" if one has.
	Unfitted string
}

// Line is one strategy along an axis.
type Line struct {
	Label string // as in Cell.Label
	// Levels are the points at which the strategy has a median of the metric (see CellSummary.Median),
	// ascending.
	Levels []Level
	// Fit is the scaling law fitted to the levels within the processors; nil if there is none, and then
	// Unfitted says why.
	Fit      *Fit
	Unfitted string
}

// Level is one strategy at one point of an axis.
type Level struct {
	Value  float64   // on the axis
	Values []float64 // of the metric in the valid runs, ascending
	Median float64
}

// Crossover says that the ranking of two strategies changes between two tested points of an axis; nothing
// finer is known.
type Crossover struct {
	// Before leads at the point of index Low of the axis, and After at that of index High, each by more than
	// chance. At points between, neither does.
	Before, After string
	Low, High     int
	// Throughout says that Before leads at each point up to Low, and After at each from High on.
	Throughout bool
	// Planned says that both are planned comparisons, with the verdicts of Effects. Others rest on intervals
	// that hold together with 95 % for all unplanned pairs and points of the axis.
	Planned bool
}

// Fit is a Universal Scalability Law fitted to the throughput of one strategy,
//
//	X(N) = γN / (1 + α(N−1) + βN(N−1))
//
// N being the number of concurrent clients, or of processors (N. J. Gunther, Guerrilla Capacity Planning,
// Springer 2007, chapter 5), with γ > 0, 0 ≤ α ≤ 1, β ≥ 0.
type Fit struct {
	Rate       Coefficient // γ: throughput of one client
	Contention Coefficient // α: share of the work that is done one after the other
	Coherency  Coefficient // β: cost of agreement between each pair of clients
	// Peak is the N of the highest throughput, √((1−α)/β); +Inf if it never falls (β = 0).
	Peak float64
	// Levels are the values of N that it was fitted to, ascending, and Misses the largest share by which
	// it misses the median of one of them.
	Levels []float64
	Misses float64
}

// Coefficient is a fitted number with the interval, 95 % by itself, in which a bootstrap over blocks finds it.
// The interval contains Value.
type Coefficient struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Trends returns how the primary metric of each workload goes along each of its axes, in the order of
// Meta.Workloads. A workload whose highest rate was searched for has none: its rates were not chosen to be
// compared.
func (s *Sweep) Trends() []Trend {
	x := s.index()
	return x.trends(x.effects())
}

func (s *index) trends(effects []Effect) []Trend {
	at := make(map[Cell][]int) // indices of effects by point
	for i := range effects {
		at[effects[i].Point] = append(at[effects[i].Point], i)
	}
	var trends []Trend
	for _, name := range s.names {
		if len(s.searches(name)) > 0 {
			continue
		}
		for _, axis := range s.axes(name) {
			t := Trend{Axis: axis, Metric: s.primary(name)}
			t.Lines = s.lines(&t)
			var along []int
			for _, point := range axis.Points {
				along = append(along, at[point]...)
			}
			slices.Sort(along)
			for _, i := range along {
				if effects[i].Metric == t.Metric {
					t.Effects = append(t.Effects, effects[i])
				}
			}
			if s.sick == "" {
				s.findCrossovers(&t)
			}
			s.fitLines(&t)
			trends = append(trends, t)
		}
	}
	return trends
}

// lines are the strategies of this build along an axis.
func (s *index) lines(t *Trend) []Line {
	points := make(map[string]int) // at which a strategy was run
	var strategies []string
	for _, point := range t.Points {
		for _, cell := range s.workloadRun(t.Workload).at[point] {
			if cell.Arm != "" || cell.Build != "" {
				continue
			}
			if points[cell.Strategy]++; points[cell.Strategy] == 1 {
				strategies = append(strategies, cell.Strategy)
			}
		}
	}
	var lines []Line
	for _, strategy := range strategies {
		if points[strategy] < 2 {
			continue
		}
		line := Line{Label: strategy}
		for i, point := range t.Points {
			c := s.summarise(cellAt(point, strategy, ""))
			if median, ok := c.Median(t.Metric); ok {
				line.Levels = append(line.Levels, Level{Value: t.Values[i], Values: c.Values(t.Metric), Median: median})
			}
		}
		lines = append(lines, line)
	}
	return lines
}
