package results

import (
	"strings"
	"unicode"
)

// printable is a text on one line, with a blank in the place of each control character: names and warnings may come
// from elsewhere, and must not command a terminal.
func printable(text string) string { return withoutControls(text, "") }

// printableLines is printable for a text of several lines.
func printableLines(text string) string { return withoutControls(text, "\n\t") }

func withoutControls(text, except string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune(except, r) {
			return ' '
		}
		return r
	}, text)
}
