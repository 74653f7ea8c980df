package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pkgKey is the configuration line that go test writes before the benchmarks of a package.
const pkgKey = "pkg"

// benchJoin finds which lines of two files belong to one benchmark: those of one name and package, and of one
// configuration where that tells lines of one name apart in the same way in both files. Other lines of the form
// "key: value", which a log may have written, or which describe a file as a whole, separate nothing.
type benchJoin struct {
	old, new *benchSide
	packages map[string]string              // by name, where only one side has the line
	keys     map[string][]string            // by name and package: the configuration that tells its lines apart
	doubts   map[string]string              // by name and package: why its lines may not belong together
	ignored  map[string]bool                // keys that differ, and separate nothing
	byName   map[string][2]map[string][]int // of each side the numbers of the lines, by package
}

// joinBench makes the benchmarks of both sides.
func joinBench(old, new *benchSide) error {
	j := &benchJoin{
		old: old, new: new, packages: make(map[string]string), keys: make(map[string][]string), doubts: make(map[string]string),
		ignored: make(map[string]bool),
	}
	j.readNames()
	j.joinPackages()
	both, one, err := j.readKeys()
	if err != nil {
		return err
	}
	for name, packages := range j.byName {
		for pkg, lines := range packages[1] {
			if before := packages[0][pkg]; len(before) > 0 {
				j.joinConfigurations(nameIn(name, pkg), both, one, before, lines)
			}
		}
	}
	for _, x := range []*benchSide{old, new} {
		j.makeBenchmarks(x)
	}
	j.findUnmatched()
	j.warn()
	new.conflicts = j.conflicts()
	return nil
}

func nameIn(name, pkg string) string {
	if pkg == "" {
		return name
	}
	return name + " " + pkgKey + ":" + pkg
}

func (j *benchJoin) readNames() {
	j.byName = make(map[string][2]map[string][]int)
	for i, x := range []*benchSide{j.old, j.new} {
		for _, line := range x.lines {
			sides, ok := j.byName[line.name]
			if !ok {
				sides = [2]map[string][]int{make(map[string][]int), make(map[string][]int)}
				j.byName[line.name] = sides
			}
			pkg := x.config.at(pkgKey, line.number)
			sides[i][pkg] = append(sides[i][pkg], line.number)
		}
	}
}

// joinPackages gives names without a package on one side the package of the other side, if that is but one.
func (j *benchJoin) joinPackages() {
	for name, sides := range j.byName {
		for i, side := range sides {
			lines, without := side[""]
			other := sides[1-i]
			if _, too := other[""]; !without || len(side) > 1 || len(other) != 1 || too {
				continue
			}
			for pkg := range other {
				j.packages[name] = pkg
				side[pkg] = lines
				delete(side, "")
				j.ignored[pkgKey] = true
			}
		}
	}
}

// mostKeys bounds the time that files of many keys take.
const mostKeys = 50

// readKeys finds the keys that have several values in one of the files, but for those of machines and packages: those
// of both files, and of one alone.
func (j *benchJoin) readKeys() (both, one []string, err error) {
	varying := make(map[string]bool)
	for _, x := range []*benchSide{j.old, j.new} {
		numbers := x.numbers()
		for key := range x.config {
			if key != pkgKey && !slices.Contains(machineKeys, key) && len(x.config.values(key, numbers)) > 1 {
				varying[key] = true
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(varying)) {
		if len(j.old.config[key]) > 0 && len(j.new.config[key]) > 0 {
			both = append(both, key)
		} else {
			one = append(one, key)
			j.ignored[key] = true
		}
	}
	if len(both) > mostKeys {
		return nil, nil, fmt.Errorf("results: %s and %s have more than %d different keys in lines of the form \"key: value\": leave the lines of logs out of them",
			j.old.origin.Path, j.new.origin.Path, mostKeys)
	}
	return both, one, nil
}

// joinConfigurations finds the keys that tell the lines of a name apart: those with the same values on both sides, or
// with several on one and some of these on the other. Any other key is a setting or a line of a log. If there are as
// many lines as on the other side, it separated none; else there is no telling.
func (j *benchJoin) joinConfigurations(name string, both, one []string, old, new []int) {
	separating := ""
	for _, key := range both {
		before, after := j.old.config.values(key, old), j.new.config.values(key, new)
		switch several := len(before) > 1 || len(after) > 1; {
		case several && (maps.Equal(before, after) || areSettings(before, after)):
			j.keys[name] = append(j.keys[name], key)
		case several:
			separating = key
			j.ignored[key] = true
		case !maps.Equal(before, after):
			j.ignored[key] = true
		}
	}
	if len(old) == len(new) {
		return
	}
	separates := func(key string) bool {
		return len(j.old.config.values(key, old)) > 1 || len(j.new.config.values(key, new)) > 1
	}
	if at := slices.IndexFunc(one, separates); at >= 0 {
		separating = one[at]
	}
	if separating != "" {
		j.doubts[name] = fmt.Sprintf("lines that begin with %q separate its lines, not in the same way in both files, and there are %d old and %d new: no telling what belongs together",
			separating+":", len(old), len(new))
	}
}

// areSettings reports whether a side has several values of a key, and the other side one of them, having none aside.
func areSettings(before, after map[string]bool) bool {
	shared := 0
	for value := range before {
		if value != "" && after[value] {
			shared++
		}
	}
	several := func(values map[string]bool) bool { return len(values) > 2 || len(values) == 2 && !values[""] }
	return shared > 0 && (several(before) || several(after))
}

// key is the name of a line with its package, and with the configuration that tells it apart.
func (j *benchJoin) key(x *benchSide, name string, number int) (key, base string) {
	pkg := x.config.at(pkgKey, number)
	if pkg == "" {
		pkg = j.packages[name]
	}
	base = nameIn(name, pkg)
	key = base
	for _, setting := range j.keys[base] {
		if value := x.config.at(setting, number); value != "" {
			key += " " + setting + ":" + value
		}
	}
	return key, base
}

// makeBenchmarks puts the lines of a side together, in the order of the file.
func (j *benchJoin) makeBenchmarks(x *benchSide) {
	byKey := make(map[string]*benchmark)
	for i, line := range x.lines {
		key, base := j.key(x, line.name, line.number)
		b := byKey[key]
		if b == nil {
			b = &benchmark{
				key: key, name: key, base: base, values: make(map[string][]observation), flaws: make(map[string]string),
				primary: x.units.primary(workloadOf(key)), doubt: j.doubts[base], distrust: func(string) string { return x.sick },
				better: j.better, exact: func(metric string) bool { return j.old.units.exact(metric) || j.new.units.exact(metric) },
			}
			byKey[key] = b
			x.benchmarks = append(x.benchmarks, b)
		}
		b.runs++
		for _, m := range line.values {
			if len(b.values[m.unit]) == 0 {
				b.metrics = append(b.metrics, m.unit)
			}
			b.values[m.unit] = append(b.values[m.unit], observation{m.value, i})
		}
	}
	for _, flaw := range x.flaws {
		key, _ := j.key(x, flaw.name, flaw.number)
		b := byKey[key]
		if b == nil || b.flaws[flaw.metric] != "" {
			continue
		}
		b.flaws[flaw.metric] = flaw.text
		if flaw.metric != allMetrics && !b.has(flaw.metric) {
			b.metrics = append(b.metrics, flaw.metric)
		}
	}
}

// workloadOf is the workload of a benchmark of tailrace; "" for any other.
func workloadOf(name string) string {
	name, _, _ = strings.Cut(name, " ")
	workload, isRun := strings.CutPrefix(name, "Run/workload=")
	workload, rest, _ := strings.Cut(workload, "/")
	if !isRun || !strings.HasPrefix(rest, "strategy=") {
		return ""
	}
	return withoutCommas(workload)
}

// better finds out which way a metric is better: as a file says, else as it is for the units of go test, more for
// rates and less for what an operation costs, and for times. Where only one file says it, that holds for both.
func (j *benchJoin) better(metric string) int {
	after, newSays := j.new.units.better(metric)
	before, oldSays := j.old.units.better(metric)
	switch {
	case newSays && after != 0:
		return after
	case oldSays && before != 0:
		return before
	case newSays || oldSays:
		return 0
	}
	return usualDirection(metric)
}

func usualDirection(unit string) int {
	switch {
	case strings.HasSuffix(unit, "/s"), strings.HasSuffix(unit, "/sec"):
		return 1
	case strings.HasSuffix(unit, "/op"), unit == "sec", strings.HasSuffix(unit, "-sec"):
		return -1
	}
	return 0
}

// conflicts are the metrics of which more is better in one file, and less in the other.
func (j *benchJoin) conflicts() map[string]error {
	conflicts := make(map[string]error)
	for at := range j.new.units {
		after, _ := j.new.units.better(at.unit)
		before, _ := j.old.units.better(at.unit)
		if after*before < 0 {
			conflicts[at.unit] = fmt.Errorf("results: %s and %s %w: more of %s is better in one of them, and less in the other",
				j.old.origin.Path, j.new.origin.Path, ErrIncomparable, at.unit)
		}
	}
	return conflicts
}
