package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// benchSide is a side that was read from a file in Go's benchmark format.
type benchSide struct {
	side
	directions map[string]int // of the metrics that the file tells
}

// errNoBenchmarks: there is nothing to compare in a file.
var errNoBenchmarks = errors.New("no results of benchmarks")

// longestLine is the bytes that a line of a file may have: what reads them takes no more.
const longestLine = bufio.MaxScanTokenSize - 1

// failureMarks are how lines begin with which go test says that something failed. The second has no end: the package
// follows in one of them.
var failureMarks = []string{"--- FAIL", "FAIL", "panic:", "exit status"}

// panicKey is what the first word of a panic would be as a line of configuration, which it is none.
const panicKey = "panic"

// machineKeys are the configuration lines that describe a machine.
var machineKeys = []string{"goos", "goarch", "cpu"}

// readBench reads the output of benchmarks: golang.org/design/14313. Other lines are left out, as those of tests are.
func readBench(text []byte, path string) (*benchSide, error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, fmt.Errorf("results: %s is binary, or not text in UTF-8", path)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	x := &benchSide{side: side{origin: Origin{Path: path}}, directions: make(map[string]int)}
	if err := x.readMarks(text); err != nil {
		return nil, err
	}
	var lines []*benchfmt.Result
	reader := benchfmt.NewReader(bytes.NewReader(text), path)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			if err := checkValues(record); err != nil {
				return nil, err
			}
			lines = append(lines, record.Clone()) // the reader uses it again
		case *benchfmt.SyntaxError:
			if strings.HasPrefix(record.Msg, "parsing measurement") {
				return nil, fmt.Errorf("results: %w", record)
			}
			x.warnings = append(x.warnings, record.Error()+"; the line is left out")
		}
	}
	if err := reader.Err(); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("results: %s has %w", path, errNoBenchmarks)
	}
	if err := x.readMachine(lines); err != nil {
		return nil, err
	}
	x.readBenchmarks(lines)
	x.readDirections(reader.Units())
	return x, nil
}

// readMarks looks for what is no result: lines that are too long, and those that say that a benchmark failed.
func (x *benchSide) readMarks(text []byte) error {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if len(line) > longestLine {
			return fmt.Errorf("results: %s:%d: the line has more than %d bytes, and is no output of benchmarks", x.origin.Path, number, longestLine)
		}
		failed := slices.ContainsFunc(failureMarks, func(mark string) bool { return bytes.HasPrefix(line, []byte(mark)) })
		if failed && !x.failed {
			x.failed = true
			x.warnings = append(x.warnings, fmt.Sprintf("%s:%d: the benchmarks failed: %s", x.origin.Path, number, bytes.TrimSpace(line)))
		}
	}
	return nil
}

// checkValues refuses what is no measurement.
func checkValues(line *benchfmt.Result) error {
	for _, v := range line.Values {
		if !isFinite(v.Value) || v.Value < 0 {
			file, number := line.Pos()
			value, unit := v.Value, v.Unit
			if v.OrigUnit != "" {
				value, unit = v.OrigValue, v.OrigUnit
			}
			return fmt.Errorf("results: %s:%d: %v %s is no measurement", file, number, value, unit)
		}
	}
	return nil
}

// readMachine collects what describes the machine, which has to be one.
func (x *benchSide) readMachine(lines []*benchfmt.Result) error {
	for _, key := range machineKeys {
		values := make(map[string]bool)
		for _, line := range lines {
			if value := line.GetConfig(key); value != "" {
				values[value] = true
			}
		}
		found := slices.Sorted(maps.Keys(values))
		if len(found) > 1 {
			return fmt.Errorf("results: %s has results of several machines: %s is %s", x.origin.Path, key, strings.Join(found, " and "))
		}
		x.machine = append(x.machine, Fact{key, strings.Join(found, "")})
	}
	return nil
}

// readBenchmarks groups lines by name and by the configuration that differs within the file, pkg always. What is the
// same in the whole file describes it, as a commit or a date does, and would keep it from being compared with any other.
func (x *benchSide) readBenchmarks(lines []*benchfmt.Result) {
	factors := factorKeys(lines)
	byName := make(map[string]*benchmark)
	for number, line := range lines {
		name := line.Name.String()
		for _, key := range factors {
			if value := line.GetConfig(key); value != "" {
				name += " " + key + ":" + value
			}
		}
		b := byName[name]
		if b == nil {
			b = &benchmark{
				key: name, name: name, values: make(map[string][]observation),
				distrust: func(string) string { return "" },
				better:   func(metric string) int { return x.directions[metric] },
			}
			byName[name] = b
			x.benchmarks = append(x.benchmarks, b)
		}
		for _, v := range line.Values {
			_, unit := benchunit.Tidy(1, v.Unit) // the reader leaves the unit of a 0 as it is
			if b.primary == "" {
				b.primary = unit
			}
			seen := b.values[unit]
			if len(seen) > 0 && seen[len(seen)-1].block == number {
				continue // a second value on one line
			}
			if len(seen) == 0 {
				b.metrics = append(b.metrics, unit)
			}
			b.values[unit] = append(seen, observation{v.Value, number})
		}
	}
}

// factorKeys are the configuration keys that are part of a benchmark's identity.
func factorKeys(lines []*benchfmt.Result) []string {
	values := make(map[string]map[string]bool)
	for _, line := range lines {
		for _, c := range line.Config {
			if values[c.Key] == nil {
				values[c.Key] = make(map[string]bool)
			}
		}
	}
	var factors []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		for _, line := range lines {
			values[key][line.GetConfig(key)] = true
		}
		if key != panicKey && !slices.Contains(machineKeys, key) && (key == "pkg" || len(values[key]) > 1) {
			factors = append(factors, key)
		}
	}
	return factors
}

// readDirections finds out which way each metric is better: as the file says, as it is for the units of go test, else
// more for rates and less for what an operation costs, and for times.
func (x *benchSide) readDirections(units benchfmt.UnitMetadataMap) {
	for _, b := range x.benchmarks {
		for _, metric := range b.metrics {
			direction := units.GetBetter(metric)
			if direction == 0 && units.Get(metric, "better") == nil {
				direction = usualDirection(metric)
			}
			x.directions[metric] = direction
		}
	}
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

// sameDirections refuses files of which one says that more of a metric is better, and the other that less is. Where
// only one of them tells, that holds for both.
func sameDirections(old, new *benchSide) error {
	for _, metric := range slices.Sorted(maps.Keys(new.directions)) {
		direction := new.directions[metric]
		other, ok := old.directions[metric]
		switch {
		case !ok || other == direction:
		case direction == 0:
			new.directions[metric] = other
		case other != 0:
			return fmt.Errorf("results: %s and %s %w: more of %s is better in one of them, and less in the other",
				old.origin.Path, new.origin.Path, ErrIncomparable, metric)
		}
	}
	return nil
}
