package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// benchSide is a side that was read from a file in Go's benchmark format. Its benchmarks are made when both sides are
// known: joinBench.
type benchSide struct {
	side
	lines  []benchLine
	flaws  []benchFlaw
	config benchConfig
	units  benchUnits
	sick   string // why nothing in it can be trusted; "" if that is not known
}

// benchLine is a line with the result of a benchmark.
type benchLine struct {
	number int    // in the file
	name   string // without "Benchmark"
	values []benchMeasure
}

// benchMeasure is a value in a base unit.
type benchMeasure struct {
	unit  string
	value float64
}

// benchFlaw is what is no measurement, though it stands where there should be one.
type benchFlaw struct {
	number int    // of the line
	name   string // of the benchmark
	metric string // or allMetrics
	text   string // with the place
}

// errNoBenchmarks: there is nothing to compare in a file.
var errNoBenchmarks = errors.New("no results of benchmarks")

// longestLine is the bytes that a line of a file may have: what reads them takes no more.
const longestLine = bufio.MaxScanTokenSize - 1

// mostFlaws is how many flaws of a file are named.
const mostFlaws = 5

// benchmarkWord begins each line with a result.
const benchmarkWord = "Benchmark"

// failureMarks are how lines begin with which go test says that something failed. The second has no end: the package
// follows in one of them.
var failureMarks = []string{"--- FAIL", "FAIL", "panic:", "fatal error:", "exit status"}

// machineKeys are the configuration lines that describe a machine.
var machineKeys = []string{"goos", "goarch", "cpu"}

// readBench reads the output of benchmarks: golang.org/design/14313. Other lines are left out, as those of tests are.
func readBench(text []byte, path string) (*benchSide, error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, fmt.Errorf("results: %s is binary, or not text in UTF-8", path)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	x := &benchSide{side: side{origin: Origin{Path: path}}, config: make(benchConfig), units: make(benchUnits)}
	rows := bytes.Split(text, []byte("\n"))
	if err := x.readRows(rows); err != nil {
		return nil, err
	}
	reader := benchfmt.NewReader(bytes.NewReader(text), path)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			x.readResult(record)
		case *benchfmt.SyntaxError:
			x.readError(record, rows)
		}
	}
	if err := reader.Err(); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if len(x.lines) == 0 {
		return nil, fmt.Errorf("results: %s has %w", path, errNoBenchmarks)
	}
	if err := x.readMachine(); err != nil {
		return nil, err
	}
	x.warnOfFlaws()
	return x, nil
}

// warnOfFlaws names the first flaws.
func (x *benchSide) warnOfFlaws() {
	for i, flaw := range x.flaws {
		switch {
		case i == mostFlaws:
			x.warnings = append(x.warnings, fmt.Sprintf("%s: left out besides: %s", x.origin.Path, counted(len(x.flaws)-i, "line or value", "lines or values")))
			return
		case flaw.metric == allMetrics:
			x.warnings = append(x.warnings, flaw.text+"; the line is left out")
		default:
			x.warnings = append(x.warnings, flaw.text+"; it is left out")
		}
	}
}

// readRows reads what is no result: lines that are too long, those that say that a benchmark failed, configuration,
// and what is known of units.
func (x *benchSide) readRows(rows [][]byte) error {
	for i, row := range rows {
		number := i + 1
		if len(row) > longestLine {
			return fmt.Errorf("results: %s:%d: the line has more than %d bytes, and is no output of benchmarks", x.origin.Path, number, longestLine)
		}
		if saysFailed(row) {
			if !x.failed {
				x.failed = true
				x.warnings = append(x.warnings, fmt.Sprintf("%s:%d: the benchmarks failed: %s", x.origin.Path, number, bytes.TrimSpace(row)))
			}
			continue
		}
		if fields := bytes.Fields(row); bytes.HasPrefix(row, []byte("Unit")) && len(fields) > 2 && string(fields[0]) == "Unit" {
			x.units.read(string(fields[1]), fields[2:])
		} else if key, value, ok := configLine(row); ok {
			x.config.set(key, value, number)
		}
	}
	return nil
}

// saysFailed reports whether go test says with a line that something failed.
func saysFailed(row []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(row, " "), []byte(failureMarks[0])) || // of a sub-benchmark
		slices.ContainsFunc(failureMarks, func(mark string) bool { return bytes.HasPrefix(row, []byte(mark)) })
}

// readResult keeps the values of a line that are measurements.
func (x *benchSide) readResult(record *benchfmt.Result) {
	_, number := record.Pos()
	line := benchLine{number: number, name: record.Name.String()}
	flaw := func(metric, format string, args ...any) {
		text := fmt.Sprintf("%s:%d: %s", x.origin.Path, number, fmt.Sprintf(format, args...))
		x.flaws = append(x.flaws, benchFlaw{number, line.name, metric, text})
	}
	if record.Iters <= 0 {
		flaw(allMetrics, "%d iterations are no measurement", record.Iters)
		return
	}
	for _, v := range record.Values {
		_, unit := benchunit.Tidy(1, v.Unit) // the reader leaves the unit of a 0 as it is
		at := slices.IndexFunc(line.values, func(m benchMeasure) bool { return m.unit == unit })
		switch {
		case !isFinite(v.Value) || v.Value < 0:
			value, written := v.Value, v.Unit
			if v.OrigUnit != "" {
				value, written = v.OrigValue, v.OrigUnit
			}
			flaw(unit, "%v %s is no measurement", value, written)
		case at < 0:
			line.values = append(line.values, benchMeasure{unit, v.Value})
		case line.values[at].value != v.Value: // which of them counts would hang on their order
			flaw(unit, "there are two values of %s", unit)
			line.values[at].value = math.NaN()
		}
	}
	line.values = slices.DeleteFunc(line.values, func(m benchMeasure) bool { return math.IsNaN(m.value) })
	x.lines = append(x.lines, line)
}

// readError keeps which benchmark lost a line that can't be read.
func (x *benchSide) readError(record *benchfmt.SyntaxError, rows [][]byte) {
	row, isResult := bytes.CutPrefix(bytes.TrimPrefix(rows[record.Line-1], []byte("\ufeff")), []byte(benchmarkWord))
	if !isResult {
		return // of a unit, which benchUnits knows
	}
	name := ""
	if fields := bytes.Fields(row); len(fields) > 0 {
		name = string(fields[0])
	}
	x.flaws = append(x.flaws, benchFlaw{record.Line, name, allMetrics, record.Error()})
}

// numbers are those of the lines with results.
func (x *benchSide) numbers() []int {
	numbers := make([]int, len(x.lines))
	for i := range x.lines {
		numbers[i] = x.lines[i].number
	}
	return numbers
}

// readMachine collects what describes the machine, which has to be one.
func (x *benchSide) readMachine() error {
	for _, key := range machineKeys {
		values := x.config.values(key, x.numbers())
		delete(values, "")
		found := slices.Sorted(maps.Keys(values))
		if len(found) > 1 {
			return fmt.Errorf("results: %s has results of several machines: %s is %s", x.origin.Path, key, strings.Join(found, " and "))
		}
		x.machine = append(x.machine, Fact{key, strings.Join(found, "")})
	}
	return nil
}
