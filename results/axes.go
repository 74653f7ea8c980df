package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// dimension is a number in which points of a workload may differ.
type dimension struct {
	key   string // as in cellKeys
	label string
	// one and several name so many of it ("worker", "workers"); "" where it is no count of anything.
	one, several string
	format       func(float64) string
	value        func(Cell) float64
	clear        func(*Cell)
	// least is the smallest value on an axis. Below it lies what is no small number of the dimension but
	// another thing: a load without a rate, a run that is not sustained.
	least float64
	// leads says that the size of a reader's buffer may follow from it: it has room for whole batches.
	leads bool
}

// of makes a dimension of a field of Cell.
func of[T int | int64 | float64](d dimension, field func(*Cell) *T) dimension {
	d.value = func(c Cell) float64 { return float64(*field(&c)) }
	d.clear = func(c *Cell) { *field(c) = 0 }
	if d.format == nil {
		d.format = formatNumber
	}
	return d
}

// dimensions are those of Cell, in the order of cellKeys.
var dimensions = []dimension{
	of(dimension{key: "producers", label: "producers", one: "producer", several: "producers"}, func(c *Cell) *int { return &c.Producers }),
	of(dimension{key: "consumers", label: "consumers", one: "consumer", several: "consumers"}, func(c *Cell) *int { return &c.Consumers }),
	of(dimension{key: "workers", label: "workers", one: "worker", several: "workers", least: 1}, func(c *Cell) *int { return &c.Workers }),
	of(dimension{key: "produce", label: "share of appends", format: formatShare}, func(c *Cell) *float64 { return &c.ProducePercent }),
	of(dimension{key: "replicas", label: "followers", one: "follower", several: "followers"}, func(c *Cell) *int { return &c.Replicas }),
	of(dimension{key: "partitions", label: "partitions", one: "partition", several: "partitions"}, func(c *Cell) *int { return &c.Partitions }),
	of(dimension{key: "record-size", label: "record size", format: FormatBytes, leads: true}, func(c *Cell) *int { return &c.RecordSize }),
	of(dimension{key: "batch-records", label: "records in a batch", one: "record", several: "records", leads: true},
		func(c *Cell) *int { return &c.BatchRecords }),
	of(dimension{key: "fetch-bytes", label: "size of a reader's buffer", format: FormatBytes}, func(c *Cell) *int { return &c.FetchBytes }),
	of(dimension{key: "skew", label: "skew of the reads"}, func(c *Cell) *float64 { return &c.Skew }),
	of(dimension{key: "produce-rate", label: "rate of appended records", format: formatPace, least: aboveNone}, func(c *Cell) *float64 { return &c.ProduceRate }),
	of(dimension{key: "consume-rate", label: "rate of reads", format: formatPace, least: aboveNone}, func(c *Cell) *float64 { return &c.ConsumeRate }),
	of(dimension{key: "rate", label: "rate of operations", format: formatPace, least: aboveNone}, func(c *Cell) *float64 { return &c.Rate }),
	of(dimension{key: "burst", label: "operations due at once", one: "operation", several: "operations"}, func(c *Cell) *int { return &c.Burst }),
	of(dimension{key: "think", label: "pause between operations", format: FormatDuration}, func(c *Cell) *float64 { return &c.Think }),
	of(dimension{key: "backlog", label: "backlog that holds producers", format: FormatBytes, least: 1}, func(c *Cell) *int64 { return &c.Backlog }),
	of(dimension{key: gomaxprocsKey, label: "processors (GOMAXPROCS)", one: "processor", several: "processors", least: 1},
		func(c *Cell) *int { return &c.GOMAXPROCS }),
}

// aboveNone is the least rate that is one: 0 stands for a closed loop.
const aboveNone = math.SmallestNonzeroFloat64

func formatShare(percent float64) string { return formatNumber(percent) + " %" }

// formatPace writes whole rates in full, since those that were asked for are round.
func formatPace(perSecond float64) string {
	if perSecond == math.Trunc(perSecond) {
		return formatCount(perSecond) + "/s"
	}
	return formatNumber(perSecond) + "/s"
}

// on is the value of a point along the dimension. No given burst is one of a single operation.
func (d *dimension) on(point Cell) float64 {
	if d.key == "burst" {
		return max(1, d.value(point))
	}
	return d.value(point)
}

// dimension returns that of the axis; one without a name of its own for a key that no cell has.
func (a *Axis) dimension() dimension {
	for _, d := range dimensions {
		if d.key == a.Key {
			return d
		}
	}
	return dimension{key: a.Key, label: a.Key, format: formatNumber}
}

// Label names the axis for readers: "share of appends".
func (a *Axis) Label() string { return a.dimension().label }

// Format writes a value of the axis with its unit: 10 %, 64 KiB, 20,000/s, 1.0 ms; counts are plain numbers.
func (a *Axis) Format(v float64) string {
	if !isFinite(v) {
		return absent
	}
	return a.dimension().format(v)
}

// words are a value in a sentence: what Format writes, and of a count what is counted ("4 workers").
func (a *Axis) words(v float64) string {
	d := a.dimension()
	switch {
	case d.several == "":
		return a.Format(v)
	case v == 1:
		return "1 " + d.one
	}
	return a.Format(v) + " " + d.several
}

// axes finds the axes of a workload, in the order of dimensions, those of one dimension in that of points: a
// grid over two dimensions has an axis for each of its rows and each of its columns.
func (s *index) axes(workload string) []Axis {
	ran := s.workloadRun(workload)
	var axes []Axis
	for i := range dimensions {
		d := &dimensions[i]
		for _, group := range d.groups(ran.points) {
			a := Axis{Workload: workload, Key: d.key, Where: whereAlong(group, ran.keys), Points: group}
			for _, point := range group {
				a.Values = append(a.Values, d.on(point))
			}
			axes = append(axes, a)
		}
	}
	return axes
}

// groups returns the points that differ in the dimension alone, two or more at a time, ascending. Where the
// size of a reader's buffer never shrinks along it, and no place on it has buffers of two sizes, the buffer
// follows from the dimension and is no difference of its own.
func (d *dimension) groups(points []Cell) [][]Cell {
	points = slices.DeleteFunc(slices.Clone(points), func(c Cell) bool { return !isFinite(d.on(c)) || d.on(c) < d.least })
	slices.SortStableFunc(points, func(a, b Cell) int { return cmp.Compare(d.on(a), d.on(b)) })
	var groups [][]Cell
	for _, loose := range groupBy(points, func(c Cell) Cell {
		d.clear(&c)
		if d.leads {
			c.FetchBytes = 0
		}
		return c
	}) {
		follows := slices.IsSortedFunc(loose, func(a, b Cell) int { return cmp.Compare(a.FetchBytes, b.FetchBytes) })
		if follows && d.ascends(loose) {
			groups = append(groups, loose)
			continue
		}
		for _, strict := range groupBy(loose, func(c Cell) Cell { d.clear(&c); return c }) {
			if d.ascends(strict) {
				groups = append(groups, strict)
			}
		}
	}
	slices.SortStableFunc(groups, func(a, b []Cell) int { return comparePoints(a[0], b[0]) })
	return groups
}

// ascends reports whether there are several points, each further along the dimension than the one before.
func (d *dimension) ascends(points []Cell) bool {
	for i := range points[1:] {
		if d.on(points[i]) >= d.on(points[i+1]) {
			return false
		}
	}
	return len(points) > 1
}

// groupBy puts together what has one key, in the order of the first of each.
func groupBy[T any, K comparable](all []T, key func(T) K) [][]T {
	var groups [][]T
	at := make(map[K]int)
	for _, one := range all {
		k := key(one)
		group, seen := at[k]
		if !seen {
			group = len(groups)
			at[k] = group
			groups = append(groups, nil)
		}
		groups[group] = append(groups[group], one)
	}
	return groups
}

// whereAlong names what is the same along an axis, of the keys in which points of the workload differ.
func whereAlong(along []Cell, keys []cellKey) string {
	var parts []string
	for _, key := range keys {
		value := key.value(along[0])
		differs := func(other Cell) bool { return key.value(other) != value }
		if !slices.ContainsFunc(along, differs) {
			parts = append(parts, fmt.Sprintf("%s %s", key.key, cmp.Or(value, "0")))
		}
	}
	return strings.Join(parts, ", ")
}
