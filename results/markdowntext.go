package results

import (
	"regexp"
	"strings"
)

// markdown is a text of a Summary in Markdown (CommonMark with the tables of GitHub), on one line: what stands between
// backquotes is code, and nothing else has a meaning to Markdown or HTML. Names come from files of anybody, and must
// not add a column, a link or a script to the page of whoever pastes them.
func markdown(text string) string {
	var out strings.Builder
	parts := strings.Split(printable(text), "`")
	for i, part := range parts {
		switch {
		case i%2 == 0:
			out.WriteString(escaped(part))
		case i == len(parts)-1: // the last backquote has no partner
			out.WriteString("\\`" + escaped(part))
		case part == "":
			out.WriteString("\\`\\`")
		case strings.Contains(part, `\`): // where a bar follows, nobody can tell what it escapes
			out.WriteString(escaped(part))
		default:
			out.WriteString("`" + part + "`")
		}
	}
	return out.String()
}

// markdownCell is markdown for a cell of a table, which a bar would end, in code too.
func markdownCell(text string) string { return strings.ReplaceAll(markdown(text), "|", `\|`) }

// markdownBlock is markdown for a text at the beginning of a paragraph or an item, where signs and numbers would
// begin a heading, a quotation, a list or a table.
func markdownBlock(text string) string {
	return blockStart.ReplaceAllString(strings.TrimLeft(markdown(text), " "), `$1\$2$3`)
}

var blockStart = regexp.MustCompile(`^(?:([0-9]+)([.)](?: |$))|([#>*+=|-]))`)

// markdownFence is a block of code. Its fence is longer than any that the text has.
func markdownFence(language, text string) string {
	fence := strings.Repeat("`", max(3, 1+longestRun(text, '`')))
	return fence + language + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// longestRun is the length of the longest run of a character in a text.
func longestRun(text string, of rune) int {
	longest, run := 0, 0
	for _, r := range text {
		if run++; r != of {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// escaped takes the meaning from what strikes through, stresses, is a formula, or may begin a link, a tag or an entity: a
// tag does not begin with a blank or a number, within a word an underscore means nothing, and an address is one to
// GitHub if it begins like one.
func escaped(text string) string {
	text = tagStart.ReplaceAllString(markdownSigns.Replace(text), `\$0`)
	return word.ReplaceAllStringFunc(text, func(word string) string {
		within := strings.Trim(word, "_")
		before, after, _ := strings.Cut(word, within)
		if within == "" {
			before, after = word, ""
		}
		return strings.Repeat(`\_`, len(before)) + within + strings.Repeat(`\_`, len(after))
	})
}

var (
	markdownSigns = strings.NewReplacer(`\`, `\\`, "~", `\~`, "*", `\*`, "$", `\$`, "[", `\[`, "&", `\&`, "://", `:\//`, "www.", `www\.`)
	tagStart      = regexp.MustCompile(`<(?:[^ 0-9]|$)`)
	word          = regexp.MustCompile(`[\pL\pN_]+`)
)
