package results

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// column is one column of a table: a heading and a cell for each row.
type column struct {
	head  string
	cells []string
	left  bool // aligned to the left, as words are
}

func (c *column) width() int {
	width := utf8.RuneCountInString(c.head)
	for _, cell := range c.cells {
		width = max(width, utf8.RuneCountInString(cell))
	}
	return width
}

// columnGroup is a run of columns under a title; a table is a column of labels and some groups.
type columnGroup struct {
	title   string
	columns []column
}

const columnGap = 3

// width is that of the group with the gap before each column.
func (g *columnGroup) width() int {
	width := 0
	for i := range g.columns {
		width += columnGap + g.columns[i].width()
	}
	return max(width, columnGap+utf8.RuneCountInString(g.title))
}

// writeText writes the groups beside each other as long as they fit in limit characters, then below.
func writeText(w io.Writer, labels column, groups []columnGroup, limit int) error {
	for len(groups) > 0 {
		width := labels.width()
		fit := 0
		for fit < len(groups) && (fit == 0 || width+groups[fit].width() <= limit) {
			width += groups[fit].width()
			fit++
		}
		if err := writeTextRows(w, labels, groups[:fit]); err != nil {
			return err
		}
		groups = groups[fit:]
	}
	return nil
}

func writeTextRows(w io.Writer, labels column, groups []columnGroup) error {
	var out strings.Builder
	line := func(label string, text func(g *columnGroup) string) {
		var row strings.Builder
		row.WriteString(pad(label, labels.width(), true))
		for i := range groups {
			row.WriteString(pad(text(&groups[i]), groups[i].width(), true))
		}
		if text := strings.TrimRight(row.String(), " "); text != "" {
			fmt.Fprintln(&out, text)
		}
	}
	gap := strings.Repeat(" ", columnGap)
	line("", func(g *columnGroup) string { return gap + g.title })
	line(labels.head, func(g *columnGroup) string {
		return g.row(func(c *column) string { return c.head })
	})
	for i, label := range labels.cells {
		line(label, func(g *columnGroup) string {
			return g.row(func(c *column) string { return c.cells[i] })
		})
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (g *columnGroup) row(text func(c *column) string) string {
	var row strings.Builder
	for i := range g.columns {
		c := &g.columns[i]
		row.WriteString(strings.Repeat(" ", columnGap))
		row.WriteString(pad(text(c), c.width(), c.left))
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

// writeMarkdown writes each group as a table of its own after an empty line, its title in the heading of the labels.
func writeMarkdown(w io.Writer, labels column, groups []columnGroup) error {
	var out strings.Builder
	for _, g := range groups {
		out.WriteString("\n")
		columns := append([]column{{head: g.title, cells: labels.cells, left: true}}, g.columns...)
		for _, c := range columns {
			fmt.Fprintf(&out, "| %s ", markdownCell(c.head))
		}
		out.WriteString("|\n")
		for _, c := range columns {
			if c.left {
				out.WriteString("|:--")
			} else {
				out.WriteString("|--:")
			}
		}
		out.WriteString("|\n")
		for i := range labels.cells {
			for _, c := range columns {
				fmt.Fprintf(&out, "| %s ", markdownCell(c.cells[i]))
			}
			out.WriteString("|\n")
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// markdownCell escapes what would end a cell, and strikes nothing through.
func markdownCell(text string) string {
	return strings.NewReplacer("|", `\|`, "~", `\~`, "\n", " ").Replace(text)
}
