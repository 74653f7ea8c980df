package results

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// csvKeys are the dimensions of a cell, as in benchmark names but for those whose values are no numbers there.
func csvKeys() []cellKey {
	var keys []cellKey
	for _, key := range cellKeys {
		switch key.key {
		case "strategy":
			key.value = func(c Cell) string { return c.Strategy }
			keys = append(keys, key, cellKey{key: "arm", value: func(c Cell) string { return c.Arm }})
			continue
		case "build":
			key.value = func(c Cell) string { return c.Build }
		case "produce":
			percent := key.value
			key.value = func(c Cell) string { return strings.TrimSuffix(percent(c), "%") }
		case "think":
			key.key, key.value = "think-sec", func(c Cell) string { return formatNumber(c.Think) }
		}
		keys = append(keys, key)
	}
	return keys
}

// WriteCSV writes the cells as a table of comma-separated values (RFC 4180, UTF-8), one row for each of Cells and
// a line of names before them: what the cell is, how its runs went, of each metric the median, the
// smallest and the largest value and, for latencies, the bound of the median (see CellSummary), then the planned
// comparison in which it is compared with a baseline (see Effect), and its share of the limit. Numbers are in
// base units, in full. What is unknown is empty.
//
// Spreadsheets take a text that begins with =, +, - or @ for a formula: it gets an apostrophe in front. Control
// characters are blanks, so that a row is a line.
func (s *Sweep) WriteCSV(w io.Writer) error {
	x := s.index()
	cells := x.cells()
	keys, metrics := csvKeys(), csvMetrics(cells)
	effects := make(map[Cell]*Effect)
	for _, e := range x.effects() {
		if cell, _ := e.sides(); effects[cell] == nil {
			effects[cell] = &e
		}
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	var row []string
	for _, key := range keys {
		row = append(row, key.key)
	}
	row = append(row, "runs", "valid", "overloaded")
	for _, metric := range metrics {
		row = append(row, metric+"-median", metric+"-min", metric+"-max")
		if isLatencyMetric(metric) {
			row = append(row, metric+"-bound")
		}
	}
	row = append(row, "metric", "baseline", "blocks", "ratio", "low", "high", "level", "verdict", "reason", "of-raw")
	if err := out.Write(row); err != nil {
		return err
	}
	for i := range cells {
		c := &cells[i]
		row = row[:0]
		for _, key := range keys {
			row = append(row, csvText(key.value(c.Cell)))
		}
		row = append(row, strconv.Itoa(c.Runs), strconv.Itoa(c.Valid), strconv.Itoa(c.Overloaded))
		for _, metric := range metrics {
			row = append(row, csvKnown(c.Median(metric)), csvKnown(c.Min(metric)), csvKnown(c.Max(metric)))
			if isLatencyMetric(metric) {
				row = append(row, csvKnown(c.Bound(metric)))
			}
		}
		row = append(row, csvEffect(effects[c.Cell])...)
		row = append(row, csvKnown(c.OfRaw()))
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// csvMetrics are the metrics of which any cell has a value or a bound, in the order of files.
func csvMetrics(cells []CellSummary) []string {
	var metrics []string
	for _, metric := range MetricNames() {
		for i := range cells {
			_, bounded := cells[i].Bound(metric)
			if bounded || len(cells[i].values[metric]) > 0 {
				metrics = append(metrics, metric)
				break
			}
		}
	}
	return metrics
}

// csvEffect is the part of a row that tells of a comparison, empty for a cell that is not compared.
func csvEffect(e *Effect) []string {
	if e == nil {
		return make([]string, 9)
	}
	_, baseline := e.sides()
	return []string{
		csvText(e.Metric), csvText(baseline.Label()), strconv.Itoa(e.Blocks),
		csvKnown(e.Ratio, true), csvKnown(e.Low, true), csvKnown(e.High, true), csvKnown(e.Level, true),
		e.Verdict.String(), csvText(e.Reason),
	}
}

// csvKnown is a number that can be read back as it was, or nothing.
func csvKnown(v float64, known bool) string {
	if !known || !isFinite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// csvText is a text that no spreadsheet executes.
func csvText(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if trimmed := strings.TrimLeft(text, " "); trimmed != "" && strings.ContainsRune("=+-@", rune(trimmed[0])) {
		return "'" + text
	}
	return text
}
