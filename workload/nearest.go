package workload

import (
	"slices"
	"strings"
	"unicode"
)

// Nearest returns the name that was probably meant: the one of names with the smallest edit
// distance to name, the first of several; "" when none is near. An edit inserts, deletes or
// replaces a letter, or swaps two neighbours; near is one edit in three letters or
// the rest of them. Case makes no difference.
func Nearest(name string, names []string) string {
	name = strings.ToLower(name)
	best, bestDistance := "", 0
	for _, candidate := range names {
		limit := (max(len(name), len(candidate)) + 2) / 3
		if len(name)-len(candidate) > limit || len(candidate)-len(name) > limit {
			continue // the difference in length alone is too many edits; spares long input
		}
		d := editDistance(name, candidate)
		if d <= limit && (best == "" || d < bestDistance) {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// editDistance is the optimal string alignment distance (Damerau-Levenshtein without edits inside a
// swapped pair), by the usual table kept as three rows.
func editDistance(a, b string) int {
	beforeLast, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		beforeLast, last, row = last, row, beforeLast
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(replaced, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// Suggestion is the end of an error about an unknown name: "; did you mean x?", or x, y or z, or nothing. It is the
// nearest name, or the first three of those that have all its parts, as produce-p99-sec has p99.
func Suggestion(name string, names []string) string {
	near := withParts(name, names)
	if nearest := Nearest(name, names); nearest != "" && (len(near) == 0 || len(nameParts(name)) == 1) {
		near = []string{nearest}
	}
	switch last := len(near) - 1; {
	case last < 0:
		return ""
	case last == 0:
		return "; did you mean " + near[0] + "?"
	default:
		return "; did you mean " + strings.Join(near[:last], ", ") + " or " + near[last] + "?"
	}
}

// withParts are the first names that have all parts of a name.
func withParts(name string, names []string) []string {
	const most = 3
	given := nameParts(name)
	var found []string
	for _, candidate := range names {
		has := nameParts(candidate)
		lacks := func(part string) bool { return !slices.Contains(has, part) }
		if len(given) > 0 && len(found) < most && !slices.ContainsFunc(given, lacks) {
			found = append(found, candidate)
		}
	}
	return found
}

// nameParts are the words and numbers of a name, in small letters: p99.9 is p999.
func nameParts(name string) []string {
	name = strings.ReplaceAll(strings.ToLower(name), ".", "")
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
