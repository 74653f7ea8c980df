package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// HarnessLimit is the share of what is measured, from which the harness's own work is marked in tables.
const HarnessLimit = 0.1

// harnessSign stands after the processor time of an operation of which more than HarnessLimit is the
// harness's own.
const harnessSign = "†"

// accounting is what the harness itself takes and gives in the runs of a cell.
type accounting struct {
	cost      Cost        // of the harness with the strategy null; zeros if unknown
	clockRead float64     // seconds; 0 if unknown
	values    [][]float64 // by account, ascending
}

// account is a number of a run that stands in the table of details.
type account struct {
	head   string
	value  func(*Run) (float64, bool)
	format func(float64) string
}

// The accounts in the order of their columns.
var accounts = [...]account{
	checkAccount: {"check/read", func(r *Run) (float64, bool) {
		return r.Verification.SecondsPerRead, r.Verification.SecondsPerRead > 0
	}, FormatDuration},
	{"inside", ofMap(func(r *Run) map[string]float64 { return r.Inside }, InsideWorker), FormatPercent},
	{"inside produce", ofMap(func(r *Run) map[string]float64 { return r.Inside }, KindProduce), FormatPercent},
	{"inside consume", ofMap(func(r *Run) map[string]float64 { return r.Inside }, KindConsume), FormatPercent},
	{"achieved produce rate", ofMap(achieved, AchievedProduceRate), FormatPercent},
	{"achieved consume rate", ofMap(achieved, AchievedConsumeRate), FormatPercent},
	{"achieved rate", ofMap(achieved, AchievedRate), FormatPercent},
	appendsAccount: {"appends", ofMap(achieved, AchievedProduceShare), FormatPercent},
	{"Jain produce", ofMap(func(r *Run) map[string]float64 { return r.PerWorkerJain }, KindProduce), formatIndex},
	{"Jain consume", ofMap(func(r *Run) map[string]float64 { return r.PerWorkerJain }, KindConsume), formatIndex},
	{"voluntary switches/op", perOperation(func(r *Runtime) float64 { return float64(r.VoluntarySwitches) }), formatFew},
	{"involuntary switches/op", perOperation(func(r *Runtime) float64 { return float64(r.InvoluntarySwitches) }), formatFew},
	{"scheduler p99", ofRuntime(func(r *Runtime) float64 { return r.SchedulerP99 }), FormatDuration},
	{"GC cycles", ofRuntime(func(r *Runtime) float64 { return float64(r.GCCycles) }), formatFew},
	{"mutex wait/op", perOperation(func(r *Runtime) float64 { return r.MutexWait }), FormatDuration},
}

// Indices of accounts.
const (
	checkAccount   = 0 // cost of verification
	appendsAccount = 7 // share of appends
)

// InsideWorker is the key of Run.Inside for the workers of a mix, who do both.
const InsideWorker = "worker"

// The keys of Run.Achieved.
const (
	AchievedProduceRate  = "produce-rate"
	AchievedConsumeRate  = "consume-rate"
	AchievedRate         = "rate"
	AchievedProduceShare = "produce-share" // appends over all operations of a mix
)

func achieved(r *Run) map[string]float64 { return r.Achieved }

func ofMap(of func(*Run) map[string]float64, key string) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		v, ok := of(r)[key]
		return v, ok
	}
}

// ofRuntime is a number of a run whose runtime was recorded: all of it is 0 where it was not.
func ofRuntime(of func(*Runtime) float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) { return of(&r.Runtime), r.Runtime != (Runtime{}) }
}

func perOperation(of func(*Runtime) float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		operations := r.Metrics[MetricOps] * r.Window
		return of(&r.Runtime) / operations, r.Runtime != (Runtime{}) && operations > 0
	}
}

func formatIndex(v float64) string { return fmt.Sprintf("%.2f", v) }
func formatFew(v float64) string   { return fmt.Sprintf("%.3g", v) }

func (s *Sweep) newAccounting(workload string) accounting {
	a := accounting{clockRead: s.Meta.Preflight.ClockRead, values: make([][]float64, len(accounts))}
	for _, cost := range s.Meta.Costs {
		if cost.Workload == workload {
			a.cost = cost
		}
	}
	return a
}

// add takes the numbers of a valid run.
func (a *accounting) add(run *Run) {
	for i := range accounts {
		if v, ok := accounts[i].value(run); ok && isFinite(v) {
			a.values[i] = append(a.values[i], v)
		}
	}
}

func (a *accounting) sort() {
	for _, values := range a.values {
		slices.Sort(values)
	}
}

// HarnessShare returns how much of what is measured of the cell is the harness's own work, at most 1;
// false where that is not known.
//
// In a closed loop it is the share of the processor time of an operation: what the harness costs with
// the strategy null (Meta.Costs), and the check of each read, over the median of MetricCPU. The check is
// timed by the clock, and counts for more than it is where its goroutine had to wait for a processor.
// Where the load is paced, most of the processor time is the generator's waiting; there it is the share of
// the median service time, the shorter one of the roles, that is the two readings of the clock around
// each call.
func (c *CellSummary) HarnessShare() (share float64, ok bool) {
	cost := c.nullCost()
	own, of := cost+c.checkCost(), 0.0
	if c.Cell.ProduceRate > 0 || c.Cell.ConsumeRate > 0 || c.Cell.Rate > 0 {
		own, of = 2*c.account.clockRead, c.shortestService()
	} else if cost > 0 {
		of, _ = c.Median(MetricCPU)
	}
	if !(own > 0 && of > 0) {
		return 0, false
	}
	return min(own/of, 1), true
}

// nullCost is what the harness costs an operation of the cell with the strategy null; 0 if that is not known.
func (c *CellSummary) nullCost() float64 {
	operations, _ := c.Median(MetricOps)
	appends, _ := c.Median(MetricProduceOps)
	reads, _ := c.Median(MetricConsumeOps)
	if !(operations > 0) {
		return 0
	}
	return (c.account.cost.Append*appends + c.account.cost.Read*reads) / operations
}

// checkCost is the cost of verification per operation.
func (c *CellSummary) checkCost() float64 {
	operations, _ := c.Median(MetricOps)
	reads, _ := c.Median(MetricConsumeOps)
	checks := c.account.values[checkAccount]
	if len(checks) == 0 || !(operations > 0) {
		return 0
	}
	return Median(checks) * reads / operations
}

// shortestService is the shorter median service time of the roles; 0 if none is known.
func (c *CellSummary) shortestService() float64 {
	shortest := math.Inf(1)
	for kind, service := range map[string]string{KindProduce: KindProduceService, KindConsume: KindConsumeService} {
		if !c.Cell.Paced(kind) {
			service = kind // of a closed role the only latency is the service time
		}
		if p50, ok := c.Median(LatencyMetric(service, "p50")); ok {
			shortest = min(shortest, p50)
		}
	}
	if math.IsInf(shortest, 1) {
		return 0
	}
	return shortest
}

func (c *CellSummary) harnessMarked() bool {
	share, ok := c.HarnessShare()
	return ok && share > HarnessLimit
}

// cpuColumn is the processor time of an operation, marked where much of it is the harness's.
func (s *Section) cpuColumn() Column {
	column := s.medians(MetricLabel(MetricCPU), MetricCPU)
	marked := func(c CellSummary) bool { return c.harnessMarked() }
	if !slices.ContainsFunc(s.Cells, marked) {
		return column
	}
	for i := range column.Cells {
		sign := " " // so that digits stand below digits
		if marked(s.Cells[i]) {
			sign = harnessSign
		}
		column.Cells[i] += sign
	}
	return column
}

// harnessTable is what the harness takes and what else the runs tell of themselves; false if nothing of
// it is known.
func (s *Section) harnessTable() (Table, bool) {
	t := s.table("harness")
	t.Detail = true
	t.Columns = append(t.Columns, s.column("share", func(c *CellSummary) string {
		if share, ok := c.HarnessShare(); ok {
			return FormatPercent(share)
		}
		return absent
	}), s.column("null", func(c *CellSummary) string {
		if cost := c.nullCost(); cost > 0 {
			return FormatDuration(cost)
		}
		return absent
	}))
	for i := range accounts {
		t.Columns = append(t.Columns, s.column(accounts[i].head, func(c *CellSummary) string {
			if values := c.account.values[i]; len(values) > 0 {
				return accounts[i].format(Median(values))
			}
			return absent
		}))
	}
	known := func(c Column) bool {
		return slices.ContainsFunc(c.Cells, func(text string) bool { return text != absent })
	}
	t.Columns = slices.DeleteFunc(t.Columns, func(c Column) bool { return !known(c) })
	return t, len(t.Columns) > 0
}

// costStrategy is the strategy that stores nothing: what is measured of it is the harness.
const costStrategy = "null"

// harnessNote explains the sign of the harness's work; "" if no table has it.
func harnessNote(sections []Section) string {
	var most *CellSummary
	largest := 0.0
	for i := range sections {
		for j := range sections[i].Cells {
			c := &sections[i].Cells[j]
			if !c.harnessMarked() {
				continue
			}
			share, _ := c.HarnessShare()
			if c.Cell.Strategy == costStrategy {
				share = 0 // which says nothing of the others
			}
			if most == nil || share > largest {
				most, largest = c, share
			}
		}
	}
	if most == nil {
		return ""
	}
	atMost := ""
	if largest > 0 {
		atMost = fmt.Sprintf(", at most %s (%s in %s),", FormatPercent(largest), most.Cell.Label(), most.Cell.Workload)
	}
	return fmt.Sprintf("%s more than %s of what is measured%s is the harness's own work:\n"+
		"of the processor time in a closed loop, of the median service time where the load is paced. It is the\n"+
		"same for every strategy, so ratios between them are closer to 1 than they would be without it.",
		harnessSign, FormatPercent(HarnessLimit), atMost)
}

// mixNotes says which cells of a mix did not append as often as was asked for: by more than one operation
// in a hundred, or by more than a tenth of it.
func (s *Section) mixNotes() []string {
	var notes []string
	declared := s.Point.ProducePercent / 100
	for i := range s.Cells {
		c := &s.Cells[i]
		values := c.account.values[appendsAccount]
		if s.Point.Workers == 0 || len(values) == 0 {
			continue
		}
		off := math.Abs(Median(values) - declared)
		const rounding = 1e-9
		if off > min(0.01, cmp.Or(declared, 1)/10)+rounding {
			notes = append(notes, fmt.Sprintf("%s: %.1f %% of the operations were appends, %s %% were asked for",
				c.Cell.Label(), 100*Median(values), formatNumber(s.Point.ProducePercent)))
		}
	}
	return notes
}
