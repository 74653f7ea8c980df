package results

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// columnGap is the space between the columns of a table on a terminal.
const columnGap = 3

func (c *Column) width() int {
	width := utf8.RuneCountInString(c.Head)
	for _, cell := range c.Cells {
		width = max(width, utf8.RuneCountInString(cell))
	}
	return width
}

// width is that of the table, without its labels, with the gap before each column.
func (t *Table) width() int {
	width := 0
	for i := range t.Columns {
		width += columnGap + t.Columns[i].width()
	}
	return max(width, columnGap+utf8.RuneCountInString(t.Title))
}

// writeText writes tables of the same rows beside each other as long as they fit in limit characters,
// and all others below.
func writeText(out *strings.Builder, tables []Table, limit int) {
	for len(tables) > 0 {
		labels := Column{Cells: tables[0].Labels, Left: true}
		width := labels.width()
		fit := 0
		for fit < len(tables) && (fit == 0 || width+tables[fit].width() <= limit && slices.Equal(tables[fit].Labels, labels.Cells)) {
			width += tables[fit].width()
			fit++
		}
		writeTextRows(out, labels, tables[:fit])
		tables = tables[fit:]
	}
}

func writeTextRows(out *strings.Builder, labels Column, tables []Table) {
	// Once: a width takes a look at every cell.
	labelWidth := labels.width()
	tableWidths, columnWidths := make([]int, len(tables)), make([][]int, len(tables))
	for i := range tables {
		tableWidths[i] = tables[i].width()
		for j := range tables[i].Columns {
			columnWidths[i] = append(columnWidths[i], tables[i].Columns[j].width())
		}
	}
	line := func(label string, text func(i int) string) {
		var row strings.Builder
		row.WriteString(pad(printable(label), labelWidth, true))
		for i := range tables {
			row.WriteString(pad(text(i), tableWidths[i], true))
		}
		if text := strings.TrimRight(row.String(), " "); text != "" {
			fmt.Fprintln(out, text)
		}
	}
	gap := strings.Repeat(" ", columnGap)
	line("", func(i int) string { return gap + printable(tables[i].Title) })
	line("", func(i int) string {
		return tables[i].row(columnWidths[i], func(c *Column) string { return c.Head })
	})
	for at, label := range labels.Cells {
		line(label, func(i int) string {
			return tables[i].row(columnWidths[i], func(c *Column) string { return c.Cells[at] })
		})
	}
}

func (t *Table) row(widths []int, text func(c *Column) string) string {
	var row strings.Builder
	for i := range t.Columns {
		c := &t.Columns[i]
		row.WriteString(strings.Repeat(" ", columnGap))
		row.WriteString(pad(printable(text(c)), widths[i], c.Left))
	}
	return row.String()
}

func pad(text string, width int, left bool) string {
	fill := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
	if left {
		return text + fill
	}
	return fill + text
}
