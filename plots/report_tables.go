package plots

import (
	"strconv"
	"strings"

	"tailrace/results"
)

// pageTable is a table of the page.
type pageTable struct {
	Label    string // for who can't see it
	Caption  string
	Corner   string // what the rows are
	Heads    []pageHead
	Rows     []pageRow
	Sortable bool
	Compact  bool // of notes only the signs, and they stand beside the texts, not below
	Narrow   bool // with the details below the texts
}

type pageHead struct {
	Text string
	Left bool
}

type pageRow struct {
	Label string
	Link  string // "" for none, else the id of an element
	Cells []pageCell
}

type pageCell struct {
	Text   string
	Detail string // after the text, if there is a note
	Sign   string // of the note, which a compact table shows alone
	Note   string // after them
	Class  string // how it is set: "" or classes of the style sheet
	// Numeric columns have cells with Sort: the value of the text, "" where it has none.
	Numeric bool
	Sort    string
}

// widest is the number of columns beyond which a table of details is turned, and others are set tightly
// on paper, so that they fit.
const widest = 8

// Classes are those of the table in the style sheet and the script.
func (t *pageTable) Classes() string {
	var classes []string
	if t.Sortable {
		classes = append(classes, "sortable")
	}
	if len(t.Heads) > widest {
		classes = append(classes, "wide")
	}
	if t.Compact {
		classes = append(classes, "compact")
	}
	if t.Narrow {
		classes = append(classes, "narrow")
	}
	return strings.Join(classes, " ")
}

// newTable prepares a table of results; about is what it tells of, and corner what its rows are. A table of
// details with many columns is turned: each of its columns becomes a row.
func newTable(about, caption, corner string, t results.Table) *pageTable {
	p := &pageTable{Label: about + ", " + caption, Caption: caption, Corner: corner, Sortable: len(t.Labels) > 1}
	if t.Detail && len(t.Columns) > widest {
		return p.turned(t)
	}
	numbers := make([]bool, len(t.Columns))
	for i, column := range t.Columns {
		p.Heads = append(p.Heads, pageHead{column.Head, column.Left})
		numbers[i] = numeric(column.Cells)
	}
	for i, label := range t.Labels {
		row := pageRow{Label: label}
		for j, column := range t.Columns {
			row.Cells = append(row.Cells, newCell(column.Cells[i], column.Left, numbers[j]))
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// longText is the number of bytes from which the text of a cell is set in several lines.
const longText = 48

func newCell(text string, left, numeric bool) pageCell {
	cell := pageCell{Text: text, Numeric: numeric}
	if left {
		cell.Class = "left"
	}
	if len(text) > longText {
		cell.Class = "left prose"
	}
	if value, ok := sortValue(text); ok && numeric {
		cell.Sort = formatSort(value)
	}
	return cell
}

// turned makes rows of columns. Such rows have different units, so there is nothing to sort.
func (p *pageTable) turned(t results.Table) *pageTable {
	p.Corner, p.Sortable = "", false
	for _, label := range t.Labels {
		p.Heads = append(p.Heads, pageHead{Text: label})
	}
	for _, column := range t.Columns {
		row := pageRow{Label: column.Head}
		for _, text := range column.Cells {
			row.Cells = append(row.Cells, pageCell{Text: text})
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// numeric reports whether the cells of a column are numbers, as far as they are there.
func numeric(cells []string) bool {
	some := false
	for _, text := range cells {
		_, ok := sortValue(text)
		some = some || ok
		if !ok && !isAbsent(text) {
			return false
		}
	}
	return some
}

// isAbsent reports whether a cell has no number where others have one: "–", "– ?" or nothing.
func isAbsent(text string) bool {
	return text == "" || strings.HasPrefix(text, "–")
}

func formatSort(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// units of the texts that package results formats, with their size in base units.
var units = map[string]float64{
	"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
	"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1,
	"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	"×": 1, "%": 0.01,
}

// sortValue is the number that a text of a table begins with, in base units: 1.05e6 for "1.05M", 3e-6 for
// "≤ 3.0 µs", 1.94 for "1.94× (1.53–2.46) ~". The baseline of a comparison is 1 times itself. It is false
// for a text that is no number.
func sortValue(text string) (value float64, ok bool) {
	if text == "baseline" {
		return 1, true
	}
	text = strings.TrimLeft(text, "≤<> ")
	text = strings.Replace(text, "−", "-", 1)
	end := 0
	for end < len(text) && strings.IndexByte("0123456789.,+-e", text[end]) >= 0 {
		end++
	}
	value, err := strconv.ParseFloat(strings.ReplaceAll(text[:end], ",", ""), 64)
	if err != nil {
		return 0, false
	}
	unit := strings.TrimLeft(text[end:], " ")
	if cut := strings.IndexAny(unit, " (†–"); cut >= 0 {
		unit = unit[:cut]
	}
	size, known := units[strings.TrimSuffix(unit, "/s")]
	return value * size, known
}
