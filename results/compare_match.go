package results

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchunit"
)

// side is what one side of a comparison measured, whatever it was read from.
type side struct {
	origin     Origin
	machine    []Fact // has to be the same on both sides
	benchmarks []*benchmark
	violations []string
	warnings   []string
	failed     bool             // the benchmarks say so themselves
	conflicts  map[string]error // metrics that can't be compared, of the new side
}

// benchmark is what was measured again and again: a cell of a sweep, or a name in a file.
type benchmark struct {
	key     any // identifies it on both sides
	name    string
	base    string   // of a file: name without configuration
	primary []string // none where nothing says which they are
	metrics []string // in the order of its source
	runs    int      // each of which should have a value of a metric
	values  map[string][]observation
	// flaws are what is no measurement, by metric; by allMetrics where a whole run can't be read.
	flaws map[string]string
	// doubt says why its runs may not belong together; "" if they do.
	doubt string
	// unmatched says why a benchmark that only the new side has may be one of the old side.
	unmatched string
	// exact reports whether repeated runs have to give the same value of a metric.
	exact func(metric string) bool
	// distrust says why values of a metric count for nothing; "" if they count.
	distrust func(metric string) string
	// better is 1 where more of a metric is better, -1 where less is, 0 where that is not known.
	better func(metric string) int
}

// observation is the value of one run.
type observation struct {
	value float64
	block int
}

// allMetrics stands for each metric of a benchmark.
const allMetrics = ""

// incomplete says what is missing of a metric on the side of a path; "" if each run has it.
func (b *benchmark) incomplete(metric, path string) string {
	values := len(b.values[metric])
	flaw := cmp.Or(b.flaws[metric], b.flaws[allMetrics], b.doubt)
	switch {
	case flaw != "":
		return flaw
	case values == 0:
		return fmt.Sprintf("%s has no %s of it", path, metric)
	case values < b.runs:
		return fmt.Sprintf("%d of %d runs of %s have no %s", b.runs-values, b.runs, path, metric)
	}
	return ""
}

func (b *benchmark) has(metric string) bool { return slices.Contains(b.metrics, metric) }

// matched is a benchmark that both sides have.
type matched struct{ old, new *benchmark }

// match finds what both sides have, in the order of the new one, and lists the rest.
func (c *Changes) match(old, new *side) ([]matched, error) {
	if err := c.sameMachine(old, new); err != nil {
		return nil, err
	}
	byKey := make(map[any]*benchmark)
	for _, b := range old.benchmarks {
		byKey[b.key] = b
	}
	var pairs []matched
	for _, b := range new.benchmarks {
		if other := byKey[b.key]; other != nil {
			pairs = append(pairs, matched{other, b})
			delete(byKey, b.key)
		} else {
			c.OnlyNew = append(c.OnlyNew, b.name)
			if b.unmatched != "" {
				c.Unmatched = append(c.Unmatched, b.name+": "+b.unmatched)
			}
		}
	}
	for _, b := range old.benchmarks {
		if byKey[b.key] != nil {
			c.OnlyOld = append(c.OnlyOld, b.name)
		}
	}
	if len(pairs) == 0 {
		return nil, c.nothingInCommon()
	}
	return pairs, nil
}

// sameMachine refuses sides of different machines. What a side does not tell is no difference.
func (c *Changes) sameMachine(old, new *side) error {
	var differ []string
	unknown := false
	for _, fact := range new.machine {
		at := slices.IndexFunc(old.machine, func(f Fact) bool { return f.Name == fact.Name })
		switch {
		case at < 0 || fact.Value == "" || old.machine[at].Value == "":
			unknown = true
		case old.machine[at].Value != fact.Value:
			differ = append(differ, fmt.Sprintf("%s is %s in %s and %s in %s", fact.Name, old.machine[at].Value, c.Old.Path, fact.Value, c.New.Path))
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("results: machines that %w: %s", ErrIncomparable, strings.Join(differ, ", "))
	}
	if unknown {
		c.Warnings = append(c.Warnings, "not everything is known of the machines, which have to be the same")
	}
	return nil
}

// errNothingInCommon: two sides are each all right, and have nothing that is on both.
var errNothingInCommon = errors.New("no benchmark is in both")

// nothingInCommon says why there is no benchmark that both sides have.
func (c *Changes) nothingInCommon() error {
	processors := make(map[string]string) // of the old side, by the name without them
	for _, name := range c.OnlyOld {
		rest, n := withoutProcessors(name)
		processors[rest] = n
	}
	for _, name := range c.OnlyNew {
		rest, n := withoutProcessors(name)
		if other, ok := processors[rest]; ok && other != n {
			return fmt.Errorf("results: machines that %w: GOMAXPROCS is %s in %s and %s in %s", ErrIncomparable, other, c.Old.Path, n, c.New.Path)
		}
	}
	return fmt.Errorf("results: %s and %s %w: %w; the one has %s, the other %s",
		c.Old.Path, c.New.Path, ErrIncomparable, errNothingInCommon, someOf(c.OnlyOld, 2), someOf(c.OnlyNew, 2))
}

// withoutProcessors takes the number of processors, which go test appends if it is not 1, out of a benchmark's name.
func withoutProcessors(name string) (rest, processors string) {
	name, configuration, _ := strings.Cut(name, " ")
	suffix := trailingNumber.FindString(name)
	return strings.TrimSuffix(name, suffix) + " " + configuration, cmp.Or(strings.TrimPrefix(suffix, "-"), "1")
}

// timePerOperation is the time that an operation takes: what go test prints of each benchmark, in base units.
const timePerOperation = "sec/op"

// metrics are those of a pair that are to be compared: those that were asked for, as far as a side has them, else the
// primary ones. The order of lines in a file, and of metrics in a line, does not matter.
func (p matched) metrics(o CompareOptions) []string {
	if len(o.Metrics) == 0 {
		return p.primary(o.Primaries)
	}
	var metrics []string
	for _, name := range o.Metrics {
		_, tidied := benchunit.Tidy(1, name)
		for _, metric := range []string{name, tidied} {
			if p.either(metric) && !slices.Contains(metrics, metric) {
				metrics = append(metrics, metric)
			}
		}
	}
	return metrics
}

func (p matched) either(metric string) bool { return p.old.has(metric) || p.new.has(metric) }

// primary are the metrics to judge a pair by if none were asked for. known are those of workloads by name.
func (p matched) primary(known map[string]string) []string {
	if declared := slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.old.primary, p.new.primary)))); len(declared) > 0 {
		return declared
	}
	if metric := known[workloadOf(p.new.name)]; metric != "" && p.either(metric) {
		return []string{metric}
	}
	if p.either(timePerOperation) {
		return []string{timePerOperation}
	}
	all := slices.Sorted(slices.Values(p.old.metrics))
	for _, is := range []func(metric string) bool{
		func(metric string) bool { return p.new.better(metric) != 0 },
		func(metric string) bool { return p.old.flaws[metric] == "" || p.new.flaws[metric] == "" },
	} {
		if kept := slices.DeleteFunc(slices.Clone(all), func(metric string) bool { return !is(metric) }); len(kept) > 0 {
			all = kept
		}
	}
	return all
}

// checkMetrics refuses a metric that no pair has on both sides.
func checkMetrics(asked []string, pairs []matched, c *Changes) error {
	var both, onlyOld, onlyNew []string
	add := func(to *[]string, metric string) {
		if !slices.Contains(*to, metric) {
			*to = append(*to, metric)
		}
	}
	for _, p := range pairs {
		for _, metric := range p.new.metrics {
			if p.old.has(metric) {
				add(&both, metric)
			} else {
				add(&onlyNew, metric)
			}
		}
		for _, metric := range p.old.metrics {
			if !p.new.has(metric) {
				add(&onlyOld, metric)
			}
		}
	}
	for _, name := range asked {
		_, tidied := benchunit.Tidy(1, name)
		in := func(metrics []string) bool { return slices.Contains(metrics, name) || slices.Contains(metrics, tidied) }
		switch {
		case in(both):
		case in(onlyOld):
			return &UnknownMetricError{Metric: name, Known: both, Side: c.Old.Path}
		case in(onlyNew):
			return &UnknownMetricError{Metric: name, Known: both, Side: c.New.Path}
		default:
			return &UnknownMetricError{Metric: name, Known: both}
		}
	}
	return nil
}

// someOf lists names, the first few of many.
func someOf(names []string, most int) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
