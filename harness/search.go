package harness

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"tailrace/results"
	"tailrace/workload"
)

// A search finds the highest rate of the producers that a strategy sustains: that is kept, that consumers
// keep up with, and at which the objectives of the workload are met.
//
// A run in a closed loop says how much is possible at all. From there on the rate is raised while it is
// sustained, and lowered while it is not; then the gap between the highest that was and the lowest that
// was not is halved, geometrically, until it is small. In the end both are confirmed: what most of
// confirmations runs at a rate say, counts, and where that contradicts the first, the search goes on from
// there. All strategies take turns in random order, one run each, so that drift hits all alike.
const (
	searchStart     = 0.5  // of the rate of the closed loop
	searchStep      = 1.4  // from one rate to the next while only one end is known
	searchPrecision = 1.05 // ratio of the two ends at which a search is confirmed
	confirmations   = 3
	mostProbes      = 60 // of a strategy; a noisy machine may contradict itself for ever
	usualProbes     = 14 // of a strategy, to tell how long a search will take
	lowestRate      = 1.0
	highestRate     = 1e8
)

// bracket is the search of one strategy.
type bracket struct {
	found results.Search
	cell  *PlannedCell
	next  float64 // rate to be tried; 0 for the closed loop
	done  bool
	vain  int // runs in a closed loop without a result
	tries map[float64]*tries
}

// tries are the runs at one rate.
type tries struct{ passed, failed int }

func (t *tries) decided() bool   { return max(t.passed, t.failed) > confirmations/2 }
func (t *tries) sustained() bool { return t.passed > t.failed }

// addSearch plans the search of one workload.
func (p *Plan) addSearch(w *workload.Workload, place Place, names []string) error {
	if p.Options.Shard.Count > 0 {
		return usagef("--shard %s: the search for a rate is not split, since each run depends on the last; leave one of the two out", p.Options.Shard)
	}
	if p.Options.Against != "" {
		return usagef("--against %s: a search takes one build; search with each binary", p.Options.Against)
	}
	var search PlannedSearch
	for _, procs := range p.Options.GOMAXPROCS {
		for _, name := range names {
			cell := point(w, place).Cell
			cell.Strategy, cell.GOMAXPROCS = name, procs
			search.Cells = append(search.Cells, PlannedCell{Workload: *w, Place: place, Cell: cell})
		}
	}
	p.Searches = append(p.Searches, search)
	return nil
}

// estimate is how long a search usually takes.
func (s *PlannedSearch) estimate() time.Duration {
	var sum time.Duration
	for i := range s.Cells {
		sum += usualProbes * s.Cells[i].estimate()
	}
	return sum
}

// search does all searches of the plan.
func (s *sweep) search(ctx context.Context) error {
	s.plan.Meta.Searches = nil
	index := s.plan.Options.Blocks * len(s.plan.Cells)
	for i := range s.plan.Searches {
		brackets := s.plan.Searches[i].brackets()
		err := s.close(ctx, brackets, &index)
		for _, b := range brackets {
			if err != nil && !b.done {
				b.found.Reason = "the search was ended before its end"
			}
			s.plan.Meta.Searches = append(s.plan.Meta.Searches, b.found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// brackets are those of a search that has not begun.
func (p *PlannedSearch) brackets() []*bracket {
	var brackets []*bracket
	for i := range p.Cells {
		c := &p.Cells[i]
		b := &bracket{cell: c, tries: map[float64]*tries{}}
		b.found = results.Search{Workload: c.Cell.Workload, Strategy: c.Cell.Strategy, GOMAXPROCS: c.Cell.GOMAXPROCS}
		for _, o := range c.Workload.Objectives {
			b.found.Objectives = append(b.found.Objectives, o.String())
		}
		brackets = append(brackets, b)
	}
	return brackets
}

// close narrows brackets until all are done. index is that of the next run.
func (s *sweep) close(ctx context.Context, brackets []*bracket, index *int) error {
	for round := 0; ; round++ {
		probed := false
		for _, i := range workload.Shuffle(s.plan.Options.Seed, round, len(brackets)) {
			b := brackets[i]
			if b.done {
				continue
			}
			probe := b.probe()
			// What was journaled of another course, before a run of it was lost, stays out.
			for run := s.journal[*index]; run != nil && run.Cell != probe.Cell; run = s.journal[*index] {
				*index++
			}
			run, err := s.one(ctx, turn{index: *index, block: round, cell: probe})
			if err != nil {
				return err
			}
			b.learn(run)
			*index++
			probed = true
		}
		if !probed {
			return nil
		}
	}
}

// probe is the cell of the next run.
func (b *bracket) probe() *PlannedCell {
	c := *b.cell
	c.Workload.Search, c.Workload.Objectives = false, nil
	c.Workload.ProduceRate, c.Cell.ProduceRate = b.next, b.next
	if paced := c.Workload.PacedBytes(); paced > 0 {
		c.Workload.MaxBytes = min(paced, b.cell.Workload.MaxBytes)
	}
	return &c
}

// learn takes the outcome of a run at the rate next, and chooses the next one.
func (b *bracket) learn(run *results.Run) {
	if b.next == 0 {
		b.found.Closed = run.Metrics[results.MetricProduceRecords]
		if !run.Valid() || !(b.found.Closed > 0) {
			// On a busy machine a short window may have no operation.
			if b.vain++; b.vain == confirmations || !run.Valid() {
				b.found.Reason = "the run in a closed loop had no result: " + cmp.Or(run.Verification.Error, run.Unmeasured)
				b.done = true
			}
			return
		}
		if b.found.Floor = b.floor(); b.found.Floor > max(b.found.Closed, lowestRate) {
			b.found.Reason = fmt.Sprintf("a window of %v has enough samples for %s only from %.3g/s on, and a closed loop reaches %.3g/s; raise --duration",
				b.cell.Workload.Duration, strings.Join(b.found.Objectives, ", "), b.found.Floor, b.found.Closed)
			b.done = true
			return
		}
		b.next = max(rounded(b.found.Closed*searchStart), b.found.Floor)
		return
	}
	if run.ByteBound {
		b.found.Reason = fmt.Sprintf("at %.3g/s a run had written all that it may before its window was over; raise --max-bytes, or lower --duration", b.next)
		b.done = true
		return
	}
	reason, unknown := b.misses(run)
	t := b.tries[b.next]
	if t == nil {
		t = new(tries)
		b.tries[b.next] = t
	}
	b.found.Probes = append(b.found.Probes, results.Probe{
		Rate: b.next, Passed: reason == "", Reason: reason, Measured: b.measured(run), Unknown: unknown, Run: run.Index, Confirms: t.passed+t.failed > 0,
	})
	if reason == "" {
		t.passed++
	} else {
		t.failed++
	}
	b.choose()
}

// choose finds the ends of the bracket, and the rate of the next run.
func (b *bracket) choose() {
	pass, fail := b.ends()
	switch {
	case len(b.found.Probes) >= mostProbes:
		b.found.Reason = fmt.Sprintf("the runs contradicted each other: no end after %d", mostProbes)
		b.done = true
	case pass == 0 && fail <= b.found.Floor, fail == 0 && pass >= highestRate:
		b.done = b.confirmed(max(pass, fail))
	case fail == 0:
		b.next = min(rounded(pass*searchStep), highestRate)
	case pass == 0:
		b.next = max(rounded(fail/searchStep), b.found.Floor)
	case fail/pass > searchPrecision && rounded(math.Sqrt(pass*fail)) > pass && rounded(math.Sqrt(pass*fail)) < fail:
		b.next = rounded(math.Sqrt(pass * fail))
	default:
		b.done = b.confirmed(pass) && b.confirmed(fail)
	}
	b.found.Pass, b.found.Fail = pass, fail
}

// floor is the lowest rate worth trying: below it a window has too few records for the quantiles of the
// objectives.
func (b *bracket) floor() float64 {
	load := &b.cell.Workload
	lowest := lowestRate
	for _, o := range load.Objectives {
		if q, ok := quantiles[o.Statistic]; ok {
			samples := 1.1 * results.SamplesBeyond / (1 - q)
			lowest = max(lowest, samples*float64(load.BatchRecords)/load.Duration.Seconds())
		}
	}
	return rounded(lowest)
}

// confirmed reports whether the runs at a rate have decided; if not, the next run is one more of them.
func (b *bracket) confirmed(rate float64) bool {
	if b.tries[rate].decided() {
		return true
	}
	b.next = rate
	return false
}

// ends are the lowest rate that was not sustained, and the highest below it that was; 0 if there is none.
func (b *bracket) ends() (pass, fail float64) {
	for rate, t := range b.tries {
		if !t.sustained() && (fail == 0 || rate < fail) {
			fail = rate
		}
	}
	for rate, t := range b.tries {
		if t.sustained() && rate > pass && (fail == 0 || rate < fail) {
			pass = rate
		}
	}
	return pass, fail
}

// misses says why a run does not count as sustained; "" if it does. Where that can't be known, it does not.
func (b *bracket) misses(run *results.Run) (reason string, unknown bool) {
	switch {
	case !run.Valid():
		return run.Verification.Error, false
	case run.Unmeasured != "":
		return run.Unmeasured, true
	case run.Overloaded:
		return "the rate was not kept", false
	}
	for _, o := range b.cell.Workload.Objectives {
		metric := results.LatencyMetric(o.Kind, o.Statistic)
		value, ok := run.Metrics[metric]
		bound, bounded := run.Bounds[metric]
		switch {
		case !ok && bounded && bound < o.Limit.Seconds(): // the system was faster still
		case !ok && bounded:
			return fmt.Sprintf("%s %s, of which too much is the lateness of the load itself", results.MetricLabel(metric), results.FormatMetric(metric, bound)), true
		case !ok:
			return fmt.Sprintf("its %s is not known: too few samples beyond it", results.MetricLabel(metric)), true
		case value >= o.Limit.Seconds():
			return fmt.Sprintf("%s %s", results.MetricLabel(metric), results.FormatMetric(metric, value)), false
		}
	}
	return "", false
}

// measured are the latencies of the objectives in a run, as far as it has them.
func (b *bracket) measured(run *results.Run) []string {
	var texts []string
	for _, o := range b.cell.Workload.Objectives {
		metric := results.LatencyMetric(o.Kind, o.Statistic)
		if value, ok := run.Metrics[metric]; ok {
			texts = append(texts, fmt.Sprintf("%s %s", results.MetricLabel(metric), results.FormatMetric(metric, value)))
		} else if bound, ok := run.Bounds[metric]; ok {
			texts = append(texts, fmt.Sprintf("%s ≤ %s", results.MetricLabel(metric), results.FormatMetric(metric, bound)))
		}
	}
	return texts
}

// rounded is a rate of three digits, as a person would choose it.
func rounded(rate float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(rate))-2)
	return math.Round(rate/unit) * unit
}
