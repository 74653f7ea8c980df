package results

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/perf/benchunit"
)

// benchConfig has the configuration lines of a file by key, each in the order of lines. One holds from its line to
// the next of its key.
type benchConfig map[string][]configValue

type configValue struct {
	number int // of the line
	value  string
}

func (c benchConfig) set(key, value string, number int) {
	if values := c[key]; len(values) == 0 || values[len(values)-1].value != value {
		c[key] = append(values, configValue{number, value})
	}
}

// at is the value of a key at a line; "" if there is none.
func (c benchConfig) at(key string, number int) string {
	values := c[key]
	after := sort.Search(len(values), func(i int) bool { return values[i].number > number })
	if after == 0 {
		return ""
	}
	return values[after-1].value
}

// values are those of a key at lines of these ascending numbers, "" included where it has none.
func (c benchConfig) values(key string, numbers []int) map[string]bool {
	found := make(map[string]bool)
	if len(numbers) < len(c[key]) {
		for _, number := range numbers {
			found[c.at(key, number)] = true
		}
		return found
	}
	begin := 0 // of the numbers at which the value before holds
	value := ""
	for _, next := range c[key] {
		end := begin + sort.SearchInts(numbers[begin:], next.number)
		if end > begin {
			found[value] = true
		}
		begin, value = end, next.value
	}
	if begin < len(numbers) {
		found[value] = true
	}
	return found
}

// configLine takes a configuration line apart, as the format has it: a key without capitals and blanks, a colon, and
// a value after a blank, or none.
func configLine(row []byte) (key, value string, ok bool) {
	at := slices.Index(row, ':')
	if at <= 0 {
		return "", "", false
	}
	key, value = string(row[:at]), strings.TrimSuffix(string(row[at+1:]), "\r")
	first, _ := utf8.DecodeRuneInString(key)
	if !unicode.IsLower(first) || strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsUpper(r) }) {
		return "", "", false
	}
	trimmed := strings.TrimLeft(value, " \t")
	return key, trimmed, value == "" || trimmed != value
}

// benchUnits is what the Unit lines of a file say: values by the key and the unit, which is a base unit.
type benchUnits map[unitKey][]string

type unitKey struct{ unit, key string }

// The keys of a Unit line. The last is tailrace's own: the workloads of which the unit is the primary metric.
const (
	unitBetter  = "better"
	unitAssume  = "assume"
	unitPrimary = "primary"
)

func (u benchUnits) read(unit string, settings [][]byte) {
	_, unit = benchunit.Tidy(1, unit)
	for _, setting := range settings {
		if key, value, ok := strings.Cut(string(setting), "="); ok {
			at := unitKey{unit, key}
			if !slices.Contains(u[at], value) {
				u[at] = append(u[at], value)
			}
		}
	}
}

// better is 1 if more of a unit is better, -1 if less is. If the file says both, or neither, it is 0. It is not said
// if there is no line on it.
func (u benchUnits) better(unit string) (direction int, said bool) {
	values := u[unitKey{unit, unitBetter}]
	if len(values) == 1 {
		direction = map[string]int{"higher": 1, "lower": -1}[values[0]]
	}
	return direction, len(values) > 0
}

func (u benchUnits) exact(unit string) bool {
	return slices.Equal(u[unitKey{unit, unitAssume}], []string{"exact"})
}

// primary are the primary metrics of a workload, as far as the file says.
func (u benchUnits) primary(workload string) []string {
	var metrics []string
	for at, values := range u {
		named := func(value string) bool { return slices.Contains(strings.Split(value, ","), workload) }
		if workload != "" && at.key == unitPrimary && slices.ContainsFunc(values, named) {
			metrics = append(metrics, at.unit)
		}
	}
	return metrics
}
