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
	line := func(label string, text func(t *Table) string) {
		var row strings.Builder
		row.WriteString(pad(label, labels.width(), true))
		for i := range tables {
			row.WriteString(pad(text(&tables[i]), tables[i].width(), true))
		}
		if text := strings.TrimRight(row.String(), " "); text != "" {
			fmt.Fprintln(out, text)
		}
	}
	gap := strings.Repeat(" ", columnGap)
	line("", func(t *Table) string { return gap + t.Title })
	line("", func(t *Table) string {
		return t.row(func(c *Column) string { return c.Head })
	})
	for i, label := range labels.Cells {
		line(label, func(t *Table) string {
			return t.row(func(c *Column) string { return c.Cells[i] })
		})
	}
}

func (t *Table) row(text func(c *Column) string) string {
	var row strings.Builder
	for i := range t.Columns {
		c := &t.Columns[i]
		row.WriteString(strings.Repeat(" ", columnGap))
		row.WriteString(pad(text(c), c.width(), c.Left))
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
