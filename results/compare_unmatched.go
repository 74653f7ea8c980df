package results

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// findUnmatched finds the benchmarks that only the new side has, and that may be no new ones.
func (j *benchJoin) findUnmatched() {
	keys, bases := make(map[any]bool), make(map[string]bool)
	for _, b := range j.old.benchmarks {
		keys[b.key], bases[b.base] = true, true
	}
	lost := make(map[string]string) // of the old side, by name
	for _, flaw := range j.old.flaws {
		if flaw.metric == allMetrics {
			lost[flaw.name] = flaw.text
		}
	}
	for _, b := range j.new.benchmarks {
		name, _, _ := strings.Cut(b.base, " ")
		switch {
		case keys[b.key]:
		case bases[b.base]:
			b.unmatched = fmt.Sprintf("%s has it in another configuration", j.old.origin.Path)
		case j.fewerLines(name):
			b.unmatched = fmt.Sprintf("%s has more lines of it, in another package", j.old.origin.Path)
		case lost[name] != "":
			b.unmatched = lost[name]
		case j.old.failed:
			b.unmatched = fmt.Sprintf("the benchmarks of %s failed, and may have left it out", j.old.origin.Path)
		}
	}
}

// fewerLines reports whether the new side has fewer lines than the old one of a name in a package that both have.
func (j *benchJoin) fewerLines(name string) bool {
	sides := j.byName[name]
	for pkg, lines := range sides[1] {
		if len(lines) < len(sides[0][pkg]) {
			return true
		}
	}
	return false
}

// warn says which configuration lines and lines on units were not taken as they are.
func (j *benchJoin) warn() {
	if len(j.ignored) > 0 {
		var marks []string
		for _, key := range slices.Sorted(maps.Keys(j.ignored)) {
			marks = append(marks, strconv.Quote(key+":"))
		}
		j.new.warnings = append(j.new.warnings, fmt.Sprintf("lines that begin with %s separate no benchmarks, since they are not the same in both files",
			someOf(marks, mostNames)))
	}
	for _, x := range []*benchSide{j.old, j.new} {
		for at, values := range x.units {
			if at.key != unitPrimary && len(values) > 1 {
				x.warnings = append(x.warnings, fmt.Sprintf("%s: Unit lines say several things on %s of %s, which count for nothing: %s",
					x.origin.Path, at.key, at.unit, strings.Join(values, ", ")))
			}
		}
	}
}
